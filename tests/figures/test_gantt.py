"""gantt(): boxes where tasks ran, strips where groups were throttled, a legend that covers them, no time invented."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import PolyCollection

import schedlab as sl
from schedlab.figures import _timeline as parts

KERNEL = sl.Kernel.version("6.6").without_patch("interleave-timers")
LIMITED = (sl.Group("/a", quota_us=20_000),)
HOG = sl.Task("hog", sl.run("9s"), group="/a", cpus=0)


def _run(tasks=(HOG,), duration="250ms", groups=LIMITED, cpus=2, kernel=KERNEL, **options):
    return sl.simulate(
        sl.Machine.uniform(cpus), kernel, sl.Workload(groups, tasks), duration, **({"log": True} | options)
    )


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def run():
    return _run((HOG, sl.Task("nap", sl.repeat(None, sl.run("10ms"), sl.sleep("40ms")), cpus=1)))


def _legend(axis):
    return [text.get_text() for text in axis.get_legend().get_texts()]


def _boxes(axis, hatched=False):
    """Return (left, right, top, bottom) of each box."""
    found = [c for c in axis.collections if isinstance(c, PolyCollection) and bool(c.get_hatch()) == hatched]
    found = [c for c in found if hatched or c.get_linewidth()[0] > 0]
    corners = [path.vertices for collection in found for path in collection.get_paths()]
    return sorted((v[:, 0].min(), v[:, 0].max(), v[:, 1].min(), v[:, 1].max()) for v in corners)


def test_gantt__boxes_and_strips_by_hand(run):
    (axis,) = sl.figures.gantt(run).axes
    hog = [box[:2] for box in _boxes(axis) if box[2] < 0.5]
    assert hog == [(0, 20), (100, 120), (200, 220)]
    nap = [box[:2] for box in _boxes(axis) if box[2] > 0.5]
    assert nap == [(0, 10), (50, 60), (100, 110), (150, 160), (200, 210)]
    strips = _boxes(axis, hatched=True)
    assert [strip[:2] for strip in strips] == [(20, 100), (120, 200), (220, 250)]
    assert {strip[2] for strip in strips} == {parts._STRIP[0]} and parts._BOX_ABOVE[1] < parts._STRIP[0]
    assert axis.get_xlabel() == "time (ms)" and axis.get_ylabel() == "CPU" and axis.get_xlim() == (0, 250)
    assert [label.get_text() for label in axis.get_yticklabels()] == ["0", "1"]
    assert _legend(axis) == ["/ (root)", "/a", "throttled, in its colour"]


def test_gantt__part_of_the_time_in_us(run):
    (axis,) = sl.figures.gantt(run, "118ms", "121ms", color_by="task").axes
    assert axis.get_xlabel() == "time (µs)" and axis.get_xlim() == (118_000, 121_000)
    assert [box[:2] for box in _boxes(axis)] == [(118_000, 120_000)]
    assert [box[:2] for box in _boxes(axis, hatched=True)] == [(120_000, 121_000)]
    assert _legend(axis) == ["hog", "/a throttled"]


def test_gantt__what_only_touches_the_window_is_not_in_it(run):
    (axis,) = sl.figures.gantt(run, "100ms", "115ms").axes
    assert not _boxes(axis, hatched=True)
    assert "throttled, in its colour" not in _legend(axis)


def test_gantt__without_marks_the_boxes_are_higher(run):
    (axis,) = sl.figures.gantt(run, marks=False, cpus=0).axes
    assert not _boxes(axis, hatched=True) and _legend(axis) == ["/a"]
    assert _boxes(axis)[0] == (0, 20, *parts._BOX)


def test_gantt__wake_ups(run):
    (axis,) = sl.figures.gantt(run, wakeups=True).axes
    (marks,) = [line for line in axis.lines if line.get_marker() == "v"]
    assert list(marks.get_xdata()) == [50, 100, 150, 200]
    assert _legend(axis)[-1] == "wake-up"
    with pytest.raises(ValueError, match="wakeups=True"):
        sl.figures.gantt(_run(log="switch"), wakeups=True)


def test_gantt__throttling_that_was_not_logged_is_said():
    (axis,) = sl.figures.gantt(_run(log="switch")).axes
    assert _legend(axis)[-1] == "(throttling was not logged)"
    free = _run((sl.Task("t", sl.run("1ms")),), "5ms", (), log="switch")
    assert _legend(sl.figures.gantt(free).axes[0]) == ["/ (root)"]


def test_gantt__legend_covers_all_in_few_entries():
    tasks = tuple(sl.Task(f"t{k}", sl.run(f"{20 - k}ms"), cpus=k % 2) for k in range(12))
    (axis,) = sl.figures.gantt(_run(tasks, "200ms", ()), color_by="task").axes
    # those that run longest, in the order of the workload
    assert _legend(axis) == [*(f"t{k}" for k in range(7)), "others (5 tasks)"]
    ran = sum(right - left for left, right, *_ in _boxes(axis))
    assert ran == pytest.approx(sum(20 - k for k in range(12)))


def test_gantt__many_throttled_groups_share_a_lane():
    groups = tuple(sl.Group(f"/g{k}", quota_us=2_000) for k in range(5))
    run = _run(tuple(sl.Task(f"t{k}", sl.run("1s"), group=f"/g{k}", cpus=0) for k in range(5)), "99ms", groups)
    (axis,) = sl.figures.gantt(run, color_by="task").axes
    lanes = {box[2:] for box in _boxes(axis, hatched=True)}
    assert len(lanes) == 3
    assert _legend(axis)[-3:] == ["/g0 throttled", "/g1 throttled", "/g2, /g3, /g4 throttled"]


@pytest.mark.filterwarnings("ignore:.*log records were lost")
def test_gantt__time_after_a_cut_is_not_idle():
    run = _run(log=["switch", "throttle", "unthrottle"], log_limit=4)
    (axis,) = sl.figures.gantt(run).axes
    assert [text.get_text() for text in axis.texts] == ["log was cut"]
    (shade,) = axis.patches
    assert (shade.get_x(), shade.get_x() + shade.get_width()) == (100, 250)


def test_gantt__into_given_axes(run):
    fig, axes = plt.subplots(2, 1, layout="constrained")
    assert sl.figures.gantt(run, ax=axes[1], title="here") is fig
    assert axes[1].get_title(loc="left") == "here" and not axes[0].collections
    assert sl.figures.gantt(run, title="there").get_suptitle() == "there"


@pytest.mark.parametrize("nr_cpus", [1, 16])
def test_gantt__a_row_a_cpu(nr_cpus):
    tasks = tuple(sl.Task(f"t{k}", sl.run("3ms"), cpus=k) for k in range(nr_cpus))
    fig = sl.figures.gantt(_run(tasks, "5ms", (), cpus=nr_cpus))
    rows = [box[2] for box in _boxes(fig.axes[0])]
    assert len(rows) == nr_cpus and np.allclose(np.diff(sorted(rows)), 1)
    assert 1.5 < fig.get_figheight() < 8


@pytest.mark.parametrize(
    "options, text",
    [
        ({"color_by": "cpu"}, "color_by='cpu'"),
        ({"cpus": (0, 2)}, r"cpus=\(0, 2\): the machine has the CPUs 0 to 1"),
        ({"start_ns": "250ms"}, "start_ns=250000000"),
        ({"start_ns": 5, "end_ns": 5}, "start_ns=5"),
    ],
)
def test_gantt__bad_arguments(run, options, text):
    with pytest.raises(ValueError, match=text):
        sl.figures.gantt(run, **options)


def test_gantt__needs_switches():
    with pytest.raises(ValueError, match=r"spans\(\) needs"):
        sl.figures.gantt(_run(log=False))


def test_gantt_both__line_where_the_logs_part(run):
    other = _run((HOG, sl.Task("nap", sl.repeat(None, sl.run("10ms"), sl.sleep("45ms")), cpus=1)), "200ms")
    fig = sl.figures.gantt_both(run, other)
    for axis in fig.axes:
        (line,) = [line for line in axis.lines if line.get_linestyle() == "--"]
        assert list(line.get_xdata()) == [50, 50]
    assert _legend(fig.axes[0])[-1] == "first difference"
    assert fig.axes[0].get_xlim() == fig.axes[1].get_xlim() == (0, 250)
    assert [text.get_text() for text in fig.axes[1].texts] == ["run has ended"]
    assert fig.get_suptitle() == "The logs part: wake nap on CPU 1 at 50 ms in a,\nwake nap on CPU 1 at 55 ms in b"
    assert fig.axes[0].get_title(loc="left").startswith("a: task nap program")
    assert fig.axes[1].get_title(loc="left").endswith("duration 200 ms")


def test_gantt_both__line_outside_the_window_is_not_drawn(run):
    other = _run((HOG, sl.Task("nap", sl.repeat(None, sl.run("10ms"), sl.sleep("45ms")), cpus=1)))
    fig = sl.figures.gantt_both(run, other, "100ms", "120ms", labels=("one", "two"), title="mine")
    assert "first difference" not in _legend(fig.axes[0]) and fig.get_suptitle() == "mine"
    assert [axis.get_title(loc="left") for axis in fig.axes] == ["one", "two"]


def test_gantt_both__equal_logs(run):
    fig = sl.figures.gantt_both(run, run)
    assert fig.get_suptitle() == "The logs are equal up to 250 ms"
    assert fig.axes[0].get_title(loc="left") == "a: the same inputs"


def test_gantt_both__other_kernels_are_named_by_version():
    one, two = (_run(duration="50ms", kernel=sl.Kernel.version(version)) for version in ("6.1", "6.12"))
    titles = [axis.get_title(loc="left") for axis in sl.figures.gantt_both(one, two).axes]
    assert titles == ["a: kernel 6.1; patches none", "b: kernel 6.12; patches interleave-timers"]


def test_gantt__same_bytes_each_time(run, tmp_path):
    saved = [sl.save_figure(sl.figures.gantt(run, wakeups=True), tmp_path / name, "g").paths for name in ("1", "2")]
    assert all(one.read_bytes() == two.read_bytes() for one, two in zip(*saved))


def test_gantt__is_not_hidden_by_its_module():
    code = "import schedlab.figures.gantt, schedlab as sl; print(type(sl.figures.gantt).__name__)"
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert shown.strip() == "function"


def test_gantt__names_are_data_in_svg(tmp_path):
    """Names out of a trace can hold markup, mathematics that does not parse, and what no terminal should get."""
    hogs = tuple(
        sl.Task(name, sl.run("9ms"), group="/<b>$\\foo$") for name in ("<script>x</script>", "$\\frac$", "a\x1b[2Jb")
    )
    run = _run(hogs, "60ms", groups=(sl.Group("/<b>$\\foo$", quota_us=5_000),))
    for color_by in ("task", "group"):
        sl.save_figure(sl.figures.gantt(run, color_by=color_by, title="$\\bar"), tmp_path, color_by)
        text = (tmp_path / f"figures/{color_by}.svg").read_text()
        ElementTree.fromstring(text)
        assert "<script>" not in text and "<b>" not in text and "\x1b" not in text

"""The command line: what it prints, its exit status, and one line for every mistake."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import schedlab
from schedlab import _first_run
from schedlab.cli import _join_pairs, main

NOTEBOOKS = Path(__file__).parent / "notebooks"
HEADER = "claim,quantity,unit,published,published_low,published_high,model,model_low,model_high,role,agrees\n"


def _run(capsys, *arguments):
    """Return (exit status, standard output, standard error) of a command."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    shown = capsys.readouterr()
    return ended.value.code, shown.out, shown.err


def _comparison(out, *rows):
    folder = out / "study_a"
    folder.mkdir()
    (folder / "comparison.csv").write_text(HEADER + "".join(f"{row}\n" for row in rows))


def test_version(capsys):
    assert _run(capsys, "--version") == (0, f"schedlab {schedlab.__version__}\n", "")


def test_list__shows_studies_in_order(capsys):
    status, out, _ = _run(capsys, "list", "--notebooks", NOTEBOOKS)
    assert status == 0
    assert out.index("tiny") < out.index("fails")
    assert "A tiny study" in out and "0.1" in out


def test_list__with_a_name_shows_its_parameters(capsys):
    _, out, _ = _run(capsys, "list", "tiny", "--notebooks", NOTEBOOKS)
    assert "quota_us" in out and "pool per period" in out and "list of str" in out
    assert "fails" not in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["reprot"], "report"),
        (["report", "--quik"], "--quick"),
        (["report", "tinny"], "did you mean 'tiny'"),
        (["report", "tiny", "-p", "quotaus", "5"], "did you mean 'quota_us'"),
        (["report", "tiny", "-p", "quota_us", "0.5"], "a whole number"),
        (["report", "tiny", "-p", "quota_us"], "takes a name and a value"),
        (["report", "tiny", "-p", "seed", "1", "-p", "seed", "2"], "given twice"),
        (["report", "tiny", "--workers", "0"], "--workers 0: at least 1"),
        (["report", "tiny", "--workers", "two"], "--workers 'two'"),
        (["report", "tiny", "--workers=two"], "--workers 'two'"),
        (["record", "guest", "--kernel", "no", "--set", "SECS"], "set='SECS': NAME=VALUE"),
        (["record", "guest", "--kernel", "no", "--timeout", "-1"], "timeout=-1: above 0 s"),
        (["report", "fails", "--quick"], "fails has no parameter"),
        (["compare"], "no comparison.csv there"),
        (["list", "nosuch"], "no notebook of that name"),
    ],
)
def test_mistake__one_line_and_status_2_and_nothing_written(capsys, tmp_path, arguments, told):
    if arguments[0] in ("report", "list"):
        arguments = [*arguments, "--notebooks", NOTEBOOKS]
    if arguments[0] in ("report", "compare"):
        arguments = [*arguments, "--out", tmp_path / "reports"]
    status, out, err = _run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1 and told in err and err.startswith("schedlab: ")
    assert not list(tmp_path.iterdir())


def test_compare__agreement_is_status_0(capsys, tmp_path):
    _comparison(tmp_path, "alone,time_s.1cg,s,27.6,27.5,27.7,27.62,27.6,27.7,prediction,True")
    status, out, _ = _run(capsys, "compare", "--out", tmp_path)
    assert status == 0
    assert "time_s.1cg" in out and "27.6 (27.5–27.7)" in out and "1 of 1 predictions agree" in out


def test_compare__prediction_that_disagrees_is_status_1(capsys, tmp_path):
    _comparison(tmp_path, "alone,time_s.1cg,s,27.6,27.5,27.7,30,30,30,prediction,False")
    assert _run(capsys, "compare", "--out", tmp_path)[0] == 1


def test_compare__calibration_and_context_do_not_count(capsys, tmp_path):
    rows = ("a,x,s,1,1,1,2,2,2,calibration,False", "b,y,s,1,1,1,2,2,2,context,False", "c,z,s,,,,2,2,2,context,")
    _comparison(tmp_path, *rows)
    assert _run(capsys, "compare", "--out", tmp_path)[0] == 0


def test_compare__unknown_study(capsys, tmp_path):
    _comparison(tmp_path, "a,x,s,1,1,1,2,2,2,context,False")
    status, _, err = _run(capsys, "compare", "studya", "--out", tmp_path)
    assert status == 2 and "did you mean 'study_a'" in err


def test_bench__without_benchmarks(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("schedlab._resources.checkout", lambda: tmp_path)
    status, _, err = _run(capsys, "bench")
    assert status == 2 and err.count("\n") == 1


def test_join_pairs__value_may_look_like_an_option():
    assert _join_pairs(["report", "-p", "x", "-5", "-p", "y=2", "--quick"]) == [
        "report",
        "-p",
        "x=-5",
        "-p",
        "y=2",
        "--quick",
    ]


def test_command_line__answers_without_the_heavy_packages():
    code = "import sys; from schedlab.cli import main\ntry: main(['list'])\nexcept SystemExit: pass\n"
    code += "print([m for m in ('numba', 'pandas', 'matplotlib', 'papermill', 'nbconvert') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines()[-1] == "[]"


def _command(*arguments, **options):
    command = [sys.executable, "-m", "schedlab.cli", *map(str, arguments)]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, **options)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_full_disk__one_line():
    with open("/dev/full", "w") as full:
        done = _command("list", "--notebooks", NOTEBOOKS, stdout=full)
    assert (done.returncode, done.stderr) == (2, "schedlab: No space left on device\n")


def test_closed_pipe__status_141_and_no_word():
    end, begin = os.pipe()
    os.close(end)
    with open(begin, "w") as closed:
        done = _command("--help", stdout=closed)
    assert (done.returncode, done.stderr) == (141, "")


def test_locale_that_is_not_utf_8__is_no_reason_to_fail(tmp_path):
    _comparison(tmp_path, "alone,time_s.1cg,s,27.6,27.5,27.7,27.62,27.6,27.7,prediction,True")
    env = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = _command("compare", "--out", tmp_path, stdout=subprocess.PIPE, env=env)
    assert (done.returncode, done.stderr) == (0, "") and "27.6 (27.5?27.7)" in done.stdout


def test_interrupt__says_so_with_status_130(capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("schedlab.report.studies.find_studies", interrupted)
    status, out, err = _run(capsys, "list")
    assert (status, out, err) == (130, "", "schedlab: stopped after 0 s\n")


def test_first_run__told_once_and_to_notebooks_never(capsys, monkeypatch):
    monkeypatch.setattr(_first_run, "is_compiled", lambda: False)
    monkeypatch.setattr(_first_run, "_said", False)
    _first_run.tell()
    assert capsys.readouterr().err == ""
    _first_run.tell(always=True)
    _first_run.tell(always=True)
    assert capsys.readouterr().err.count("compiling the engine") == 1

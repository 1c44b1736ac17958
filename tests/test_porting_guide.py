"""docs/porting-a-patch.md: its steps, applied to a copy, do what it says; its table names every function once more.

`python tests/test_porting_guide.py` writes the table of functions anew.
"""

import ast
import inspect
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from schedlab.lowering import _PATCH_SWITCHES
from schedlab.patches import PATCHES

TOP = Path(__file__).resolve().parents[1]
GUIDE = TOP / "docs" / "porting-a-patch.md"
TEXT = GUIDE.read_text(encoding="utf-8")
COPIED = ("schedlab", "data", "docs", "tests", "pyproject.toml")
#: Patches that random scenarios do not draw, and where they are tested in their place.
NOT_DRAWN = {"period-scaling-147-128": "acts when a timer takes longer than its period: tests/reference/test_worked.py"}

#: A function of this project that a docstring refers to in the same way.
NOT_OF_THE_KERNEL = {"draw"}


# ---- the guide's diffs -----------------------------------------------------------------------------------------------


def blocks(language):
    """Return the fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def hunks():
    """Return (path, old text, new text) of each hunk of the guide."""
    found = []
    for block in blocks("diff"):
        path, other = re.match(r"--- a/(\S+)\n\+\+\+ b/(\S+)\n", block).groups()
        assert path == other
        parts = re.split(r"^@@ -\d+,(\d+) \+\d+,(\d+) @@.*\n", block, flags=re.MULTILINE)[1:]
        for nr_old, nr_new, body in zip(parts[::3], parts[1::3], parts[2::3]):
            lines = body.splitlines(keepends=True)
            old = [line[1:] for line in lines if line[0] in " -"]
            new = [line[1:] for line in lines if line[0] in " +"]
            assert (len(old), len(new)) == (int(nr_old), int(nr_new)), f"{path}: the hunk's header does not count right"
            found.append((path, "".join(old), "".join(new)))
    return found


def apply_guide(folder):
    """Apply the guide's hunks to the copy."""
    for path, old, new in hunks():
        text = (folder / path).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{path} has changed: the guide's hunk fits {text.count(old)} places\n{old}"
        (folder / path).write_text(text.replace(old, new), encoding="utf-8")


def copy_tree(folder):
    """Copy what the steps edit and what they need to run."""
    ignored = shutil.ignore_patterns("__pycache__", ".hypothesis", ".pytest_cache")
    for name in COPIED:
        source = TOP / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy(source, folder / name)


def run_in(folder, *arguments, fails=False):
    """Run Python on the copy, with a cache of its own; return what it prints."""
    env = os.environ | {"PYTHONPATH": str(folder), "SCHEDLAB_CACHE_DIR": str(folder / "cache"), "MPLBACKEND": "agg"}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True)
    assert (done.returncode != 0) == fails, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stderr if fails else done.stdout


# ---- what the guide promises -----------------------------------------------------------------------------------------

EXAMPLE = "".join(blocks("python"))

#: Do engine and reference agree, release by release, without the patch and with it?
AGREE = """
import sys

sys.path.insert(0, "tests/reference")
from compare import differences

for release in ("6.1", "6.12", "6.18", "7.2"):
    linux = sl.Kernel.version(release, hz=1000)
    for one in (linux, linux.with_patch("donate-all")):
        print("same" if not differences(machine, one, work, 130_000_000) else "other")
"""

#: The picture of each run alone.
PICTURES = """
import hashlib

for name, run in (("before", before), ("after", after)):
    saved = figures.save_figure(figures.gantt(run, end_ns="25ms", title="a title that tells nothing"), ".", name)
    print(hashlib.sha256(saved.paths[0].read_bytes()).hexdigest())
"""

DRAWN = """
import sys

sys.path.insert(0, "tests/reference")
from hypothesis import find
from strategies import kernels, new_kernels

for strategy in (kernels(), new_kernels()):
    print(find(strategy, lambda kernel: kernel.has("donate-all")).has("donate-all"))
"""


@pytest.fixture(scope="module")
def patched(tmp_path_factory):
    """A copy with all steps applied, and what it printed: the example, eight comparisons, two digests of pictures."""
    folder = tmp_path_factory.mktemp("ported")
    copy_tree(folder)
    apply_guide(folder)
    return folder, run_in(folder, "-c", EXAMPLE + AGREE + PICTURES).splitlines(keepends=True)


def test_guide__the_example_prints_what_the_guide_says(patched):
    folder, printed = patched
    (expected,) = blocks("text")
    assert "".join(printed[:-10]) == expected
    code = "import schedlab as sl; print(sl.PATCHES['donate-all'].kind, sl.__file__)"
    kind, where = run_in(folder, "-c", code).split()
    assert kind == "own" and "donate-all" not in PATCHES
    assert Path(where).is_relative_to(folder)


def test_guide__engine_and_reference_agree_without_and_with_the_patch(patched):
    assert patched[1][-10:-2] == ["same\n"] * 8


def test_guide__the_figure_changes(patched, tmp_path):
    before, after = patched[1][-2:]
    assert before != after
    # what the run without the patch looks like is what it looks like where nobody has ported anything
    plain = EXAMPLE.replace('.with_patch("donate-all")', "")
    assert plain != EXAMPLE
    env = os.environ | {"PYTHONPATH": str(TOP), "MPLBACKEND": "agg"}
    command = [sys.executable, "-c", plain + PICTURES]
    done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines(keepends=True)[-2:] == [before, before]


def test_guide__the_picture_shown_is_the_one_that_comes_out(patched):
    pins = dict(re.findall(r"^(\S+)==(\S+)$", (TOP / "constraints.txt").read_text(), re.MULTILINE))
    if metadata.version("matplotlib") != pins["matplotlib"]:
        pytest.skip("drawn by another matplotlib than the one pinned")
    drawn = (patched[0] / "figures" / "donate-all.svg").read_bytes()
    assert drawn == (TOP / "docs" / "donate-all.svg").read_bytes()


def test_guide__worked_test_passes_and_no_digest_changes(patched):
    tests = ("tests/reference/test_worked.py", "tests/engine/test_golden.py")
    printed = run_in(patched[0], "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, "-k", "donate or digests")
    assert "3 passed" in printed


def test_guide__random_scenarios_draw_the_patch(patched):
    assert run_in(patched[0], "-c", DRAWN).split() == ["True", "True"]


# ---- what the guide says of forgotten steps --------------------------------------------------------------------------


@pytest.mark.parametrize("forgotten", ["patches.py", "lowering.py", "reference/bandwidth.py"])
def test_forgotten_step__shows(patched, forgotten):
    """Those that need no compile of their own: the engine of the copy stays where it is, and so its cache."""
    folder, _ = patched
    edited = folder / "schedlab" / forgotten
    with_step = edited.read_bytes()
    shutil.copy(TOP / "schedlab" / forgotten, edited)
    try:
        if forgotten == "patches.py":
            assert "patch='donate-all': one of" in run_in(folder, "-c", EXAMPLE, fails=True)
        else:
            assert run_in(folder, "-c", EXAMPLE + AGREE).split()[-8:] == ["same", "other"] * 4
    finally:
        edited.write_bytes(with_step)


def test_strategies__draw_every_patch_that_the_engine_reads():
    """A patch that no random scenario draws is compared with the reference by nobody."""
    sys.path.insert(0, str(TOP / "tests" / "reference"))
    import strategies

    drawn = {*strategies.LEGACY, *strategies.THROTTLE_PATCHES, *strategies.PHASES}
    missing = set(_PATCH_SWITCHES.values()) - drawn - set(NOT_DRAWN)
    assert not missing, f"tests/reference/strategies.py draws no kernel with {', '.join(sorted(missing))}"


# ---- where the kernel's functions live -------------------------------------------------------------------------------


def functions_of(room):
    """Return kernel function -> where it lives here, from the docstrings that say `cf. name()`."""
    places = {}
    for path in sorted((TOP / "schedlab" / room).glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if not isinstance(node, (ast.FunctionDef, ast.Module)):
                continue
            _, _, said = inspect.cleandoc(ast.get_docstring(node) or "").partition("cf. ")
            # up to the colon or the end of the sentence: what follows may name what it calls
            for name in re.findall(r"\b(?:__)?[a-z]\w*(?=\(\))", re.split(r"[:;]|\.\s", said)[0]):
                if name in NOT_OF_THE_KERNEL:
                    continue
                where = f"`{path.name}`"
                mine = getattr(node, "name", name)
                if mine != name:
                    where += f" `{mine}`"
                places.setdefault(name, {})[where] = None
    return {name: ", ".join(found) for name, found in places.items()}


def table_of_functions():
    """Return the guide's table: each function that a docstring names, and its file in both implementations."""
    engine, reference = functions_of("engine"), functions_of("reference")
    rows = ["| kernel | engine/ | reference/ |", "|---|---|---|"]
    for name in sorted({*engine, *reference}, key=lambda name: (name.strip("_"), name)):
        rows.append(f"| `{name}()` | {engine.get(name, '')} | {reference.get(name, '')} |")
    return "\n".join(rows)


def with_table(text):
    """Return the guide with the table as it should be."""
    head, rest = text.split("<!-- functions -->\n")
    tail = rest.partition("<!-- end -->")[2]
    return f"{head}<!-- functions -->\n{table_of_functions()}\n<!-- end -->{tail}"


def test_table__names_every_function_and_its_file():
    assert with_table(TEXT) == TEXT, "the sources' docstrings have moved on: run python tests/test_porting_guide.py"
    assert len(functions_of("engine")) > 100


def test_guide__names_only_what_is_there():
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", TEXT) if not link.startswith("http")]
    assert links and not [link for link in links if not (GUIDE.parent / link).is_file()]
    named = re.findall(r"`((?:schedlab|tests|docs)/[\w/.-]+\.\w+)`", TEXT)
    assert named and not [path for path in named if not (TOP / path).is_file()]


if __name__ == "__main__":
    GUIDE.write_text(with_table(TEXT), encoding="utf-8")

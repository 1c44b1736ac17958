"""Packaging and the shape of the tree: what is declared agrees, imports point one way, notebooks are clean."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

import schedlab

TOP = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
NOTEBOOKS = sorted([*(TOP / "notebooks").glob("*.ipynb"), *(TOP / "tests" / "notebooks").glob("*.ipynb")])
SOURCES = sorted((TOP / "schedlab").rglob("*.py"))


def _split(requirement):
    name, bounds = re.fullmatch(r"([A-Za-z0-9_.-]+)(.*)", requirement).groups()
    return re.sub(r"[-_.]+", "-", name).lower(), ",".join(sorted(bounds.replace(" ", "").split(",")))


# ------------------------------------------------------------------ declarations


def test_environment_yml_has_the_packages_and_bounds_of_pyproject():
    environment = yaml.safe_load((TOP / "environment.yml").read_text())
    conda = dict(_split(entry) for entry in environment["dependencies"] if isinstance(entry, str))
    assert conda.pop("python") == PROJECT["requires-python"]
    conda.pop("pip")
    wanted = [*PROJECT["dependencies"], *(r for extra in PROJECT["optional-dependencies"].values() for r in extra)]
    assert conda == dict(_split(requirement) for requirement in wanted)


def test_constraints_pin_every_dependency_inside_its_bounds():
    from packaging.requirements import Requirement

    lines = (TOP / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    pins = {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in pins.items()}
    for text in [*PROJECT["dependencies"], *(r for e in PROJECT["optional-dependencies"].values() for r in e)]:
        requirement = Requirement(text)
        assert requirement.specifier.contains(pins[_split(requirement.name)[0]]), text


def test_version_is_the_same_everywhere():
    cited = yaml.safe_load((TOP / "CITATION.cff").read_text())
    assert cited["version"] == schedlab.__version__
    assert f"## {schedlab.__version__} " in (TOP / "CHANGELOG.md").read_text()


def test_makefile_names_the_python_that_pyproject_requires():
    assert f"Python {PROJECT['requires-python'].removeprefix('>=')} " in (TOP / "Makefile").read_text()


def test_make__unsupported_python_is_told_in_one_line(tmp_path):
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(TOP / name, tmp_path)
    # as from a shell, also where the tests themselves were started by make
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MAKE") and name != "MFLAGS"}
    command = ["make", "setup", "PYTHON=/bin/false"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=clean)
    assert made.returncode != 0 and made.stdout == ""
    assert made.stderr.count("\n") == 1 and "schedlab needs Python 3.11 to 3.14" in made.stderr
    assert not (tmp_path / ".venv").exists()


def test_wheel_ships_notebooks_and_data(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=TOP, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "schedlab/_data/published/bandwidth_stress_ng.csv" in names
    assert "schedlab/report/templates/index.html.j2" in names
    for notebook in (TOP / "notebooks").glob("*.ipynb"):
        assert f"schedlab/_notebooks/{notebook.name}" in names
    assert not [name for name in names if name.startswith(("tests/", "notebooks/", "data/"))]


# ------------------------------------------------------------------ import


def test_import_schedlab_imports_nothing_heavy():
    code = "import sys, schedlab; print(*{m.partition('.')[0] for m in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    heavy = {
        "numba",
        "pandas",
        "matplotlib",
        "seaborn",
        "papermill",
        "pyarrow",
        "rich",
        "typer",
        "IPython",
        "distributed",
    }
    assert not heavy & set(loaded)


def test_public_names_resolve():
    missing = []
    for name in schedlab.__all__:
        try:
            getattr(schedlab, name)
        except (ImportError, AttributeError) as problem:
            missing.append(f"{name}: {problem}")
    assert not missing
    assert set(schedlab.__all__) <= set(dir(schedlab))


def test_unknown_public_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        schedlab.nonsense  # noqa: B018


@pytest.mark.parametrize("name", ["diff", "hotplug", "kernel", "run", "simulate"])
def test_a_function_is_not_hidden_by_the_module_of_its_name(name):
    code = f"import schedlab.{name}, schedlab; print(type(schedlab.{name}).__name__)"
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert shown.strip() == "function"


# ------------------------------------------------------------------ dependencies point one way

NOUNS = {"machine", "_topology", "kernel", "patches", "phases", "workload", "steps", "durations", "cgroup", "events"}
NOUNS |= {"units", "channels", "patches_hotplug", "patches_core", "features"}
# Small things without a room of their own, which know nothing of schedlab's rooms: anyone may use them.
LEAVES = {"_check", "_html", "_lazy", "_resources", "tables", "units"}
MAY_IMPORT = {
    "_jit": set(),
    "_first_run": {"_jit"},
    "units": {"_check"},
    "_check": set(),
    "_html": set(),
    "_lazy": set(),
    "_resources": set(),
    "tables": set(),
    "engine": {"_jit", "units"},
    **{noun: NOUNS | LEAVES for noun in NOUNS - {"units"}},
    "workloads": NOUNS | LEAVES,
    "reference": NOUNS | LEAVES,
    "serial": NOUNS | LEAVES,
    "timeline": NOUNS | LEAVES,
    "_contrast": NOUNS | LEAVES,
    "diff": NOUNS | LEAVES | {"timeline", "_contrast"},
    "run": NOUNS | LEAVES | {"serial", "timeline", "diff"},
    "provenance": NOUNS | LEAVES,
    "lowering": NOUNS | LEAVES | {"engine", "_jit", "lowering_channels", "lowering_core"},
    "lowering_core": NOUNS | LEAVES | {"engine"},
    "lowering_channels": NOUNS | LEAVES,
    "_pool": LEAVES | {"provenance"},
    "simulate": NOUNS | LEAVES | {"engine", "hotplug", "run", "provenance", "lowering", "_jit", "_pool", "_first_run"},
    "sweep": NOUNS | LEAVES | {"simulate", "run", "provenance", "serial", "_pool", "workloads", "io"},
    "hotplug": NOUNS | LEAVES | {"_jit"},
    "io": NOUNS | LEAVES | {"run"},
    "published": LEAVES,
    "record": LEAVES | {"_topology"},
    "studies": NOUNS
    | LEAVES
    | {"engine", "hotplug", "run", "provenance", "simulate", "io", "published", "workloads", "reference"},
    "figures": LEAVES,
}
# The page, on top of studies and figures; nobody imports it.
MAY_IMPORT["explore"] = MAY_IMPORT["studies"] | {"figures", "tables"}
EVERYTHING = {"report", "cli", "cli_io", "cli_sweep", "cli_whatif"}


def _room(path):
    return path.relative_to(TOP / "schedlab").parts[0].removesuffix(".py")


def _imports(path):
    """Return the rooms of schedlab that a source file imports."""
    package = ("schedlab", *path.relative_to(TOP / "schedlab").parts[:-1])
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        targets = []
        if isinstance(node, ast.Import):
            targets = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            targets = [(*base, alias.name) for alias in node.names] if len(base) == 1 else [base]
        # the version is a plain string of the package itself
        rooms |= {t[1] for t in targets if t[0] == "schedlab" and len(t) > 1 and t[1] != "__version__"}
    return rooms


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(TOP)))
def test_imports_point_one_way(path):
    room = _room(path)
    if room in EVERYTHING or room == "__init__":
        return
    assert room in MAY_IMPORT, f"the room {room!r} is new: say here what it may import"
    wrong = _imports(path) - MAY_IMPORT[room] - {room}
    assert not wrong, f"{path.name} imports {', '.join(sorted(wrong))}"


def test_only_the_engine_knows_numba():
    allowed = {"_jit", "engine"}
    for path in SOURCES:
        known = _room(path) in allowed or path.relative_to(TOP / "schedlab").as_posix() == "hotplug/counts.py"
        tree = ast.walk(ast.parse(path.read_text()))
        names = {a.name for n in tree if isinstance(n, ast.Import) for a in n.names}
        names |= {n.module for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ImportFrom) and n.module}
        assert known or not any(name.split(".")[0] == "numba" for name in names), path


def test_the_import_check_sees_relative_and_absolute_imports(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "TOP", tmp_path)
    path = tmp_path / "schedlab" / "studies" / "x.py"
    path.parent.mkdir(parents=True)
    path.write_text("from .. import io\nfrom ..run import Run\nimport schedlab.cli\nfrom . import y\nimport numpy\n")
    assert _imports(path) == {"io", "run", "cli", "studies"}


# ------------------------------------------------------------------ notebooks and documentation


def test_start_page__says_what_each_notebook_answers_and_how_long_it_takes():
    """A row a notebook, with the minutes of its metadata: add one to notebooks/README.md with a new notebook."""
    text = (TOP / "notebooks" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[(\w+)\]\((\w+)\.ipynb\) \| (.{20,}) \| ([\d.]+) (s|min) \|$", text, re.MULTILINE)
    takes = {name: float(number) / (60 if unit == "s" else 1) for name, _, _, number, unit in rows}
    assert [name for name, target, *_ in rows if name != target] == []
    paths = (TOP / "notebooks").glob("*.ipynb")
    said = {path.stem: json.loads(path.read_text())["metadata"]["schedlab"] for path in paths}
    assert takes == {name: pytest.approx(metadata["minutes"], abs=0.05) for name, metadata in said.items()}


def _cells(path):
    return [c for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_notebook_has_no_outputs(path):
    assert not [cell for cell in _cells(path) if cell["outputs"] or cell["execution_count"]]


@pytest.mark.parametrize("path", sorted((TOP / "notebooks").glob("*.ipynb")), ids=lambda p: p.name)
def test_notebook_holds_no_logic(path):
    cells = ["".join(cell["source"]) for cell in _cells(path)]
    assert len(cells) <= 20
    for cell in cells:
        nodes = list(ast.walk(ast.parse(cell)))
        kinds = (ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.For, ast.While)
        assert not [node for node in nodes if isinstance(node, kinds)], cell
        assert "njit" not in cell


def _public(tree, prefix=""):
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            yield prefix + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from _public(node, f"{node.name}.")


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(TOP)))
def test_public_things_have_docstrings(path):
    tree = ast.parse(path.read_text())
    without = [name for name, node in _public(tree) if not ast.get_docstring(node)]
    assert not without
    assert ast.get_docstring(tree) or not tree.body

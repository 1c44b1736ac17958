"""Where data, notebooks and reports live: at the top of a checkout, inside an installed wheel."""

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def checkout() -> Path | None:
    """Return the top of the checkout that this package runs from, or None where it was installed from a wheel."""
    top = _PACKAGE.parent
    return top if (top / "pyproject.toml").is_file() and (top / "data").is_dir() else None


def _shipped(name: str) -> Path:
    top = checkout()
    return top / name if top else _PACKAGE / f"_{name}"


def data_path(*parts: str) -> Path:
    """Return the path of something under data/, for example ``data_path("machines", "vm-32cpu.toml")``."""
    return _shipped("data").joinpath(*parts)


def notebooks_path() -> Path:
    """Return the folder of the studies' notebooks."""
    return _shipped("notebooks")


def reports_path() -> Path:
    """Return the folder that holds the reports: reports/ of the checkout, or of the current folder without one."""
    return (checkout() or Path.cwd()) / "reports"


def report_dir(name: str) -> Path:
    """Return the folder into which the notebook ``name`` writes, made if it is not there.

    ``schedlab report`` collects a run in a folder of its own and names it in SCHEDLAB_REPORT_DIR. Without that
    variable (bare papermill, JupyterLab) the folder is reports/<name>, from whichever folder the notebook runs.
    """
    chosen = os.environ.get("SCHEDLAB_REPORT_DIR")
    folder = Path(chosen) if chosen else reports_path() / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder

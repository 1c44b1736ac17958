"""Explore: a small scenario under your hands. `Scenario` says it, `View` is what it leaves, `Page` has the controls.

Nothing but `Page` needs widgets.
"""

from .._lazy import lazy

_HOMES = {
    "Scenario": "scenario",
    "GroupSettings": "scenario",
    "Tables": "tables",
    "View": "view",
    "Page": "page",
    "show": "page",
    "export": "export",
}

__all__ = list(_HOMES)

lazy(__name__, _HOMES)

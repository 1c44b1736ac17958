"""Packages whose public names are imported when one of them is used."""

import importlib
import sys
import types


def lazy(package: str, homes: dict[str, str]) -> None:
    """Let a package find its public names in its modules, each when it is first asked for.

    Importing a module of the package does not hide a public function of the same name.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : dict
        The module that defines a name, by name.
    """

    class Package(types.ModuleType):
        def __getattr__(self, name):
            if name not in homes:
                raise AttributeError(f"module {package!r} has no attribute {name!r}")
            value = getattr(importlib.import_module(f"{package}.{homes[name]}"), name)
            setattr(self, name, value)
            return value

        def __setattr__(self, name, value):
            if not (isinstance(value, types.ModuleType) and name in homes):
                super().__setattr__(name, value)

    sys.modules[package].__class__ = Package

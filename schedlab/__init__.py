"""Models of the Linux scheduler: a Machine, a Kernel and a Workload go into `simulate`, a Run comes out.

Public names are imported on first use, so that ``import schedlab`` costs next to nothing and the command line
answers at once.
"""

import importlib
import sys
import types

__version__ = "0.1.0"

# public name -> the module that defines it ("" where the name is a submodule itself)
_HOMES = {
    # the three nouns
    "Machine": "machine",
    "Watts": "machine",
    "Kernel": "kernel",
    "Costs": "kernel",
    "PATCHES": "patches",
    "Workload": "workload",
    "Group": "workload",
    "Task": "workload",
    "Channel": "channels",
    "SetCpuMax": "events",
    "SetAffinity": "events",
    "SetGroup": "events",
    "SetCpuOnline": "events",
    "HoldCpu": "events",
    "SetCookie": "events",
    # the steps of a task's program
    "run": "steps",
    "kernel": "steps",
    "spin": "steps",
    "sleep": "steps",
    "timer": "steps",
    "until": "steps",
    "yield_": "steps",
    "wait": "steps",
    "wake": "steps",
    "ALL": "steps",
    "barrier": "steps",
    "affinity": "steps",
    "mark": "steps",
    "sample": "steps",
    "repeat": "steps",
    "write": "channels",
    "read": "channels",
    "exponential": "durations",
    "uniform": "durations",
    "lognormal": "durations",
    # the verb and its result
    "simulate": "simulate",
    "replicate": "simulate",
    "sweep": "sweep",
    "Run": "run",
    "diff": "diff",
    # CPUs that come and go: the same nouns, and a prediction
    "hotplug": "hotplug",
    # units
    "us": "units",
    "ms": "units",
    "s": "units",
    # what a notebook leaves behind
    "report_dir": "_resources",
    "save_table": "tables",
    "write_comparison": "tables",
    "save_figure": "figures",
    # rooms
    "explore": "",
    "studies": "",
    "figures": "",
    "workloads": "",
    "io": "",
    "published": "",
    "units": "",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name):
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{home or name}")
    value = getattr(module, name) if home else module
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_HOMES})


class _Package(types.ModuleType):
    """The package itself: keeps a public name from being hidden by the module of the same name.

    Importing ``schedlab.kernel`` makes Python bind the module as the attribute ``kernel`` of the package. Here
    ``schedlab.kernel`` is a step (a task's kernel section), as ``run`` is a step and ``simulate`` the function;
    ``from schedlab.kernel import Kernel`` finds the module as ever.
    """

    def __setattr__(self, name, value):
        if isinstance(value, types.ModuleType) and _HOMES.get(name):
            return
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package

"""The controls: a widget for each field of a scenario, and back."""

import ipywidgets as widgets

from ..figures.style import COLOURS
from ..kernel import Kernel
from ..machine import Machine
from ..patches import PATCHES
from .scenario import KERNELS, MAX_THREADS, OFFERED, PATHS, GroupSettings, Scenario

_COLOURS = [COLOURS[name] for name in ("blue", "orange", "green", "purple")]
#: Larger machines have rows too low to read.
_MOST_CPUS = 64
_UNIFORM = ("uniform-1cpu", "uniform-2cpu", "uniform-2cpu-smt2", "uniform-4cpu")
_MS = (1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100, 120, 150, 200, 250, 300, 350, 400, 500, 600, 800)
_QUOTAS = (*_MS, 1000, 1200, 1600, 2000, 3000, 4000, 6400)
_PERIODS = (5, 10, 20, 25, 40, 50, 80, 100, 150, 200, 250, 400, 500, 1000)
_BURSTS = (0, *_MS, 1000)
_PHASES = tuple(range(0, 100, 5))
#: Stands for None on a slider, to which None is no option chosen.
_NONE = "none"


class GroupCard:
    """The controls of one group.

    Attributes
    ----------
    fields : dict of str to widget
        By the field of GroupSettings.
    box : ipywidgets.VBox
    """

    def __init__(self, k: int, settings: GroupSettings):
        self.fields = {
            "quota_ms": _steps("quota", _QUOTAS, settings.quota_ms, "no limit", last=True),
            "period_ms": _steps("period", _PERIODS, settings.period_ms),
            "burst_ms": _steps("burst", _BURSTS, settings.burst_ms),
            "phase_ms": _steps("phase", _PHASES, settings.phase_ms, "kernel's"),
            "threads": widgets.IntSlider(settings.threads, 1, min(32, MAX_THREADS), description="threads"),
            "load": widgets.IntSlider(settings.load, 5, 100, 5, description="load (%)"),
        }
        for widget in self.fields.values():
            widget.style = {"description_width": "58px"}
            widget.layout.width = "232px"
        head = widgets.HTML(f'<b style="color:{_COLOURS[k]}">&#9632; group {PATHS[k]}</b>')
        frame = widgets.Layout(border=f"1px solid {COLOURS['line']}", padding="4px 8px", margin="2px 4px 2px 0")
        self.box = widgets.VBox([head, *self.fields.values()], layout=frame)

    @property
    def settings(self) -> GroupSettings:
        """What the controls say."""
        values = {name: widget.value for name, widget in self.fields.items()}
        return GroupSettings(**{name: None if value == _NONE else value for name, value in values.items()})


def _steps(name, values, value, without=None, last=False):
    """Return a slider over values in ms; `without` names the step that stands for None, at the start or the end."""
    values = sorted({*values, *((value,) if value is not None else ())})
    options = [(f"{v:g} ms", v) for v in values]
    if without:
        options = [*options, (without, _NONE)] if last else [(without, _NONE), *options]
    return widgets.SelectionSlider(options=options, value=_NONE if value is None else value, description=name)


class Controls:
    """All controls of the page.

    Parameters
    ----------
    scenario : Scenario
        What they say at first.
    changed : callable
        Called without arguments after each change by hand.
    """

    def __init__(self, scenario: Scenario, changed):
        self._changed, self._quiet = changed, False
        machines = [name for name in Machine.names() if Machine.load(name).nr_cpus <= _MOST_CPUS]
        self.machine = _choice("machine", [*_UNIFORM, *machines], scenario.machine)
        self.kernel = _choice("kernel", KERNELS, scenario.kernel)
        self.balance = _choice("balancing", ["simple", "kernel"], scenario.balance)
        self.cookies = widgets.Checkbox(scenario.cookies, description="core scheduling: a cookie for each group")
        self.cookies.indent, self.cookies.layout.width = False, "290px"
        self.nr_groups = _choice("groups", [2, 3, 4], len(scenario.groups), "150px")
        self.length_ms = widgets.IntSlider(scenario.length_ms, 50, 2000, 50, description="run (ms)")
        self.length_ms.max = max(2000, scenario.length_ms)
        self.seed = widgets.BoundedIntText(scenario.seed, 0, 2**31 - 1, description="seed")
        self.shown_ms = widgets.IntRangeSlider(
            value=(0, scenario.length_ms), min=0, max=scenario.length_ms, description="show (ms)"
        )
        self.shown_ms.layout.width = "380px"
        self.seed.layout.width, self.seed.style = "150px", {"description_width": "40px"}
        self.length_ms.layout.width, self.length_ms.style = "260px", {"description_width": "70px"}
        kernel = _kernel(scenario.kernel)
        chosen = kernel.patches if scenario.patches is None else scenario.patches
        self.patches = {name: _patch(name, name in chosen) for name in OFFERED}
        spare = [*scenario.groups, *(GroupSettings() for _ in PATHS)]
        self.cards = [GroupCard(k, settings) for k, settings in zip(range(len(PATHS)), spare)]
        self._show_cards()
        self._watch()

    @property
    def scenario(self) -> Scenario:
        """What the controls say; ValueError where a group's settings cannot be."""
        own = tuple(sorted(name for name, box in self.patches.items() if box.value))
        of_release = tuple(sorted(set(_kernel(self.kernel.value).patches) & set(OFFERED)))
        return Scenario(
            machine=self.machine.value,
            kernel=self.kernel.value,
            patches=None if own == of_release else own,
            balance=self.balance.value,
            cookies=self.cookies.value,
            groups=tuple(card.settings for card in self.cards[: self.nr_groups.value]),
            length_ms=self.length_ms.value,
            seed=self.seed.value,
        )

    @property
    def box(self):
        """All controls, laid out."""
        wrap = widgets.Layout(flex_flow="row wrap")
        patches = widgets.VBox([_explained(name, box) for name, box in self.patches.items()])
        fold = widgets.Accordion([patches], titles=("patches: those of the release are ticked",))
        first = widgets.HBox([self.machine, self.kernel, self.balance, self.cookies], layout=wrap)
        second = widgets.HBox([self.nr_groups, self.length_ms, self.shown_ms, self.seed], layout=wrap)
        cards = widgets.HBox([card.box for card in self.cards], layout=wrap)
        return widgets.VBox([first, second, cards, fold])

    def each(self) -> dict:
        """Return every control by name."""
        names = ("machine", "kernel", "balance", "cookies", "nr_groups", "length_ms", "seed", "shown_ms")
        controls = {name: getattr(self, name) for name in names} | self.patches
        for path, card in zip(PATHS, self.cards):
            controls |= {f"{path} {name}": widget for name, widget in card.fields.items()}
        return controls

    # ---- what changes what -------------------------------------------------------------------------------------------

    def _watch(self):
        self.kernel.observe(self._take_its_patches, "value")
        self.nr_groups.observe(self._show_cards, "value")
        self.length_ms.observe(self._fit_window, "value")
        for control in self.each().values():
            control.observe(self._tell, "value")

    def _tell(self, _):
        if not self._quiet:
            self._changed()

    def _take_its_patches(self, _):
        """Another release brings its own patches; the picture is drawn once, after all of them."""
        patches = _kernel(self.kernel.value).patches
        self._quiet = True
        try:
            for name, box in self.patches.items():
                box.value = name in patches
        finally:
            self._quiet = False

    def _show_cards(self, _=None):
        for k, card in enumerate(self.cards):
            card.box.layout.display = "" if k < self.nr_groups.value else "none"

    def _fit_window(self, change):
        """A window that reached to the end still does."""
        start, end = self.shown_ms.value
        new_end = change["new"] if end == change["old"] else min(end, change["new"])
        self._quiet = True
        try:
            self.shown_ms.max = max(change["new"], end)
            self.shown_ms.value = (min(start, new_end - 1), new_end)
            self.shown_ms.max = change["new"]
        finally:
            self._quiet = False


def _kernel(version):
    return Kernel.version(version)


def _choice(name, options, value, width="236px"):
    options = [*options, *([] if value in options else [value])]
    box = widgets.Dropdown(options=options, value=value, description=name, style={"description_width": "70px"})
    box.layout.width = width
    return box


def _patch(name, on):
    box = widgets.Checkbox(on, description=name, indent=False)
    box.layout.width = "250px"
    return box


def _explained(name, box):
    patch = PATCHES[name]
    return widgets.HBox([box, widgets.Label(f"{patch.title} ({patch.merged or patch.kind})")])

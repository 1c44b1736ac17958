"""View: a scenario, what it leaves, and its picture; what the page shows, without the page."""

from dataclasses import dataclass, field
from functools import cached_property

from ..figures.explore import Shown, html_cpu_stat, lay_out, to_svg
from ..units import NS_PER_MS
from .scenario import Scenario
from .tables import Tables


@dataclass(frozen=True, repr=False)
class View:
    """A scenario that has been run, and the part of it that is shown.

    Attributes
    ----------
    scenario : Scenario
    run : schedlab.Run
    tables : Tables
    start_ms, end_ms : float
    """

    scenario: Scenario
    run: object = field(compare=False)
    tables: Tables = field(compare=False)
    start_ms: float
    end_ms: float

    @classmethod
    def of(cls, scenario: Scenario, start_ms: float = 0, end_ms: float | None = None, last: "View | None" = None):
        """Run a scenario, or take the run of the last view where it is of the same scenario.

        Raises
        ------
        ValueError, RuntimeError
            In one line, where the scenario cannot be.
        """
        same = last is not None and last.scenario == scenario
        run = last.run if same else scenario.run()
        end_ms = scenario.length_ms if end_ms is None else max(1, min(end_ms, scenario.length_ms))
        start_ms = max(0, min(start_ms, end_ms - 1))  # at least a millisecond is shown
        return cls(scenario, run, last.tables if same else Tables.of(run), start_ms, end_ms)

    @cached_property
    def scene(self):
        """The picture, laid out."""
        tables = self.tables
        return lay_out(
            Shown(
                tables.spans,
                tables.throttled,
                tables.forced_idle,
                tables.usage,
                tuple(group.path for group in self.run.workload.groups),
                self.run.machine.cores,
                round(self.start_ms * NS_PER_MS),
                round(self.end_ms * NS_PER_MS),
            )
        )

    @cached_property
    def svg(self) -> str:
        """The picture as SVG."""
        return to_svg(self.scene)

    @property
    def cpu_stat_html(self) -> str:
        """cpu.stat of each group as an HTML table."""
        limits = []
        for group in self.run.workload.groups:
            quota = "max" if group.quota_us is None else group.quota_us
            limits.append(f"{quota} {group.period_us}" + (f", burst {group.burst_us}" if group.burst_us else ""))
        return html_cpu_stat(self.tables.cpu_stat, limits, self.run.duration_ns)

    def __repr__(self):
        return f"<View of {self.run!r}, {self.start_ms:g} to {self.end_ms:g} ms>"

    def _repr_html_(self):
        return f"<div>{self.svg}</div>{self.cpu_stat_html}"

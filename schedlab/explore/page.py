"""Page: the controls, and the picture that follows them."""

import os
import time
from html import escape

from .scenario import Scenario
from .view import View


class Page:
    """A scenario under your hands: a change of a control simulates anew and redraws.

    What cannot be is said in one line above the picture, which then stays as it was, faded.

    Parameters
    ----------
    scenario : Scenario, optional
        What the controls say at first.

    Attributes
    ----------
    view : View or None
        What is on screen; None as long as nothing could be drawn.
    controls : schedlab.explore.controls.Controls
    nr_redraws : int
        How often the controls were read, the first time and settings that cannot be included.
    """

    def __init__(self, scenario: Scenario | None = None):
        import ipywidgets as widgets

        from .controls import Controls

        self.view, self.nr_redraws = None, 0
        self._said, self._picture, self._stat = (widgets.HTML() for _ in range(3))
        self.controls = Controls(scenario or Scenario(), self.redraw)
        self.widget = widgets.VBox([self.controls.box, self._said, self._picture, self._stat])
        self.redraw()

    @property
    def message(self) -> str:
        """The line above the picture, as HTML."""
        return self._said.value

    def redraw(self) -> None:
        """Simulate what the controls say, and draw it."""
        started = time.perf_counter()
        self.nr_redraws += 1
        try:
            view = View.of(self.controls.scenario, *self.controls.shown_ms.value, last=self.view)
        except (ValueError, RuntimeError) as problem:
            self._refuse(str(problem).splitlines()[0])
            return
        simulated = time.perf_counter()
        self.view = view
        self._picture.value = self._framed(1)
        self._stat.value = view.cpu_stat_html
        parts = (simulated - started, time.perf_counter() - simulated)
        simulated_ms, drawn_ms = (f"{1000 * part:.0f} ms" for part in parts)
        note = f" {view.run.kernel.note}." if view.run.kernel.note else ""
        text = f"{view.run.nr_events} events simulated in {simulated_ms}, drawn in {drawn_ms}.{note}"
        self._say(f'<span style="color:#5b6675">{escape(text)}</span>')

    def _refuse(self, problem):
        shown = "" if self.view is None else " The picture is that of the last settings that could be."
        text = f'<b style="color:#D55E00">Cannot be:</b> {escape(problem)}.{shown}'
        if self.view is not None:
            self._picture.value = self._framed(0.35)
        self._say(text)

    def _say(self, text):
        """Set the line, as the last thing of a redraw: the page is up to date when its number is there."""
        self._said.value = f'<div class="schedlab-said" data-redraw="{self.nr_redraws}">{text}</div>'

    def _framed(self, opacity):
        return f'<div class="schedlab-picture" style="opacity:{opacity};line-height:0">{self.view.svg}</div>'

    def _repr_mimebundle_(self, **options):
        return self.widget._repr_mimebundle_(**options)


def show(scenario: Scenario | None = None):
    """Return the page, or, in a report (which nobody can touch), the view alone.

    `export` takes either.

    Raises
    ------
    ValueError
        In a report, where the scenario cannot be.
    """
    if os.environ.get("SCHEDLAB_REPORT_DIR"):
        return View.of(scenario or Scenario())
    return Page(scenario)

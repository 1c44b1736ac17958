"""cpu.stat as an HTML table with the colours of the picture."""

from html import escape

import numpy as np

from .._timeline import PALETTE

_COUNTS = ("nr_periods", "nr_throttled", "nr_bursts")
_TIMES = ("usage_usec", "throttled_usec", "burst_usec")
_COLUMNS = ("usage_usec", "nr_periods", "nr_throttled", "throttled_usec", "nr_bursts", "burst_usec")
_CELL = "padding:2px 12px;text-align:right;white-space:nowrap"


def html_cpu_stat(cpu_stat, limits, length_ns: int) -> str:
    """Return a table with a row a group: its limit, CPUs used on average, and cpu.stat in the kernel's words.

    Parameters
    ----------
    cpu_stat : pandas.DataFrame
        `Run.cpu_stat` without the root.
    limits : sequence of str
        What cpu.max of each group says, in words.
    length_ns : int
        Simulated time.
    """
    heads = ("group", "cpu.max (µs)", "CPUs used", *_COLUMNS)
    rows = []
    for k, (path, row) in enumerate(cpu_stat.iterrows()):
        swatch = f'<span style="color:{PALETTE[k]}">&#9632;</span> {escape(path)}'
        used = f"{row['usage_usec'] * 1000 / length_ns:.2f}"
        cells = [swatch, escape(limits[k]), used, *(_number(row[name]) for name in _COLUMNS)]
        rows.append("<tr>" + "".join(f'<td style="{_CELL}">{cell}</td>' for cell in cells) + "</tr>")
    head = "".join(f'<th style="{_CELL}">{escape(text)}</th>' for text in heads)
    return f'<table style="border-collapse:collapse"><tr>{head}</tr>{"".join(rows)}</table>'


def _number(value) -> str:
    return "–" if np.isnan(value) else f"{int(value):,}".replace(",", " ")

"""The README: its example runs, its pictures are there, and its table is the one of the run behind them."""

import re
from pathlib import Path

import pandas as pd

from schedlab.studies.bandwidth_timers import say_agreement

TOP = Path(__file__).parents[1]
README = (TOP / "README.md").read_text(encoding="utf-8")


def test_readme__examples_run_one_after_the_other(capsys):
    """Interleaved timers are faster, 7.2 alone lets the nested group run on, and the example's host has an answer."""
    names, printed = {}, []
    for code in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        exec(compile(code, "README.md", "exec"), names)  # noqa: S102  the point of the test
        printed.append(capsys.readouterr().out)
    first, second, third = printed
    aligned, random = (float(found) for found in re.findall(r"([\d.]+) s, seed 0", first))
    assert random < aligned
    shares = {line.split()[0]: float(line.split()[-1]) for line in second.splitlines()}
    assert shares["6.12"] < 0.11 and shares["6.18"] < 0.11 and shares["7.2"] > 0.5
    assert "nr_throttled" in third and "period 100 ms, burst 20 ms, random timers: smallest quota without" in third


def test_readme__pictures_and_links_are_there():
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(targets) >= 4
    assert not [target for target in targets if not (TOP / target).is_file()]


def test_readme__table_is_that_of_the_gallery():
    source, text = re.search(r"<!-- agreement: (\S+) -->\n(.*?)\n<!-- end -->", README, re.DOTALL).groups()
    expected = say_agreement(pd.read_csv(TOP / source))
    assert text == expected, f"put this into README.md:\n{expected}"

"""Phases of fresh period timers: aligned before 6.4, random from then on."""

import numpy as np
import pandas as pd

from ...io.recordings import load
from ...phases import phase_ns
from ...units import NS_PER_US

#: Rayleigh's test rejects randomness below this.
REJECTED = 0.01
ALIGNED_R = 0.99


def concentration(phases_us, period_us: float) -> float:
    """Return the circular concentration R of phases: 1 when all are the same, about 1 / sqrt(n) when random."""
    return float(np.abs(np.exp(2j * np.pi * np.asarray(phases_us) / period_us).mean()))


def rayleigh_p(r: float, n: int) -> float:
    """Return the chance of a concentration of at least R from n random phases.

    exp(-z) (1 + (2z - z^2) / 4n), z = n R^2 (Mardia and Jupp, Directional Statistics, 6.3).

    Examples
    --------
    >>> round(rayleigh_p(0.35, 32), 3)
    0.018
    """
    z = n * r * r
    return max(0.0, float(np.exp(-z) * (1 + (2 * z - z * z) / (4 * n))))


def df_phases(draws: int = 400) -> pd.DataFrame:
    """Return the concentration of each scan, measured and in the model.

    Columns: recording, version, timers, rule (of the model's kernel), measured_r, rayleigh_p, model_r, model_low,
    model_high (mean and central 95 % over draws of as many timers).
    """
    rows = []
    for one in load("phases"):
        phases, kernel = one.raw["phases_us"], one.kernel
        n, period = len(phases), one.raw["period_us"]
        r = concentration(phases, period)
        model = [_model_r(kernel, seed, n, period) for seed in range(draws if kernel.timer_phase == "random" else 1)]
        ends = np.percentile(model, (2.5, 97.5))
        row = (one.name, one.raw["kernel"]["version"], n, kernel.timer_phase, r, rayleigh_p(r, n))
        rows.append((*row, np.mean(model), *ends))
    columns = [
        "recording",
        "version",
        "timers",
        "rule",
        "measured_r",
        "rayleigh_p",
        "model_r",
        "model_low",
        "model_high",
    ]
    return pd.DataFrame(rows, columns=columns)


def _model_r(kernel, seed, n, period_us):
    return concentration([phase_ns(kernel, seed, k, n) / NS_PER_US for k in range(n)], period_us)


def df_phase_points() -> pd.DataFrame:
    """Return every recorded phase: recording, version, phase_ms."""
    rows = [(one.name, one.raw["kernel"]["version"], p / 1000) for one in load("phases") for p in one.raw["phases_us"]]
    return pd.DataFrame(rows, columns=["recording", "version", "phase_ms"])

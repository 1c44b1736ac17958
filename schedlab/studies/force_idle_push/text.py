"""Sentences about the schedules, the noise and what it depends on: every number in them is computed."""

import pandas as pd

from .experiment import PUBLISHED
from .micro import RELEASE_MS, SECONDS
from .scenario import BASE, OTHER_RUNS, Scenario
from .tornado import MOST_RUNS

NAMES = {"lb_a": "LB-a", "lb_b": "LB-b", "lb_c": "LB-c"}


def name_of(variant: str) -> str:
    """Return a variant as it is called in text."""
    return " + ".join(NAMES.get(part, part) for part in variant.split("+"))


def say_scenario(scenario: Scenario) -> str:
    """Return what is simulated, as Markdown."""
    machine = scenario.machine
    text = (
        f"{scenario.vms} guests of {scenario.vcpus} virtual CPUs on {machine.nr_cpus} CPUs ({len(machine.cores)} cores "
        f"of {machine.threads_per_core}), a cookie each; HZ {scenario.kernel.hz}. Each guest has a VMM thread of its "
        f"cookie that works for {scenario.vmm_burst_us} us (mean, exponential) about each "
        f"{scenario.vmm_period_us / 1000:g} ms. {scenario.runs} runs of {scenario.seconds} s of the main kernels, at "
        f"most {OTHER_RUNS} of the others. All have "
        f"`{BASE[0]}`, as the author's had.\n\n"
        "The mail tells the numbers of CPUs, guests and virtual CPUs, the load and the tracer's settings. Not told, "
        "and "
        "**assumed**: topology, HZ, how the tracer runs (a thread on each virtual CPU, windows spread evenly), how "
        "guests begin (packed core by core), what the VMM threads do, and how *breaches* are summed. Here N_max is the "
        "longest gap of each window over its width, which is all that the tracer's output holds; N_sum adds all gaps "
        "up."
        "\n\nThe text of *force idle aware load balancing* was not found. Three readings stand for it, none of them "
        "is that patch: **LB-a** an idle CPU takes first from CPUs that are forced idle; **LB-b** a forced-idle CPU "
        "counts as idle; **LB-c** balancing neither parts siblings of one cookie nor joins unlike ones."
    )
    if not scenario.is_published:
        text += "\n\nThis is not the posted set-up: its numbers are context only."
    elif not scenario.is_enough:
        text += (
            "\n\n**A quick run:** so few and short runs prove nothing about the noise, whose published numbers are "
            "context here."
        )
    return text


def say_schedules(schedules: pd.DataFrame) -> str:
    """Return what the three schedules show.

    Parameters
    ----------
    schedules : pandas.DataFrame
        From `df_schedules`.
    """
    forced = schedules[schedules["what"] == "forced idle"]
    late = forced[forced["end_ms"] > RELEASE_MS].copy()
    late["ms"] = late["end_ms"] - late["start_ms"].clip(lower=RELEASE_MS)
    spent = late.groupby("scene")["ms"].sum()
    length = schedules["end_ms"].max() - RELEASE_MS
    parts = {scene: 100 * spent.get(scene, 0.0) / length for scene in ("baseline", "steal", "push")}
    return (
        "Two always-running tasks of unlike cookies on the siblings of a core take turns of one or two ticks (after "
        "half a slice the tick has the core pick anew). From "
        f"{RELEASE_MS} ms on tasks may go anywhere. Of the time from then on a sibling is forced idle for "
        f"{parts['baseline']:.0f} % with nothing to steal, {parts['steal']:.0f} % where a task of the running cookie "
        f"waits elsewhere and is stolen, and {parts['push']:.0f} % with the push: it comes at the next pick that "
        f"leaves "
        "a sibling idle. Drawn with the plain balancing of the model, so that nothing else moves tasks."
    )


def say_micro(micro: pd.DataFrame) -> str:
    """Return the table of layouts on one core as Markdown.

    Parameters
    ----------
    micro : pandas.DataFrame
        From `df_micro`.
    """
    lines = [
        "| CPU 0 \\| CPU 1 | HZ | shares by hand (%) | shares in the model (%) | forced idle by hand (%) | in the "
        "model "
        "(%) | core in use, by hand (%) | in the model (%) |",
        "|:---|---:|:---|:---|---:|---:|---:|---:|",
    ]
    for row in micro.itertuples():
        lines.append(
            f"| {row.layout.replace('|', chr(92) + '|')} | {row.hz} | {row.expected_shares} | {row.shares} | "
            f"{row.expected_forced_idle:.1f} | {row.forced_idle:.1f} | {row.expected_core_use:.1f} | "
            f"{row.core_use:.1f} |"
        )
    lines += [
        "",
        f"The largest error of a share is {micro['largest_error'].max():.2f} points over {SECONDS} s, at HZ 250 and "
        "1000 alike. *half* is a task of nice 3: 526 of 1024.",
    ]
    return "\n".join(lines)


def say_noise(scenario: Scenario, noise: pd.DataFrame) -> str:
    """Return the noise of each kernel as a Markdown table, and what the push does.

    Parameters
    ----------
    scenario : Scenario
    noise : pandas.DataFrame
        From `df_noise`.
    """
    lines = [
        "| kernel | runs | published | N_max (%) | of the baseline's | N_sum (%) | of the baseline's |",
        "|:---|---:|---:|:---|:---|:---|:---|",
    ]
    for row in noise.itertuples():
        posted = "" if pd.isna(row.published) else f"{row.published:.2f}"
        cells = []
        for name in ("n_max", "n_sum"):
            mean, low, high = (getattr(row, name + end) for end in ("", "_low", "_high"))
            cells.append(f"{mean:.2f} ({low:.2f} to {high:.2f})")
            ratio = [getattr(row, f"{name}_of_{end}") for end in ("baseline", "low", "high")]
            first = row.variant == "baseline"
            cells.append("" if first else f"{ratio[0]:.2f} ({ratio[1]:.2f} to {ratio[2]:.2f})")
        lines.append(f"| {name_of(row.variant)} | {row.runs} | {posted} | {' | '.join(cells)} |")
    by = noise.set_index("variant")
    base, push = by.loc["baseline"], by.loc["push"]
    clear = "which is not shown" if push["n_max_of_low"] <= 1 <= push["n_max_of_high"] else "which is shown"
    lines += [
        "",
        "In brackets: 95 % intervals of the mean over runs (Student's t), and of the ratio of means (on logarithms). "
        f"One run's N_max scatters by {100 * base['n_max_sd'] / base['n_max']:.0f} % of its mean in the baseline, so "
        f"that the mean of ten is known to about {200 * base['n_max_sd'] / base['n_max'] / 10**0.5:.0f} %.",
        "",
        f"**The push leaves {100 * push['n_max_of_baseline']:.0f} % of the baseline's N_max** (a change {clear}), "
        f"where "
        f"{100 * PUBLISHED['push'] / PUBLISHED['baseline']:.0f} % were posted, **and "
        f"{100 * push['n_sum_of_baseline']:.0f} % of its N_sum.** The one counts the longest gap of each "
        "window, the other all time lost.",
    ]
    return "\n".join(lines)


def say_causes(causes: pd.DataFrame, work: pd.DataFrame, meetings: pd.DataFrame) -> str:
    """Return what the noise consists of, and what the kernels did.

    Parameters
    ----------
    causes, work, meetings : pandas.DataFrame
        From `df_causes`, `df_work`, `df_meetings`.
    """
    part = causes.pivot(index="variant", columns="cause", values="n_max")
    forced = part[[name for name in part if name.startswith("forced")]].sum(axis=1)
    own = part["queued behind a vCPU of its own guest"]
    does, met = work.set_index("variant"), meetings.set_index("variant")
    push = met.loc["push"]
    return (
        f"Gaps of forced idle make up {forced['baseline']:.2f} of the baseline's {part.loc['baseline'].sum():.2f} %; "
        f"the "
        f"push leaves {forced['push']:.2f}. What grows is a queue: virtual CPUs of the measuring guest wait for each "
        f"other, {own['baseline']:.2f} % in the baseline and {own['push']:.2f} % with the push "
        f"({own['lb_c']:.2f} % with LB-c, {own['push+lb_c']:.2f} % with both).\n\n"
        f"Where from? With the push there are {push['meetings']:.0f} such meetings a minute (baseline: "
        f"{met.loc['baseline', 'meetings']:.0f}). In {push['second_wakes_on_previous']:.0f} % of them the second wakes "
        "on the CPU where it ran last, which the first has taken meanwhile: at this load a wake-up searches for no "
        f"other. The first was pushed there in {push['first_push']:.0f}, moved there by balancing in "
        f"{push['first_balance']:.0f}, and woken there in {push['first_wake']:.0f}: two that ended their windows on "
        "one CPU come back to it together.\n\n"
        f"Forced idle falls from {does.loc['baseline', 'forced_idle_cpus']:.3f} to "
        f"{does.loc['push', 'forced_idle_cpus']:.3f} CPUs on the mean, with {does.loc['push', 'pushes']:.0f} pushes a "
        f"second; the guests that compute get {does.loc['push', 'stress_cpus']:.2f} CPUs' worth of time in place of "
        f"{does.loc['baseline', 'stress_cpus']:.2f}. Below: means, per second of the whole machine; *breached* is the "
        "percentage of windows with a gap."
    )


def say_tornado(tornado: pd.DataFrame) -> str:
    """Return what matters most, and whether the push ever does what was posted.

    Parameters
    ----------
    tornado : pandas.DataFrame
        From `df_tornado`.
    """
    table = tornado.assign(name=[f"*{row.factor}: {row.setting}*" for row in tornado.itertuples()])
    others = table.iloc[1:]
    high, low = (others.loc[pick] for pick in (others["baseline_n_max"].idxmax(), others["baseline_n_max"].idxmin()))
    judged = others[others["baseline_n_max"] > 0.1]  # where nothing is left to measure a ratio says nothing
    best = judged.loc[judged["push_over_baseline"].idxmin()]
    lower, higher = judged[judged["ratio_high"] < 1], judged[judged["ratio_low"] > 1]
    posted = PUBLISHED["push"] / PUBLISHED["baseline"]
    near = judged[(judged["ratio_low"] <= posted) & (posted <= judged["ratio_high"])]
    sums = judged["push_n_sum"] / judged["baseline_n_sum"]
    more = [f"{name} ({100 * ratio:.0f} %)" for name, ratio in zip(judged["name"], sums) if ratio > 1]
    lines = [
        f"The baseline's N_max lies between {low['baseline_n_max']:.2f} % ({low['name']}) and "
        f"{high['baseline_n_max']:.2f} % ({high['name']}): what the mail does not tell decides more than the patch. "
        f"The push lowers N_max most with {best['name']}, to {100 * best['push_over_baseline']:.0f} %. "
        f"Settings whose interval (95 %, at most {MOST_RUNS} runs a setting) lies below 1: "
        f"{', '.join(lower['name']) or 'none'}; above 1, so that the push *raises* N_max: "
        f"{', '.join(higher['name']) or 'none'}. "
        + (
            f"The posted {100 * posted:.0f} % lie within the interval of {', '.join(near['name'])}."
            if len(near)
            else f"The posted {100 * posted:.0f} % lie in no interval."
        ),
        "",
        f"N_sum with the push is {100 * sums.median():.0f} % of that without in the median setting, "
        + (f"and above it with {', '.join(more)}." if more else "and below it in all."),
    ]
    return "\n".join(lines)

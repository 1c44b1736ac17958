"""EEVDF on random scenarios: the invariants G18 to G23, with sums and averages computed anew from the entities."""

from hypothesis import given, settings
from hypothesis import strategies as st
from random_scenarios import EEVDF, FOREVER, MS, Scenario, scenarios

import schedlab as sl
from schedlab.lowering import NICE_WEIGHTS


def members(probe):
    """By cfs_rq: the numbers of the entities on it, the running one and delayed ones among them."""
    found = {}
    for e, on_rq in enumerate(probe.state["se_on_rq"].tolist()):
        if on_rq:
            found.setdefault(int(probe.state["se_rq"][e]), []).append(e)
    return found


def weighted(probe, entities):
    """Sum of weights, and of weight times vruntime, in whole numbers without a limit."""
    weight, vruntime = probe.state["se_weight"], probe.state["se_vruntime"]
    load = sum(int(weight[e]) for e in entities)
    return load, sum(int(weight[e]) * int(vruntime[e]) for e in entities)


@settings(max_examples=60)
@given(scenarios(EEVDF))
def test_g18__sums_that_v_is_made_of(scenario):
    """G18: the sums kept over the tree are those of its members; the sum of w * (V - v) is in (-W, 0], V rounded down.

    V is v0 + the sum of w * (v - v0) over tree and curr, divided by W.
    """
    for probe in scenario.walk():
        for q, entities in members(probe).items():
            v0, curr = int(probe.state["rq_min_vruntime"][q]), int(probe.state["rq_curr"][q])
            load, total = weighted(probe, [e for e in entities if e != curr])
            assert int(probe.state["rq_sum_w"][q]) == load
            assert int(probe.state["rq_sum_vw"][q]) == total - v0 * load
            load, total = weighted(probe, entities)
            average = v0 + (total - v0 * load) // load
            assert -load < load * average - total <= 0
            assert int(probe.state["rq_load"][q]) == load and int(probe.state["rq_nr"][q]) == len(entities)


@settings(max_examples=60)
@given(scenarios(EEVDF))
def test_g19__stored_lag_is_bounded(scenario):
    """G19: the lag of an entity that left its queue is within max(2 * slice, tick) ns of service."""
    for probe in scenario.walk():
        for e, on_rq in enumerate(probe.state["se_on_rq"].tolist()):
            if not on_rq:
                most = max(2 * int(probe.state["se_slice"][e]), scenario.kernel.tick_ns)
                service = int(probe.state["se_vlag"][e]) * int(probe.state["se_weight"][e]) // 1024
                # a reweight rounds the lag to whole ns of virtual time
                assert abs(service) <= most + int(probe.state["se_weight"][e]) // 1024 + 1


# ---- tasks that always run, on one CPU -------------------------------------------------------------------------------

nices = st.integers(-20, 19)


@st.composite
def crowds(draw, nice=nices, most=6):
    """Two to six hogs in the root group of one CPU, all from time 0 on."""
    hz = draw(st.sampled_from((100, 250, 1000)))
    base_slice_ns = draw(st.sampled_from((None, 3 * MS, 300_000)))
    tunables = {} if base_slice_ns is None else {"base_slice_ns": base_slice_ns}
    kernel = sl.Kernel.version(draw(st.sampled_from(EEVDF)), hz=hz, hrtick=draw(st.booleans()), **tunables)
    chosen = draw(st.lists(nice, min_size=2, max_size=most))
    tasks = [sl.Task(f"hog{k}", FOREVER, nice=value) for k, value in enumerate(chosen)]
    return Scenario(
        sl.Machine.uniform(1), kernel, sl.Workload((), tasks), until_ns=draw(st.sampled_from((100, 400))) * MS
    )


def services(probe, now):
    """CPU time of each task up to now, the part not yet booked included."""
    exec_ns = probe.state["se_sum_exec"][: probe.nr_tasks].tolist()
    curr = int(probe.curr[0])
    if curr >= 0:
        exec_ns[curr] += now - int(probe.state["se_exec_start"][curr])
    return exec_ns


def lags(scenario):
    """After each event: (lag of each task in ns of service, slice, tick)."""
    load_of = [NICE_WEIGHTS[task.nice + 20] for task in scenario.workload.tasks]
    for probe in scenario.walk():
        slice_ns = int(probe.state["sys_base_slice"][0])
        served = services(probe, probe.now)
        yield [probe.now * w / sum(load_of) - s for w, s in zip(load_of, served)], slice_ns, scenario.kernel.tick_ns


@settings(max_examples=100)
@given(crowds())
def test_g20__lag_of_tasks_that_always_run(scenario):
    """G20: -(r + q) <= lag <= r + (n - 1) * q, with the slice r and the tick q.

    A picked task has lag >= 0 and overruns its request by less than q; each of the others can hold the CPU one q past
    its own.
    """
    nr = len(scenario.workload.tasks)
    for lag, r, q in lags(scenario):
        assert -(r + q) - 1 <= min(lag) and max(lag) <= r + (nr - 1) * q + 1


@settings(max_examples=40)
@given(crowds(nice=st.just(0)))
def test_g20__lag_of_equal_tasks(scenario):
    """G20: with equal weights abs(lag) <= r + q."""
    for lag, r, q in lags(scenario):
        assert max(abs(x) for x in lag) <= r + q + 1


@settings(max_examples=40)
@given(crowds(most=2))
def test_g23__two_hogs(scenario):
    """G23: abs(s1 - T * w1 / (w1 + w2)) <= slice + tick at any T."""
    for lag, r, q in lags(scenario):
        assert max(abs(x) for x in lag) <= r + q + 1


# ---- the pick --------------------------------------------------------------------------------------------------------


@st.composite
def root_tasks(draw):
    """Tasks of the root group of one CPU that run, sleep and yield, on 6.12 with slices of their own."""
    kernel = sl.Kernel.version(draw(st.sampled_from(EEVDF)), hz=draw(st.sampled_from((250, 1000))))
    slices = st.sampled_from((None, None, 500, 8000) if kernel.custom_slice else (None,))
    tasks = []
    for k in range(draw(st.integers(2, 6))):
        steps = [sl.run(draw(st.integers(100_000, 12 * MS)))]
        if draw(st.booleans()):
            steps.append(sl.sleep(draw(st.integers(100_000, 9 * MS))))
        if draw(st.booleans()):
            steps.append(sl.yield_())
        nice = draw(st.sampled_from((0, 0, -3, 4)))
        tasks.append(sl.Task(f"t{k}", sl.repeat(None, *steps), nice=nice, slice_us=draw(slices)))
    return Scenario(sl.Machine.uniform(1), kernel, sl.Workload((), tasks), until_ns=150 * MS)


@settings(max_examples=100)
@given(root_tasks())
def test_g21__earliest_deadline_among_the_eligible(scenario):
    """G21: whoever was just switched in is eligible, and no eligible one that waits has an earlier deadline.

    One group level, so no `next` buddy; a switch, so no protected curr. Eligible: the weighted mean is >= v, in whole
    numbers.
    """
    for probe in scenario.walk(log=("switch",)):
        switches = probe.drain()
        curr = int(probe.curr[0])
        if not len(switches) or curr < 0:
            continue
        entities = members(probe)[0]
        load, total = weighted(probe, entities)
        vruntime, deadline = probe.state["se_vruntime"], probe.state["se_deadline"]
        eligible = [e for e in entities if total >= int(vruntime[e]) * load]
        assert curr in eligible
        assert deadline[curr] == min(deadline[e] for e in eligible)


@settings(max_examples=60)
@given(crowds())
def test_g22__protected_until_its_request_is_used_up(scenario):
    """G22: a hog is switched out when its vruntime passed its deadline (a new one is set), or it became ineligible."""
    deadlines = {}
    for probe in scenario.walk(log=("switch",)):
        for time, _, _, prev, following in probe.drain().tolist():
            if prev >= 0 and time > 0:
                entities = members(probe)[0]
                load, total = weighted(probe, entities)
                expired = probe.state["se_deadline"][prev] != deadlines[prev]
                assert expired or total < int(probe.state["se_vruntime"][prev]) * load
            if following >= 0:
                deadlines[following] = int(probe.state["se_deadline"][following])

import pytest

import schedlab as sl
from schedlab import steps
from schedlab.io import rtapp

BR31 = """
/* a periodic task */
{ "tasks": { "pelt1": { "loop": 125, "run": 8000, // us
    "timer": { "ref": "unique", "period": 16000 }, "cpus": [1], } },
  "global": { "duration": 2, "calibration": "CPU0", "default_policy": "SCHED_OTHER" } }
"""
BR32 = """{
  "tasks": {
    "p20_400": {
      "phases": {
        "p000000": {
          "loop": 1,
          "delay": 5,
          "run": 20
        }
      }
    },
  }
}
"""


def _program(body, **more):
    return rtapp.parse_text('{"tasks": {"a": {' + body + "}}}", **more).workload.tasks[0].program


def test_br31__the_duty_cycle_is_exact():
    found = rtapp.parse_text(BR31)
    assert found.duration_ns == 2_000_000_000
    run = sl.simulate(sl.Machine.uniform(2), sl.Kernel.version("6.12"), found.workload, "2s", log=True)
    spans = run.spans()
    assert len(spans) == 125 and set(spans["cpu"]) == {1}
    assert set(spans["start_ns"].diff().dropna()) == {16_000_000}
    assert run.tasks()["exec_ns"].tolist() == [1_000_000_000]


def test_br32__unsupported_key_in_a_phase_and_a_trailing_comma(tmp_path):
    path = tmp_path / "demo.json"
    path.write_text(BR32)
    with pytest.raises(ValueError) as told:
        rtapp.read(path)
    assert f"{path}:7: tasks.p20_400.phases.p000000.delay: " in str(told.value) and "\n" not in str(told.value)
    path.write_text(BR32.replace('"delay": 5,', ""))
    assert rtapp.read(path).workload.tasks[0].name == "p20_400"


def test_events__run_sleep_and_loops():
    assert _program('"run0": 5, "sleep": 7, "runtime1": 3, "yield": ""') == (
        steps.repeat(None, steps.run(5000), steps.sleep(7000), steps.spin(3000), steps.yield_()),
    )
    assert _program('"loop": 2, "phases": {"p": {"loop": 3, "run": 5}, "q": {"sleep": 1}}') == (
        steps.repeat(2, steps.repeat(3, steps.run(5000)), steps.sleep(1000)),
    )


def test_properties__of_a_task():
    text = (
        '{"tasks": {"a": {"instance": 2, "delay": 50, "priority": -5, "taskgroup": "/x/y", "cpus": [0, 2], "run": 1}}}'
    )
    work = rtapp.parse_text(text).workload
    assert [task.name for task in work.tasks] == ["a-0", "a-1"] and work.group_paths == ("/", "/x", "/x/y")
    task = work.tasks[0]
    assert (task.start_ns, task.nice, task.group, task.cpus) == (50_000, -5, "/x/y", (0, 2))


def test_properties__nodes_and_cpus_of_phases():
    machine = sl.Machine.uniform(4, nr_nodes=2)
    text = '{"tasks": {"a": {"nodes_membership": [1], "run": 1}}}'
    assert rtapp.parse_text(text, machine=machine).workload.tasks[0].cpus == (2, 3)
    program = _program('"cpus": [0], "loop": 1, "phases": {"p": {"cpus": [1], "run": 1}, "q": {"run": 1}}')
    assert program == (steps.affinity(1), steps.run(1000), steps.affinity(0), steps.run(1000))


def test_events__suspend_resume_lock_wait_barrier_fork():
    text = """{"tasks": {
      "a": {"run": 10, "suspend": "", "barrier": "b"},
      "c": {"instance": 2, "run": 1, "resume": "a", "lock": "m", "wait": {"ref": "k", "mutex": "m"},
        "unlock": "m", "barrier": "b"},
      "d": {"loop": 3, "run": 1, "sleep": 500, "lock": "m", "broad": "k", "unlock": "m", "fork": "e"},
      "e": {"instance": 0, "loop": 1, "run": 2}}}"""
    work = rtapp.parse_text(text).workload
    assert [task.name for task in work.tasks] == ["a", "c-0", "c-1", "d", "e-0", "e-1", "e-2", "mutexes"]
    assert next(s for s in steps.walk(work.tasks[0].program) if isinstance(s, steps.Barrier)).n == 3
    run = sl.simulate(sl.Machine.uniform(4), sl.Kernel.version("6.12"), work, "10ms")
    assert run.tasks().set_index("name")["exec_ns"][["e-0", "e-1", "e-2"]].tolist() == [2000] * 3


def test_events__sync_is_lock_signal_wait_unlock():
    text = """{"tasks": {
      "a": {"loop": 1, "run": 1, "lock": "m", "wait": {"ref": "k", "mutex": "m"}, "signal": "k",
        "unlock": "m", "run1": 7},
      "b": {"loop": 1, "sleep": 500, "sync": {"ref": "k", "mutex": "m"}, "run": 3}}}"""
    run = sl.simulate(sl.Machine.uniform(2), sl.Kernel.version("6.12"), rtapp.parse_text(text).workload, "5ms")
    assert run.tasks()["exec_ns"].tolist()[:2] == [8000, 3000] and (run.tasks()["end_ns"] >= 0).all()


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('"run": -1', "tasks.a.run: a whole number"),
        ('"run": "x"', "tasks.a.run: a whole number"),
        ('"rnu": 1', "tasks.a.rnu: not supported here; did you mean 'run'?"),
        ('"mem": 1', "tasks.a.mem: memory and devices"),
        ('"run": 1, "policy": "SCHED_FIFO"', "tasks.a.policy: SCHED_OTHER alone"),
        ('"run": 1, "dl-period": 5', "tasks.a.dl-period: not supported"),
        ('"run": 1, "timer": {"ref": "t", "periode": 5}', "tasks.a.timer.periode: not supported"),
        ('"instance": 2, "run": 1, "timer": {"ref": "t", "period": 5}', "tasks.a.timer.ref: a timer that several"),
        ('"run": 1, "fork": "a"', "tasks.a.fork: at most"),
        ('"loop": 1, "run": 1, "fork": "x"', "tasks.a.fork: no task 'x'"),
        ('"run": 1, "cpus": []', "tasks.a.cpus: a list of numbers"),
        ('"run": 1, "nodes_membership": [0]', "tasks.a.nodes_membership: the nodes are"),
        ('"run": 1, "taskgroup": "x"', "tasks.a.taskgroup:"),
        ('"run": 1, "suspend": "a"', "nothing wakes that name"),
        ('"run": 1, "run": 2', "tasks.a.run: the key occurs twice"),
        ('"phases": {}', "tasks.a.phases: at least one phase"),
        ('"run": 1, "phases": {"p": {"run": 1}}', "tasks.a.run: an event beside phases"),
        ('"loop": 0, "run": 1', "tasks.a.loop: the task does nothing"),
        ('"run": ', "a value is needed"),
        ('"run": 5 "sleep": 1', "',' or '}' is needed"),
        ('"instance": 99999, "run": 1', "tasks.a.instance: a whole number from 0 to 1024"),
    ],
)
def test_wrong__file_line_and_path(body, told):
    with pytest.raises(ValueError) as error:
        rtapp.parse_text('{"tasks": {\n"a": {' + body + "}}}", "x.json")
    assert told in str(error.value) and str(error.value).startswith("x.json:") and "\n" not in str(error.value)


def test_wrong__deep_nesting():
    with pytest.raises(ValueError, match="deep"):
        rtapp.parse_text('{"tasks": ' * 5000, "x.json")

"""The periodic tasks under global EDF in SimSo 0.8.5, whose EDF prints each decision: its printing goes nowhere."""

import contextlib


class _Nowhere:
    def write(self, text):
        pass

    def flush(self):
        pass


def prepare(tasks: list[tuple[int, int]], nr_cpus: int, seconds: float):
    """Return a function that runs the tasks (period and work in ns) and returns how many jobs were done.

    Raises
    ------
    ImportError
        Where SimSo, or the SimPy 2 that it needs, is not installed.
    """
    from simso.configuration import Configuration
    from simso.core import Model

    configuration = Configuration()
    configuration.duration = round(seconds * 1000 * configuration.cycles_per_ms)
    for k, (period, work) in enumerate(tasks):
        ms = period / 1e6
        configuration.add_task(
            f"p{k}", k, period=ms, activation_date=ms, wcet=work / 1e6, deadline=ms, abort_on_miss=False
        )
    for k in range(nr_cpus):
        configuration.add_processor(f"cpu{k}", k)
    configuration.scheduler_info.clas = "simso.schedulers.EDF"
    configuration.check_all()
    model = Model(configuration)

    def run() -> int:
        with contextlib.redirect_stdout(_Nowhere()):
            model.run_model()
        return sum(job.end_date is not None for task in model.task_list for job in task.jobs)

    return run

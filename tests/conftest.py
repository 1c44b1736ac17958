"""What all tests share: hypothesis draws the same examples in each run, on fast machines and slow ones."""

import signal

from hypothesis import HealthCheck, settings

settings.register_profile(
    "deterministic",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("deterministic")


def pytest_terminal_summary(terminalreporter):
    """Say what tests measured (``record_property("measured", ...)``), also where they ran in another process."""
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == "measured" and report.when == "call":
                terminalreporter.write_line(f"MEASURED {value}")


# Where a shell started the tests in the background Ctrl-C is ignored, and so it would be in what they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

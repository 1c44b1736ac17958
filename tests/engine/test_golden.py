"""The same schedule on every machine: digests of whole runs."""

import json

from golden import FILE, scenarios


def test_digests__as_recorded():
    recorded = json.loads(FILE.read_text())
    found = {name: run.digest() for name, run in scenarios().items()}
    changed = [name for name in recorded if found.get(name) != recorded[name]]
    assert not changed, f"these schedules changed: {changed}; if that is meant, run tests/engine/golden.py"
    assert set(found) == set(recorded)

"""The text of trace events, as the kernel, trace-cmd and perf spell it, into the columns of a Trace.

Lines are matched one by one, so that each that does not fit is known by its number; numbers are converted a chunk at a
time.
"""

import gc
import re

import numpy as np

from .bodies import BODIES
from .convert import Contexts, Numbers, Texts, nanoseconds
from .report import Report
from .source import BadFile, chunks, excerpt
from .trace import DTYPES, EVENTS, MISSING, NONE, Trace, make_events

_NAMED = {name.encode(): code for code, name in enumerate(EVENTS)}
_FIELD = re.compile(rb"(\w+)=")
_LOST = re.compile(rb"LOST (\d+) EVENTS|\[(\d+ )?EVENTS DROPPED\]|PERF_RECORD_LOST.*?lost (\d+)")
_CPU_AT = re.compile(rb"CPU:? ?(\d{1,5})|\[(\d{1,5})\]")
_BEGINS = re.compile(rb"#+ CPU (\d{1,5}) buffer started #+")
_WRITTEN = re.compile(rb"# entries-in-buffer/entries-written: (\d+)/(\d+)")
_TIMES = ("cpu", "seconds", "fraction", "flags", "curr")


class Reader:
    """Collects the rows of one file. `head` matches a line up to its event, which `BODIES` take apart.

    Groups of `head`, by name: curr, cpu, flags, seconds, fraction, event, body.
    """

    def __init__(self, path, head: re.Pattern, skip: re.Pattern):
        self.path, self.head, self.skip = path, head, skip
        self.report, self.complete = Report(), None
        self.bodies = {code: [re.compile(p, re.S).match for p in patterns] for code, (_, *patterns) in BODIES.items()}
        self.names, self.states, self.contexts, self.numbers = Texts(), Texts(), Contexts(), Numbers()
        self.parts: list[dict[str, np.ndarray]] = []
        self.lost, self.begin_lines = [], []
        self.seen: dict[bytes, int] = {}
        self.nr_lines = self.nr_odd = 0

    def read(self, need) -> Trace:
        """Read the file; at least one event of those that `need` names must be in it."""
        collecting = gc.isenabled()
        gc.disable()  # millions of small tuples that hold no cycles
        try:
            for chunk in chunks(self.path, self.report.notes):
                ended = chunk.endswith(b"\n")
                lines = chunk.split(b"\n")
                self._chunk(lines[:-1] if ended else lines, ended)
        finally:
            if collecting:
                gc.enable()
        self._check_found(need)
        return self._trace()

    def _place(self, line):
        return f"line {line}"

    def _chunk(self, lines, ended):
        head, named, bodies = self.head.match, _NAMED, self.bodies
        rows = [[] for _ in EVENTS]
        number = self.nr_lines
        for line in lines:
            number += 1
            found = head(line)
            if found is None:
                self._odd(line, number, last=not ended and number == self.nr_lines + len(lines))
                continue
            curr, cpu, flags, seconds, fraction, event, body = found.groups()
            code = named.get(event)
            if code is None:
                self.seen[event] = self.seen.get(event, 0) + 1
                continue
            for match in bodies[code]:
                fields = match(body)
                if fields is not None:
                    fields = fields.groups()
                    if fields[-1]:
                        self._unknown_fields(event, fields[-1], number)
                    rows[code].append((number, cpu, seconds, fraction, flags, curr, *fields))
                    break
            else:
                self._odd(line, number, last=not ended and number == self.nr_lines + len(lines), event=event)
        self.nr_lines = number
        for code, part in enumerate(rows):
            if part:
                self.parts.append(self._columns(code, part))

    def _columns(self, code, rows):
        line, cpu, seconds, fraction, flags, curr, *fields = zip(*rows)
        time_ns = self._few(seconds) * 1_000_000_000 + nanoseconds(fraction)
        part = {"line": np.array(line, np.int64), "time_ns": time_ns, "cpu": self._few(cpu)}
        part["event"] = np.full(len(rows), code)
        part["context"] = np.array([self.contexts[text] for text in flags], np.int8)
        part["curr"] = self._few(curr)
        for column, texts in zip(BODIES[code][0], fields):
            if column in ("name", "next_name"):
                part[column] = np.array([self.names[text] for text in texts], np.int32)
            elif column == "state":
                part[column] = np.array([self.states[text] for text in texts], np.int32)
            elif column == "value":
                part[column] = np.fromiter(map(int, texts), np.int64, len(texts))
            else:
                part[column] = self._few(texts)
        return part

    def _few(self, texts):
        """Numbers of which there are few different ones."""
        known = self.numbers
        return np.array([known[text] for text in texts], np.int64)

    def _unknown_fields(self, event, text, number):
        known = _FIELD.findall(text) or [excerpt(text, 20).encode()]
        for name in known:
            kind = f"unknown field {name.decode('utf-8', 'backslashreplace')} of {event.decode()} (ignored)"
            self.report.count(kind, self._place(number))

    def _odd(self, line, number, last=False, event=None):
        """A line that is no event: a comment, a mark, or one that is broken."""
        place = self._place(number)
        if not line.strip() or (event is None and self._mark(line, number)):
            return
        if last:
            self.report.count("truncated last line", place, excerpt(line))
            return
        self.nr_odd += 1
        kind = "line that is no event" if event is None else f"{event.decode()} that does not have its fields"
        self.report.count(kind, place, excerpt(line))

    def _mark(self, line, number) -> bool:
        if b"LOST" in line or b"DROPPED" in line:
            lost = _LOST.search(line)
            if lost:
                count = next((int(n) for n in lost.groups() if n), NONE)
                cpu = _CPU_AT.search(line)
                cpu = int(cpu[1] or cpu[2]) if cpu else NONE
                self.lost.append((number, cpu, count))
                self.report.count("lost events", self._place(number), f"CPU {cpu}", n=max(1, count))
                return True
        begins = _BEGINS.search(line)
        if begins:
            self.begin_lines.append((number, int(begins[1])))
            self.complete = False
            return True
        written = _WRITTEN.match(line)
        if written:
            # "a/b": b - a events were overwritten, at the beginning
            kept, wrote = int(written[1]), int(written[2])
            self.complete = kept == wrote and self.complete is not False
            if kept < wrote:
                self.report.count("overwritten events", self._place(number), n=wrote - kept)
        return bool(written or self.skip.match(line))

    def _check_found(self, need):
        if any(len(part["line"]) and EVENTS[part["event"][0]] in need for part in self.parts):
            return
        if not self.parts and not self.seen and self.nr_odd:
            kind, (_, place, example) = next(iter(self.report.found.items()))
            raise BadFile(self.path, f"{kind}: {example}", int(place.removeprefix("line ")))
        counts = {EVENTS[code]: 0 for code in range(len(EVENTS))}
        for part in self.parts:
            counts[EVENTS[part["event"][0]]] += len(part["line"])
        seen = [f"{n} {name}" for name, n in counts.items() if n]
        seen += [f"{n} {excerpt(name, 40)}" for name, n in sorted(self.seen.items(), key=lambda item: -item[1])]
        found = ", ".join(seen[:6]) + (", ..." if len(seen) > 6 else "") if seen else "no event at all"
        raise BadFile(self.path, f"no {need[0]} in it ({self.nr_lines} lines: {found})")

    def _trace(self) -> Trace:
        columns, line = _joined(self.parts)
        self.parts.clear()
        for name, n in self.seen.items():
            self.report.count(f"event {excerpt(name, 40)} (ignored)", "", n=n)
        back = _steps_back(columns["cpu"], columns["time_ns"])
        if len(back):
            self.report.count("time goes back on a CPU", self._place(line[back[0]]), n=len(back))
        order = np.argsort(columns["time_ns"], kind="stable")
        columns = {name: values[order] for name, values in columns.items()}
        line = line[order]
        events = make_events(columns, self.names.texts, self.states.texts)
        lost = self._lost_table(columns, line)
        begins = {cpu: _next_time(columns, line, cpu, number) for number, cpu in self.begin_lines}
        begins = {cpu: time_ns for cpu, time_ns in begins.items() if time_ns is not None}
        complete = self.complete if not self.lost else False
        trace = Trace(events, self.report, complete, lost, begins, str(self.path), line)
        _remark_window(trace)
        return trace

    def _lost_table(self, columns, line):
        import pandas as pd

        rows = []
        for number, cpu, count in self.lost:
            before = _next_time(columns, line, cpu, number)
            if before is not None:
                rows.append((cpu, count, before))
        return pd.DataFrame(rows, columns=["cpu", "count", "before_ns"]).astype(np.int64)


def _next_time(columns, line, cpu, number):
    later = columns["time_ns"][(columns["cpu"] == cpu) & (line > number)]
    return int(later.min()) if len(later) else None


def _remark_window(trace):
    """Say which time of a CPU lies outside the window that all share."""
    if trace.complete:
        return
    start, end = trace.window
    if end <= start:
        trace.report.notes.append("no time is covered by all CPUs; name a window to analyse")
    for row in trace.cpus().itertuples():
        late, early = row.first_ns, row.last_ns
        first, last = trace.events["time_ns"].iloc[0], trace.events["time_ns"].iloc[-1]
        if late > first:
            trace.report.count(
                "CPU whose buffer begins late", f"CPU {row.cpu}", f"{(late - first) / 1e9:.6f} s after the first event"
            )
        if early < last:
            trace.report.count(
                "CPU whose buffer ends early", f"CPU {row.cpu}", f"{(last - early) / 1e9:.6f} s before the last event"
            )


def _joined(parts):
    names = sorted({name for part in parts for name in part})
    sizes = [len(part["line"]) for part in parts]
    line = np.concatenate([part["line"] for part in parts])
    order = np.argsort(line, kind="stable")
    columns = {}
    for name in names:
        if name != "line":
            pieces = [
                part[name] if name in part else np.full(n, MISSING[name], np.int8) for part, n in zip(parts, sizes)
            ]
            columns[name] = np.concatenate([piece.astype(DTYPES[name]) for piece in pieces])[order]
    return columns, line[order]


def _steps_back(cpu, time_ns):
    order = np.argsort(cpu, kind="stable")
    t, c = time_ns[order], cpu[order]
    return np.sort(order[1:][(c[1:] == c[:-1]) & (t[1:] < t[:-1])])

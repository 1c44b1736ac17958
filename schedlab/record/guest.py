"""Record a kernel image in QEMU, in virtual time: initramfs of busybox and a small C program, one boot a scenario."""

import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import time
from pathlib import Path

from . import form, guest_form
from .cpio import archive
from .tools import PROGRAMS, Missing, build, check_out, compiler

#: Script, programs, QEMU's -smp and -icount shift of each scenario. c counts instructions: 1 is 1 ns.
SCENARIOS = {
    "a": ("scn_a.sh", "4", 3),
    "b": ("scn_b.sh", "4,sockets=1,cores=2,threads=2", 3),
    "c": ("scn_c.sh", "8,sockets=1,cores=4,threads=2", 0),
    "d": ("scn_d.sh", "4", 3),
    "hole": ("scn_hole.sh", "2", 3),
}
QEMU = "qemu-system-x86_64"
#: Without hardware random numbers, mitigations and address randomisation, so that a boot repeats.
COMMAND_LINE = (
    "console=ttyS0 panic=-1 quiet nokaslr mitigations=off tsc=reliable no_timer_check random.trust_cpu=off nowatchdog "
    "no_hash_pointers schedstats=enable"
)
CPU = "qemu64,+ssse3,+sse4.1,+sse4.2,-rdrand"


def missing(kernel: Path | None, qemu: str = QEMU) -> list[str]:
    """Return what is missing to record a guest, one sentence each; empty when all is there."""
    said = []
    if shutil.which(qemu) is None:
        said.append(f"{qemu} is not installed (Debian: qemu-system-x86)")
    if _busybox() is None:
        said.append("no static busybox (Debian: busybox-static)")
    if compiler() is None:
        said.append("no C compiler (Debian: gcc)")
    if kernel is None:
        said.append("no kernel image (Debian: vmlinuz of a linux-image package, or linux-binary from 7.x on)")
    elif not kernel.is_file():
        said.append(f"kernel={kernel}: no such file")
    return said


def _busybox() -> Path | None:
    for name in ("/usr/lib/busybox-static/busybox", shutil.which("busybox")):
        if name and Path(name).is_file():
            linked = b"/lib64/ld-linux" in Path(name).read_bytes()[:4096]
            if not linked:
                return Path(name)
    return None


def record(
    kernel: Path, scenario: str, out: Path, *, variables=(), append: str = "", timeout_s: float = 600, qemu: str = QEMU
) -> list[dict]:
    """Boot the kernel, run a scenario, and write its recordings.

    Parameters
    ----------
    kernel : pathlib.Path
        A bootable image (bzImage).
    scenario : {"a", "b", "c", "d", "hole"}
    out : pathlib.Path
        File for the recordings (.jsonl.gz); what the guest left is kept beside it in a folder.
    variables : sequence of str
        ``NAME=value`` for the script, such as "SECS=1" or "GS='0 1000'".
    append : str
        More of the kernel's command line.
    timeout_s : float
        Wall time after which QEMU is stopped.

    Raises
    ------
    Missing
        When a tool is missing, or the guest did not finish; naming it.
    """
    for variable in variables:
        if not re.match(r"[A-Za-z_]\w*=", variable):
            raise Missing(f"set={variable!r}: NAME=VALUE, such as SECS=1")
    if not timeout_s > 0:
        raise Missing(f"timeout={timeout_s:g}: above 0 s")
    problems = missing(kernel, qemu)
    if problems:
        raise Missing("; ".join(problems))
    check_out(out)
    script, smp, shift = SCENARIOS[scenario]
    raw = out.with_name(out.name.partition(".")[0])
    raw.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        image = _initramfs(folder, script, variables)
        seconds = _boot(folder, raw, [qemu, *_options(kernel, image, folder, smp, shift, append)], timeout_s)
        _unpack(folder / "data", raw)
    run = _describe(raw, kernel, script, variables, shift) | {"wall_s": round(seconds, 1)}
    run["virtual_time"] = f"{_version(qemu)}, {run['virtual_time']}"
    (raw / "run.json").write_text(json.dumps(run, indent=1) + "\n")
    found = _hole(raw, run) if scenario == "hole" else guest_form.recordings(raw, run)
    form.write(out, found)
    return found


def _version(qemu: str) -> str:
    """QEMU's own name and version. 7.2 wakes idle CPUs of a larger guest late (up to 20 ms); 10.0 does not."""
    said = subprocess.run([qemu, "--version"], capture_output=True, text=True).stdout
    found = re.search(r"version ([\d.]+)", said)
    return f"QEMU {found[1]}" if found else "QEMU"


def _initramfs(folder, script, variables):
    parts = [(name, "dir", b"") for name in ("bin", "dev", "proc", "sys", "tmp")]
    parts.append(("bin/busybox", "program", _busybox().read_bytes()))
    parts += [(f"bin/{name}", "program", build(name, folder).read_bytes()) for name in ("sl", "hole")]
    parts.append(("init", "program", (PROGRAMS / "init").read_bytes()))
    parts.append(("lib.sh", "file", (PROGRAMS / "lib.sh").read_bytes()))
    text = "".join(f"{variable}\n" for variable in variables) + ". /lib.sh\n" + (PROGRAMS / script).read_text()
    parts.append(("run.sh", "file", text.encode()))
    path = folder / "initramfs.cpio"
    path.write_bytes(archive(parts))
    return path


def _options(kernel, image, folder, smp, shift, append):
    return [
        *("-accel", "tcg,thread=single", "-cpu", CPU, "-m", "1024", "-smp", smp, "-seed", "1"),
        *("-nodefaults", "-display", "none", "-no-reboot"),
        *("-serial", f"file:{folder / 'console'}", "-serial", f"file:{folder / 'data'}"),
        *("-icount", f"shift={shift},sleep=off,align=off", "-rtc", "base=2026-01-01,clock=vm"),
        *("-kernel", str(kernel), "-initrd", str(image), "-append", f"{COMMAND_LINE} {append}".strip()),
    ]


def _boot(folder, raw, command, timeout_s):
    """Run QEMU to its end, at low priority; its console is kept whatever happens."""
    began = time.monotonic()
    with open(raw / "qemu.log", "wb") as log:
        guest = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=lambda: os.nice(5)
        )
        try:
            guest.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise Missing(f"timeout={timeout_s:g} s: the guest did not end; its console is in {raw}") from None
        finally:
            if guest.poll() is None:
                guest.kill()
                guest.wait()
            if (folder / "console").exists():
                shutil.copy(folder / "console", raw / "console.txt")
    return time.monotonic() - began


def _unpack(data, raw):
    try:
        with tarfile.open(fileobj=io.BytesIO(data.read_bytes()), mode="r:gz") as packed:
            packed.extractall(raw, filter="data")
    except (OSError, tarfile.TarError) as problem:
        last = (raw / "console.txt").read_text(errors="replace").strip().splitlines()[-1:] or ["nothing on its console"]
        raise Missing(f"the guest left no results ({problem}); its last line: {last[0]}") from None


def _describe(raw, kernel, script, variables, shift):
    """What the guest said about itself (machine.txt), in the names of the form."""
    lines = (raw / "machine.txt").read_text(errors="replace").splitlines()
    release = re.search(r"Linux \S+ (\S+)", lines[0])[1]
    build_of = re.search(r"Debian (\S+)", lines[0])
    slice_of = next((line.split()[1] for line in lines if line.startswith("base_slice_ns")), None)
    hz = next((int(line.partition("=")[2]) for line in lines if line.startswith("CONFIG_HZ=")), None)
    return {
        "run": raw.name,
        "kernel": f"Debian {build_of[1]}" if build_of else f"image {kernel.name}, {release}",
        "release": release,
        "script": script,
        "variables": list(variables),
        "virtual_time": f"icount shift={shift}",
        "sched_features": next(line for line in lines if "TTWU_QUEUE" in line).split(),
        "base_slice_ns": slice_of and int(slice_of),
        "cpu_siblings": [line for line in lines if re.match(r"cpu\d+ smt=", line)],
        "hz": hz or 250,
    }


def _hole(raw, run):
    """The runs of the hole's scenario: usage for each window and cpu.stat."""
    cpus = len(run["cpu_siblings"])
    kernel = {"version": re.match(r"[\d.]+", run["release"])[0].rstrip("."), "build": run["kernel"], "hz": run["hz"]}
    kernel |= {"features": run["sched_features"], "base_slice_ns": run["base_slice_ns"], "cgroup": "v2"}
    found = []
    for path in sorted(raw.glob("h.*.json")):
        variant, repeat = re.match(r"h\.(\w+)\.r(\d+)\.json", path.name).groups()
        one = json.loads(path.read_text())
        row = {"name": f"{run['run']}/{variant}.r{repeat}", "kind": "hole", "what": "quota on A, tasks in A/B"}
        row |= {"variant": variant.removesuffix("q"), "repeat": int(repeat), "kernel": kernel}
        row |= {"condition": "CPU cleared" if variant.endswith("q") else "as it comes"}
        row |= {"machine": {"cpus": cpus, "siblings": [[cpu] for cpu in range(cpus)], "is": "QEMU guest"}}
        counters = {
            name.replace("usec", "us"): one[name]
            for name in ("usage_usec", "nr_periods", "nr_throttled", "throttled_usec")
        }
        row |= {
            "measured": {"/A": counters},
            "wall_us": one["wall_us"],
            "window_ms": 100,
            "usage_ms": one["usage_ms_per_sample"],
        }
        found.append(row | {"how": run["script"], "clock": run["virtual_time"]})
    return found

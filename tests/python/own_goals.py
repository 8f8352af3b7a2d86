"""Measures the goals of ssdgauge that need no other program: virtual drive, reports, and start.

    own_goals.py --cells
    own_goals.py PROGRAM TOOLS FOLDER RUNS PATTERN

TOOLS is the built ssdgauge-tools. Prints a line for each cell whose name matches PATTERN:
name, unit, goal (the most) and the values, separated by tabs. The run files of the reports are made in FOLDER, once.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STEADY = "tlc-client?state=steady"
# Without the fast cache, which would hide the effect of the spare area.
SPARE = STEADY + "&slc.fixed_gb=0&slc.dynamic_gb=0&over_provisioning=28%"
# The start of a program takes milliseconds, so that it can be repeated often.
STARTS = 21


def output(*command):
    return subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE, text=True).stdout


def run(*command):
    """Returns elapsed seconds, seconds of processor time and the peak of the resident memory in MB."""
    begin = time.monotonic()
    child = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    elapsed = time.monotonic() - begin
    if status != 0:
        raise SystemExit(f"error: {' '.join(map(str, command))} failed")
    return elapsed, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def ms_to_first_io():
    """Returns the time from the start of a run on a file until its I/O thread exists, in ms."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        command = [program, "quick", place, "--size", "64MiB", "--shorten", "200", "--out", f"{place}/a.ssdg"]
        begin = time.monotonic()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        tasks, found = Path(f"/proc/{child.pid}/task"), None
        while found is None and child.poll() is None:
            for task in tasks.glob("*/comm"):
                try:
                    if task.read_text().startswith("ssdgauge-io"):
                        found = time.monotonic() - begin
                except OSError:
                    pass  # The thread has ended.
        child.terminate()
        child.wait()
    if found is None:
        raise SystemExit("error: a run ended without an I/O thread")
    return found * 1e3


def ratios(spec):
    return [float(line) for line in output(tools, "speed", "ratios", spec, runs).split()]


def mib(spec):
    """Returns the peak memory of a worn-in drive in MiB, and in MiB for each GiB of it."""
    text = output(tools, "speed", spec, 1)
    whole, each = re.search(r"(\d+) MiB = ([\d.]+) MiB/GiB", text).groups()
    return float(whole), float(each)


def report(part):
    if not list(folder.glob("day/*/*.ssdg")):
        output(tools, "fleet", folder)
    page = folder / "page.html"
    page.unlink(missing_ok=True)
    return run(program, "report", *sorted(folder.glob(f"{part}/*/*.ssdg")), "-o", page)


def memory_of_a_day():
    return [report("day")[2] / report("hour")[2] for _ in range(runs)]


# Name: unit, goal, and what measures the values.
CELLS = {
    "virtual drive, default spare area": ("x floor", 1.5, lambda: ratios(STEADY)),
    "virtual drive, 28 % spare area": ("x floor", 1.7, lambda: ratios(SPARE)),
    "virtual drive of 500 GB, memory": ("MiB/GiB", 1.3, lambda: [mib(STEADY)[1]]),
    "virtual drive of 4 TB, memory": ("GB", 5, lambda: [mib(STEADY + "&capacity=4TB")[0] * 2**20 / 1e9]),
    "report of an hour": ("ms of processor time", 30, lambda: [report("hour")[1] * 1e3 for _ in range(STARTS)]),
    "report of 100 hours": ("s", 2, lambda: [report("hundred")[0] for _ in range(runs)]),
    "report of a day, memory": ("x that of an hour", 1.05, memory_of_a_day),
    "start, --help": ("ms", 5, lambda: [run(program, "--help")[0] * 1e3 for _ in range(STARTS)]),
    "start, suites": ("ms", 5, lambda: [run(program, "suites")[0] * 1e3 for _ in range(STARTS)]),
    "start, first I/O": ("ms", 30, lambda: [ms_to_first_io() for _ in range(STARTS)]),
}

if sys.argv[1:] == ["--cells"]:
    print(*CELLS, sep="\n")
    sys.exit()
program, tools, folder, runs, pattern = sys.argv[1:]
tools, folder, runs = Path(tools), Path(folder), int(runs)
for name, (unit, goal, measure) in CELLS.items():
    if re.search(pattern, name):
        print(name, unit, goal, " ".join(f"{value:.4g}" for value in measure()), sep="\t", flush=True)

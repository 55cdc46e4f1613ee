"""Measures how long a plan of a program takes from scratch, and after one of its files is saved.

    python3 tests/bench/replan.py VRAMSCOPE [PLAN OPTIONS...] -- python train.py ARGS...

Prints a row of a table: the seconds of the whole command (median of three); the seconds from saving
the program's file to the new figures of `plan --watch` (median of three); and the seconds of the
same program under FakeTensorMode with MemTracker (under_fake_tensors.py), or its error. `plan
--watch` plans in a fork of a process that has imported the packages. Needs no GPU; nothing else
should run.
"""

import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time


def seconds(command):
    begun = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - begun


def watched(vramscope, script, program):
    watcher = subprocess.Popen(
        [vramscope, "plan", "--watch", "--json", *program],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        watcher.stdout.readline()
        times = []
        for _ in range(3):
            time.sleep(5)  # until the process for the next plan has imported the packages
            begun = time.monotonic()
            os.utime(script)
            watcher.stdout.readline()
            times.append(time.monotonic() - begun)
        return times
    finally:
        watcher.send_signal(signal.SIGINT)
        watcher.wait()


def under_fake_tensors(vramscope, command):
    """Returns the seconds of the program under FakeTensorMode with MemTracker, or the first line of
    its error."""
    fake = pathlib.Path(__file__).with_name("under_fake_tensors.py")
    libraries = pathlib.Path(vramscope).resolve().parent.parent / "emulated"
    begun = time.monotonic()
    done = subprocess.run(
        [command[0], fake, *command[1:]],
        env=dict(os.environ, LD_LIBRARY_PATH=os.fspath(libraries)),
        capture_output=True,
        text=True,
    )
    if done.returncode == 0:
        return "%.1f s" % (time.monotonic() - begun)
    said = [
        line for line in done.stderr.splitlines() if line and not line[0].isspace() and ": " in line
    ]
    return "`%s`" % (said[-1] if said else "exit status %d" % done.returncode)


def main():
    vramscope, program = os.path.abspath(sys.argv[1]), sys.argv[2:]
    command = program[program.index("--") + 1 :]
    script = next(pathlib.Path(word) for word in command if word.endswith(".py"))
    times = [
        statistics.median(seconds([vramscope, "plan", "--json", *program]) for _ in range(3)),
        statistics.median(watched(vramscope, script, program)),
    ]
    texts = [*(f"{time:.1f} s" for time in times), under_fake_tensors(vramscope, command)]
    print(f"| {' '.join(command[1:])} | {' | '.join(texts)} |", flush=True)


if __name__ == "__main__":
    main()

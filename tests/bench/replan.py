"""Measures how long a plan of a program takes from scratch, and after one of its files is saved.

    python3 tests/bench/replan.py VRAMSCOPE -- python train.py ARGS...

Prints a row of a table: the seconds of the whole command (median of three), and the seconds from saving the program's
file to the new figures of `plan --watch` (median of three). `plan --watch` plans in a fork of a process that has
imported the packages. Needs no GPU; nothing else should run.
"""
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time


def cold(vramscope, program):
    begun = time.monotonic()
    subprocess.run([vramscope, "plan", "--json", *program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - begun


def watched(vramscope, program):
    script = next(pathlib.Path(word) for word in program[1:] if word.endswith(".py"))
    watcher = subprocess.Popen([vramscope, "plan", "--watch", "--json", *program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
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


def main():
    vramscope, program = os.path.abspath(sys.argv[1]), sys.argv[2:]
    from_scratch = statistics.median(cold(vramscope, program) for _ in range(3))
    print(f"| {' '.join(program[2:])} | {from_scratch:.1f} s | {statistics.median(watched(vramscope, program)):.1f} s |")


if __name__ == "__main__":
    main()

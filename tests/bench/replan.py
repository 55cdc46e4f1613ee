"""Measures how long a plan of a program takes: from scratch, from a warm process, and after a file is saved.

    python3 tests/bench/replan.py VRAMSCOPE -- python train.py ARGS...

Prints a row of a table: the seconds of the whole command (median of three), of a plan from a process that has
imported the packages (median of five), from saving the program's file to the new figures of `plan --watch`
(median of three), and the memory of the idle process. Needs no GPU; nothing else should run.
"""
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time


def seconds_of(command):
    begun = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    took = time.monotonic() - begun
    answer = json.loads(done.stdout)
    return took, answer["peak"]["allocated"], bool(answer.get("program", {}).get("cold"))


def resident(process):
    """Returns the memory of a process and its children in MiB, counting shared pages once."""
    total, processes = 0, [process]
    while processes:
        process = processes.pop()
        status = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8")
        total += next(int(line.split()[1]) for line in status.splitlines() if line.startswith("Pss:"))
        children = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text(encoding="utf-8")
        processes += map(int, children.split())
    return total // 1024


def warm(vramscope, program, folder):
    """Returns the seconds of plans from a warm process, and the memory of that process."""
    first, server = folder / "first", folder / "server"
    subprocess.run([vramscope, "plan", "--json", "--keep", first, *program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    socket = server / "socket"
    process = subprocess.Popen([vramscope, "plan", "--keep", server, "--serve", socket, "--modules", first / "modules.json", *program],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not socket.exists() and process.poll() is None:
            time.sleep(0.05)
        plans = [seconds_of([vramscope, "plan", "--json", "--warm", socket, *program]) for _ in range(5)]
        if any(cold for _, _, cold in plans):
            print("a plan started from scratch", file=sys.stderr)
        return [took for took, _, _ in plans], resident(process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def watched(vramscope, program):
    """Returns the seconds from saving the program's file to its new figures."""
    script = next(pathlib.Path(word) for word in program[1:] if word.endswith(".py"))
    watcher = subprocess.Popen([vramscope, "plan", "--watch", "--json", *program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        watcher.stdout.readline()
        times = []
        for _ in range(3):
            time.sleep(3)  # the warm process for the next plan starts
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
    cold = [seconds_of([vramscope, "plan", "--json", *program])[0] for _ in range(3)]
    with tempfile.TemporaryDirectory() as folder:
        from_warm, memory = warm(vramscope, program, pathlib.Path(folder))
    after_saving = watched(vramscope, program)
    middle = statistics.median
    print(f"| {' '.join(program[2:])} | {middle(cold):.1f} s | {middle(from_warm):.1f} s | {middle(after_saving):.1f} s | {memory} MiB |")


if __name__ == "__main__":
    main()

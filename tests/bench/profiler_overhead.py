"""Measures the cost of recording a training step, and that of torch.profiler on the same step, on
the emulated platform or on a real GPU.

    python3 profiler_overhead.py --vramscope V --python P [--rounds 5] [--steps 40] [--real]

Each variant is a separate process. Every round runs all variants one after the other, so that other
load on the computer affects them equally. A step's cost is the CPU time of all threads from the
fourth step on, divided by the number of steps. It includes torch.profiler's stop and vramscope's
writes. The table has medians over the rounds, and the difference from the plain program.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

WAYS = {
    "plain": "nothing watches",
    "history": "the allocator's history alone (PyTorch's own, Python stacks), written",
    "activities": "history, kernels, copies and calls (CUPTI), the card's memory (NVML)",
    "record": "the same with all hooks, as `record` has it",
    "plan": "and what a plan adds: names of operators, values that a card would have read back",
    "profiler_cuda": "torch.profiler: kernels, copies and calls alone",
    "profiler": "torch.profiler: operators, too, as it is by itself",
    "profiler_memory": "torch.profiler: operators, memory, stacks",
}
OURS = ("history", "activities", "record", "plan")


def step_program(way, steps):
    import torch

    layers = [torch.nn.TransformerEncoderLayer(256, 4, 512, batch_first=True) for _ in range(12)]
    model = torch.nn.Sequential(*layers).cuda()
    optimizer = torch.optim.AdamW(model.parameters())

    def step():
        x = torch.randn(8, 64, 256).cuda()
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    for _ in range(3):
        step()
    torch.cuda.synchronize()
    profiled = None
    if way.startswith("profiler"):
        from torch.profiler import ProfilerActivity, profile

        kinds = [ProfilerActivity.CUDA] + ([] if way == "profiler_cuda" else [ProfilerActivity.CPU])
        more = way == "profiler_memory"
        for _ in range(2):  # the first call prepares data that are kept for later calls
            profiled = profile(activities=kinds, profile_memory=more, with_stack=more)
            begun = time.process_time(), time.perf_counter()
            profiled.start()
            for _ in range(steps):
                step()
            torch.cuda.synchronize()
            profiled.stop()
    else:
        begun = time.process_time(), time.perf_counter()
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
    ended = time.process_time(), time.perf_counter()
    print(
        json.dumps(
            {
                "processor_ms": (ended[0] - begun[0]) / steps * 1e3,
                "clock_ms": (ended[1] - begun[1]) / steps * 1e3,
            }
        )
    )


def environment_of(arguments, way, folder):
    """Returns the environment variables that `vramscope plan` sets for its program, or none for a
    real GPU."""
    output = os.path.join(folder, way)
    if arguments.real:
        told = dict(os.environ)
        if way in OURS:
            sys.exit("--real: run this program under `vramscope record` by hand")
        return told
    seen = subprocess.run(
        [
            arguments.vramscope,
            "plan",
            "--device",
            "h100-sxm",
            "--steps",
            "0",
            "--keep",
            output,
            "--",
            "env",
            "-0",
        ],
        capture_output=True,
        timeout=60,
    )
    told = dict(line.split("=", 1) for line in seen.stdout.decode().split("\0") if "=" in line)
    if "LD_AUDIT" not in told:
        sys.exit(seen.stderr.decode())
    told.pop("VRAMSCOPE_EMULATED_ROOMS", None)
    if way not in OURS:
        for name in ("CUDA_INJECTION64_PATH", "VRAMSCOPE_PROGRAM_ACTIVITIES"):
            told.pop(name, None)
        told["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")
    if way == "history":
        for name in ("CUDA_INJECTION64_PATH", "VRAMSCOPE_PROGRAM_ACTIVITIES"):
            told.pop(name, None)
    if way in ("history", "activities"):
        told["VRAMSCOPE_PROGRAM_HOOKS"] = "none"
    if way in ("history", "activities", "record"):
        for name in (
            "NVTX_INJECTION64_PATH",
            "VRAMSCOPE_PROGRAM_OPERATORS",
            "VRAMSCOPE_PROGRAM_EMULATED",
        ):
            told.pop(name, None)
    return told


def measured(arguments, way, folder):
    done = subprocess.run(
        [
            arguments.python,
            os.path.abspath(__file__),
            "--way",
            way,
            "--steps",
            str(arguments.steps),
        ],
        env=environment_of(arguments, way, folder),
        capture_output=True,
        text=True,
        timeout=600,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"processor_ms"')]
    if not lines:
        sys.exit(f"{way}: {done.stderr.strip()[-2000:]}")
    return json.loads(lines[-1])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vramscope", default="vramscope")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--way", choices=WAYS)
    arguments = parser.parse_args()
    if arguments.way:
        return step_program(arguments.way, arguments.steps)
    runs = {way: [] for way in arguments.ways.split(",")}
    for number in range(arguments.rounds):
        for way in runs:
            with tempfile.TemporaryDirectory() as folder:
                runs[way].append(measured(arguments, way, folder))
            print(
                f"round {number + 1}: {way} {runs[way][-1]['processor_ms']:.2f} ms",
                file=sys.stderr,
                flush=True,
            )
    plain = [run["processor_ms"] for run in runs["plain"]]
    print(
        "| | CPU ms per step | wall-clock ms | difference from plain | relative to torch.profiler |"
    )
    print("|---|---|---|---|---|")
    more = {
        way: statistics.median(run["processor_ms"] - base for run, base in zip(runs[way], plain))
        for way in runs
    }
    for way, all_runs in runs.items():
        processor = statistics.median(run["processor_ms"] for run in all_runs)
        clock = statistics.median(run["clock_ms"] for run in all_runs)
        ratio = f"{more[way] / more['profiler']:.2f}" if more.get("profiler", 0) > 0 else "-"
        print(f"| {WAYS[way]} | {processor:.2f} | {clock:.2f} | {more[way]:+.2f} | {ratio} |")


if __name__ == "__main__":
    main()

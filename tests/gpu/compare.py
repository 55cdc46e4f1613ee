#!/usr/bin/env python3
"""Plans training programs on an emulated H200 and compares every allocation and the durations of
phases with their recordings on a real H200 (../golden/gpu/h200, by record.py).

    python3 compare.py --vramscope build/release/bin/vramscope --python VENV/bin/python \
        [--only REGEX] [--causes 5]

VENV needs torch 2.11, transformers 4.57.1, peft 0.17.1 and torchvision 0.26. The exit status is 1
if a peak differs or fewer allocations are equal than --at-least, and 77 if packages are missing."""

import argparse
import difflib
import glob
import gzip
import json
import os
import pickle
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(os.path.dirname(HERE), "golden", "gpu", "h200")
DEVICE = "h200"
PHASES = ("forward", "backward", "optimizer")
PROGRAMS = [
    os.path.basename(path).split(".")[0]
    for path in sorted(glob.glob(os.path.join(GOLDEN, "*.pickle.zst")))
]
FITTED, HELD_OUT = PROGRAMS[::2], PROGRAMS[1::2]
NEEDED = {"torch": "2.11.0", "transformers": "4.57.1", "peft": "0.17.1", "torchvision": "0.26.0"}


def lacks(python):
    asked = (
        "import importlib.metadata as m, json\nprint(json.dumps({n: m.version(n) for n in %r}))"
        % list(NEEDED)
    )
    done = subprocess.run([python, "-c", asked], capture_output=True, text=True)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no answer"])[-1]
    there = json.loads(done.stdout)
    wrong = [
        f"{name} {there[name]} (not {version})"
        for name, version in NEEDED.items()
        if there[name].split("+")[0] != version
    ]
    return ", ".join(wrong)


def requests(snapshot):
    """Returns [(action, bytes)] for all entries of the device that was used, and the entries of its
    allocations."""
    trace = next(trace for trace in snapshot["device_traces"] if trace)
    told = (
        "alloc",
        "free_completed",
        "segment_alloc",
        "segment_free",
        "segment_map",
        "segment_unmap",
    )
    return [(entry["action"], entry["size"]) for entry in trace if entry["action"] in told], [
        e for e in trace if e["action"] == "alloc"
    ]


def place(entry):
    return (
        " < ".join(
            f"{os.path.basename(f['filename'])}:{f['line']} {f['name']}"
            for f in entry.get("frames", [])[:3]
        )
        or "backward"
    )


def compared(name, planned_path, planned_steps, recorded_steps, causes):
    recorded, recorded_allocations = requests(pickle.loads(unpacked(name + ".pickle.zst")))
    with gzip.open(planned_path) as file:
        planned, planned_allocations = requests(pickle.load(file))
    a, b = [e["size"] for e in recorded_allocations], [e["size"] for e in planned_allocations]
    # If the lists are equal, it is not necessary to search for matching parts.
    same = (
        len(a)
        if a == b
        else sum(
            block.size
            for block in difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
        )
    )
    peaks = [
        (p["peak_allocated"] - r["peak_allocated"], p["peak_reserved"] - r["peak_reserved"])
        for p, r in zip(planned_steps, recorded_steps)
    ]
    worst = max(peaks, key=lambda pair: (abs(pair[0]), abs(pair[1])))
    share = same / max(len(a), len(b), 1)
    times = " | ".join(f"{ratio:.2f}" for ratio in ratios(planned_steps, recorded_steps).values())
    print(
        f"| {name} | {len(a):,} | {share:.2%} | {'yes' if recorded == planned else 'no'} | "
        f"{worst[0]:+,} | {worst[1]:+,} | {times} |",
        flush=True,
    )
    if a != b:
        for kind, i1, i2, j1, j2 in [
            o
            for o in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
            if o[0] != "equal"
        ][:causes]:
            print(
                f"    recorded {a[i1:i2][:4]}, planned {b[j1:j2][:4]}: "
                f"{place((recorded_allocations[i1:i2] or planned_allocations[j1:j2])[0])}"
            )
    return {
        "requests": len(a),
        "equal": same,
        "share": share,
        "in_order": recorded == planned,
        "peak": worst[0],
        "reserved": worst[1],
    }


def ratios(planned_steps, recorded_steps):
    """Returns a ratio for each phase: planned time divided by recorded time. It is the median over
    all steps but the first."""
    return {
        phase: statistics.median(
            p["ms"][phase] / r["ms"][phase] for p, r in zip(planned_steps[1:], recorded_steps[1:])
        )
        for phase in PHASES
    }


def say_times(times):
    """Prints the ratios of two groups of programs. Sorted by name, programs 0, 2, 4, ... were used
    to fit the constants for an optimizer's host time. The other programs test these constants."""
    print(
        "\n| planned / recorded time of programs, median (least to most) | "
        + " | ".join(PHASES)
        + " |\n|---|---|---|---|"
    )
    for what, programs in (
        ("programs that constants were taken of", FITTED),
        ("held out", HELD_OUT),
    ):
        cells = []
        for phase in PHASES:
            all_ratios = [times[name][phase] for name in programs if name in times]
            cells.append(
                f"{statistics.median(all_ratios):.2f} ({min(all_ratios):.2f} to "
                f"{max(all_ratios):.2f})"
                if all_ratios
                else "-"
            )
        print(f"| {what} | " + " | ".join(cells) + " |")


def unpacked(name):
    with open(os.path.join(GOLDEN, name), "rb") as file:
        return subprocess.run(["zstd", "-dc"], stdin=file, capture_output=True).stdout


def operators(planned_path, causes):
    """Compares the allocations of each operator case, in their order, for forward and for backward.
    Does not compare segments. Returns the number of differences."""
    recorded = json.loads(unpacked("ops.json.zst"))["cases"]
    with gzip.open(planned_path) as file:
        planned = json.load(file)["cases"]
    asked = lambda case, phase: [
        (e["action"], e["size"])
        for e in case.get(phase, [])
        if not e["action"].startswith("segment")
    ]
    refused = [
        name
        for name in recorded
        if ("error" in recorded[name]) != ("error" in planned.get(name, {}))
    ]
    pairs = [
        (name, phase)
        for name, case in recorded.items()
        if "error" not in case
        for phase in ("forward", "backward")
        if phase in case
    ]
    other = [
        pair
        for pair in pairs
        if asked(recorded[pair[0]], pair[1]) != asked(planned.get(pair[0], {}), pair[1])
    ]
    print(
        f"operators: {len(pairs) - len(other)} of {len(pairs)} forward and backward passes are "
        f"equal; {len(refused)} were refused on only one side"
    )
    for name, phase in other[:causes]:
        sizes = lambda cases: [
            size for action, size in asked(cases.get(name, {}), phase) if action == "alloc"
        ]
        print(f"    {name} {phase}: recorded {sizes(recorded)}, planned {sizes(planned)}")
    return len(other) + len(refused)


def commit_of(vramscope):
    """Returns the commit of the program's source, which `--version` prints."""
    done = subprocess.run([vramscope, "--version"], capture_output=True, text=True)
    return next(
        (
            line.split(" ", 1)[1].strip()
            for line in done.stdout.splitlines()
            if line.startswith("commit ")
        ),
        "unknown",
    )


def keep(path, figures):
    """Adds the figures of this run to the file, which keeps other figures from earlier runs."""
    kept = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            kept = json.load(file)
    kept.update(figures)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(kept, file, indent=1, sort_keys=True)
        file.write("\n")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vramscope", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", default="")
    parser.add_argument("--causes", type=int, default=0)
    parser.add_argument("--at-least", type=float, default=0.995)
    parser.add_argument(
        "--operators", type=int, default=3, help="number of operator passes that may differ"
    )
    parser.add_argument(
        "--results",
        metavar="F.json",
        help="merge the figures into this file (docs/results/data/gpu.json)",
    )
    arguments = parser.parse_args()
    problem = lacks(arguments.python)
    if problem:
        print("skipped:", problem)
        return 77
    with open(os.path.join(GOLDEN, "summary.json")) as file:
        summary = json.load(file)
    print(
        "| program | requests | equal | all events in order | peak allocated | peak reserved | "
        + " | ".join(PHASES)
        + " |\n|---|---|---|---|---|---|---|---|---|"
    )
    bad = 0
    times = {}
    figures = {}
    for name in PROGRAMS + ["ops"]:
        if not re.search(arguments.only, name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [
                    arguments.vramscope,
                    "plan",
                    "--no-skip-init",
                    "--steps",
                    "0",
                    "--device",
                    DEVICE,
                    "--writable",
                    folder,
                    "-o",
                    os.path.join(folder, "plan.trace"),
                    "--",
                    arguments.python,
                    os.path.join(HERE, "record.py"),
                    folder,
                    "--one",
                    name,
                ],
                capture_output=True,
                text=True,
                timeout=900,
            )
            result = os.path.join(folder, name + ".result.json")
            if done.returncode or not os.path.exists(result):
                print(name, "could not be planned:", done.stderr[-400:])
                bad += 1
                continue
            if name == "ops":
                bad += (
                    operators(os.path.join(folder, "ops.json.gz"), arguments.causes)
                    > arguments.operators
                )
                continue
            with open(result) as file:
                steps = json.load(file)["steps"]
            figures[name] = compared(
                name,
                os.path.join(folder, name + ".pickle.gz"),
                steps,
                summary[name]["steps"],
                arguments.causes,
            )
            bad += figures[name]["share"] < arguments.at_least or figures[name]["peak"] != 0
            times[name] = ratios(steps, summary[name]["steps"])
            figures[name].update(times=times[name], commit=commit_of(arguments.vramscope))
            if arguments.results:
                keep(arguments.results, figures)
    say_times(times)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Stores the results of tests/fuzz/run.sh (docs/results/fuzz.md).

    VRAMSCOPE_FUZZ_PRESET=fuzz-quick VRAMSCOPE_FUZZ_ALL=900 tests/fuzz/run.sh 1
    python3 tests/fuzz/results.py build/fuzz-quick docs/results/data/fuzz.json

Reads the log of each target, which run.sh leaves in the build folder. The exit status is 1 if a
target has no log, or if its fuzzer found something.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def figures(log, leftovers):
    """Returns the figures of one target from its log. `leftovers` are the failing inputs that
    libFuzzer wrote."""
    ended = re.findall(r"^Done (\d+) runs in (\d+) second", log, re.MULTILINE)
    covered = re.findall(r"\bcov: (\d+) ft: (\d+) corp: (\d+)/", log)
    return {
        "executions": int(ended[-1][0]) if ended else 0,
        "seconds": int(ended[-1][1]) if ended else 0,
        "edges": int(covered[-1][0]) if covered else 0,
        "corpus": int(covered[-1][2]) if covered else 0,
        # If a fuzzer finds something, it writes the input to a file and ends without the log's
        # usual last line.
        "findings": max(len(leftovers), 0 if ended else 1),
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path)
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    listed = subprocess.run(
        [build / "bin/vramscope_fuzzer"], capture_output=True, text=True, check=True
    )
    commit = subprocess.run(
        ["git", "-C", ROOT, "describe", "--always", "--dirty", "--exclude=*"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    sanitizers = re.search(r"^VRAMSCOPE_SANITIZE:\w+=(.*)$", cache, re.MULTILINE)[1].split(",")
    named = [name for name in ("address", "undefined") if name in sanitizers]
    targets, bad = {}, 0
    for target in listed.stdout.split():
        name = target.removeprefix("fuzz_")
        log = build / f"{name}.log"
        if not log.is_file():
            print(f"{name}: {log} is missing", file=sys.stderr)
            bad += 1
            continue
        leftovers = [path for path in build.glob(f"{name}-*") if path.is_file()]
        text = log.read_text(encoding="utf-8", errors="replace")
        row = {**figures(text, leftovers), "sanitizers": named}
        row["commit"] = commit.stdout.strip() or "unknown"
        bad += row["findings"] > 0
        print(f"{name}: {row['executions']} executions, {row['findings']} findings")
        targets[name] = row
    arguments.results.write_text(json.dumps(targets, indent=1) + "\n", encoding="utf-8")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

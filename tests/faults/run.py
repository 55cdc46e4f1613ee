#!/usr/bin/env python3
"""Runs faults_test with every n and stores the results (docs/results/faults.md).

    python3 tests/faults/run.py build/release --results docs/results/data/faults.json [-R REGEX]

Takes minutes to hours, depending on the command. Each test's figures are stored as soon as it ends.
The exit status is 1 if a test failed.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# fmt: skip
FIGURES = (
    "first_request",
    "last_request",
    "runs_of_requests",
    "calls",
    "runs_of_calls",
    "faults",
    "refused",
    "ended_by_library",
)


def names(program):
    out = subprocess.run(
        [program, "--gtest_list_tests"], check=True, capture_output=True, text=True
    )
    suite = ""
    for line in out.stdout.splitlines():
        if not line.startswith(" "):
            suite = line.strip()
        else:
            yield suite + line.strip()


def run(program, name):
    with tempfile.TemporaryDirectory() as folder:
        told = pathlib.Path(folder) / "told.json"
        environment = {**os.environ, "VRAMSCOPE_ALL_FAULTS": "1"}
        began = time.monotonic()
        done = subprocess.run(
            [program, f"--gtest_filter={name}", f"--gtest_output=json:{told}"],
            env=environment,
            check=False,
        )
        row = {"failed": int(done.returncode != 0), "seconds": round(time.monotonic() - began)}
        if told.is_file():
            case = json.loads(told.read_text(encoding="utf-8"))["testsuites"][0]["testsuite"][0]
            if case["result"] == "SKIPPED":
                return None
            row["failures"] = len(case.get("failures", []))
            row |= {figure: int(case[figure]) for figure in FIGURES if figure in case}
    return row


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("-R", metavar="REGEX", type=re.compile, default=re.compile(""))
    parser.add_argument("--results", type=pathlib.Path, help="JSON file for the figures")
    arguments = parser.parse_args()
    program = arguments.build.resolve() / "bin" / "faults_test"
    commit = subprocess.run(
        ["git", "-C", ROOT, "describe", "--always", "--dirty", "--exclude=*"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    kept = {}
    if arguments.results and arguments.results.is_file():
        kept = json.loads(arguments.results.read_text(encoding="utf-8"))
    failed = 0
    for name in names(program):
        if not arguments.R.search(name):
            continue
        row = run(program, name)
        if row is None:
            print(f"{name}: skipped, left out")
            continue
        failed += row["failed"]
        if "runs_of_requests" not in row:
            continue
        kept[name] = {**row, "commit": commit.stdout.strip() or "unknown"}
        if arguments.results:
            text = json.dumps(kept, indent=1, sort_keys=True) + "\n"
            arguments.results.write_text(text, encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

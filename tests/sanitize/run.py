#!/usr/bin/env python3
"""Runs the tests of a build with sanitizers and stores their reports (docs/results/sanitizers.md).

    python3 tests/sanitize/run.py build/asan --results docs/results/data/sanitizers.json [-R REGEX]

`./vramscope test --sanitize[=thread] all` creates the build folder. Runs every ctest test that
starts a program built with sanitizers. Collects reports from the test's output, and from its child
processes, whose output the test may capture. A report ends the program. The exit status is 1 if a
test failed or there was a report.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Tests that are not run. Tests of scripts, documents and packages do not start any program built
# with sanitizers. Tests that plan Python programs cannot work, because a Python built without
# sanitizers cannot load a library built with them.
APART = re.compile(r"^(setup|packaging|judge)\.|^(emulated|cli)_|^trace_independent_reader")
REPORT = re.compile(
    r"ERROR: (?:Address|Leak)Sanitizer: .*|WARNING: ThreadSanitizer: .*|\S+: runtime error: .*"
    r"|.*: Assertion '.*' failed\.$",
    re.MULTILINE,
)


def cached(build, name):
    for line in (build / "CMakeCache.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(name + ":"):
            return line.partition("=")[2]
    return ""


def listed(build, wanted):
    """Returns the names of those of ctest's tests whose programs exist."""
    command = ["ctest", "--test-dir", build, "--show-only=json-v1"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    names = []
    for test in json.loads(out)["tests"]:
        name, command = test["name"], test.get("command", [])
        programs = [part for part in command if part.startswith(f"{build}/")]
        if APART.match(name) or not wanted.search(name):
            continue
        if command and all(pathlib.Path(program).exists() for program in programs):
            names.append(name)
        else:
            print(f"{name}: not built, skipped")
    return names


def libraries_of_torch(build):
    """Returns the folder of LibTorch's libraries, or "". AddressSanitizer replaces dlopen(), which
    then does not look for libraries next to the library that calls it."""
    for line in (pathlib.Path(build) / "CMakeCache.txt").read_text().splitlines():
        name, _, value = line.partition("=")
        if name == "VRAMSCOPE_TORCH_ROOT:PATH":
            return str(pathlib.Path(value) / "torch" / "lib")
    return ""


def environment(build, folder):
    """Returns the options that the launcher sets, and makes all processes write their reports to
    files in the folder."""
    sanitizer = "detect_stack_use_after_return=1:abort_on_error=1"
    leaks = f"suppressions={ROOT}/tests/sanitize/leaks.txt:print_suppressions=0"
    return {
        **os.environ,
        "ASAN_OPTIONS": f"{sanitizer}:log_path={folder}/report",
        # UBSan's reports are not written to files, because GCC's library always writes to stderr.
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:abort_on_error=1",
        "LSAN_OPTIONS": leaks,
        "TSAN_OPTIONS": f"log_path={folder}/report",
        "GTEST_OUTPUT": f"json:{folder}/cases.json",
        "LIBGL_ALWAYS_SOFTWARE": "1",
        "LD_LIBRARY_PATH": ":".join(
            filter(None, (os.environ.get("LD_LIBRARY_PATH"), libraries_of_torch(build)))
        ),
    }


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(build, name, logs):
    with tempfile.TemporaryDirectory() as folder:
        before = processor_seconds()
        done = subprocess.run(
            ["ctest", "--test-dir", build, "-R", f"^{re.escape(name)}$", "-V", "--no-tests=error"],
            capture_output=True,
            text=True,
            errors="replace",
            env=environment(build, folder),
            check=False,
        )
        seconds = processor_seconds() - before
        texts = [done.stdout, done.stderr]
        for path in pathlib.Path(folder).glob("report*"):
            texts.append(path.read_text(encoding="utf-8", errors="replace"))
        output = "\n".join(texts)
        reports = [] if name.endswith("planted_faults") else REPORT.findall(output)
        row = {"tests": 1, "skipped": 0, "failed": int(done.returncode != 0)}
        if "***Skipped" in done.stdout:
            row["skipped"] = 1
        cases = pathlib.Path(folder) / "cases.json"
        if cases.is_file() and cases.stat().st_size > 0:
            told = json.loads(cases.read_text(encoding="utf-8"))
            results = [one["result"] for suite in told["testsuites"] for one in suite["testsuite"]]
            row["tests"] = told["tests"]
            row["skipped"] = results.count("SKIPPED")
            row["failed"] = max(told["failures"], row["failed"])
        if logs is not None and (row["failed"] or reports):
            (logs / f"{name}.txt").write_text(output, encoding="utf-8")
    return {**row, "reports": reports, "processor_seconds": round(seconds, 1)}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("-R", metavar="REGEX", type=re.compile, default=re.compile(""))
    parser.add_argument("--results", type=pathlib.Path, help="JSON file for the figures")
    parser.add_argument("--logs", type=pathlib.Path, help="folder for the output of failed tests")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    sanitizers = cached(build, "VRAMSCOPE_SANITIZE")
    if not sanitizers:
        parser.error(f"{build} is not built with sanitizers (cmake --preset asan or tsan)")
    kind = "thread" if "thread" in sanitizers else "address"
    compiler = cached(build, "CMAKE_CXX_COMPILER")
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    commit = subprocess.run(
        ["git", "-C", ROOT, "describe", "--always", "--dirty", "--exclude=*"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if arguments.logs:
        arguments.logs.mkdir(parents=True, exist_ok=True)
    kept = {}
    if arguments.results and arguments.results.is_file():
        kept = json.loads(arguments.results.read_text(encoding="utf-8"))
    bad = 0
    for name in listed(build, arguments.R):
        row = run(build, name, arguments.logs)
        bad += bool(row["failed"] or row["reports"])
        told = "".join(f"\n    {report}" for report in row["reports"])
        print(
            f"{name}: {row['tests']} tests, {row['skipped']} skipped, {row['failed']} failed, "
            f"{len(row['reports'])} reports, {row['processor_seconds']} s{told}",
            flush=True,
        )
        row["commit"] = commit.stdout.strip() or "unknown"
        of_kind = kept.setdefault(kind, {"programs": {}})
        of_kind["compiler"] = version.stdout.splitlines()[0]
        of_kind["sanitizers"] = sanitizers
        of_kind["left_out"] = cached(build, "VRAMSCOPE_SANITIZE_NOT")
        of_kind["programs"][name.rpartition(".")[2]] = row
        if arguments.results:
            text = json.dumps(kept, indent=1, sort_keys=True) + "\n"
            arguments.results.write_text(text, encoding="utf-8")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

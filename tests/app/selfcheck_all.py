#!/usr/bin/env python3
"""Runs `vramscope selfcheck` for folders of recordings, and counts the comparisons and the
differences.

    python3 tests/app/selfcheck_all.py build/release/bin/vramscope --results F.json NAME=FOLDER ...

NAME is the name of the folder in docs/results/selfcheck.md (tests/results.py). Figures of earlier
runs are kept, except for folders that are named again. The exit status is 1 if a figure differs."""

import argparse
import json
import pathlib
import subprocess
import sys

ENDS = (".trace", ".pickle.zst", ".json.zst", ".prof.zst")


def commit_of(vramscope):
    done = subprocess.run([vramscope, "--version"], capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("commit ")]
    return lines[0].split(" ", 1)[1].strip() if lines else "unknown"


def checked(vramscope, path):
    """Returns the result of selfcheck for a file, or the reason for which the file was refused."""
    command = [vramscope, "selfcheck", "--json", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    if done.returncode not in (0, 1):
        said = done.stderr.strip().splitlines() or ["no message"]
        return {"refused": said[-1].replace(str(path), path.name)}
    report = json.loads(done.stdout)
    return {
        "comparisons": report["comparisons"],
        "failed": [g["name"] for g in report["groups"] if g["failed"]],
        "skipped": [g["name"] for g in report["groups"] if g["skipped"]],
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vramscope")
    parser.add_argument("folders", nargs="+", metavar="NAME=FOLDER")
    parser.add_argument("--results", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    kept = json.loads(arguments.results.read_text()) if arguments.results.is_file() else {}
    commit = commit_of(arguments.vramscope)
    for named in arguments.folders:
        name, _, folder = named.partition("=")
        files = [p for p in sorted(pathlib.Path(folder).rglob("*")) if p.name.endswith(ENDS)]
        found = {p.name: checked(arguments.vramscope, p) for p in files}
        kept[name] = {"commit": commit, "files": found}
        comparisons = sum(f.get("comparisons", 0) for f in found.values())
        failed = [p for p, f in found.items() if f.get("failed")]
        refused = [p for p, f in found.items() if "refused" in f]
        said = (
            f"{len(found)} files, {comparisons:,} comparisons, differ {failed}, refused {refused}"
        )
        print(f"{name}: {said}", flush=True)
        arguments.results.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    return 1 if any(f.get("failed") for k in kept.values() for f in k["files"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())

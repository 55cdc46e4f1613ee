"""Published measured peaks beside what `vramscope plan -- python PROGRAM` says of them.

    python3 tests/accuracy/run.py --vramscope build/release/bin/vramscope \\
        --python "torch 2.4.1, transformers 4.48.1=VENV/bin/python" [--only mistral] [--json]

Every row of rows.json whose environment is given is planned with the versions that its source states (README.md says how to make
the environments). Prints measured, planned and the error of each; exit status 1 when a row did not run.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


def plan(vramscope, python, row):
    command = [vramscope, "plan", "--device", row["gpu"], "--steps", "0", "--json", "--", *python.split(),
               str(HERE / "programs" / row["program"]), *row["arguments"]]
    begun = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    seconds = time.monotonic() - begun
    problem = f"exit {done.returncode}: {done.stderr.strip()[-600:]}"
    if done.returncode > 1:
        return None, None, seconds, problem
    try:
        answer = json.loads(done.stdout)
    except json.JSONDecodeError:
        return None, None, seconds, problem
    if "error" in answer or "peak" not in answer or done.returncode != 0:
        return None, None, seconds, problem
    return answer["peak"]["allocated"], answer["peak"]["reserved"], seconds, None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vramscope", required=True)
    parser.add_argument("--python", action="append", default=[], metavar="ENVIRONMENT=COMMAND")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    pythons = dict(text.split("=", 1) for text in arguments.python)
    rows, failed = [], False
    for row in json.loads((HERE / "rows.json").read_text()):
        if arguments.only.lower() not in row["name"].lower():
            continue
        python = pythons.get(row["environment"])
        if python is None:
            print(f"skipped: {row['name']}: no --python for '{row['environment']}'", file=sys.stderr)
            continue
        planned, reserved, seconds, problem = plan(arguments.vramscope, python, row)
        error = None if planned is None else planned / row["measured"] - 1
        rows.append({**row, "planned": planned, "reserved": reserved, "error": error, "seconds": seconds, "problem": problem})
        if planned is None:
            failed = True
            print(f"{row['name']}: {problem}", file=sys.stderr)
        elif not arguments.json:
            print(f"{row['name']:40} measured {row['measured']:>15,}  planned {planned:>15,}  {error * 100:+.4f} %  {seconds:.0f} s",
                  flush=True)
    if arguments.json:
        print(json.dumps(rows))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Compares published peaks with those of `vramscope plan -- python PROGRAM`.

    python3 tests/accuracy/run.py --vramscope build/release/bin/vramscope \
        [--only "Mistral-7B LoRA"] [--list]

Plans rows of rows.json with the versions of packages that each row's source states.
environments.json lists these packages. They are installed on demand into --environments (a virtual
environment for each torch, with a folder for the additional packages of a row). Prints the measured
and planned peak and the error of each row. --results writes the figures to a file
(docs/results/data/accuracy.json, from which tests/results.py writes docs/results/accuracy.md). Exit
status 1 if a row did not run.
"""

import argparse
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


def load_rows():
    """Returns all rows. Each row is merged with the fields that its group sets for all of its
    rows."""
    rows = []
    for group in json.loads((HERE / "rows.json").read_text()):
        shared = {key: value for key, value in group.items() if key != "rows"}
        rows += [{**shared, **row} for row in group["rows"]]
    return rows


class Environments:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.described = json.loads((HERE / "environments.json").read_text())

    def _install(self, name, where, command):
        """Installs the packages if this was not done before. Then writes the list of installed
        packages to a file, whose existence marks the environment as complete."""
        packages = self.described[name]["packages"]
        mark = where / "vramscope-packages.txt"
        if mark.is_file() and mark.read_text() == "\n".join(packages):
            return
        print(f"installing {name} into {where}", file=sys.stderr, flush=True)
        subprocess.run([*command, "install", "--quiet", "--no-deps", *packages[:1]], check=True)
        if packages[1:]:
            subprocess.run(
                [*command, "install", "--quiet", "--no-deps", "--upgrade", *packages[1:]],
                check=True,
            )
        mark.write_text("\n".join(packages))

    def python(self, name):
        """Returns the interpreter and the PYTHONPATH of an environment."""
        described = self.described[name]
        where = self.folder / re.sub(r"[^\w.]+", "-", name)
        if "base" in described:
            interpreter, path = self.python(described["base"])
            where.mkdir(parents=True, exist_ok=True)
            target = os.fspath(where)
            self._install(name, where, [interpreter, "-c", TARGET_PIP, target])
            return interpreter, os.pathsep.join(filter(None, [target, path]))
        interpreter = os.fspath(where / "bin" / "python")
        if not os.path.exists(interpreter):
            subprocess.run(
                [described.get("python", sys.executable), "-m", "venv", os.fspath(where)],
                check=True,
            )
        self._install(name, where, [interpreter, "-m", "pip"])
        return interpreter, ""


# Runs pip, which installs everything into the folder that the first argument names.
TARGET_PIP = (
    "import runpy, sys; folder = sys.argv.pop(1); sys.argv += ['--target', folder]; "
    "runpy.run_module('pip', run_name='__main__')"
)


def plan(vramscope, python, row):
    """Plans a row. Returns the peak in bytes, the duration in seconds, and the problem, if any."""
    interpreter, path = python
    command = [
        vramscope,
        "plan",
        "--device",
        row["gpu"],
        "--steps",
        "0",
        "--json",
        *row.get("plan", []),
        "--",
        interpreter,
        os.fspath(HERE / "programs" / row["program"]),
        *row["arguments"].split(),
    ]
    environment = dict(os.environ, **row.get("variables", {}))
    if path:
        environment["PYTHONPATH"] = os.pathsep.join(
            filter(None, [path, environment.get("PYTHONPATH")])
        )
    begun = time.monotonic()
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=1800, env=environment
        )
    except subprocess.TimeoutExpired:
        return None, time.monotonic() - begun, "no end after 1800 s"
    seconds = time.monotonic() - begun
    try:
        answer = json.loads(done.stdout)
        if done.returncode == 0 and row["quantity"] == "printed":
            # The program resets and reads the allocator's counters where the published program did
            # so.
            lines = [line for line in done.stderr.splitlines() if line.startswith('{"peak"')]
            return json.loads(lines[-1])["peak"], seconds, None
        if done.returncode == 0:
            return answer["peak"][row["quantity"]], seconds, None
    except (ValueError, KeyError, IndexError):
        pass
    return None, seconds, f"exit {done.returncode}: {done.stderr.strip()[-600:]}"


def error_of(row, planned):
    """Returns the error as a fraction of the measured value. Rounds the planned value as the source
    rounded the measured value."""
    unit = row.get("unit", "B")
    if unit == "MiB as float32":
        planned = struct.unpack("f", struct.pack("f", planned / 2**20))[0] * 2**20
    if unit == "GiB, one decimal":
        return round(planned / 2**30, 1) / round(row["measured"] / 2**30, 1) - 1
    if unit == "GiB, three decimals":
        planned = round(planned / 2**30, 3) * 2**30
        return planned / (round(row["measured"] / 2**30, 3) * 2**30) - 1
    if unit == "1e9 bytes, two decimals":
        planned = round(planned / 1e9, 2) * 1e9
    return planned / row["measured"] - 1


def table(rows, results):
    """Returns a Markdown table of the results as a list of lines."""
    lines = [
        "| row | measured | planned | error | the source's own error |",
        "|---|---|---|---|---|",
    ]
    title = None
    for row in rows:
        result = results.get(row["name"])
        if result is None:
            continue
        if row["title"] != title:
            title = row["title"]
            lines.append(f"| **{title}** | | | | |")
        planned, error = result["planned"], ""
        if planned is not None:
            parts = error_of(row, planned)
            error = (
                "0"
                if parts == 0
                else f"{planned - row['measured']:+,} B"
                if abs(parts) < 5e-5
                else f"{parts * 100:+.2f} %"
            )
            planned = f"{planned:,}"
        lines.append(
            f"| {row['name']} | {row['measured']:,} | {planned or 'did not run'} | {error} | "
            f"{row.get('own_error', '')} |"
        )
    return lines


def commit_of(vramscope):
    """Returns the commit that the program was built from, as `--version` prints it."""
    done = subprocess.run([vramscope, "--version"], capture_output=True, text=True)
    return next(
        (
            line.split(" ", 1)[1].strip()
            for line in done.stdout.splitlines()
            if line.startswith("commit ")
        ),
        "unknown",
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vramscope", default="vramscope")
    parser.add_argument("--environments", default="build/accuracy", metavar="FOLDER")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="only rows whose title or name contains TEXT"
    )
    parser.add_argument("--list", action="store_true", help="only print the names of the rows")
    parser.add_argument(
        "--results",
        metavar="F.json",
        help="write the figures to this file; rows that it already contains are not run again",
    )
    parser.add_argument("--table", action="store_true", help="only print the figures of --results")
    arguments = parser.parse_args()
    results = {}
    if arguments.results and os.path.exists(arguments.results):
        results = json.loads(pathlib.Path(arguments.results).read_text())
    rows = [
        row
        for row in load_rows()
        if arguments.only.lower() in (row["title"] + ": " + row["name"]).lower()
    ]
    if arguments.table:
        print("\n".join(table(rows, results)))
        return 0
    if arguments.list:
        print("\n".join(f"{row['title']}: {row['name']}" for row in rows))
        return 0
    environments = Environments(arguments.environments)
    commit = commit_of(arguments.vramscope)
    failed = False
    for row in rows:
        if row["name"] in results and results[row["name"]]["planned"] is not None:
            continue
        planned, seconds, problem = plan(
            arguments.vramscope, environments.python(row["environment"]), row
        )
        results[row["name"]] = {
            "planned": planned,
            "seconds": round(seconds, 1),
            "problem": problem,
            "commit": commit,
        }
        if planned is None:
            failed = True
            print(f"{row['name']}: {problem}", file=sys.stderr, flush=True)
        else:
            print(
                f"{row['name']:56} measured {row['measured']:>15,}  planned {planned:>15,}  "
                f"{error_of(row, planned) * 100:+.4f} %"
                f"  {seconds:.0f} s",
                flush=True,
            )
        if arguments.results:
            pathlib.Path(arguments.results).write_text(json.dumps(results, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

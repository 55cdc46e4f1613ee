"""Plans unmodified public fine-tuning programs: which toggles apply to each, how much memory each
toggle saves, and whether the same change, written into the script by hand, has exactly the same
peak.

    python3 prepare.py WORK
    python3 run.py VRAMSCOPE --work WORK --sources SOURCES \
        --path env=FOLDER:FOLDER... --results docs/results/data/programs.json

Run it by hand: it takes an hour and needs packages that are not installed (programs.json lists
their versions). SOURCES contains a folder for each repository, at the commit in programs.json.
`--path` sets the PYTHONPATH of the programs that use the named environment. Results are written
after every program, and programs with results are not planned again. `--most 2` plans at most two
toggles of each program for which a change by hand exists. `--toggles a,b` plans only these toggles,
and `--fit` only runs the search, for `--patience` seconds at most; both add to the existing
results. In `--toggles`, `a` means every value that the program proposes, `a=v` means this value
even if it is not proposed, and `a+b` means both toggles in one plan. With `--ranks 2`, the program
is planned as two processes, and its peak without toggles is stored in each row. A plan that takes
longer than `--limit` seconds is ended, and its row says so. tests/results.py writes
docs/results/programs.md from the results."""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
DEVICE = "h100-sxm"
# planned only if --toggles names them: they rarely change the allocated peak
NOT_TRIED = ("max-split-size", "gc-threshold")
TOO_LONG = "too long"  # the status of a plan that reached the time limit
# These are planned in a new process: torch reads them when it is imported, before a plan's fork
# starts.
FROM_SCRATCH = ("expandable-segments", "max-split-size", "gc-threshold")


class Runner:
    def __init__(self, options):
        self.vramscope, self.options = os.path.abspath(options.vramscope), options
        self.work = options.work.resolve()
        self.paths = dict(path.split("=", 1) for path in options.path)
        self.declared = json.loads((HERE / "programs.json").read_text(encoding="utf-8"))
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="vramscope-programs-"))

    def fill(self, text):
        for name, value in (
            ("work", self.work),
            ("sources", self.options.sources.resolve()),
            ("site", self.site),
        ):
            text = text.replace("{%s}" % name, os.fspath(value))
        return text

    def enter(self, program):
        self.program = program
        path = self.paths[program.get("environment", "common")]
        self.site = path.split(os.pathsep)[0]
        self.folder = self.fill(program.get("folder", "{work}"))
        self.environment = {
            **os.environ,
            "HF_HUB_OFFLINE": "1",
            "HF_HUB_CACHE": os.fspath(self.work / "hub"),
            "PYTHONPATH": path,
            "HF_DATASETS_CACHE": os.fspath(self.scratch / "datasets"),
            "TOKENIZERS_PARALLELISM": "false",
        }

    def command(self, script=None, more=""):
        more = more if isinstance(more, list) else more.split()
        arguments = self.fill(self.program["arguments"]).split() + more
        return ["--", sys.executable, script or self.fill(self.program["script"]), *arguments]

    def vramscope_says(self, *words, environment=None, timeout=1800):
        begun = time.monotonic()
        process = subprocess.Popen(
            [self.vramscope, *words],
            cwd=self.folder,
            env={**self.environment, **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            out, said = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.terminate()  # vramscope ends the program
            process.communicate()
            return {
                "status": TOO_LONG,
                "took": time.monotonic() - begun,
                "said": "the plan takes longer than %d s" % timeout,
            }
        try:
            answer = json.loads(out)
        except ValueError:
            answer = {}
        answer["status"], answer["took"], answer["said"] = (
            process.returncode,
            time.monotonic() - begun,
            said,
        )
        return answer

    def plan(self, *words, **more):
        ranks = ["--ranks", str(self.options.ranks)] if self.options.ranks else []
        return self.vramscope_says(
            "plan", "--json", "--device", DEVICE, *ranks, *words, timeout=self.options.limit, **more
        )

    # --- the change written by hand ---

    def by_hand(self, change, keep, warm):
        """Plans the program after applying the change of a toggle to its source."""
        script, source = None, pathlib.Path(self.fill(self.program["script"]))
        folder = keep / "by-hand"
        if "replace" in change:
            shutil.rmtree(folder, ignore_errors=True)
            ignored = shutil.ignore_patterns("__pycache__")
            # the script belongs to a package, whose modules stay where they are
            if source.parent.name in ("scripts", "recipes"):
                folder.mkdir()
                shutil.copy(source, folder)
            else:
                shutil.copytree(source.parent, folder, ignore=ignored)
            for old, new in change["replace"]:
                found = 0
                for path in folder.glob("*.py"):
                    text = path.read_text(encoding="utf-8")
                    found += text.count(old)
                    path.write_text(text.replace(old, new), encoding="utf-8")
                    # a wrong indentation is not the toggle's fault
                    compile(text.replace(old, new), path, "exec")
                assert found, (self.program["name"], old)
            script = os.fspath(folder / source.name)
        return self.plan(
            *warm,
            *self.command(script, change.get("arguments", "")),
            environment=change.get("environment"),
        )

    def change_of(self, name):
        """Returns the change that programs.json lists for the toggle or for toggles joined by "+",
        or None."""
        changes = [self.change_of_one(toggle) for toggle in name.split("+")]
        if None in changes:
            return None
        joined = {}
        for change in changes:
            for key, value in change.items():
                value = value.split() if key == "arguments" and isinstance(value, str) else value
                joined[key] = (
                    {**joined.get(key, {}), **value}
                    if isinstance(value, dict)
                    else joined.get(key, []) + value
                )
        return joined

    def change_of_one(self, toggle):
        program, tables = self.program, self.declared["hand"]
        if toggle in program.get("hand", {}):
            return program["hand"][toggle]
        if toggle in tables["environment"]:
            return {"environment": tables["environment"][toggle]}
        if toggle in tables["code"]:
            anchor = program.get("main", 'if __name__ == "__main__":\n')
            return {"replace": [[anchor, "%s\n%s" % (tables["code"][toggle], anchor)]]}
        if "anchor" in program and toggle in tables["keywords"]:
            return {
                "replace": [
                    [program["anchor"], "%s %s," % (program["anchor"], tables["keywords"][toggle])]
                ]
            }
        if program.get("arguments_of_trainer") and toggle in tables["arguments"]:
            return {"arguments": tables["arguments"][toggle]}
        return None

    # --- one program ---

    def run(self, program, before):
        self.enter(program)
        if self.options.fit:
            return (
                {**before, "fit": self.fit(program["fit"])}
                if before and program.get("fit")
                else before
            )
        keep = self.scratch / program["name"].replace(" ", "-")
        keep.mkdir()
        trace = keep / "start.trace"
        start = self.plan(
            "--all-toggles",
            "--keep",
            os.fspath(keep / "first"),
            "-o",
            os.fspath(trace),
            *self.command(),
        )
        if start["status"] != 0:
            print(program["name"], start["said"], file=sys.stderr, flush=True)
            return before or {"problem": start["said"].strip().splitlines()[-1:]}
        peak = start["peak"]["allocated"]
        base = {"ranks": self.options.ranks, "unchanged": peak} if self.options.ranks else {}
        row = {
            "source": program["source"],
            "model": (start.get("model") or {}),
            "peak": peak,
            "needed": start["needed"],
            "seconds": round(start["took"], 1),
            "read_by_program": start.get("program_counters"),
            "toggles": [],
            "does_not_apply": {},
        }
        explained = self.vramscope_says("explain", os.fspath(trace), "--page", "findings", "--json")
        row["findings"] = [
            {"id": one["id"], "bytes": one["bytes"], "text": one["text"]}
            for one in explained.get("findings", [])
        ]
        socket = keep / "server" / "socket"
        ranks = ["--ranks", str(self.options.ranks)] if self.options.ranks else []
        server = subprocess.Popen(
            [
                self.vramscope,
                "plan",
                "--device",
                DEVICE,
                *ranks,
                "--keep",
                os.fspath(keep / "server"),
                "--serve",
                os.fspath(socket),
                "--modules",
                os.fspath(keep / "first" / "modules.json"),
                *self.command(),
            ],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            while not socket.exists() and server.poll() is None:
                time.sleep(0.05)
            for one in start["toggles"]:
                if one["state"] != "applies":
                    row["does_not_apply"][one["name"]] = one["why"]
            for name in self.toggles_of(start["toggles"]):
                row["toggles"].append({**self.toggle(name, peak, socket, keep), **base})
                print(program["name"], row["toggles"][-1], file=sys.stderr, flush=True)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()
        if self.options.toggles and before:
            kept = [one for one in before["toggles"] if not self.replaced(one, row["toggles"])]
            # Figures of several processes only go into the rows of toggles.
            row = {
                **(before if base else row),
                "toggles": kept + row["toggles"],
                "fit": before.get("fit"),
            }
        elif program.get("fit") and not self.options.most:
            row["fit"] = self.fit(program["fit"])
        shutil.rmtree(keep)
        return row

    def replaced(self, one, rows):
        """Returns whether a row of an earlier run is planned again: with the same number of
        processes, the same toggle, or any value of a toggle that --toggles names without a
        value."""
        name, ranks = one["toggle"], self.options.ranks
        if one.get("ranks") != ranks:
            return False
        return (
            name in [row["toggle"] for row in rows]
            or "+" not in name
            and name.split("=")[0] in self.options.toggles
        )

    def toggles_of(self, reports):
        names, asked = [], self.options.toggles or []
        for one in reports:
            if one["state"] != "applies" or one["name"] in NOT_TRIED and one["name"] not in asked:
                continue
            for value in (
                one["proposals"][-1:]
                if one["name"] == "micro-batch" and one["name"] not in asked
                else one["proposals"]
            ):
                names.append(one["name"] if value is None else "%s=%s" % (one["name"], value))
        if asked:
            silent = {
                one["name"] for one in reports if one["state"] == "applies" and not one["proposals"]
            }
            names = [name for name in names if name.split("=")[0] in asked]
            names += [
                name
                for name in asked
                if (name in silent or "=" in name or "+" in name)
                and name not in names
                and self.change_of(name) is not None
            ]
        if self.options.most:
            names = [name for name in names if self.change_of(name) is not None][
                : self.options.most
            ]
        return names

    def toggle(self, name, peak, socket, keep):
        scratch = any(one.split("=")[0] in FROM_SCRATCH for one in name.split("+"))
        warm = [] if scratch else ["--warm", os.fspath(socket)]
        chosen = [word for one in name.split("+") for word in ("--toggle", one)]
        plan = self.plan(*chosen, *warm, *self.command())
        reports = plan.get("toggles") or [{}]
        # Of several toggles, the row reports the first that was not applied.
        report = next((one for one in reports if one.get("state") != "applied"), reports[0])
        row = {
            "toggle": name,
            "state": report.get("state", "the plan ended with status %s" % plan["status"]),
            "seconds": round(plan["took"], 1),
            "why": report.get("overridden", "") or report.get("why", ""),
        }
        if "peak" in plan:
            row.update(
                peak=plan["peak"]["allocated"],
                saves=peak - plan["peak"]["allocated"],
                reserved=plan["peak"]["reserved"],
            )
        if plan["status"] not in (0, 1):
            row["said"] = plan["said"].strip().splitlines()[-1:]
        if plan.get("program", {}).get("cold"):
            row["cold"] = plan["program"]["cold"]
        change = self.change_of(name)
        if change is not None and "peak" in row:
            hand = self.by_hand(change, keep, warm)
            row["by_hand"] = (
                hand["peak"]["allocated"] if "peak" in hand and hand["status"] == 0 else None
            )
            if row["by_hand"] is None:
                row["by_hand_said"] = hand["said"].strip().splitlines()[-1:]
        return row

    def fit(self, budget):
        answer = self.vramscope_says(
            "fit",
            "--json",
            "--budget",
            budget,
            "--patience",
            str(self.options.patience),
            *self.command(),
        )
        return {
            "budget": budget,
            "seconds": round(answer["took"], 1),
            "plans": answer.get("plans"),
            "start": answer.get("start", {}).get("needed"),
            "proposals": [
                {
                    "toggles": [
                        one["name"] + ("=" + one["value"] if one["value"] else "")
                        for one in row["toggles"]
                    ],
                    "needed": row["needed"],
                    "fits": row["fits"],
                    "changes": row["changes"],
                }
                for row in answer.get("proposals", [])
            ],
        }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vramscope")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--sources", type=pathlib.Path, required=True)
    parser.add_argument("--path", action="append", default=[], metavar="NAME=FOLDERS")
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("--only", action="append")
    parser.add_argument("--most", type=int)
    parser.add_argument("--toggles", type=lambda text: text.split(","))
    parser.add_argument(
        "--ranks", type=int, metavar="N", help="plan N processes; only with --toggles"
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=1800,
        metavar="SECONDS",
        help="time limit of a plan; default: %(default)s",
    )
    parser.add_argument("--fit", action="store_true")
    parser.add_argument(
        "--patience",
        type=int,
        default=60,
        metavar="SECONDS",
        help="time limit of a search; default: that of fit",
    )
    options = parser.parse_args()
    if options.ranks and not options.toggles:
        parser.error("--ranks needs --toggles")
    runner = Runner(options)
    results = (
        json.loads(options.results.read_text(encoding="utf-8"))
        if options.results and options.results.is_file()
        else {}
    )
    try:
        for program in runner.declared["programs"]:
            if (
                options.only
                and program["name"] not in options.only
                or not options.only
                and program["name"] in results
            ):
                continue
            results[program["name"]] = runner.run(program, results.get(program["name"]))
            text = json.dumps(results, indent=1) + "\n"
            for folder in (options.sources, options.work):  # removes paths of this computer
                text = text.replace("%s/" % folder.resolve(), "")
            options.results.write_text(text, encoding="utf-8") if options.results else print(text)
    finally:
        shutil.rmtree(runner.scratch, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

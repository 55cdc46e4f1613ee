#!/usr/bin/env python3
"""Plans each configuration of rows.json twice: with vramscope's own loop, and as a plain PyTorch
program (train.py). Compares the allocations of the last step, one by one, and the peaks.

    python3 run.py --vramscope build/release/bin/vramscope --python VENV/bin/python [WORDS...]

VENV: torch 2.11, transformers 4.51.3, peft. WORDS select the rows that contain all of them. With
--random N, no row of the table is planned. Exit status 1: the share of equal requests is below
--at-least, a peak differs, or a row could not be planned. 77: packages are missing."""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import random_rows

HERE = os.path.dirname(os.path.abspath(__file__))
DEVICE = "rtx-4090"
TRANSFORMERS = "4.51.3"


class Refused(Exception):
    """Raised if vramscope refuses this combination of settings."""


def call(command):
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    return done, time.monotonic() - began


def ranks_of(settings):
    """Returns the options with which `vramscope plan` runs the program as one rank of many."""
    if settings.get("shard.strategy", "none") == "none":
        return []
    return ["--ranks", settings["shard.ranks"], "--as-rank", settings.get("shard.rank", "0")]


def settings_of(row):
    given = dict(word.split("=", 1) for word in row["settings"])
    if "samples.file" in given:
        given["samples.file"] = os.path.join(HERE, given["samples.file"])
    return {"batch": "2", "seq": "512", "steps": "2", "device": DEVICE, **given}


def has_packages(python):
    """Returns whether the packages are installed. Does not import torch, because NVIDIA's libraries
    are missing here."""
    code = (
        "import importlib.metadata as m, importlib.util as u; "
        "assert u.find_spec('torch') and m.version('transformers') == %r" % TRANSFORMERS
    )
    return call([python, "-c", code])[0].returncode == 0


def lacking(python, row):
    """Returns a missing package that this row needs, or None."""
    settings = settings_of(row)
    needs = {
        "bitsandbytes": "quantization" in settings or settings.get("optimizer.bits") == "8",
        "lion_pytorch": settings.get("optimizer.name") == "lion",
        "adam_mini": settings.get("optimizer.name") == "adam-mini",
        "galore_torch": "galore.rank" in settings,
        "liger_kernel": settings.get("kernels") == "fused",
    }
    for name, needed in needs.items():
        if (
            needed
            and call([python, "-c", "import importlib.util as u; assert u.find_spec(%r)" % name])[
                0
            ].returncode
        ):
            return name
    return None


def all_rows():
    with open(os.path.join(HERE, "rows.json"), encoding="utf-8") as file:
        return json.load(file)["rows"]


def config_of(arguments, row):
    """Returns the row's own configuration. If it has none, returns the configuration of the preset
    or other row that the row names, with the row's changes."""
    if "config" in row:
        return row["config"]
    presets = json.loads(call([arguments.vramscope, "presets", "--json"])[0].stdout)["presets"]
    known = {other["model"]: other["config"] for other in all_rows() if "config" in other}
    known.update((preset["name"], preset["config"]) for preset in presets)
    return {**known[row["model"]], **row.get("changes", {})}


def name_of(row):
    """Returns a name for this row, whose words can be used to select it."""
    return " ".join(
        [row["model"]]
        + ["%s=%s" % change for change in row.get("changes", {}).items()]
        + row["settings"]
    )


def plan_both(arguments, row, folder):
    """Plans the row with the loop and with the program. Returns the problem (or None), and the
    seconds that each plan took."""
    settings = settings_of(row)
    config = os.path.join(folder, "config.json")
    with open(config, "w", encoding="utf-8") as file:
        json.dump(config_of(arguments, row), file)
    ours = [arguments.vramscope, "plan", "--model", config, "-o", "loop.trace", "--json"]
    for key, value in settings.items():
        ours += ["--set", key + "=" + value]
    device = settings.pop("device")
    allocator = [settings.pop("alloc_conf")] if "alloc_conf" in settings else []
    allocator += [
        key.removeprefix("alloc.") + ":" + settings.pop(key)
        for key in list(settings)
        if key.startswith("alloc.")
    ]
    # Uses the host times of the loop: with several streams, the time between launches affects the
    # order of frees.
    environment = ["VRAMSCOPE_HOST=loop"] + (
        ["PYTORCH_CUDA_ALLOC_CONF=" + ",".join(allocator)] if allocator else []
    )
    theirs = [
        arguments.vramscope,
        "plan",
        "--device",
        device,
        "--steps",
        "0",
        *ranks_of(settings),
        "-o",
        "program.trace",
        "--",
        arguments.python,
        os.path.join(HERE, "train.py"),
        "--model",
        config,
    ]
    theirs += [key + "=" + value for key, value in settings.items()]
    seconds = []
    for command in (ours, environment + theirs):
        done, took = call(["env", "-C", folder] + command)
        seconds.append(took)
        if done.returncode in (2, 3) and command is ours:
            raise Refused(done.stderr.strip().rpartition("config.json: ")[2])
        if done.returncode > 1:
            return "%s: %s" % (" ".join(command[1:3]), (done.stderr or done.stdout)[-600:]), seconds
    return None, seconds


def causes(diff):
    """Groups equal differences. Returns [(count, the loop's request, the program's request)].
    Leaves out requests that differ only in order."""
    groups, sides = (
        collections.Counter(),
        {
            side: collections.Counter(one[side] for one in diff["first_differences"] if one[side])
            for side in "ab"
        },
    )
    bare = {
        side: collections.Counter(without_place(text) for text in sides[side].elements())
        for side in "ab"
    }
    ordered = bare["a"] == bare["b"]
    for one in diff["first_differences"]:
        texts = [
            one[side]
            if ordered
            or bare["ab"[1 - i]][without_place(one[side])] < bare[side][without_place(one[side])]
            else ""
            for i, side in enumerate("ab")
        ]
        if any(texts):
            groups[
                tuple(
                    re.sub(
                        r"\b(layers|h|layer|block|encoder_layer_)\.?\d+",
                        r"\1.*",
                        re.sub(r"#\d+", "#", text),
                    )
                    for text in texts
                )
            ] += 1
    return [(times, *texts) for texts, times in groups.most_common()]


def without_place(text):
    return re.sub(r" \(.*|#\d+", "", text)


def until_last_allocation(requests, file):
    """Removes the frees after the last allocation, which happen when the process ends. The
    interpreter decides their order when it clears modules, and some runs lack these frees."""
    lines = requests.splitlines(keepends=True)
    last = max(i for i, line in enumerate(lines) if line.split(",")[1] in ("alloc", "kind"))
    with open(file, "w", encoding="utf-8") as rows:
        rows.writelines(lines[: last + 1])


def compare(arguments, row, folder):
    """Compares the last step. If the run does more than train, compares all requests from the first
    to the last allocation."""
    settings, files = (
        settings_of(row),
        [os.path.join(folder, file) for file in ("loop.trace", "program.trace")],
    )
    command = [arguments.vramscope, "diff", "--requests", "--top", "100000", "--json"]
    if settings.get("mode", "train") != "train" or {
        "eval",
        "generate.tokens",
        "resume.map_location",
    } & set(settings):
        for i, file in enumerate(files):
            files[i] = file + ".csv"
            until_last_allocation(
                subprocess.run(
                    [arguments.vramscope, "requests", file],
                    stdout=subprocess.PIPE,
                    text=True,
                    check=True,
                    timeout=900,
                ).stdout,
                files[i],
            )
    else:
        command += ["--step", str(int(settings["steps"]) - 1)]
    return json.loads(call(command + files)[0].stdout)


def run(arguments, row):
    name = name_of(row)
    with tempfile.TemporaryDirectory() as folder:
        wrong, seconds = plan_both(arguments, row, folder)
        if wrong:
            print("%-72s FAILED %s" % (name, wrong), flush=True)
            return False
        diff = compare(arguments, row, folder)
        peaks = [
            json.loads(
                call([arguments.vramscope, "peak", "--json", os.path.join(folder, file)])[0].stdout
            )
            for file in ("loop.trace", "program.trace")
        ]
    # Autocast frees its casts in the order of a hash table, which differs between runs.
    equal, total = diff["requests"]["equal_frees_unordered"], diff["requests"]["total"]
    (loop, loop_reserved), (program, program_reserved) = (
        (peak["allocated"], peak["peak_reserved"]) for peak in peaks
    )
    arguments.figures[name] = {
        "equal": equal,
        "total": total,
        "peak": {"loop": loop, "program": program},
        "reserved": {"loop": loop_reserved, "program": program_reserved},
        "commit": arguments.commit,
    }
    print(
        "%-72s %6d of %6d %7.3f %%  peak %14d %+d reserved %14d %+d  %.1f s %.1f s"
        % (
            name,
            equal,
            total,
            100 * equal / total,
            program,
            loop - program,
            program_reserved,
            loop_reserved - program_reserved,
            *seconds,
        ),
        flush=True,
    )
    if arguments.causes and equal < total:
        for times, ours, theirs in causes(diff)[: arguments.causes]:
            print("    %5d  %-60s | %s" % (times, ours, theirs), flush=True)
    return equal >= arguments.at_least * total and loop == program


def commit_of(vramscope):
    """Returns the commit that the program was built from, which `--version` prints."""
    lines = call([vramscope, "--version"])[0].stdout.splitlines()
    return next(
        (line.split(" ", 1)[1].strip() for line in lines if line.startswith("commit ")), "unknown"
    )


def keep(arguments):
    """Adds the figures of this run to the file, which keeps other figures from earlier runs."""
    kept = {}
    if os.path.exists(arguments.results):
        with open(arguments.results, encoding="utf-8") as file:
            kept = json.load(file)
    kept.update(arguments.figures)
    with open(arguments.results, "w", encoding="utf-8") as file:
        json.dump(kept, file, indent=1, sort_keys=True)
        file.write("\n")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vramscope", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--tested", action="store_true", help="only the rows that the tests run")
    parser.add_argument(
        "--causes",
        type=int,
        default=0,
        metavar="N",
        help="list the N most frequent differences of each row",
    )
    parser.add_argument("--at-least", type=float, default=1.0, metavar="SHARE")
    parser.add_argument(
        "--random",
        type=int,
        metavar="N",
        help="N random combinations of techniques instead of the table's rows",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of --random")
    parser.add_argument(
        "--results",
        metavar="F.json",
        help="merge the figures into this file (docs/results/data/oracle.json)",
    )
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    chosen = (
        random_rows.rows(arguments.seed)
        if arguments.random
        else [
            row
            for row in all_rows()
            if set(arguments.words) <= {row["model"], *row["settings"]}
            and (row.get("tested") or not arguments.tested)
        ]
    )
    if not has_packages(arguments.python):
        print("skipped: %s has no torch with transformers %s" % (arguments.python, TRANSFORMERS))
        return 77
    arguments.figures, arguments.commit = {}, commit_of(arguments.vramscope)
    good = []
    for row in chosen:
        if arguments.random and len(good) >= arguments.random:
            break
        package = lacking(arguments.python, row)
        if package:
            print("%-72s skipped: no %s" % (name_of(row), package), flush=True)
            continue
        try:
            good.append(run(arguments, row))
            if arguments.results:
                keep(arguments)
        except Refused as why:
            if not arguments.random:
                raise
            print("%-72s refused: %s" % (name_of(row), str(why).splitlines()[0]), flush=True)
    print(
        "%d of %d rows have the same peak and at least %g of their requests equal"
        % (sum(good), len(good), arguments.at_least)
    )
    return 0 if all(good) and good else 1


if __name__ == "__main__":
    sys.exit(main())

"""Checks vramscope independently: computes the figures of snapshots from the pickles, and compares
them with vramscope's.

    python3 tests/judges/second_opinion --vramscope build/release/bin/vramscope FILES...
    python3 tests/judges/second_opinion --vramscope ... --made 40      (generated inputs)
    python3 tests/judges/second_opinion --vramscope ... --shared ../shared

Exit status: 0 if all are equal, 1 if some differ, 77 if nothing was compared."""

import argparse
import glob
import json
import os
import sys
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import exports
import known
import leaks
import made
import ranges
import reading
import two_files
from memory import Snapshot
from one_file import OneFile, views
from program import Failed, Program
from table import Table


def judge(program, table, path, name, seed, parts):
    """Compares all figures of one file. Returns the model built from the file, or None if this is
    not possible."""
    try:
        value, cut = reading.load(path)
    except reading.Skip as skip:
        table.skip(name, str(skip))
        return None
    except reading.Unreadable as reason:
        return refused_or_salvaged(program, table, path, name, f"Python cannot read it ({reason})")
    if cut:
        return refused_or_salvaged(program, table, path, name, "it ends too early", value)
    snapshot = Snapshot(value)
    one = OneFile(program, table, path, name, snapshot, seed ^ zlib.crc32(name.encode()))
    try:
        info = one.info()
        for view in views(snapshot):
            events = one.requests(
                view, info if not view.options else program.json("info", path, *view.options)
            )
            one.block_of = {}
            one.table_of_allocations(view, one.allocations(view), info)
            one.live_at_peak(view)
            if not view.entries:  # the file is a snapshot without history
                one.fragmentation(view, None, -1)
                one.segments(view, None, -1)
            for event, k in one.moments(view, events):
                one.fragmentation(view, event, k)
                one.segments(view, event, k)
            one.call_sites(view, info)
            leaks.check(one, view, info)
        with tempfile.TemporaryDirectory(prefix="second_opinion_") as folder:
            written = exports.Exports(one, folder)
            written.chrome()
            written.snapshot(info)
            written.timeline()
        ranges.check(one, parts)
    except Failed as failed:
        table.check(name, "runs", str(failed), "ends as it should")
    return snapshot


def refused_or_salvaged(program, table, path, name, why, value=None):
    """Called if there is no model of the file to compare with. vramscope must either refuse the
    file (exit status 3) or report what is missing (0). For a truncated file, it must not invent
    entries, and must say that the file is incomplete."""
    try:
        done = program.run("info", path, "--json", allowed=(0, 3))
        table.check(name, "damaged: says so", bool(done.stderr.strip()), True)
        if done.returncode == 0 and isinstance(value, dict):
            info = json.loads(done.stdout)
            entries = sum(
                isinstance(e, dict) and "action" in e
                for t in value.get("device_traces") or []
                for e in t
            )
            table.check(name, "cut: is not whole", info["truncated"], True)
            table.check(
                name,
                "cut: no more entries than there are",
                info["entries"] <= entries or info["entries"],
                True,
            )
        table.skip(name, f"{why}: only looked at how it ends ({done.returncode})")
    except Failed as failed:
        table.check(name, "runs", str(failed), "ends with 0 or 3")


def files_of(shared):
    out = []
    for pattern in ("snapshots/*.pickle*", "snapshots/more/*.pickle*", "repro/*.pickle*"):
        out += sorted(glob.glob(os.path.join(shared, pattern)))
    return [f for f in out if not os.path.basename(f).startswith("bomb_")]


def main():
    parser = argparse.ArgumentParser(
        prog="second_opinion",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--vramscope", required=True, metavar="PATH", help="the program")
    parser.add_argument(
        "--made", type=int, default=0, metavar="N", help="number of generated inputs"
    )
    parser.add_argument("--keep", metavar="FOLDER", help="folder for the generated inputs")
    parser.add_argument("--shared", metavar="FOLDER", help="check all recordings below this folder")
    parser.add_argument(
        "--parts", type=int, default=2, metavar="N", help="number of random parts of each file"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--all", action="store_true", help="print equal figures, too")
    parser.add_argument("files", nargs="*", metavar="FILE")
    arguments = parser.parse_args()

    program, table = Program(arguments.vramscope), Table(known.DIFFERENCES)
    with tempfile.TemporaryDirectory(prefix="second_opinion_made_") as folder:
        paths = list(arguments.files)
        if arguments.shared:
            found = files_of(arguments.shared)
            if not found:
                print(f"no recordings below {arguments.shared}: SKIPPED")
            paths += found
        if arguments.made:
            paths += made.write_all(arguments.keep or folder, arguments.made, arguments.seed)
        if not paths:
            return 77
        names = [os.path.basename(p) for p in paths]
        with ThreadPoolExecutor(arguments.jobs) as pool:
            models = list(
                pool.map(
                    lambda item: judge(program, table, *item, arguments.seed, arguments.parts),
                    zip(paths, names),
                )
            )
            first = len(paths) - arguments.made
            for number, model in enumerate(models[first:] if arguments.made else []):
                if model is not None:
                    made.check_the_model(
                        table, names[first + number], number, arguments.seed, model
                    )
            whole = [(p, n, m) for p, n, m in zip(paths, names, models) if m is not None]
            pairs = list(zip(whole, whole[1:] + whole[:1])) + [(w, w) for w in whole[::4]]
            list(pool.map(lambda pair: compare(program, table, *pair), pairs))
    print(table.text(arguments.all))
    wrong = table.wrong()
    print(
        f"{len(paths)} files, {table.compared:,} figures, {program.runs:,} runs: "
        + (f"{len(wrong)} kinds of figures are not as they should be" if wrong else "all equal")
    )
    return 1 if wrong else 0


def compare(program, table, a, b):
    try:
        two_files.check(program, table, a, b)
    except Failed as failed:
        table.check(f"{a[1]} | {b[1]}", "runs", str(failed), "ends as it should")


if __name__ == "__main__":
    sys.exit(main())

"""Checks trainer/techniques/proofs.md: every id of the list occurs once, files exist, keys
are in the catalogue, formulas and tests exist, and every technique of the catalogue is
listed.

    python3 table.py ROOT        prints all errors; exit status 1 if there are any
"""

import json
import pathlib
import re
import sys

IDS = ["T%02d" % i for i in range(1, 30)] + ["X%02d" % i for i in range(1, 25)]
# Keys that every run has and no technique declares (profiler/run/keys.cpp).
RUN_KEYS = {"batch", "seq", "micro_batches", "alloc_conf", "model"}
# Techniques of the catalogue that are not in the list of proofs.md.
BEYOND = {"clipping", "saving", "resuming", "generation", "inference"}


def tests_of(root):
    found = set()
    for file in (root / "tests").rglob("*.cpp"):
        for suite, name in re.findall(
            r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", file.read_text(encoding="utf-8"), re.M
        ):
            found.add("%s.%s" % (suite, name))
    return found


def wrong(root):
    catalogue = json.loads((root / "resources/catalogue.json").read_text(encoding="utf-8"))
    keys = {s["key"]: t["id"] for t in catalogue["techniques"] for s in t.get("settings", [])}
    formulas = set(
        re.findall(
            r'^    \{"([a-z0-9-]+)",',
            (root / "profiler/estimate/formulas.cpp").read_text(encoding="utf-8"),
            re.M,
        )
    )
    tests, ids, told = tests_of(root), [], set()
    text = (root / "trainer/techniques/proofs.md").read_text(encoding="utf-8")
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 5 or not re.fullmatch(r"[TX]\d\d", cells[0]):
            continue
        name, _, file, named, proofs = cells
        ids.append(name)
        if file == "formula":
            for formula in named.split(", "):
                if formula not in formulas:
                    yield "%s: no formula is called %s" % (name, formula)
        else:
            path = root / file if "/" in file else root / "trainer/techniques" / file
            if not path.is_file():
                yield "%s: there is no %s" % (name, file)
            for key in named.split(", "):
                if key in keys:
                    told.add(keys[key])
                elif key not in RUN_KEYS:
                    yield "%s: no technique declares %s" % (name, key)
        for test in proofs.split(", "):
            if test not in tests:
                yield "%s: there is no test %s" % (name, test)
    if sorted(ids) != sorted(IDS):
        yield "ids: %s" % " ".join(sorted(set(ids) ^ set(IDS)))
    for technique in catalogue["techniques"]:
        if technique["settings"] and technique["id"] not in told | BEYOND:
            yield "the catalogue's %s is in no row" % technique["id"]


if __name__ == "__main__":
    lines = list(wrong(pathlib.Path(sys.argv[1])))
    print("\n".join(lines) or "proofs.md: %d rows hold" % len(IDS))
    sys.exit(bool(lines))

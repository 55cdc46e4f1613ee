"""Checks that the findings in every stored recording and plan equal those that were reviewed by
hand. The test therefore notices new and missing findings, and no reviewed finding is a false alarm.

    python3 findings_test.py VRAMSCOPE           compares with golden/findings.json
    python3 findings_test.py VRAMSCOPE --write   writes the file; then review the changes (git diff)

golden/findings.json: {"judged": {finding: why it is right in its files}, "files": {file: {finding:
bytes}}}."""

import glob
import json
import os
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
GOLDEN = os.path.join(ROOT, "tests/golden/findings.json")
FILES = (
    "resources/samples/*.trace",
    "tests/golden/gpu/**/*.trace",
    "tests/golden/gpu/**/*.pickle.zst",
)


def findings(vramscope, path):
    explained = subprocess.run(
        [vramscope, "explain", path, "--page", "findings", "--json"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    if explained.returncode not in (0, 1):
        sys.exit("%s: %s" % (path, explained.stderr.strip()))
    return {finding["id"]: finding["bytes"] for finding in json.loads(explained.stdout)["findings"]}


def main():
    vramscope = os.path.abspath(sys.argv[1])
    paths = sorted(
        {
            path
            for pattern in FILES
            for path in glob.glob(os.path.join(ROOT, pattern), recursive=True)
        }
    )
    files = {os.path.relpath(path, ROOT): findings(vramscope, path) for path in paths}
    with open(GOLDEN) as file:
        golden = json.load(file)
    if "--write" in sys.argv:
        golden["files"] = files
        with open(GOLDEN, "w") as file:
            json.dump(golden, file, indent=1, sort_keys=True)
            file.write("\n")
    bad = [
        "%s: %s, expected %s" % (name, files.get(name), golden["files"].get(name))
        for name in sorted({*files, *golden["files"]})
        if files.get(name) != golden["files"].get(name)
    ]
    bad += [
        "%s: not judged" % name
        for name in sorted(
            {name for found in files.values() for name in found} - set(golden["judged"])
        )
    ]
    print(
        "\n".join(bad)
        or "%d findings in %d files, all reviewed" % (sum(map(len, files.values())), len(files))
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

"""Runs `cmake --install` of this build into a folder."""

import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(os.environ["VRAMSCOPE_SOURCE"])
BUILD = pathlib.Path(os.environ["VRAMSCOPE_BUILD"])
sys.path.insert(0, str(SOURCE / "packaging"))


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


def install(prefix):
    if not (BUILD / "bin/vramscope").exists():
        skip("there is no build/bin/vramscope")
    done = subprocess.run(
        [os.environ.get("CMAKE", "cmake"), "--install", str(BUILD), "--prefix", str(prefix)],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return pathlib.Path(prefix)

"""Shared by the tests of real PyTorch programs. Finds PyTorch, and plans programs of programs/.

Read from the command line of the importing script: VRAMSCOPE [SHARED]; from the environment:
VRAMSCOPE_TEST_PYTHON, VRAMSCOPE_TEST_PYTHONPATH."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
VRAMSCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "vramscope"
SHARED = (
    os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else os.path.join(HERE, "../../../shared")
)
PYTHON = os.environ.get("VRAMSCOPE_TEST_PYTHON") or sys.executable
ENVIRONMENT = dict(os.environ)
if os.environ.get("VRAMSCOPE_TEST_PYTHONPATH"):
    ENVIRONMENT["PYTHONPATH"] = os.environ["VRAMSCOPE_TEST_PYTHONPATH"]


def has(module):
    """Returns whether the module is installed. Does not import it, because a torch without NVIDIA's
    libraries could not be imported."""
    code = (
        "import importlib.util, os, runpy\nassert importlib.util.find_spec(%r)\n"
        "torch = os.path.dirname(importlib.util.find_spec('torch').origin)\n"
        "assert runpy.run_path(os.path.join(torch, 'version.py'))['cuda']\n" % module
    )
    return (
        subprocess.run([PYTHON, "-c", code], env=ENVIRONMENT, capture_output=True).returncode == 0
    )


TORCH = has("torch")


def words(program, *arguments):
    """Returns the command of a program: a file of programs/, or a tuple of words for the
    interpreter."""
    first = program if isinstance(program, tuple) else (os.path.join(HERE, "programs", program),)
    return ["--", PYTHON, *first, *arguments]


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def plan(self, program, *arguments, options=(), status=0, **environment):
        command = [
            VRAMSCOPE,
            "plan",
            "--json",
            "--writable",
            self.folder,
            *options,
            *words(program, *arguments),
        ]
        result = subprocess.run(
            command, env={**ENVIRONMENT, **environment}, capture_output=True, text=True, timeout=900
        )
        self.assertEqual(result.returncode, status, result.stderr[-4000:])
        self.stderr = result.stderr
        answer = json.loads(result.stdout)
        self.assertFalse([a for a in answer["assumptions"] if "hooks are missing" in a["what"]])
        return answer

    def json(self, *arguments):
        result = subprocess.run(
            [VRAMSCOPE, *arguments, "--json"], capture_output=True, text=True, timeout=300
        )
        self.assertIn(result.returncode, (0, 1), result.stderr)
        return json.loads(result.stdout)


def main():
    if not TORCH:
        print(
            "skipped: no torch for CUDA: neither VRAMSCOPE_TEST_PYTHONPATH nor %s has one" % PYTHON
        )
        sys.exit(77)
    unittest.main(module="__main__", verbosity=1)

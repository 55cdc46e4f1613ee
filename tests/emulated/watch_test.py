"""Tests `vramscope plan --watch`. It plans a program again when one of its files is saved, and
prints the changes. An error is shown next to the last good plan.

    python3 watch_test.py VRAMSCOPE

Uses a stand-in for torch, so that it runs everywhere."""

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
VRAMSCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "vramscope"
MIB = 1 << 20


class Watch(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        packages = os.path.join(self.folder, "packages")
        shutil.copytree(os.path.join(HERE, "fake_torch"), packages)
        # only an installed torch is imported in advance
        os.mkdir(os.path.join(packages, "torch-2.9.0.dist-info"))
        self.program = os.path.join(self.folder, "program")
        os.mkdir(self.program)
        self.save("size.py", "BYTES = 1 << 20\n")
        self.save(
            "train.py",
            "import torch\nimport size\n\nfor _ in range(2):\n    torch.allocate(size.BYTES)\n",
        )
        self.environment = dict(
            os.environ,
            PYTHONPATH=packages,
            VRAMSCOPE_PROGRAM_HOOKS="none",
            PYTHONDONTWRITEBYTECODE="1",
        )

    def save(self, name, text):
        """Saves a file as editors do: writes a new file and renames it."""
        path = os.path.join(self.program, name)
        with open(path + ".new", "w") as file:
            file.write(text)
        os.rename(path + ".new", path)

    def watch(self, *options):
        self.watcher = subprocess.Popen(
            [
                VRAMSCOPE,
                "plan",
                "--watch",
                "--steps",
                "0",
                *options,
                "--",
                sys.executable,
                "train.py",
            ],
            env=self.environment,
            cwd=self.program,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.addCleanup(self.watcher.stdout.close)
        self.addCleanup(self.watcher.wait)
        self.addCleanup(self.watcher.kill)
        self.lines = queue.Queue()
        threading.Thread(
            target=lambda: [self.lines.put(line) for line in self.watcher.stdout], daemon=True
        ).start()

    def next(self):
        return json.loads(self.lines.get(timeout=120))

    def path(self, name):
        return os.path.join(os.path.realpath(self.program), name)

    def test_what_a_saved_file_changes(self):
        self.watch("--json")
        first = self.next()
        self.assertEqual(
            (first["plan"], first["figures"]["peak"], first["error"]), (1, 2 * MIB, None)
        )
        self.assertEqual(first["watching"], [self.path("size.py"), self.path("train.py")])
        self.save("size.py", "BYTES = 3 << 20\n")
        second = self.next()
        self.assertEqual(
            (second["saved"], second["before"]["peak"], second["figures"]["peak"]),
            ([self.path("size.py")], 2 * MIB, 6 * MIB),
        )
        self.assertEqual(second["difference"]["peak"], 4 * MIB)
        self.assertEqual(sum(second["difference"]["categories"].values()), 4 * MIB)
        self.assertTrue(second["warm"], second["cold"])
        self.assertGreater(second["server_bytes"], MIB)
        self.save("size.py", "BYTES = 3 <<\n")
        third = self.next()
        self.assertIn("SyntaxError", third["error"])
        self.assertIn("size.py", third["error"])
        self.assertEqual((third["figures"], third["before"]["peak"]), (None, 6 * MIB))
        self.save(
            "train.py", "import torch\ntorch.allocate(1 << 20)\nraise ValueError('no data')\n"
        )
        fourth = self.next()
        self.assertIn("ValueError: no data", fourth["error"])
        self.assertEqual((fourth["figures"], fourth["before"]["peak"]), (None, 6 * MIB))
        self.save("train.py", "import torch\ntorch.allocate(1 << 20)\n")
        fifth = self.next()
        self.assertEqual((fifth["error"], fifth["difference"]["peak"]), (None, -5 * MIB))

    def test_ctrl_c_ends_it_and_what_it_started(self):
        self.watch("--json")
        self.next()
        self.save("size.py", "BYTES = 2 << 20\n")
        self.next()  # the process with the imported packages exists
        self.watcher.send_signal(signal.SIGINT)
        self.assertEqual(self.watcher.wait(60), 0)
        running = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/cmdline" % pid, "rb") as file:
                    words = file.read().split(b"\0")
                if os.readlink("/proc/%s/cwd" % pid) == os.path.realpath(self.program):
                    running.append(words)
            except OSError:
                pass
        self.assertEqual(running, [])

    def test_for_people(self):
        self.watch()
        said = self.lines.get(timeout=120) + self.lines.get(timeout=120)
        self.assertIn("peak 2.00 MiB allocated", said)
        self.assertIn("train.py", self.lines.get(timeout=120))
        self.save("size.py", "BYTES = 3 << 20\n")
        self.assertIn("size.py", self.lines.get(timeout=120))
        self.assertRegex(self.lines.get(timeout=120), r"Before +Now +Change")
        self.lines.get(timeout=120)  # the line under the titles
        self.assertRegex(self.lines.get(timeout=120), r"Peak +2\.00 MiB +6\.00 MiB +\+4\.00 MiB")

    def test_excluded_options(self):
        for options in (["--keep", self.folder], ["-o", "-"]):
            result = subprocess.run(
                [VRAMSCOPE, "plan", "--watch", *options, "--", sys.executable, "train.py"],
                cwd=self.program,
                capture_output=True,
                text=True,
                timeout=60,
            )
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("--watch", result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)

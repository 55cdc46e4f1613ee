"""Uses the Python package as a user's program does, without PyTorch: figures, files, errors, the
window.

    python3 python_test.py VRAMSCOPE
"""

import importlib.util
import json
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
VRAMSCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "vramscope"
PACKAGE = os.path.join(HERE, "..", "..", "emulated", "python")
os.environ["VRAMSCOPE"] = VRAMSCOPE
sys.path.insert(0, PACKAGE)
sys.dont_write_bytecode = True
import vramscope  # noqa: E402
import working_folder  # noqa: E402
from mcp_test import MIB, snapshot  # noqa: E402

setUpModule = working_folder.enter


class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.file = self.path("a.pickle")
        with open(self.file, "wb") as file:
            pickle.dump(snapshot([8, 24]), file, protocol=4)

    def path(self, name):
        return os.path.join(self.folder, name)

    def python(self, code, **environment):
        return subprocess.run(
            [sys.executable, "-c", code],
            env={
                **os.environ,
                "PYTHONPATH": PACKAGE,
                "PYTHONDONTWRITEBYTECODE": "1",
                **environment,
            },
            capture_output=True,
            text=True,
            timeout=240,
        )

    def test_importing_it_imports_nothing_else(self):
        code = (
            "import sys, typing\nbefore = set(sys.modules)\nimport "
            "vramscope\nprint(sorted(set(sys.modules) - before), "
            "vramscope.__all__ == [n for n in vramscope.__all__ if n in dir(vramscope)])"
        )
        self.assertEqual(self.python(code).stdout, "['vramscope'] True\n")

    def test_every_offered_version_exists(self):
        for name in vramscope.__all__:
            self.assertTrue(getattr(vramscope, name).__doc__, name)
        with self.assertRaises(AttributeError):
            vramscope.nothing

    def test_a_file(self):
        result = vramscope.load(self.file)
        self.assertEqual((result.peak_allocated, result.peak_reserved), (32 * MIB, 32 * MIB))
        self.assertEqual(sum(result.categories.values()), 32 * MIB)
        self.assertIn("train.py:2", result.peak(by="stack")["groups"][0]["name"])
        self.assertEqual(json.loads(result.to_json())["kind"], "snapshot")
        self.assertIn("fragmentation", result.explain())
        self.assertIn("32.00 MiB allocated", repr(result))

    def test_a_budget(self):
        check = vramscope.load(self.file).check("16MiB", context="0")
        self.assertFalse(check)
        self.assertEqual((check.needed, check.over), (32 * MIB, 16 * MIB))
        self.assertIn("16.00 MiB too much", str(check))
        self.assertIn("train.py:2", str(check))
        self.assertTrue(vramscope.load(self.file).check(32 * MIB, context="0"))

    def test_a_screenshot(self):
        svg = vramscope.load(self.file).svg("a < b & c")
        root = xml.etree.ElementTree.fromstring(svg)
        self.assertTrue(root.tag.endswith("svg"))
        self.assertIn("a < b & c", "".join(root.itertext()))
        html = vramscope.load(self.file)._repr_html_()
        self.assertIn("<svg", html)
        self.assertIn("32.00 MiB allocated", html)

    def test_errors_contain_the_programs_message(self):
        with self.assertRaisesRegex(vramscope.VramscopeError, "missing.trace") as caught:
            vramscope.load(self.path("missing.trace"))
        self.assertEqual(caught.exception.status, 3)
        with self.assertRaises(TypeError):
            vramscope.plan("train.py")
        with self.assertRaises(TypeError):
            vramscope.plan()
        answer = self.python("import vramscope\nvramscope.load('x')", VRAMSCOPE="/no/such/program")
        self.assertIn("/no/such/program", answer.stderr)

    def test_saving_replaces_nothing(self):
        result, out = vramscope.load(self.file), self.path("copy.pickle")
        self.assertEqual(result.save(out), out)
        with self.assertRaises(FileExistsError):
            result.save(out)
        result.save(out, overwrite=True)
        with open(out, "rb") as copy, open(self.file, "rb") as first:
            self.assertEqual(copy.read(), first.read())
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.pickle", "copy.pickle"])

    def fake(self, program):
        """Returns a command that runs the program with tests/emulated/fake_torch in place of
        torch."""
        path = self.path("train.py")
        with open(path, "w") as file:
            file.write(program)
        for name, value in (
            ("PYTHONPATH", os.path.join(HERE, "..", "emulated", "fake_torch")),
            ("VRAMSCOPE_PROGRAM_HOOKS", "none"),
        ):
            before = os.environ.get(name)
            os.environ[name] = value
            self.addCleanup(
                lambda name=name, before=before: (
                    os.environ.update({name: before})
                    if before is not None
                    else os.environ.pop(name)
                )
            )
        return [path, "--batch", "8"]

    def test_a_plan(self):
        command = self.fake(
            "import sys, torch\nassert sys.argv[1:] == ['--batch', '8']\ntorch.allocate(64 << 20)\n"
        )
        plan = vramscope.plan(command, device="h100-sxm", options=["--no-activities"])
        self.assertEqual(plan.peak_allocated, 64 * MIB)
        self.assertTrue(plan.fits)
        self.assertFalse(plan.measured)
        self.assertEqual(plan.summary["device"], "h100-sxm")
        self.assertIn("fits on", plan._repr_html_())
        path = plan.path
        self.assertTrue(os.path.exists(path))
        del plan
        self.assertFalse(os.path.exists(path))

    def test_a_failed_plan_keeps_its_data(self):
        with self.assertRaisesRegex(vramscope.VramscopeError, "no such batch") as caught:
            vramscope.plan(
                self.fake(
                    "import torch\ntorch.allocate(64 << 20)\nraise ValueError('no such batch')\n"
                )
            )
        self.assertEqual(caught.exception.result.peak_allocated, 64 * MIB)
        with self.assertRaisesRegex(vramscope.VramscopeError, "torch") as caught:
            vramscope.plan(self.fake("print('nothing trains')\n"))
        self.assertIsNone(caught.exception.result)

    def test_no_window_without_a_display(self):
        code = "import vramscope\nvramscope.show(%r)" % self.file
        answer = self.python(code, DISPLAY="", WAYLAND_DISPLAY="", QT_QPA_PLATFORM="")
        self.assertIn("there is no display", answer.stderr)

    def test_arguments_of_show_are_checked_first(self):
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        self.addCleanup(os.environ.pop, "QT_QPA_PLATFORM")
        with self.assertRaises(FileNotFoundError):
            vramscope.show(self.path("missing.trace"))
        with self.assertRaisesRegex(TypeError, "segments"):
            vramscope.show({})
        with self.assertRaises(TypeError):
            vramscope.show()

    def test_a_window_is_opened_and_closed(self):
        """Starts a script in place of the window. The script writes its arguments to a file."""
        stand_in, told = self.path("window"), self.path("told")
        with open(stand_in, "w") as file:
            file.write(
                "#!/bin/sh\nprintf '%%s\\n' \"$@\" > '%s.part'\nmv '%s.part' '%s'\nexec sleep "
                "1000\n" % (told, told, told)
            )
        os.chmod(stand_in, 0o755)
        code = (
            "import os, sys, time, vramscope\nwindow = vramscope.show(%r, {'segments': [], "
            "'device_traces': []})\n"
            "while not os.path.exists(%r): time.sleep(0.01)\nassert "
            "window.running\nprint(open(%r).read().split()[0])\n"
            "window.close()\nprint(window.running)" % (self.file, told, told)
        )
        answer = self.python(
            code, VRAMSCOPE=stand_in, QT_QPA_PLATFORM="offscreen", TMPDIR=self.folder
        )
        self.assertEqual(answer.stdout.split(), [self.file, "False"], answer.stderr)

    @unittest.skipUnless(importlib.util.find_spec("IPython"), "no IPython")
    def test_a_cell(self):
        command = self.fake("")
        del command
        code = (
            "from IPython.core.interactiveshell import InteractiveShell\nfrom "
            "IPython.utils.capture import capture_output\n"
            "shell = InteractiveShell.instance()\nshell.run_cell('%load_ext vramscope')\n"
            "with capture_output() as seen:\n"
            "    shell.run_cell('%%vramscope --plan --budget 100MiB\\nimport "
            "torch\\ntorch.allocate(64 << 20)\\n')\n"
            "print(seen.stderr)\nprint(seen.outputs[0]._repr_html_())\n"
        )
        answer = self.python(
            code, PYTHONPATH=PACKAGE + os.pathsep + os.environ["PYTHONPATH"], IPYTHONDIR=self.folder
        )
        self.assertIn("<svg", answer.stdout, answer.stderr + answer.stdout)
        self.assertIn("Over the budget", answer.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=1)

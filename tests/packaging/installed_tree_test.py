"""The tree of `cmake --install` works after it was moved. No file in it refers to the build
folder."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import installed

PROGRAM = """
import os
print("folder of libcuda:", os.environ["VRAMSCOPE_PROGRAM_EMULATED"])
import torch
layer = torch.nn.Linear(64, 64, device="cuda")
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
for _ in range(2):
    layer(torch.ones(8, 64, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


class InstalledTree(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        first = installed.install(pathlib.Path(cls.folder.name, "first"))
        cls.tree = first.rename(pathlib.Path(cls.folder.name, "moved here"))  # a name with a space

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_program(self, *arguments, **environment):
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith("VRAMSCOPE_")
        }
        return subprocess.run(
            [str(self.tree / "bin/vramscope"), *arguments],
            capture_output=True,
            text=True,
            env=dict(kept, **environment),
            timeout=200,
        )

    def test_the_version(self):
        done = self.run_program("--version")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("vramscope 0."), done.stdout)

    def test_a_trace(self):
        done = self.run_program(
            "info", str(installed.SOURCE / "tests/golden/trace/v6.trace"), "--json"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(json.loads(done.stdout)["events"], 0)

    def test_the_toggles_of_programs(self):
        done = self.run_program("toggles", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        declared = installed.SOURCE / "emulated/python/vramscope/toggles/__main__.py"
        catalogue = subprocess.run(
            [sys.executable, "-B", str(declared)], capture_output=True, text=True, check=True
        ).stdout
        self.assertEqual(
            [toggle["name"] for toggle in json.loads(done.stdout)["toggles"]],
            [toggle["name"] for toggle in json.loads(catalogue)["toggles"]],
        )

    def test_a_screenshot(self):
        picture = pathlib.Path(self.folder.name, "picture.png")
        done = self.run_program(
            str(installed.SOURCE / "tests/golden/trace/v6.trace"),
            "--screenshot",
            str(picture),
            QT_QPA_PLATFORM="offscreen",
            HOME=self.folder.name,
            XDG_CACHE_HOME=self.folder.name,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(picture.read_bytes()[:4], b"\x89PNG")

    def test_the_emulated_platform_is_the_trees(self):
        path = os.environ.get("VRAMSCOPE_PROGRAM_PYTHONPATH")
        if not path:
            self.skipTest("there is no PyTorch for programs")
        script = pathlib.Path(self.folder.name, "train.py")
        script.write_text(PROGRAM)
        done = self.run_program(
            "plan", "--json", "--", sys.executable, str(script), PYTHONPATH=path
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(result["parameters"]["count"], 64 * 64 + 64)
        self.assertIn(str(self.tree / "lib/vramscope/emulated"), done.stderr + done.stdout)

    def test_the_worker_with_a_torch_that_is_named(self):
        torch = pathlib.Path(os.environ["VRAMSCOPE_TORCH"])
        if not (self.tree / "lib/vramscope/vramscope-worker").exists():
            self.skipTest("this build has no worker")
        done = self.run_program(
            "plan",
            "--preset",
            "gpt2",
            "--set",
            "seq=128",
            "--json",
            VRAMSCOPE_TORCH_ROOT=str(torch),
            LD_LIBRARY_PATH="%s:%s" % (torch / "torch/lib", torch / "nvidia/cu13/lib"),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(json.loads(done.stdout)["peak"]["allocated"], 0)

    def test_nothing_leads_back_to_the_build(self):
        if os.environ.get("VRAMSCOPE_BUILD_TYPE") != "Release":
            self.skipTest("debug information names the sources")
        build, source = str(installed.BUILD).encode(), str(installed.SOURCE).encode()
        for path in sorted(self.tree.rglob("*")):
            if path.is_file():
                content = path.read_bytes()
                self.assertNotIn(build, content, path)
                self.assertNotIn(source, content, path)

    def test_what_a_desktop_looks_for(self):
        for name in (
            "applications/vramscope.desktop",
            "icons/hicolor/scalable/apps/vramscope.svg",
            "mime/packages/vramscope.xml",
            "doc/vramscope/LICENSE",
        ):
            self.assertTrue((self.tree / "share" / name).is_file(), name)


if __name__ == "__main__":
    unittest.main()

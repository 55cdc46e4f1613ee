"""Tests `vramscope plan --with PACKAGE==V1,V2`, which plans a program with each version of a
package. The environments of the versions are created, reused, and separate from the user's own.

    python3 versions_test.py VRAMSCOPE

Uses a stand-in for torch and local packages, so that it runs everywhere and needs no network."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
VRAMSCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "vramscope"
MIB = 1 << 20


def wheel(folder, name, version, text, requires=()):
    """Writes a wheel with one module."""
    info = "%s-%s.dist-info" % (name, version)
    files = {
        name + ".py": text,
        info + "/METADATA": "Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % (name, version)
        + "".join("Requires-Dist: %s\n" % one for one in requires),
        info + "/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: "
        "py3-none-any\n",
    }
    files[info + "/RECORD"] = "".join("%s,,\n" % path for path in files) + info + "/RECORD,,\n"
    with zipfile.ZipFile(
        os.path.join(folder, "%s-%s-py3-none-any.whl" % (name, version)), "w"
    ) as archive:
        for path, content in files.items():
            archive.writestr(path, content)


def contents(folder):
    """Returns the contents of all files, with their paths as keys."""
    found = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            with open(path, "rb") as file:
                found[path] = hashlib.sha256(file.read()).hexdigest()
    return found


class Versions(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.packages, self.wheels, self.program, self.cache = (
            os.path.join(self.folder, name) for name in ("packages", "wheels", "program", "cache")
        )
        shutil.copytree(os.path.join(HERE, "fake_torch"), self.packages)
        os.mkdir(os.path.join(self.packages, "torch-2.9.0.dist-info"))
        with open(os.path.join(self.packages, "torch-2.9.0.dist-info", "METADATA"), "w") as file:
            file.write("Metadata-Version: 2.1\nName: torch\nVersion: 2.9.0\n")
        for path in (self.wheels, self.program):
            os.mkdir(path)
        # The program's environment has version 1.0. Version 2.0 needs torch, which the environment
        # has, and a helper, which it lacks.
        wheel(self.wheels, "demo_sizes", "1.0", "BYTES = 1 << 20\n")
        wheel(
            self.wheels,
            "demo_sizes",
            "2.0",
            "from demo_helper import BYTES\n",
            ("demo_helper==1.1", "torch>=2"),
        )
        wheel(self.wheels, "demo_sizes", "3.0", "BYTES = 1 << 20\n", ("torch>=99",))
        wheel(self.wheels, "demo_helper", "1.1", "BYTES = 3 << 20\n")
        with zipfile.ZipFile(
            os.path.join(self.wheels, "demo_sizes-1.0-py3-none-any.whl")
        ) as archive:
            archive.extractall(self.packages)
        with open(os.path.join(self.program, "train.py"), "w") as file:
            file.write(
                "import torch\nimport demo_sizes\n\nfor _ in range(2):\n    "
                "torch.allocate(demo_sizes.BYTES)\n"
            )
        self.environment = dict(
            os.environ,
            PYTHONPATH=self.packages,
            VRAMSCOPE_PROGRAM_HOOKS="none",
            PYTHONDONTWRITEBYTECODE="1",
            XDG_CACHE_HOME=self.cache,
            PIP_NO_INDEX="1",
            PIP_FIND_LINKS=self.wheels,
            PIP_CONFIG_FILE=os.devnull,
        )

    def plan(self, versions, *options):
        return subprocess.run(
            [
                VRAMSCOPE,
                "plan",
                "--steps",
                "0",
                "--with",
                versions,
                *options,
                "--",
                sys.executable,
                "train.py",
            ],
            env=self.environment,
            cwd=self.program,
            capture_output=True,
            text=True,
            timeout=240,
        )

    def json(self, versions, status=0):
        result = self.plan(versions, "--json")
        self.assertEqual(result.returncode, status, result.stderr)
        return json.loads(result.stdout), result.stderr

    def test_two_versions_and_what_changes(self):
        before = contents(self.packages)
        said, _ = self.json("demo_sizes==1.0,2.0")
        self.assertEqual(
            [(row["version"], row["peak"], row["error"]) for row in said["rows"]],
            [("1.0", 2 * MIB, None), ("2.0", 6 * MIB, None)],
        )
        # Nothing has to be installed for the first version. The second needs the helper, but torch
        # is already there.
        self.assertEqual(
            [row["packages"] for row in said["rows"]], [[], ["demo_helper==1.1", "demo_sizes==2.0"]]
        )
        self.assertEqual(
            [(one["from"], one["to"], one["peak"]) for one in said["changes"]],
            [("1.0", "2.0", 4 * MIB)],
        )
        self.assertEqual(sum(said["changes"][0]["categories"].values()), 4 * MIB)
        self.assertEqual(sum(said["changes"][0]["modules"].values()), 4 * MIB)
        self.assertEqual(sum(site["delta"] for site in said["changes"][0]["sites"]), 4 * MIB)
        for row in said["rows"]:
            self.assertTrue(row["environment"].startswith(self.cache), row)
            self.assertGreater(row["needed"], row["reserved"])
        # Nothing was added to the user's environment, and no incomplete environment was left.
        self.assertEqual(contents(self.packages), before)
        environments = os.path.join(self.cache, "vramscope", "environments")
        self.assertEqual(
            sorted(os.listdir(environments)),
            sorted(os.path.basename(row["environment"]) for row in said["rows"]),
        )

    def test_environments_are_kept(self):
        first, said = self.json("demo_sizes==2.0")
        self.assertIn("installing demo_sizes==2.0 with pip into", said)
        self.environment["PIP_FIND_LINKS"] = self.folder  # pip finds no packages from here on
        second, said = self.json("demo_sizes==2.0")
        self.assertNotIn("pip", said)
        self.assertEqual(
            ([row["kept"] for row in first["rows"]], [row["kept"] for row in second["rows"]]),
            ([False], [True]),
        )
        self.assertEqual(second["rows"][0]["peak"], 6 * MIB)
        # If the packages of the program's Python change, a new environment is used.
        shutil.rmtree(os.path.join(self.packages, "demo_sizes-1.0.dist-info"))
        third, _ = self.json("demo_sizes==2.0", 1)
        self.assertNotEqual(third["rows"][0]["environment"], first["rows"][0]["environment"])

    def test_a_version_that_does_not_exist(self):
        said, _ = self.json("demo_sizes==1.0,9.9,2.0", 1)
        self.assertEqual([row["peak"] for row in said["rows"]], [2 * MIB, None, 6 * MIB])
        self.assertIn(
            "No matching distribution found for demo_sizes==9.9", said["rows"][1]["error"]
        )
        self.assertIn("PIP_FIND_LINKS", said["rows"][1]["error"])
        self.assertEqual([(one["from"], one["to"]) for one in said["changes"]], [("1.0", "2.0")])
        self.assertFalse(os.path.exists(said["rows"][1]["environment"]))

    def test_pip_names_the_last_versions(self):
        for minor in range(40):
            wheel(self.wheels, "demo_sizes", "0.%d" % minor, "")
        said, _ = self.json("demo_sizes==9.9", 1)
        self.assertIn("(from versions: ..., 0.3", said["rows"][0]["error"])
        self.assertIn(", 2.0, 3.0)", said["rows"][0]["error"])
        self.assertNotIn("0.29,", said["rows"][0]["error"])

    def test_two_at_once(self):
        both = [
            subprocess.Popen(
                [
                    VRAMSCOPE,
                    "plan",
                    "--steps",
                    "0",
                    "--with",
                    "demo_sizes==2.0",
                    "--json",
                    "--",
                    sys.executable,
                    "train.py",
                ],
                env=self.environment,
                cwd=self.program,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        for one in both:
            out, err = one.communicate(timeout=240)
            self.assertEqual(one.returncode, 0, err)
            self.assertEqual(json.loads(out)["rows"][0]["peak"], 6 * MIB)
        self.assertEqual(len(os.listdir(os.path.join(self.cache, "vramscope", "environments"))), 1)

    def test_a_version_that_needs_another_torch(self):
        said, _ = self.json("demo_sizes==3.0", 1)
        self.assertIn(
            "demo-sizes 3.0 depends on torch>=99", said["rows"][0]["error"].replace("_", "-")
        )
        self.assertIn("keeps its own PyTorch", said["rows"][0]["error"])
        self.assertFalse(os.path.exists(said["rows"][0]["environment"]))

    def test_a_version_with_which_the_program_fails(self):
        wheel(self.wheels, "demo_sizes", "4.0", "SIZE = 1\n")
        said, _ = self.json("demo_sizes==4.0,1.0", 1)
        self.assertIn("AttributeError", said["rows"][0]["error"])
        self.assertEqual((said["rows"][0]["peak"], said["rows"][1]["peak"]), (None, 2 * MIB))

    def test_for_people(self):
        result = self.plan("demo_sizes==1.0,2.0,9.9")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stdout, r"1\.0 +2\.00 MiB .*the program's own")
        self.assertRegex(result.stdout, r"2\.0 +6\.00 MiB")
        self.assertRegex(result.stdout, r"1\.0 -> 2\.0: peak \+4\.00 MiB")
        self.assertIn("No matching distribution found for demo_sizes==9.9", result.stdout)

    def test_what_is_refused(self):
        for versions, options, says in (
            ("demo_sizes", (), "PACKAGE==VERSION"),
            ("demo_sizes==1.0,", (), "PACKAGE==VERSION"),
            ("demo_sizes==1.0,1.0", (), "twice"),
            ("../x==1.0", (), "PACKAGE==VERSION"),
            ("torch==2.8.0", (), "PyTorch"),
            ("demo_sizes==1.0", ("--watch",), "--watch"),
            ("demo_sizes==1.0", ("-o", "x.trace"), "-o"),
        ):
            result = self.plan(versions, *options)
            self.assertEqual(result.returncode, 2, (versions, result.stderr))
            self.assertIn(says, result.stderr)
        self.assertFalse(os.path.exists(self.cache))
        for program, says in (
            ("/bin/true", "neither a Python interpreter"),
            ("python-that-is-not-there", "on the PATH"),
        ):
            result = subprocess.run(
                [VRAMSCOPE, "plan", "--with", "demo_sizes==1.0", "--", program],
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=60,
            )
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(says, result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""The version is the same everywhere, and the description of the command line (manual page,
completions) is complete."""

import re
import shutil
import subprocess
import tempfile
import unittest

import installed


def output(*arguments):
    done = subprocess.run(
        [str(installed.BUILD / "bin/vramscope"), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


class Version(unittest.TestCase):
    def test_is_one(self):
        version = re.search(
            r"project\(vramscope VERSION ([0-9.]+)",
            (installed.SOURCE / "CMakeLists.txt").read_text(),
        )[1]
        lines = output("--version").splitlines()
        self.assertEqual(lines[0], "vramscope " + version)
        self.assertEqual(
            [line.split()[0] for line in lines], ["vramscope", "commit", "trace", "Qt", "LibTorch"]
        )
        package = (installed.SOURCE / "emulated/python/vramscope/__init__.py").read_text()
        self.assertEqual(re.search(r'__version__ = "([^"]+)"', package)[1], version)
        self.assertIn("\n## [%s] - " % version, (installed.SOURCE / "CHANGELOG.md").read_text())


class Descriptions(unittest.TestCase):
    """Compares the descriptions (for example of the manual page) with --help. CLI11 generates
    --help from the same declarations."""

    @classmethod
    def setUpClass(cls):
        listed = output("--help").split("Subcommands:")[1]
        cls.commands = re.findall(r"^  ([a-z]+)\b", listed, re.M)
        cls.options = {
            command: set(
                re.findall(r"^\s*(?:-\w,)?(--[a-z][a-z0-9-]*)", output(command, "--help"), re.M)
            )
            for command in cls.commands
        }
        cls.texts = {kind: output("describe", kind) for kind in ("bash", "zsh", "fish", "man")}

    def test_every_command_and_option(self):
        self.assertIn("plan", self.commands)
        self.assertNotIn("describe", self.commands)
        for command in self.commands:
            self.assertTrue(self.options[command], command)
            for kind, text in self.texts.items():
                with self.subTest(command=command, kind=kind):
                    self.assertRegex(text, r"\b%s\b" % command)
                    plain = text.replace("\\-", "-")
                    for option in self.options[command]:
                        self.assertTrue(option in plain or "-l " + option[2:] in plain, option)

    def test_the_shells_take_them(self):
        tried = 0
        for kind, shell in (("bash", "bash"), ("zsh", "zsh"), ("fish", "fish")):
            if shutil.which(shell):
                tried += 1
                with tempfile.NamedTemporaryFile("w", suffix="." + kind) as file:
                    file.write(self.texts[kind])
                    file.flush()
                    done = subprocess.run([shell, "-n", file.name], capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, done.stderr)
        if not tried:
            self.skipTest("no shell is here")

    def complete(self, *words):
        script = (
            self.texts["bash"]
            + """
COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_vramscope; printf '%s\\n' "${COMPREPLY[@]}"
"""
        )
        return subprocess.run(
            ["bash", "-c", script, "bash", *words], capture_output=True, text=True
        ).stdout.split()

    def test_what_bash_proposes(self):
        if not shutil.which("bash"):
            self.skipTest("no bash")
        self.assertIn("plan", self.complete("vramscope", "pl"))
        self.assertEqual(self.complete("vramscope", "plan", "--js"), ["--json"])
        self.assertIn("h100-sxm", self.complete("vramscope", "plan", "--device", "h10"))
        self.assertEqual(self.complete("vramscope", "--theme", "da"), ["dark"])
        self.assertEqual(self.complete("vramscope", "plan", "--", "--js"), [])


if __name__ == "__main__":
    if not (installed.BUILD / "bin/vramscope").exists():
        installed.skip("there is no build/bin/vramscope")
    unittest.main()

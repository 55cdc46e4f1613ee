"""Tests `vramscope record --host BOX -- PROGRAM` with a shell instead of ssh and a stand-in for
torch. The result equals a local recording. If either side is killed, the data that had arrived are
kept, and no process is left.

    python3 record_host_test.py VRAMSCOPE
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
VRAMSCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "vramscope"
BAD_INPUT, INTERNAL, INTERRUPTED = 3, 4, 130

SSH = """#!/bin/sh
test "$1" = -T || exit 99
echo "$2" >"$FOLDER/host"
echo $$ >"$FOLDER/pid"
%s
"""
THROUGH = 'exec sh -c "$3"'


class Host(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.trace = self.path("out.trace")
        self.environment = dict(
            os.environ,
            PYTHONPATH=os.path.join(HERE, "fake_torch"),
            VRAMSCOPE_PROGRAM_HOOKS="none",
            TMPDIR=self.folder.name,
            FOLDER=self.folder.name,
            VRAMSCOPE_SSH=self.path("ssh"),
            PYTHONDONTWRITEBYTECODE="1",
        )
        self.ssh(THROUGH)

    def path(self, *names):
        return os.path.join(self.folder.name, *names)

    def ssh(self, script):
        with open(self.path("ssh"), "w") as file:
            file.write(SSH % script)
        os.chmod(self.path("ssh"), 0o755)

    def command(self, program, *options, there=VRAMSCOPE, host=True):
        with open(self.path("train.py"), "w") as file:
            file.write(program)
        elsewhere = ["--host", "user@box", "--remote-vramscope", there] if host else []
        return [
            VRAMSCOPE,
            "record",
            *elsewhere,
            *options,
            "-o",
            self.trace,
            "--",
            sys.executable,
            self.path("train.py"),
        ]

    def record(self, program, *options, **more):
        return subprocess.run(
            self.command(program, *options, **more),
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
        )

    def start(self, program, *options):
        """Starts a program that prints `there` and keeps running. Returns once that was printed."""
        running = subprocess.Popen(
            self.command(
                program + "print('there', flush=True, file=sys.stderr)\ntime.sleep(1000)\n",
                *options,
            ),
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        while running.stderr.readline() not in ("there\n", ""):
            pass
        return running

    def info(self):
        result = subprocess.run(
            [VRAMSCOPE, "info", self.trace, "--json"], capture_output=True, text=True, timeout=60
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def expect(self, result, status, *words):
        self.assertEqual(result.returncode, status, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def wait(self, true, what):
        for _ in range(400):
            if true():
                return
            time.sleep(0.05)
        self.fail(what)

    def nothing_left(self):
        def running():
            listed = subprocess.run(
                ["ps", "-eo", "args"], capture_output=True, text=True
            ).stdout.splitlines()
            return [line for line in listed if self.folder.name in line and "ps -eo" not in line]

        self.wait(lambda: not running(), str(running()))

    def folders(self):
        return [name for name in os.listdir(self.folder.name) if name.startswith("vramscope-")]

    PROGRAM = "import os, sys, time, torch\nfor _ in range(3):\n    torch.allocate(1 << 20)\n"
    FLUSH = "torch.cuda.memory._snapshot()\n"

    def test_it_is_the_recording(self):
        program = self.PROGRAM + "print('of the program')\n"
        here = self.record(program, host=False)
        self.expect(here, 0)
        expected = self.info()
        result = self.record(program)
        self.expect(result, 0, "of the program")
        have = self.info()
        for key in ("allocations", "events", "steps", "peak", "entries", "truncated", "measured"):
            self.assertEqual(have[key], expected[key], key)
        with open(self.path("host")) as file:
            self.assertEqual(file.read(), "user@box\n")
        self.assertEqual(self.folders(), [])
        self.nothing_left()

    def test_options_arguments_and_folders_arrive(self):
        os.mkdir(self.path("a folder's"))
        program = (
            self.PROGRAM
            + "print(sys.argv[1:], os.getcwd(), os.environ['VRAMSCOPE_PROGRAM_STEPS'])\n"
        )
        command = self.command(program, "--steps", "7", "--remote-folder", self.path("a folder's"))
        arguments = ["it's", "a b", "$HOME", "*", '"', "--", ""]
        result = subprocess.run(
            [*command, *arguments], env=self.environment, capture_output=True, text=True, timeout=60
        )
        self.expect(result, 0, f"{arguments} {self.path(chr(97) + ' folder' + chr(39) + 's')} 7")

    def test_json_alone(self):
        result = self.record(self.PROGRAM, "--json")
        self.expect(result, 0)
        answer = json.loads(result.stdout)
        self.assertEqual(answer["peak"]["reserved"], 3 << 20)
        self.assertEqual(answer["program"]["ended"], "end")

    def test_a_shell_that_prints_a_greeting(self):
        self.ssh("echo Welcome to box\n" + THROUGH)
        self.expect(self.record(self.PROGRAM), 0)
        self.assertEqual(self.info()["allocations"], 3)

    def test_a_program_that_fails(self):
        self.expect(
            self.record(self.PROGRAM + "raise ValueError('no such batch')\n"),
            BAD_INPUT,
            "status 1",
            "no such batch",
        )
        self.assertEqual(self.info()["allocations"], 3)

    def test_no_such_program_there(self):
        with open(self.path("train.py"), "w"):
            pass
        result = subprocess.run(
            [
                VRAMSCOPE,
                "record",
                "--host",
                "box",
                "--remote-vramscope",
                VRAMSCOPE,
                "--",
                "/nowhere/python",
                "x",
            ],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.expect(result, BAD_INPUT, "/nowhere/python", "no such program")

    def test_no_vramscope_there(self):
        self.expect(
            self.record(self.PROGRAM, there="/nowhere/vramscope"),
            BAD_INPUT,
            "'user@box' has no '/nowhere/vramscope'",
            "--remote-vramscope",
        )
        self.assertFalse(os.path.exists(self.trace))

    def test_no_connection(self):
        self.ssh("echo 'ssh: connect to host box port 22: Connection refused' >&2; exit 255")
        self.expect(
            self.record(self.PROGRAM), INTERNAL, "Connection refused", "cannot reach 'user@box'"
        )

    def test_no_ssh(self):
        os.unlink(self.path("ssh"))
        self.expect(self.record(self.PROGRAM), BAD_INPUT, "cannot be started")

    def test_something_else_answers(self):
        self.ssh("yes | head -c 100000")
        self.expect(self.record(self.PROGRAM), INTERNAL, "not a recording")
        self.ssh("echo hello")
        self.expect(self.record(self.PROGRAM), INTERNAL, "sent no recording")
        self.ssh("printf '\\211VRTgarbage, and more of it than a frame has at its begin'")
        self.expect(self.record(self.PROGRAM), INTERNAL, "user@box")
        self.ssh("exit 0")
        self.expect(self.record(self.PROGRAM), INTERNAL, "status 0")

    def test_not_a_host(self):
        result = subprocess.run(
            [VRAMSCOPE, "record", "--host=-oProxyCommand=touch x", "--", "python"],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.expect(result, BAD_INPUT, "not a host")

    def test_what_is_written_is_here_while_it_runs(self):
        running = self.start(self.PROGRAM + self.FLUSH, "--keep", self.path("kept"))

        def here():
            return [
                name
                for _, _, names in os.walk(self.path("kept"))
                for name in names
                if name.startswith("history-")
            ]

        self.wait(here, "no history came")
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=30)
        self.assertEqual(running.returncode, INTERRUPTED, errors)

    def test_ctrl_c_still_delivers_the_rest(self):
        running = self.start(
            self.PROGRAM + "import atexit\natexit.register(lambda: torch.allocate(1 << 20))\n"
        )
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=30)
        self.assertEqual(running.returncode, INTERRUPTED, errors)
        self.assertEqual(self.info()["allocations"], 4)
        self.nothing_left()

    def test_the_program_is_killed(self):
        self.expect(
            self.record(self.PROGRAM + self.FLUSH + "os.kill(os.getpid(), 9)\n"),
            BAD_INPUT,
            "signal 9",
        )
        self.assertEqual(self.info()["allocations"], 3)

    def killed_there(self, pid_file, script):
        self.ssh(script)
        running = self.start(self.PROGRAM + self.FLUSH + "time.sleep(0.5)\n")
        with open(self.path(pid_file)) as file:
            os.kill(int(file.read()), signal.SIGKILL)
        _, errors = running.communicate(timeout=30)
        self.assertEqual(running.returncode, INTERNAL, errors)
        self.assertIn("the connection to 'user@box' ended before the program did", errors)
        self.assertEqual(self.info()["allocations"], 3)
        self.nothing_left()

    def test_vramscope_is_killed_there(self):
        self.killed_there("pid", THROUGH)

    def test_the_connection_breaks(self):
        self.killed_there(
            "cat",
            'mkfifo "$FOLDER/in"\nsh -c "$3" <"$FOLDER/in" | sh -c \'echo $$ >"$FOLDER/cat"; '
            "exec cat' &\n"
            'exec cat >"$FOLDER/in"',
        )

    def test_vramscope_is_killed_here(self):
        running = self.start(
            self.PROGRAM + self.FLUSH + "time.sleep(0.5)\n", "--keep", self.path("kept")
        )
        running.kill()
        running.communicate(timeout=30)
        self.nothing_left()
        self.assertTrue(
            [
                name
                for _, _, names in os.walk(self.path("kept"))
                for name in names
                if name.startswith("history-")
            ]
        )


if __name__ == "__main__":
    unittest.main(verbosity=1)

"""A planned program's changes are isolated: `vramscope plan` of isolation/ways.py leaves its folder
unchanged in every mode.

    python3 isolation_test.py VRAMSCOPE

Uses a stand-in for torch, so that it runs everywhere."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
VRAMSCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "vramscope"
sys.path.insert(0, os.path.join(HERE, "isolation"))
import folder as contents  # noqa: E402

WAYS = os.path.join(HERE, "isolation", "ways.py")
FAILED_PRECONDITION = 3


class Isolation(unittest.TestCase):
    MODE = "overlay"
    ASKED = ""  # --isolation, if not MODE
    PYTHON = sys.executable
    OWNER = "0:0"  # if root runs this test

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.environment = dict(
            os.environ,
            PYTHONPATH=os.path.join(HERE, "fake_torch"),
            VRAMSCOPE_PROGRAM_HOOKS="none",
            PYTHONDONTWRITEBYTECODE="1",
            HOME=os.path.join(self.folder, "home"),
        )
        self.prefix = []
        result = self.plan("import torch; torch.allocate(1 << 20)")
        if result.returncode == FAILED_PRECONDITION:
            self.skipTest(result.stderr.strip().splitlines()[-1])

    def give(self):
        """Makes the user who runs the plan the owner of the folder and its contents."""

    def fill(self):
        contents.fill(self.folder)
        self.give()

    def command(self, code, *options):
        return [
            *self.prefix,
            VRAMSCOPE,
            "plan",
            "--isolation",
            self.ASKED or self.MODE,
            "--steps",
            "0",
            *options,
            "--",
            self.PYTHON,
            "-c",
            code,
        ]

    def plan(self, code, *options):
        return subprocess.run(
            self.command(code, "--json", *options),
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=240,
            cwd=self.folder,
        )

    def expect_nothing_changed(self, code, *options):
        """Plans the code and checks that the folder is unchanged. Returns the output of the
        program."""
        before = contents.state(self.folder)
        result = self.plan("import torch; torch.allocate(1 << 20)\n" + code, *options)
        self.assertEqual(result.returncode, 0, result.stderr[-3000:])
        program = json.loads(result.stdout)["program"]
        self.assertEqual((program["isolation"], program["cold"]), (self.MODE, None))
        self.assertEqual(contents.state(self.folder), before)
        return result.stderr

    def expect_every_way_works(self):
        printed = self.expect_nothing_changed(
            "import runpy, sys; sys.argv = ['ways.py', %r]; runpy.run_path(%r, run_name='__main__')"
            % (self.folder, WAYS)
        )
        worked, ways = map(int, re.search(r"(\d+) of (\d+) ways worked", printed).groups())
        self.assertEqual(worked, ways, printed[-3000:])
        self.assertGreaterEqual(ways, 35)

    def test_every_way_of_changing_files(self):
        self.fill()
        self.expect_every_way_works()

    def test_every_process_sees_the_changes_of_the_others(self):
        self.fill()
        self.expect_nothing_changed(
            "import os, time\nrank = int(os.environ['RANK'])\n"
            "if rank == 0: open('shared.tmp', 'w').write('of rank 0'); os.rename('shared.tmp', "
            "'shared')\n"
            "for _ in range(1000):\n    if os.path.exists('shared'): break\n    time.sleep(0.01)\n"
            "assert open('shared').read() == 'of rank 0'",
            "--ranks",
            "2",
        )

    def test_a_writable_folder_is_written_to(self):
        self.fill()
        result = self.plan(
            "import torch; torch.allocate(1 << 20)\nopen('other/new', 'w').write('x'); "
            "open('home/new', 'w').write('x')",
            "--writable",
            os.path.join(self.folder, "other"),
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "other", "new")))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "home", "new")))

    def test_a_writable_path_that_does_not_exist_is_refused(self):
        result = self.plan("import torch", "--writable", os.path.join(self.folder, "nowhere"))
        self.assertEqual(result.returncode, 3)
        self.assertIn("nowhere", result.stderr)

    def test_a_cache_that_has_other_files_is_isolated(self):
        """A variable may name a folder that contains the project, or a file of an argument."""
        self.fill()
        self.environment["HF_HUB_CACHE"] = self.folder
        self.environment["PIP_CACHE_DIR"] = os.path.join(self.folder, "project")
        self.environment["TRITON_CACHE_DIR"] = os.path.join(self.folder, "other")
        self.environment["TORCH_HOME"] = os.path.join(self.folder, "home")
        checkpoints = os.path.join(self.folder, "home", "hub", "checkpoints")
        os.makedirs(checkpoints)
        self.give()
        before = contents.state(self.folder)
        code = (
            "import torch; torch.allocate(1 << 20)\n"
            "for path in ('kept', 'project/new', 'other/changed'): open(path, 'w').write('x')\n"
            "open('home/hub/checkpoints/model', 'w').write('x')"
        )
        result = subprocess.run(
            [*self.command(code), "--config=project/config.json", "other/changed"],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=240,
            cwd=self.folder,
        )
        self.assertEqual(result.returncode, 0, result.stderr[-3000:])
        downloaded = os.path.join(checkpoints, "model")
        self.assertTrue(os.path.exists(downloaded))
        os.remove(downloaded)
        os.utime(checkpoints, ns=(0, 0))
        after = contents.state(self.folder)
        self.assertEqual(
            [line for line in after if "checkpoints'" not in line.split()[0]],
            [line for line in before if "checkpoints'" not in line.split()[0]],
        )
        caches = re.search(r"caches remain on disk:\s+(.*?)\.\s", result.stderr, re.DOTALL)[1]
        self.assertEqual("".join(caches.split()), checkpoints)

    def test_a_working_folder_that_is_not_isolated_is_refused(self):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            os.chmod(folder, 0o777)
            code = "import torch; torch.allocate(1 << 20); open('made', 'w').close()"
            for options, status in ((), FAILED_PRECONDITION), (("--writable", folder), 0):
                result = subprocess.run(
                    self.command(code, *options),
                    env=self.environment,
                    capture_output=True,
                    text=True,
                    timeout=240,
                    cwd=folder,
                )
                self.assertEqual(result.returncode, status, result.stderr[-3000:])
                self.assertEqual(
                    "does not isolate /dev" in " ".join(result.stderr.split()), status != 0
                )
                self.assertEqual(os.path.exists(os.path.join(folder, "made")), status == 0)

    def test_a_removable_disk_is_isolated(self):
        if os.geteuid() != 0 or not shutil.which("unshare"):
            self.skipTest("not root, or no unshare")
        script = (
            "mount -t tmpfs -o mode=755 none /run && mkdir -p /run/media/user/disk && "
            "mount -t tmpfs -o mode=777 none /run/media/user/disk && cd /run/media/user/disk && "
            "mkdir project folder && echo precious > kept && echo precious > folder/kept && "
            "chown -R %s . && cd project || exit 77\n"
            % self.OWNER
            + '"$@"; status=$?; cat ../kept ../folder/kept; ls . ..; exit $status'
        )
        code = (
            "import os, shutil, torch; torch.allocate(1 << 20); open('new', 'w').close()\n"
            "assert open('../kept').read() == 'precious\\n'\n"
            "open('../kept', 'w').write('changed'); shutil.rmtree('../folder')\n"
            "assert open('/run/media/user/disk/kept').read() == 'changed'\n"
            "assert os.listdir('.') == ['new'] and 'media' in os.listdir('/run')\n"
            "assert sorted(os.listdir('..')) == ['kept', 'project']"
        )
        result = subprocess.run(
            ["unshare", "-m", "--propagation", "private", "sh", "-c", script, "sh"]
            + self.command(code),
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=240,
        )
        if result.returncode == 77:
            self.skipTest(result.stderr.strip())
        self.assertEqual(result.returncode, 0, result.stderr[-3000:])
        self.assertTrue(
            result.stdout.endswith("precious\nprecious\n.:\n\n..:\nfolder\nkept\nproject\n"),
            result.stdout,
        )

    def test_without_network_only_this_computer_is_reached(self):
        printed = self.expect_nothing_changed(
            "import socket\nserver = socket.create_server(('127.0.0.1', "
            "0))\nsocket.create_connection(server.getsockname()).close()\n"
            "try:\n    socket.create_connection(('192.0.2.1', 80), timeout=5)\n    "
            "print('reached')\n"
            "except OSError as error:\n    print('not reached:', error)",
            "--no-network",
        )
        self.assertIn("unreachable", printed)
        self.assertNotIn("not reached: timed out", printed)

    def scratch(self, pid):
        """Returns the scratch folders that a process has open."""
        found = []
        for name in os.listdir("/proc/%d/fd" % pid):
            try:
                path = os.readlink("/proc/%d/fd/%s" % (pid, name))
            except OSError:
                continue
            if "vramscope-scratch-" in path:
                found.append(path)
        return found

    def test_the_layer_is_gone_when_the_plan_was_killed(self):
        ready = os.path.join(self.folder, "ready")
        os.mkdir(ready)
        self.give()
        code = (
            "import os, torch, time; torch.allocate(1 << 20); os.makedirs('deep/er'); "
            "open('deep/er/file', 'w').write('x')\n"
            "os.chmod('deep', 0); open(%r, 'w').close(); time.sleep(100)"
            % os.path.join(ready, "now")
        )
        running = subprocess.Popen(
            self.command(code, "--writable", ready),
            env=self.environment,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(running.kill)
        for _ in range(2000):
            if os.path.exists(os.path.join(ready, "now")):
                break
            time.sleep(0.01)
        scratch = self.scratch(running.pid)
        self.assertTrue(scratch)
        running.send_signal(signal.SIGKILL)
        running.wait()
        for _ in range(2000):
            if not any(os.path.exists(path) for path in scratch):
                break
            time.sleep(0.01)
        self.assertEqual([path for path in scratch if os.path.exists(path)], [])
        self.assertFalse(os.path.exists(os.path.join(self.folder, "deep")))


class Unprivileged(Isolation):
    """Repeats the tests as an ordinary user, if root runs this test."""

    PYTHON = "/usr/bin/python3"  # root's Python may be in a folder that others cannot enter
    OWNER = "65534:65534"

    def setUp(self):
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("not root, or no setpriv")
        super().setUp()
        self.give()
        self.prefix = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        result = self.plan("import torch; torch.allocate(1 << 20)")
        if result.returncode != 0:
            self.skipTest(result.stderr.strip().splitlines()[-1])

    def give(self, group=65534):
        for path in contents.entries(self.folder):
            os.lchown(path, 65534, group)

    def test_below_folders_of_others(self):
        """In /data/projects/USER, for example, the parents belong to root, and overlayfs cannot
        copy them."""
        self.fill()
        inner = os.path.join(self.folder, "project", "made", "by", "others")
        os.makedirs(inner)
        for path in (self.folder, os.path.dirname(inner), os.path.dirname(os.path.dirname(inner))):
            os.chown(path, 0, 0)
            os.chmod(path, 0o755)
        os.chown(inner, 65534, 65534)
        shutil.move(os.path.join(self.folder, "home"), inner)
        os.mkdir(os.path.join(self.folder, "home"))
        self.environment["HOME"] = os.path.join(inner, "home")
        self.expect_nothing_changed(
            "import os\nopen(os.path.expanduser('~/new'), 'w').write('x')\n"
            "os.remove('project/config.json'); assert not os.path.exists('project/config.json')\n"
            "try: open('project/made/new', 'w')\nexcept PermissionError: pass\nelse: raise "
            "AssertionError('not its own')"
        )

    def test_folders_that_an_argument_names_below_folders_of_others(self):
        self.fill()
        outside = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, outside)
        named = {
            name: os.path.join(outside, name, "made", "by", "others")
            for name in ("argument", "option", "variable")
        }
        for path in named.values():
            os.makedirs(path)
            os.chown(path, 65534, 65534)
        os.chmod(outside, 0o755)
        before = contents.state(outside)
        self.environment["OUTPUT"] = named["variable"]
        code = (
            "import os, sys, torch; torch.allocate(1 << 20)\n"
            "paths = [sys.argv[1], sys.argv[2].partition('=')[2], os.environ['OUTPUT']]\n"
            "for path in paths: os.makedirs(path + '/run-1'); open(path + '/run-1/log', "
            "'w').write('x')"
        )
        result = subprocess.run(
            [*self.command(code), named["argument"] + "/new", "--output_dir=" + named["option"]],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=240,
            cwd=self.folder,
        )
        self.assertEqual(result.returncode, 0, result.stderr[-3000:])
        self.assertNotIn("Error", result.stderr)
        self.assertEqual(contents.state(outside), before)

    def test_a_folder_with_mounts(self):
        """overlayfs would cover the entries of this folder separately, and then they could not be
        renamed or removed. So this mode is not chosen."""
        self.fill()
        os.mkdir(os.path.join(self.folder, "mounted"))
        before = contents.state(self.folder)
        mount = 'mount --bind "$0/other" "$0/mounted" && exec "$@"'
        inside = ["unshare", "-m", "--propagation", "private", "sh", "-c", mount, self.folder]
        self.prefix, self.ASKED = [*inside, *self.prefix], "auto"
        result = self.plan(
            "import os, shutil, torch; torch.allocate(1 << 20); shutil.rmtree('home'); "
            "os.rename('project', 'renamed'); open('mounted/changed', 'w').write('x')"
        )
        self.assertEqual(result.returncode, 0, result.stderr[-3000:])
        self.assertEqual(json.loads(result.stdout)["program"]["isolation"], "copy")
        self.assertEqual(contents.state(self.folder), before)

    def test_files_of_another_group(self):
        """In shared projects, a file's group is often not the user's primary group. overlayfs does
        not copy such files; the mode "copy" does."""
        self.fill()
        self.give(group=0)
        mode, self.MODE = self.MODE, "auto"
        before = contents.state(self.folder)
        result = self.plan(
            "import os, shutil, torch; torch.allocate(1 << 20)\nopen('project/config.json', "
            "'a').write('x')\n"
            "shutil.rmtree('project/checkpoints'); assert not os.path.exists('project/checkpoints')"
        )
        self.MODE = mode
        self.assertEqual(result.returncode, 0, result.stderr[-3000:])
        self.assertEqual(json.loads(result.stdout)["program"]["isolation"], "copy")
        self.assertEqual(contents.state(self.folder), before)


class Warm(Isolation):
    """Starts the program in a fork of a process that has already imported its packages. The fork
    has its own isolation."""

    def command(self, code, *options):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        os.chmod(folder, 0o777)
        modules, socket = (
            os.path.join(folder, "modules.json"),
            os.path.join(folder, "kept", "socket"),
        )
        with open(modules, "w") as file:
            json.dump({"modules": ["torch"]}, file)
        # The server imports modules, and imports can change files, too.
        kept = [option for option in options if option != "--json"]
        server = subprocess.Popen(
            super().command(
                code,
                *kept,
                "--keep",
                os.path.dirname(socket),
                "--serve",
                socket,
                "--modules",
                modules,
            ),
            env=self.environment,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(server.wait)
        self.addCleanup(server.send_signal, signal.SIGTERM)
        for _ in range(2000):
            if os.path.exists(socket) or server.poll() is not None:
                break
            time.sleep(0.01)
        return super().command(code, *options, "--warm", socket)

    def rights(self, options):
        code = (
            "import torch; torch.allocate(1 << 20)\nprint([line for line in "
            "open('/proc/self/status') if line.startswith(('Cap', 'NoNewPrivs'))])"
        )
        result = subprocess.run(
            options(code, "--json"),
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=240,
            cwd=self.folder,
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        return re.search(r"\['Cap.*\]", result.stderr)[0]

    def test_a_warm_plan_has_the_permissions_of_a_cold_one(self):
        self.assertEqual(self.rights(self.command), self.rights(super().command))

    def test_what_was_imported_is_not_changed_for_others(self):
        """The module writes a file while it is imported."""
        self.fill()
        os.mkdir(os.path.join(self.folder, "fake"))
        shutil.copytree(
            os.path.join(HERE, "fake_torch", "torch"), os.path.join(self.folder, "fake", "torch")
        )
        with open(os.path.join(self.folder, "fake", "torch", "__init__.py"), "a") as file:
            file.write(
                "\nopen(%r, 'w').write('of an import')\n"
                % os.path.join(self.folder, "home", "imported")
            )
        self.environment["PYTHONPATH"] = os.path.join(self.folder, "fake")
        self.give()
        self.expect_nothing_changed("import os; assert not os.path.exists('home/imported')")

    def test_changed_modules_are_imported_again(self):
        fake = os.path.join(self.folder, "fake")
        shutil.copytree(os.path.join(HERE, "fake_torch"), fake)
        self.environment["PYTHONPATH"] = fake
        self.give()
        code = "import torch; torch.allocate(1 << 20); print('version', torch.__version__)"
        command = self.command(code, "--json")

        def plan(**environment):
            result = subprocess.run(
                command,
                env={**self.environment, **environment},
                capture_output=True,
                text=True,
                timeout=240,
                cwd=self.folder,
            )
            self.assertEqual(result.returncode, 0, result.stderr)
            return json.loads(result.stdout)["program"]["cold"], re.search(
                "version .*", result.stderr
            )[0]

        self.assertEqual(plan(), (None, "version 2.9.0+cu130"))
        cold, version = plan(FAKE_TORCH_VERSION="2.8.0+cu130")
        self.assertIn("FAKE_TORCH_VERSION", cold)
        self.assertEqual(version, "version 2.8.0+cu130")
        with open(os.path.join(fake, "torch", "__init__.py"), "a") as file:
            file.write("\n__version__ = '2.7.0+cu130'\n")
        cold, version = plan()
        self.assertIn("has changed", cold)
        self.assertEqual(version, "version 2.7.0+cu130")


class WarmUnprivileged(Warm, Unprivileged):
    """Repeats these tests as an ordinary user. Such a user cannot enter the user namespace of the
    program from that of the server."""


class Copy(Isolation):
    MODE = "copy"

    def test_the_layer_is_hidden(self):
        """Otherwise, a program that empties /var/tmp would reach every file through the layer, also
        those that are not isolated."""
        self.fill()
        other = os.path.join(self.folder, "other")
        self.expect_nothing_changed(
            "import os, subprocess, sys\n"
            "layer = os.environ['VRAMSCOPE_ISOLATION_CHANGES']\n"
            "open('changed', 'w').close()\n"
            "assert os.path.basename(layer) not in os.listdir(os.path.dirname(layer))\n"
            "for path in (layer, layer + '/.', layer + '/proc', layer + %r):\n"
            "    assert not os.path.exists(path), path\n"
            "subprocess.run(['/usr/bin/find', layer + %r, '-type', 'f', '-delete'])\n"
            "subprocess.run(['/bin/rm', '-rf', layer])\n" % (other, other),
            "--writable",
            other,
        )


class NoNamespaces(Isolation):
    """Where namespaces are refused, the mode is `copy`, and it isolates as much."""

    MODE, ASKED, CALL = "copy", "auto", "unshare"

    def setUp(self):
        if os.uname().machine != "x86_64":
            self.skipTest("the filter has x86-64's numbers of system calls")
        super().setUp()
        self.prefix = [sys.executable, os.path.join(HERE, "isolation", "refusing.py"), self.CALL]


class NoMounts(NoNamespaces):
    CALL = "mount"


class Refused(unittest.TestCase):
    """If no mode works, nothing is started."""

    def test_the_plan_does_not_start_without_isolation(self):
        with tempfile.TemporaryDirectory() as folder:
            # Makes all modes fail: the platform's folder lacks the isolation library, and a seccomp
            # filter refuses namespaces.
            platform = os.path.join(folder, "emulated")
            real = os.path.join(os.path.dirname(os.path.dirname(VRAMSCOPE)), "emulated")
            os.mkdir(platform)
            for name in os.listdir(real):
                if name != "libvramscope-isolation.so":
                    os.symlink(os.path.join(real, name), os.path.join(platform, name))
            environment = dict(
                os.environ, VRAMSCOPE_EMULATED=platform, PYTHONPATH=os.path.join(HERE, "fake_torch")
            )
            command = [
                VRAMSCOPE,
                "plan",
                "--isolation",
                "copy",
                "--",
                sys.executable,
                "-c",
                "open(%r, 'w')" % os.path.join(folder, "made"),
            ]
            result = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=60
            )
            self.assertEqual(result.returncode, FAILED_PRECONDITION, result.stderr)
            self.assertIn("--no-isolation", result.stderr)
            self.assertFalse(os.path.exists(os.path.join(folder, "made")))
            command[2:4] = ["--no-isolation"]
            result = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=60
            )
            self.assertIn("changes real files", result.stderr)
            self.assertTrue(os.path.exists(os.path.join(folder, "made")))


if __name__ == "__main__":
    unittest.main(verbosity=2)

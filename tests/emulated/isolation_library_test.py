"""Tests libvramscope-isolation.so and the symbols that the audit library binds.

    isolation_library_test.py LIBRARIES [VRAMSCOPE STATIC_TLS]

LIBRARIES is the folder of the platform's libraries; STATIC_TLS is a library with static TLS.
`isolation/ways.py` changes a folder in every known way. Afterwards, the folder's state and the
system calls in strace's output show that no real file has changed.
"""

import fcntl
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "isolation"))
sys.dont_write_bytecode = True
import folder  # noqa: E402
import writes  # noqa: E402

LIBRARIES = os.path.abspath(sys.argv.pop(1))
VRAMSCOPE, STATIC_TLS = (
    (os.path.abspath(sys.argv.pop(1)) for _ in range(2)) if len(sys.argv) > 2 else (None, None)
)
ISOLATION = os.path.join(LIBRARIES, "libvramscope-isolation.so")
AUDIT = os.path.join(LIBRARIES, "libvramscope-audit.so")
WAYS = os.path.join(HERE, "isolation", "ways.py")
ALWAYS_REAL = ["/proc", "/sys", "/dev", "/run"]


class Folder(unittest.TestCase):
    """Provides a filled folder, and one for isolated changes."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="vramscope-isolation-")
        self.addCleanup(temporary.cleanup)
        self.base = os.path.realpath(temporary.name)
        self.folder = self.path("outside")
        self.changes = self.path("changes")
        os.mkdir(self.changes)
        os.mkdir(self.folder)
        folder.fill(self.folder)
        self.before = folder.state(self.folder)

    def path(self, *names):
        return os.path.join(self.base, *names)

    def environment(self, **more):
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("VRAMSCOPE_", "LD_", "PYTHON"))
        }
        environment.update(
            VRAMSCOPE_ISOLATION="copy",
            VRAMSCOPE_ISOLATION_CHANGES=self.changes,
            LD_PRELOAD=ISOLATION,
            LD_AUDIT=ISOLATION + ":" + AUDIT,
            PYTHONDONTWRITEBYTECODE="1",
        )
        environment.update(more)
        return {name: value for name, value in environment.items() if value is not None}

    def run_command(self, *command, wrapped=(), **more):
        options = {name: more.pop(name) for name in ("cwd",) if name in more}
        environment = self.environment(**more)
        if wrapped:  # strace and other wrappers must not be isolated themselves
            command = [*wrapped, "env", *("%s=%s" % item for item in environment.items()), *command]
            environment = dict(os.environ)
        return subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            timeout=240,
            stdin=subprocess.DEVNULL,
            **options,
        )

    def python(self, script, **more):
        result = self.run_command(sys.executable, "-c", script, **more)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def expect_all_ways(self, result):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        count, words = result.stdout.split(" of ")
        self.assertGreaterEqual(int(count), 80)
        self.assertEqual(words.strip(), count + " ways worked")

    def expect_unchanged(self):
        self.assertEqual(folder.state(self.folder), self.before)


class Copies(Folder):
    def test_all_ways_work_and_nothing_outside_changes(self):
        self.expect_all_ways(self.run_command(sys.executable, WAYS, self.folder))
        self.expect_unchanged()

    def test_the_ways_change_the_folder_where_nothing_isolates(self):
        # Without the variable, the library does nothing and the folder changes. This shows that the
        # other tests can fail.
        self.expect_all_ways(
            self.run_command(sys.executable, WAYS, self.folder, VRAMSCOPE_ISOLATION=None)
        )
        self.assertNotEqual(folder.state(self.folder), self.before)
        self.assertEqual(os.listdir(self.changes), [])

    def test_no_system_call_writes_outside(self):
        if shutil.which("strace") is None:
            self.skipTest("no strace here: system calls are not judged")
        log = self.path("strace")
        result = self.run_command(
            sys.executable,
            WAYS,
            self.folder,
            wrapped=[
                "strace",
                "-f",
                "-y",
                "-s",
                "4096",
                "-e",
                "signal=SIGSYS",
                "-e",
                "trace=%file,%desc",
                "-o",
                log,
            ],
        )
        if "Operation not permitted" in result.stderr and "ways worked" not in result.stdout:
            self.skipTest("strace may not trace here: system calls are not judged")
        self.expect_all_ways(result)
        with open(log, errors="replace") as file:
            found, count = writes.outside(file, [self.changes, *ALWAYS_REAL])
        self.assertGreater(count, 500)
        self.assertEqual(found, [])
        self.expect_unchanged()

    def test_strace_would_show_it(self):
        lines = [
            '7 openat(AT_FDCWD</a/b>, "c", O_RDWR|O_CREAT, 0666) = 3</a/b/c>',
            '7 unlink("/a/x") = 0',
            "7 utimensat(3</a/y>, NULL, NULL, 0) = 0",
            '7 symlink("/in/t", "/a/z") = 0',
            '7 renameat2(5</in>, "f", 6</a>, "g", 0) = 0',
            '7 openat(AT_FDCWD</a>, "read", O_RDONLY|O_CLOEXEC) = 3',
            '7 unlink("/a/handed back") = 87',
            "8 fchmod(-1, 0) = -1 EBADF",
            "7 --- SIGSYS {si_signo=SIGSYS, si_code=SYS_SECCOMP} ---",
            '7 unlink("/in/x") = 0',
            '7 setxattr("/in/x", "user.k", "/a", 2, 0) = 0',
        ]
        found, count = writes.outside(lines, ["/in"])
        self.assertEqual(found, lines[:5])
        self.assertEqual(count, 8)

    def test_a_second_process_sees_the_changes(self):
        self.python(
            "import os; os.rename('checkpoints/kept', 'checkpoints/moved_here'); open('new', "
            "'w').write('new')",
            cwd=self.folder + "/project",
        )
        self.assertEqual(
            self.python(
                "import os; print(os.path.exists('checkpoints/kept'), "
                "os.listdir('checkpoints/moved_here/state'), "
                "open('new').read())",
                cwd=self.folder + "/project",
            ),
            "False ['optimizer.bin'] new\n",
        )
        self.expect_unchanged()

    def test_changes_lie_under_their_whole_path(self):
        path = os.path.join(self.folder, "project", "config.json")
        self.python("open(%r, 'w').write('changed')" % path)
        with open(self.changes + path) as file:
            self.assertEqual(file.read(), "changed")
        self.expect_unchanged()

    def test_a_deep_folder_of_changes(self):
        # Paths in this folder are too long for a socket address and for one buffer of the library.
        self.changes = self.path(*["deep" * 10] * 4)
        os.makedirs(self.changes)
        self.expect_all_ways(self.run_command(sys.executable, WAYS, self.folder))
        self.expect_unchanged()

    def test_attributes_of_the_file_system_stay(self):
        def flags():
            with open(self.path("outside", "project", "files", "flagged"), "rb") as file:
                return fcntl.ioctl(file, 0x80086601, bytes(8))

        try:
            before = flags()
        except OSError as error:
            self.skipTest("no attributes of the file system here: %s" % error)
        self.expect_all_ways(self.run_command(sys.executable, WAYS, self.folder))
        self.assertEqual(flags(), before)

    def test_calls_of_32_bits_change_nothing(self):
        script = (
            "import ctypes, mmap\nmemory = mmap.mmap(-1, 4096, flags=0x62, prot=7)  # below 4 GiB\n"
            "at = ctypes.addressof(ctypes.c_char.from_buffer(memory))\n"
            "memory[64:76] = b'config.json\\0'\n"
            "code = bytes.fromhex('53b80a000000bb') + (at + 64).to_bytes(4, 'little') + "
            "bytes.fromhex('cd805bc3')  # unlink\n"
            "memory[0:len(code)] = code\nprint(ctypes.CFUNCTYPE(ctypes.c_int)(at)())"
        )
        result = self.run_command(sys.executable, "-c", script, cwd=self.path("outside", "project"))
        self.assertLess(result.returncode, 0, result.stdout + result.stderr)
        self.expect_unchanged()

    def test_real_results_stay_real(self):
        real = self.path("outside", "other")
        os.symlink(self.path("outside", "project"), os.path.join(real, "back"))
        before = folder.state(self.path("outside", "project"))
        self.python(
            "import os\nos.chdir(%r)\nopen('made', "
            "'w').write('x')\nos.remove('removed')\nopen('back/config.json', 'w').write('x')\n"
            "os.rename('made', 'renamed')\nos.remove('back/train.log')\n"
            "try: os.rename('renamed', 'back/x')\nexcept OSError as error: print(error.errno)\n"
            % real,
            VRAMSCOPE_ISOLATION_REAL=real + ":/nowhere",
        )
        self.assertEqual(sorted(os.listdir(real)), ["back", "changed", "renamed"])
        self.assertEqual(folder.state(self.path("outside", "project")), before)

    def test_permissions_hold(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everywhere: permissions are not judged")
        os.chmod(os.path.join(self.folder, "project", "package"), 0o555)
        self.assertEqual(
            self.python(
                "import os\ntry: os.remove('project/package/module.py')\nexcept PermissionError: "
                "print('refused')\n"
                "os.chmod('project/package', 0o755); os.remove('project/package/module.py')",
                cwd=self.folder,
            ),
            "refused\n",
        )

    def test_children_are_isolated_whatever_their_environment(self):
        remove = "rm -f train.log config.json files/mode"
        for script in (
            "import subprocess; subprocess.run(['/bin/sh', '-c', %r], env={}, check=True)" % remove,
            "import os; os.environ.clear(); os.system(%r)" % remove,
            "import os; os.environ['LD_PRELOAD'] = ''; os.environ.pop('VRAMSCOPE_ISOLATION'); "
            "os.system(%r)" % remove,
            "import os; os.execve('/usr/bin/env', ['env', '-i', '/bin/sh', '-c', %r], {})" % remove,
            "import os; os.posix_spawn('/bin/sh', ['sh', '-c', %r], {}); os.wait()" % remove,
        ):
            with self.subTest(script):
                shutil.rmtree(self.changes)
                os.mkdir(self.changes)
                self.python(script, cwd=self.folder + "/project")
                self.expect_unchanged()
                self.assertEqual(
                    self.python(
                        "import os; print(os.path.exists('train.log'))",
                        cwd=self.folder + "/project",
                    ),
                    "False\n",
                )

    def test_a_program_without_a_folder_for_changes_is_not_started(self):
        result = self.run_command(
            "/bin/rm",
            os.path.join(self.folder, "project", "train.log"),
            VRAMSCOPE_ISOLATION_CHANGES=None,
        )
        self.assertEqual(result.returncode, 127)
        self.assertIn("VRAMSCOPE_ISOLATION_CHANGES", result.stderr)
        self.expect_unchanged()

    def test_without_a_network_only_this_computer_is_reached(self):
        script = (
            "import errno, socket\n"
            "server = socket.create_server(('127.0.0.1', "
            "0))\nsocket.create_connection(server.getsockname()).close()\n"
            "for kind, address in ((socket.AF_INET, '192.0.2.1'), (socket.AF_INET6, "
            "'2001:db8::1'), (socket.AF_INET6, '::ffff:192.0.2.1')):\n"
            "    for call in ('connect', 'sendto'):\n"
            "        try:\n"
            "            one = socket.socket(kind, socket.SOCK_DGRAM)\n"
            "            one.connect((address, 9)) if call == 'connect' else one.sendto(b'x', "
            "(address, 9))\n"
            "            print(call, address, 'went out')\n"
            "        except OSError as error:\n"
            "            if error.errno not in (errno.ENETUNREACH, errno.EAFNOSUPPORT): "
            "print(call, address, error)\n"
            "a, b = socket.socketpair(); a.sendmsg([b'x']); print(b.recv(1))\n"
        )
        self.assertEqual(self.python(script, VRAMSCOPE_NO_NETWORK="1"), "b'x'\n")


class Overlay(Folder):
    """Tests that existing folders can be renamed in an overlayfs in a user namespace."""

    def run_ways(self, preload):
        scratch = tempfile.TemporaryDirectory(
            dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        )
        self.addCleanup(
            lambda: subprocess.run(["chmod", "-R", "u+rwx", scratch.name]) and scratch.cleanup()
        )
        mount = (
            "mkdir -p $1/upper $1/work && mount -t overlay overlay -o "
            "lowerdir=$2,upperdir=$1/upper,workdir=$1/work,userxattr $2 || exit 99; "
            'shift 2; exec "$@"'
        )
        return self.run_command(
            "unshare",
            "--user",
            "--map-current-user",
            "--mount",
            "sh",
            "-c",
            mount,
            "sh",
            scratch.name,
            self.folder,
            "env",
            "LD_PRELOAD=" + preload,
            sys.executable,
            WAYS,
            self.folder,
            VRAMSCOPE_ISOLATION="overlay",
            VRAMSCOPE_ISOLATION_CHANGES=None,
            LD_PRELOAD=None,
            LD_AUDIT=None,
        )

    def test_all_ways_work(self):
        refused = self.run_ways("")
        if "ways worked" not in refused.stdout:
            self.skipTest("no overlay in a user's name space here: %s" % refused.stderr.strip())
        self.assertIn(
            "rename_folder",
            refused.stdout,
            "overlayfs renames such folders here: the repair is not needed",
        )
        self.expect_all_ways(self.run_ways(ISOLATION))
        self.expect_unchanged()


class Audit(Folder):
    def test_neither_library_takes_thread_local_storage(self):
        # glibc reserves little space for static TLS. jemalloc and tcmalloc, which Ray preloads,
        # need that space.
        for library in (AUDIT, ISOLATION):
            with open(library, "rb") as file:
                content = file.read()
            offset, size, count = (
                struct.unpack_from("<Q", content, 32)[0],
                *struct.unpack_from("<HH", content, 54),
            )
            kinds = [
                struct.unpack_from("<I", content, offset + number * size)[0]
                for number in range(count)
            ]
            self.assertIn(1, kinds)  # PT_LOAD: the headers were found
            self.assertNotIn(7, kinds, "%s has PT_TLS" % library)

    def test_what_needs_static_tls_can_be_preloaded(self):
        # The loader has 1,664 bytes of static TLS to spare. They must stay free for jemalloc, which
        # Ray preloads in its own processes.
        if VRAMSCOPE is None:
            self.skipTest("without vramscope: its environment is not tried")
        program = (
            "import subprocess, torch\ntorch.allocate(1 << 20)\n"
            "subprocess.run(['/bin/echo', 'it runs'], env=dict(__import__('os').environ, "
            "LD_PRELOAD=%r), check=True)" % STATIC_TLS
        )
        for isolation in ("none", "copy"):
            with self.subTest(isolation):
                result = self.run_command(
                    VRAMSCOPE,
                    "plan",
                    "--isolation",
                    isolation,
                    "--steps",
                    "0",
                    "--",
                    sys.executable,
                    "-c",
                    program,
                    LD_AUDIT=None,
                    LD_PRELOAD=None,
                    VRAMSCOPE_ISOLATION=None,
                    VRAMSCOPE_PROGRAM_HOOKS="none",
                    VRAMSCOPE_EMULATED=LIBRARIES,
                    PYTHONPATH=os.path.join(HERE, "fake_torch"),
                )
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("it runs", (result.stdout + result.stderr).splitlines())

    def loaded(self, name):
        """Returns the file that is mapped when a program loads a library with that name from a
        wheel."""
        os.makedirs(self.path("vendored.libs"), exist_ok=True)
        library = self.path("vendored.libs", name)
        shutil.copy(ISOLATION, library)  # any library that is not CUDA's
        return self.python(
            "import ctypes; ctypes.CDLL(%r)\nprint(*{line.split()[-1] for line in "
            "open('/proc/self/maps') if 'cudart' in line})" % library,
            LD_AUDIT=AUDIT,
            LD_PRELOAD=None,
            VRAMSCOPE_ISOLATION=None,
        ).strip()

    def test_a_renamed_runtime_of_a_wheel_is_emulated(self):
        for name, ours in (
            ("libcudart.0a1b2c3d.so.13", "libcudart.so.13"),
            ("libcudart-0a1b2c3d.so.12", "libcudart.so.12"),
            ("libcudart-d0da41ae.so.11.0", "libcudart.so.11.0"),
            ("libcudart-0a1b2c3d.so.12.4.127", "libcudart.so.12"),
            ("libcudart-0a1b2c3d.so.11.8.89", "libcudart.so.11.0"),
        ):
            with self.subTest(name):
                self.assertEqual(self.loaded(name), os.path.realpath(os.path.join(LIBRARIES, ours)))

    def test_a_library_that_is_linked_to_a_renamed_runtime_loads(self):
        """A library such as torchvision's _C.so names the renamed runtime in its version table. The
        loader compares this name with the name of the library that it loaded, so the two must
        match."""
        if not shutil.which("cc"):
            self.skipTest("no C compiler")
        for name, text in (
            ("runtime.c", "int runtime(void) { return 7; }"),
            ("versions", "VERSION_1 { global: runtime; };"),
            ("user.c", "int runtime(void); int user(void) { return runtime(); }"),
        ):
            with open(self.path(name), "w") as file:
                file.write(text)
        copy = "libcudart.0a1b2c3d.so.13"
        subprocess.run(
            [
                "cc",
                "-shared",
                "-fPIC",
                "-o",
                self.path(copy),
                self.path("runtime.c"),
                "-Wl,-soname," + copy,
                "-Wl,--version-script=" + self.path("versions"),
            ],
            check=True,
        )
        subprocess.run(
            [
                "cc",
                "-shared",
                "-fPIC",
                "-o",
                self.path("libuser.so"),
                self.path("user.c"),
                self.path(copy),
                "-Wl,-rpath,$ORIGIN",
            ],
            check=True,
        )
        printed = self.python(
            "import ctypes; print(ctypes.CDLL(%r).user())" % self.path("libuser.so"),
            LD_AUDIT=AUDIT,
            LD_PRELOAD=None,
            VRAMSCOPE_ISOLATION=None,
        )
        self.assertEqual(printed.strip(), "7")

    def test_other_names_are_left_alone(self):
        for name in (
            "libcudart-mine.so.12",
            "libcudart-0a1b2c3d.so.99",
            "libcudart-0a1b2c3d.so",
            "libcudartish-0a1b2c3d.so.12",
        ):
            with self.subTest(name):
                self.assertEqual(self.loaded(name), self.path("vendored.libs", name))

    def test_grandchildren_without_pythonpath_keep_the_hooks(self):
        hooks = os.path.join(LIBRARIES, "python", "inject")
        show = "import os; print(os.environ.get('PYTHONPATH'))"
        grandchild = (
            "import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', %r], "
            "env=dict(__import__('os').environ, PYTHONPATH='src'))" % show
        )
        for preload in (None, ISOLATION):
            with self.subTest(preload):
                result = self.run_command(
                    sys.executable,
                    "-S",
                    "-c",
                    grandchild,
                    LD_AUDIT=AUDIT,
                    LD_PRELOAD=preload,
                    VRAMSCOPE_ISOLATION=None,
                    VRAMSCOPE_PROGRAM_PYTHONPATH=hooks,
                    VRAMSCOPE_PROGRAM_EMULATED=LIBRARIES,
                )
                self.assertEqual(result.stdout, hooks + ":src\n", result.stderr)
        twice = (
            "import os, subprocess, sys; os.environ.pop('PYTHONPATH', None); "
            "subprocess.run([sys.executable, '-S', '-c', %r])" % show
        )
        result = self.run_command(
            sys.executable,
            "-S",
            "-c",
            twice,
            LD_AUDIT=AUDIT,
            VRAMSCOPE_ISOLATION=None,
            VRAMSCOPE_PROGRAM_PYTHONPATH=hooks,
            VRAMSCOPE_PROGRAM_EMULATED=LIBRARIES,
        )
        self.assertEqual(result.stdout, hooks + "\n", result.stderr)


if __name__ == "__main__":
    unittest.main()

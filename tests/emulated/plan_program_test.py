"""Tests `vramscope plan -- PROGRAM` when something is wrong with the program, its torch, or the
computer. The message must be clear, the exit status right, data that arrived must be kept, and no
process may be left. Uses a stand-in for torch, so that it runs everywhere.

    python3 plan_program_test.py VRAMSCOPE
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
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
import working_folder  # noqa: E402

VRAMSCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "vramscope"
BAD_INPUT, USAGE, INTERNAL, INTERRUPTED = 3, 2, 4, 130
setUpModule = working_folder.enter


class Plan(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.trace = os.path.join(self.folder.name, "out.trace")
        self.environment = dict(
            os.environ,
            PYTHONPATH=os.path.join(HERE, "fake_torch"),
            VRAMSCOPE_PROGRAM_HOOKS="none",
            TMPDIR=self.folder.name,
            PYTHONDONTWRITEBYTECODE="1",
        )

    def command(self, program, *options):
        path = os.path.join(self.folder.name, "train.py")
        with open(path, "w") as file:
            file.write(program)
        return [
            VRAMSCOPE,
            "plan",
            "--writable",
            self.folder.name,
            *options,
            "-o",
            self.trace,
            "--",
            sys.executable,
            path,
        ]

    def plan(self, program, *options, **environment):
        return subprocess.run(
            self.command(program, *options),
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=60,
        )

    def isolated(self, program, *options):
        """Plans without --writable, so that all existing folders are isolated."""
        command = self.command(program, *options)
        at = command.index("--writable")
        return subprocess.run(
            command[:at] + command[at + 2 :],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def vramscope(self, *arguments):
        result = subprocess.run([VRAMSCOPE, *arguments], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def allocations(self):
        return json.loads(self.vramscope("info", self.trace, "--json"))["allocations"]

    def expect(self, result, status, *words):
        self.assertEqual(result.returncode, status, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def nothing_left(self, mark):
        """Checks that no process with `mark` on its command line is left, and that the scratch
        folder is deleted."""
        running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
        self.assertNotIn(
            mark, "\n".join(line for line in running.splitlines() if "ps -eo" not in line)
        )
        self.assertEqual(
            [name for name in os.listdir(self.folder.name) if name.startswith("vramscope-")], []
        )

    # --- programs that fail before they import torch

    def fails(self, *command):
        result = subprocess.run(
            [VRAMSCOPE, "plan", "--", *command],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
            cwd=self.folder.name,
        )
        self.assertEqual(result.returncode, BAD_INPUT, result.stderr)
        error = " ".join(result.stderr[result.stderr.rindex("error: ") :].split())
        return error

    def test_why_python_failed(self):
        python, path = sys.executable, os.path.join(self.folder.name, "fails.py")
        with open(path, "w") as file:
            file.write("def f(:\n")
        for command, why in (
            ((python, "nofile.py"), "can't open file '%s/nofile.py'" % self.folder.name),
            ((python, path), "SyntaxError: invalid syntax (fails.py, line 1)"),
            ((python, "-c", "import nothing"), "ModuleNotFoundError: No module named 'nothing'"),
            ((python, "-m", "nothing"), "No module named nothing"),
            ((python, "-c", "import sys; sys.exit('no data')"), "no data"),
            (("sh", "-c", python + " nofile.py"), "nofile.py"),
            ((python, "-c", "import os; os._exit(5)"), "status 5: it had not imported"),
        ):
            with self.subTest(command=command):
                error = self.fails(*command)
                self.assertIn(why, error)
                self.assertNotIn("env -i", error)
        self.assertIn("env -i", self.fails(python, "-E", "-c", "import nothing"))

    # --- kernels and memcpys of a program that calls CUDA directly

    CUDA = (
        "import ctypes, os, time, torch\nfrom ctypes import c_char_p, c_size_t, c_uint, c_void_p\n"
        "runtime = ctypes.CDLL('libcudart.so.13')\nDim = c_uint * 3\n"
        "class Size(ctypes.Structure):\n    _fields_ = [('n', Dim)]\n"
        "runtime.cudaLaunchKernel.argtypes = [c_void_p, Size, Size, c_void_p, c_size_t, c_void_p]\n"
        "kernel = ctypes.create_string_buffer(8)\n"
        "register = runtime.__getattr__('__cudaRegisterFunction')\n"
        "register(None, kernel, None, c_char_p(b'_Z3addPfi'), -1, None, None, None, None, None)\n"
        "def launch(times):\n    for _ in range(times):\n"
        "        assert runtime.cudaLaunchKernel(kernel, Size(Dim(9, 1, 1)), Size(Dim(256, 1, "
        "1)), None, 0, None) == 0\n"
        "def flush():\n    torch.cuda.memory._snapshot()\n"
        "torch.allocate(4 << 20)\nmemory = c_void_p()\nassert "
        "runtime.cudaMalloc(ctypes.byref(memory), c_size_t(1 << 20)) == 0\n"
    )

    def counts(self):
        info = json.loads(self.vramscope("info", self.trace, "--json"))
        return {name: info[name] for name in ("kernels", "copies", "ranks")}

    def test_kernels_and_copies_are_in_the_trace(self):
        self.expect(
            self.plan(
                self.CUDA + "launch(5)\nhost = ctypes.create_string_buffer(4096)\n"
                "runtime.cudaMemcpy(memory, host, c_size_t(4096), 1)\n"
            ),
            0,
        )
        self.assertEqual(self.counts(), {"kernels": 5, "copies": 1, "ranks": 1})
        chrome = os.path.join(self.folder.name, "chrome.json")
        self.vramscope("export", self.trace, "--to", "chrome", "-o", chrome)
        with open(chrome) as file:
            names = [e["name"] for e in json.load(file)["traceEvents"] if e.get("cat") == "kernel"]
        self.assertEqual(names, ["add(float*, int)"] * 5)

    def test_without_activities(self):
        self.expect(self.plan(self.CUDA + "launch(5)\n", "--no-activities"), 0)
        self.assertEqual(self.counts()["kernels"], 0)

    def test_ranks_have_their_own(self):
        result = self.plan(
            self.CUDA + "runtime.cudaSetDevice(int(os.environ['RANK']))\nlaunch(3 + "
            "int(os.environ['RANK']))\n",
            "--ranks",
            "4",
        )
        self.expect(result, 0)
        self.assertEqual(self.counts(), {"kernels": 3 + 4 + 5 + 6, "copies": 0, "ranks": 4})

    def test_a_kill_loses_no_earlier_data(self):
        result = self.plan(
            self.CUDA
            + "launch(5)\nflush()\nlaunch(300)\ntime.sleep(0.5)\nos.kill(os.getpid(), 9)\n"
        )
        self.expect(result, BAD_INPUT, "signal 9")
        self.assertEqual(self.counts()["kernels"], 305)

    def test_a_crash_after_the_last_line_loses_nothing(self):
        died = (
            "class Dies:\n    def __init__(self):\n        self.kill, self.me, self.how = "
            "os.kill, os.getpid(), 11\n"
            "    def __del__(self):\n        self.kill(self.me, self.how)\nimport sys\n%s\n"
        )
        result = self.plan(self.CUDA + died % "sys.dies = Dies()" + "launch(5)\n")
        self.expect(
            result,
            0,
            "warning: the program was ended by signal 11",
            "while the interpreter shut down",
        )
        self.assertEqual(self.counts()["kernels"], 5)
        # a crash before the interpreter shuts down is a failure
        result = self.plan(self.CUDA + "launch(5)\n" + died % "Dies()")
        self.expect(result, BAD_INPUT, "error: the program was ended by signal 11")

    def test_the_watching_process_is_killed(self):
        program = (
            self.CUDA + "launch(5)\nflush()\nlaunch(300)\ntime.sleep(0.5)\nprint('there', "
            "flush=True)\ntime.sleep(1000)\n"
        )
        kept = os.path.join(self.folder.name, "kept")
        running = subprocess.Popen(
            self.command(program, "--keep", kept),
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        self.assertEqual(running.stdout.readline(), "there\n")
        running.kill()
        running.communicate(timeout=30)
        files = [
            os.path.join(at, name)
            for at, _, names in os.walk(kept)
            for name in names
            if name == "activities.bin"
        ]
        self.assertEqual(len(files), 1)
        with open(files[0], "rb") as file:
            data = file.read()
        rest = data
        while rest:  # the file contains only whole chunks
            self.assertEqual(rest[:4], b"VSAC")
            size = int.from_bytes(rest[8:12], "little")
            self.assertGreaterEqual(len(rest), 16 + size)
            rest = rest[16 + size :]
        self.assertGreater(len(data), 305 * 12)
        # Another process, which is not our child, writes the data that had arrived to the output
        # file, so this has to poll.
        until = time.monotonic() + 60
        while not os.path.exists(self.trace) and time.monotonic() < until:
            time.sleep(0.05)
        with open(self.trace, "rb") as file:
            self.assertEqual(file.read(4), b"\x89VRT")

    def test_another_profiler_has_cupti(self):
        program = (
            "import ctypes\ncupti = ctypes.CDLL('libcupti.so.13')\nhandle = ctypes.c_void_p()\n"
            "assert cupti.cuptiSubscribe(ctypes.byref(handle), None, None) == 0\n"
        )
        result = self.plan(program + self.CUDA + "launch(5)\n")
        self.expect(result, 0)
        self.assertEqual(self.counts()["kernels"], 0)
        self.assertIn(
            "another profiler uses CUPTI in this process: kernels, memcpys and calls are not shown",
            result.stdout,
        )

    def test_a_program_without_torch(self):
        program = (
            self.CUDA.replace(", torch", "")
            .replace("    torch.cuda.memory._snapshot()", "    pass")
            .replace("torch.allocate(4 << 20)", "")
            + "launch(5)\n"
        )
        self.expect(self.plan(program), 0)
        self.assertEqual(self.counts(), {"kernels": 5, "copies": 0, "ranks": 1})
        self.assertEqual(
            json.loads(self.vramscope("info", self.trace, "--json"))["peak"]["allocated"], 1 << 20
        )
        bare = self.plan(program, "--no-activities")
        self.expect(bare, BAD_INPUT, "There is no trace")
        self.assertIn("launches: 5", bare.stdout)

    def test_a_forked_child_reports_nothing(self):
        self.expect(
            self.plan(
                self.CUDA + "launch(5)\nif os.fork() == 0:\n    launch(7)\n    raise "
                "SystemExit(0)\nos.wait()\n"
                "launch(2)\n"
            ),
            0,
        )
        self.assertEqual(self.counts()["kernels"], 7)

    def test_the_doctor_on_the_platform(self):
        """All checks that do not need PyTorch pass. The others are skipped with a message. No
        figure counts as measured, because the GPU is emulated."""
        result = subprocess.run(
            [VRAMSCOPE, "doctor", "--gpu", "--emulated", "h100-sxm", "--json"],
            capture_output=True,
            text=True,
            timeout=120,
            env={**self.environment, "PATH": "/usr/bin:/bin", "HOME": self.folder.name},
        )
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        checks = {check["check"]: check for check in json.loads(result.stdout)["checks"]}
        for name in (
            "driver starts",
            "gpu",
            "context",
            "device table",
            "cupti",
            "allocations",
            "clocks",
            "nvml",
        ):
            self.assertEqual(checks[name]["state"], "PASS", checks[name])
        self.assertIn("not checked on an emulated GPU", checks["device node"]["detail"])
        self.assertIn(checks["pytorch"]["state"], ("SKIP", "PASS"))

    def test_a_program_that_ends(self):
        result = self.plan("import torch\ntorch.allocate(4 << 20)\nprint('done')\n")
        self.expect(result, 0, "Your files are not changed")
        self.assertIn("done", result.stdout)
        self.assertEqual(self.allocations(), 1)
        self.nothing_left(self.folder.name)

    def test_a_program_that_records_its_own_history(self):
        program = (
            "import torch\nmemory = torch.cuda.memory\nentries = lambda: "
            "len(memory._snapshot()['device_traces'][0])\n%s"
            "assert entries() == "
            "%d\nmemory._record_memory_history(enabled='all')\ntorch.allocate(1 << 20)\n"
            "assert entries() == %d and entries() == "
            "%d\nmemory._record_memory_history(enabled=None)\n"
            "torch.allocate(1 << 20)\nassert entries() == 0\n"
        )
        begun = "memory._record_memory_history(max_entries=100)\ntorch.allocate(1 << 20)\n"
        # the second program starts a history before it uses CUDA
        for before, counts in (("torch.allocate(1 << 20)\n", (0, 2, 2)), (begun, (2, 4, 4))):
            self.expect(self.plan(program % (before, *counts)), 0)
            self.assertEqual(self.allocations(), 3)

    def test_a_program_chooses_what_its_own_history_contains(self):
        """The trace has every allocation. The program sees only what it requested."""
        program = (
            "import torch\nmemory = torch.cuda.memory\ntorch.allocate(1 << "
            "20)\nmemory._record_memory_history(%s)\n"
            "for _ in range(4):\n    torch.allocate(1 << 20)\n"
            "actions = [entry['action'] for entry in "
            "memory._snapshot()['device_traces'][0]]\nassert actions == %s, actions\n"
        )
        for arguments, actions in (
            ("'all', 'all', 'python', 3", ["alloc", "segment_alloc", "alloc"]),
            ("max_entries=9, skip_actions=['alloc']", ["segment_alloc"] * 4),
            ("max_entries=3, skip_actions=['segment_alloc']", ["alloc"] * 3),
        ):
            self.expect(self.plan(program % (arguments, actions)), 0)
            self.assertEqual(self.allocations(), 5)

    def test_json_is_alone_on_standard_output(self):
        result = self.plan("import torch\ntorch.allocate(4 << 20)\nprint('done')\n", "--json")
        self.expect(result, 0, "done")
        answer = json.loads(result.stdout)
        self.assertEqual(answer["peak"]["reserved"], 4 << 20)
        self.assertFalse(answer["measured"])
        self.assertEqual(answer["program"]["ended"], "end")
        self.assertEqual(len(answer["ranks"]), 1)
        self.assertTrue(
            any("not filled" in a["what"] for a in answer["assumptions"]), answer["assumptions"]
        )
        self.assertFalse([a for a in answer["assumptions"] if "hooks are missing" in a["what"]])

    def test_a_torch_without_the_function_of_a_hook(self):
        result = self.plan(
            "import torch\ntorch.allocate(4 << 20)\nprint('done')\n",
            "--json",
            FAKE_TORCH_LACKS="scatter_add_",
        )
        self.expect(result, 0, "done")
        answer = json.loads(result.stdout)
        self.assertEqual(answer["peak"]["reserved"], 4 << 20)
        self.assertEqual(
            self.missing(answer),
            [
                (
                    "this version of torch: values that the program reads back through this "
                    "function may be 0",
                    "Tensor.scatter_add_",
                )
            ],
        )

    def test_a_torch_with_another_way_of_saving(self):
        result = self.plan(
            "import torch\ntorch.allocate(4 << 20)\nprint('went on')\n",
            "--json",
            FAKE_TORCH_LACKS="save",
        )
        self.expect(result, 0, "went on")
        self.assertIn(
            "this version of torch: large checkpoints take up their full size on disk",
            [what for what, _ in self.missing(json.loads(result.stdout))],
        )

    def test_a_library_without_the_function_of_a_hook(self):
        """The hook is installed while the program imports the module. If the module lacks the
        function, the import still succeeds."""
        os.mkdir(os.path.join(self.folder.name, "safetensors"))
        for name in ("__init__", "torch"):
            with open(os.path.join(self.folder.name, "safetensors", name + ".py"), "w") as file:
                file.write("version = 'another'\n")
        result = self.plan(
            "import torch\nimport safetensors.torch\ntorch.allocate(4 << 20)\nprint('done, ' + "
            "safetensors.torch.version)\n",
            "--json",
        )
        self.expect(result, 0, "done, another")
        ((what, where),) = self.missing(json.loads(result.stdout))
        self.assertEqual(
            what, "this version of safetensors: safetensors.torch is used without vramscope's hook"
        )
        self.assertIn("'save_file'", where)

    def missing(self, answer):
        return [
            (a["what"].removeprefix("vramscope's hooks are missing with "), a["where"])
            for a in answer["assumptions"]
            if "hooks are missing" in a["what"]
        ]

    def test_a_failed_allocation_is_in_no_figure(self):
        """A failed allocation does not count as used. The plan says that the program fits if the
        program caught the error and continued, and that it does not fit if the error ended it."""
        program = (
            "import torch\ntorch.allocate(1 << 20)\nfor size in (8 << 30, 4 << 30):\n    "
            "torch._entry('oom', 1 << 30, size)\n%s"
        )
        result = self.plan(program % "torch.allocate(2 << 20)\nprint('done')\n")
        self.expect(result, 0)
        self.assertIn("done", result.stdout)
        self.assertIn("Fits on NVIDIA", result.stdout)
        self.assertIn("(3.00 MiB reserved at most", result.stdout)
        self.assertIn(
            "During the run, an allocation of 8.00 GiB failed, the first of 2 failures; the "
            "program caught the error and continued.",
            result.stdout,
        )
        check = json.loads(self.vramscope("check", self.trace, "--budget", "500MiB", "--json"))
        self.assertEqual(
            (check["within_budget"], check["out_of_memory"], check["went_on"]), (True, True, True)
        )
        result = self.plan(program % "raise RuntimeError('CUDA out of memory')\n")
        self.expect(result, 1, "CUDA out of memory")
        self.assertIn("Does not fit on NVIDIA", result.stdout)
        self.assertIn(
            "an allocation of 8.00 GiB failed, the first of 2 failures (1.00 MiB reserved at most",
            result.stdout,
        )
        result = self.plan(program % "")  # the program allocates nothing after the error
        self.expect(result, 0)
        self.assertIn("Does not fit on NVIDIA", result.stdout)

    def test_a_process_of_the_program_fails(self):
        """A child process fails with an exception, but the program ends with status 0."""
        child = "import torch\ntorch.allocate(1 << 20)\nraise ValueError('of the child')"
        result = self.plan(
            "import subprocess, sys, torch\nsubprocess.run([sys.executable, '-c', "
            "%r])\ntorch.allocate(4 << 20)\n" % child
        )
        self.expect(
            result,
            0,
            "warning: process ",
            "failed (ValueError: of the child), but the program ended with status 0",
        )

    def test_a_process_that_only_queries_the_gpu(self):
        asks = (
            "import subprocess, sys, torch\nsubprocess.run([sys.executable, '-c', 'import "
            "torch; torch.cuda.init()%s'], check=True)\ntorch.allocate(4 << 20)\n"
        )
        for more, processes in (("", 1), ("; torch.allocate(1 << 20)", 2)):
            result = self.plan(asks % more, "--json")
            self.expect(result, 0)
            self.assertEqual(len(json.loads(result.stdout)["ranks"]), processes)

    def test_an_allocator_that_keeps_no_history(self):
        """If the program selects cudaMallocAsync, the plan uses PyTorch's own allocator. If it
        installs another allocator, the plan prints a message and runs the program."""
        settings = "backend:cudaMallocAsync,roundup_power2_divisions:[256:1,>:4]"
        result = self.plan(
            "import os, torch\nassert os.environ['PYTORCH_ALLOC_CONF'] == "
            "'roundup_power2_divisions:[256:1,>:4]'\ntorch.allocate(1 << 20)\n",
            "--json",
            PYTORCH_ALLOC_CONF=settings,
        )
        self.expect(result, 0)
        self.assertIn(
            "PYTORCH_ALLOC_CONF",
            [
                a["where"]
                for a in json.loads(result.stdout)["assumptions"]
                if "cudaMallocAsync records no history" in a["what"]
            ],
        )
        result = self.plan(
            "import os, torch\nassert 'PYTORCH_NO_CUDA_MEMORY_CACHING' not in "
            "os.environ\ntorch.allocate(1 << 20)\n",
            "--json",
            PYTORCH_NO_CUDA_MEMORY_CACHING="1",
        )
        self.expect(result, 0)
        self.assertIn(
            "PYTORCH_NO_CUDA_MEMORY_CACHING",
            [
                a["where"]
                for a in json.loads(result.stdout)["assumptions"]
                if "therefore uses the cache" in a["what"]
            ],
        )
        result = self.plan(
            "import torch\ntorch.allocate(1 << 20)\nprint('done')\n", FAKE_TORCH_ALLOCATOR="another"
        )
        self.expect(
            result,
            BAD_INPUT,
            "this allocator keeps no history",
            "another does not yet support recordHistory",
        )
        self.assertIn("done", result.stdout)

    def test_raises(self):
        result = self.plan(
            "import torch\ntorch.allocate(1 << 20)\nraise ValueError('no such batch')\n"
        )
        self.expect(result, BAD_INPUT, "status 1", "ValueError: no such batch")
        self.assertEqual(self.allocations(), 1)

    def test_raises_before_anything(self):
        result = self.plan("import torch\nraise ValueError('no such batch')\n")
        self.expect(result, BAD_INPUT, "no such batch")
        self.assertFalse(os.path.exists(self.trace))

    def test_ends_at_once(self):
        result = self.plan("import os, torch\ntorch.allocate(1 << 20)\nos._exit(7)\n")
        self.expect(result, BAD_INPUT, "status 7")
        self.assertEqual(self.allocations(), 1)

    def test_is_killed(self):
        result = self.plan("import os, torch\ntorch.allocate(1 << 20)\nos.kill(os.getpid(), 9)\n")
        self.expect(result, BAD_INPUT, "signal 9", "before it wrote any of its history")
        self.nothing_left(self.folder.name)

    def test_forks(self):
        result = self.plan(
            "import os, torch\ntorch.allocate(1 << 20)\nif os.fork() == 0:\n    torch.allocate(1 "
            "<< 20)\n"
            "    raise SystemExit(0)\nos.wait()\ntorch.allocate(1 << 20)\n"
        )
        self.expect(result, 0)
        self.assertEqual(self.allocations(), 2)

    def test_a_child_that_stays(self):
        result = self.plan(
            "import subprocess, sys, torch\ntorch.allocate(1 << 20)\n"
            "subprocess.Popen(['sleep', '6543'], start_new_session=True)\n"
        )
        self.expect(result, 0)
        self.nothing_left("sleep 6543")

    def test_hangs_and_is_stopped(self):
        program = (
            "import time, torch\ntorch.allocate(1 << 20)\nprint('hanging', "
            "flush=True)\ntime.sleep(1000)\n"
        )
        running = subprocess.Popen(
            self.command(program),
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        self.assertEqual(running.stdout.readline(), "hanging\n")
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=30)
        self.assertEqual(running.returncode, INTERRUPTED, errors)
        self.assertEqual(self.allocations(), 1)
        self.nothing_left(self.folder.name)

    def test_a_program_that_ignores_signals(self):
        program = (
            "import signal, time, torch\nsignal.signal(signal.SIGINT, "
            "signal.SIG_IGN)\ntorch.allocate(1 << 20)\n"
            "print('hanging', flush=True)\nwhile True:\n    time.sleep(1)\n"
        )
        running = subprocess.Popen(
            self.command(program),
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        self.assertEqual(running.stdout.readline(), "hanging\n")
        start = time.monotonic()
        for _ in range(3):
            running.send_signal(signal.SIGINT)
            time.sleep(0.2)
        running.communicate(timeout=30)
        self.assertLess(time.monotonic() - start, 20)
        self.assertEqual(running.returncode, INTERRUPTED)
        self.nothing_left(self.folder.name)

    def test_the_parent_is_killed(self):
        program = (
            "import time, torch\ntorch.allocate(1 << 20)\nprint('hanging', "
            "flush=True)\ntime.sleep(1000)\n"
        )
        running = subprocess.Popen(
            self.command(program),
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        self.assertEqual(running.stdout.readline(), "hanging\n")
        running.kill()
        running.communicate(timeout=30)
        for _ in range(100):
            args = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
            if os.path.join(self.folder.name, "train.py") not in args:
                break
            time.sleep(0.05)
        self.assertNotIn(os.path.join(self.folder.name, "train.py"), args)

    def test_no_such_interpreter(self):
        result = subprocess.run(
            [VRAMSCOPE, "plan", "--", "/nowhere/python", "train.py"],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.expect(result, BAD_INPUT, "/nowhere/python", "no such program")
        self.nothing_left(self.folder.name)

    def test_not_a_program(self):
        result = subprocess.run(
            [VRAMSCOPE, "plan", "--", HERE],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.expect(result, BAD_INPUT, "cannot be started")

    def test_torch_is_missing(self):
        result = (
            self.plan("import torch\n", PYTHONPATH="", PYTHONNOUSERSITE="1")
            if not _has_torch()
            else None
        )
        if result is None:
            self.skipTest("this interpreter has torch")
        self.expect(
            result,
            BAD_INPUT,
            "status 1: ModuleNotFoundError: No module named 'torch'. Run the program with the "
            "interpreter in which PyTorch is installed",
        )

    def test_torch_is_not_imported(self):
        self.expect(self.plan("print('hello')\n"), BAD_INPUT, "never imported torch")

    def test_torch_cannot_be_imported(self):
        missing = "libtorch_cuda.so: undefined symbol: cudaOfTomorrow, version libcudart.so.13"
        result = self.plan("import torch\n", FAKE_TORCH_IMPORT=missing)
        self.expect(
            result,
            BAD_INPUT,
            "before it used CUDA: ImportError: "
            + missing
            + ". The emulated platform lacks cudaOfTomorrow",
        )
        result = self.plan(
            "try:\n  import torch\nexcept ImportError:\n  print('without')\n",
            FAKE_TORCH_IMPORT="no such file",
        )
        self.expect(result, BAD_INPUT, "before it used CUDA: ImportError: no such file")

    def test_a_program_without_python(self):
        """The program uses CUDA's runtime and has no hooks, like one that links LibTorch."""
        program = (
            "import ctypes\nruntime = ctypes.CDLL('libcudart.so.13')\naddress = ctypes.c_void_p()\n"
            "assert runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(100 << 20)) == 0\n"
            "assert runtime.cudaFree(address) == 0\n"
        )
        command = [
            argument
            for argument in self.command(program, "--json")
            if argument not in ("-o", self.trace)
        ]
        result = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=60
        )
        self.expect(result, 0)
        answer = json.loads(result.stdout)
        self.assertEqual(answer["peak"]["allocated"], 100 << 20)
        self.assertTrue(
            any("Without the hooks in Python" in a["what"] for a in answer["assumptions"])
        )
        self.expect(self.plan(program), 0)
        self.assertTrue(os.path.exists(self.trace))

    RUNTIME = (
        "import ctypes, os, subprocess, sys\nruntime = ctypes.CDLL('libcudart.so.13')\n"
        "def allocate(size):\n    address = ctypes.c_void_p()\n"
        "    return runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(size))\n"
        "def free():\n    numbers = ctypes.c_size_t(), ctypes.c_size_t()\n"
        "    assert runtime.cudaMemGetInfo(ctypes.byref(numbers[0]), ctypes.byref(numbers[1])) "
        "== 0\n"
        "    return numbers[0].value\n"
    )

    def test_processes_share_their_gpu(self):
        """Several processes on one GPU, such as a trainer and its evaluation, cannot allocate more
        memory together than the GPU has."""
        program = self.RUNTIME + (
            "if len(sys.argv) > 1:\n"
            "    before = free()\n"
            "    refused = allocate(14 << 30)\n"
            "    print('child', refused, allocate(1 << 30), before - free(), flush=True)\n"
            "    print(subprocess.check_output(['nvidia-smi', '--query-gpu=memory.used', "
            "'--format=csv,noheader,nounits'], text=True).strip(), flush=True)\n"
            "    print(subprocess.check_output(['nvidia-smi', '--query-compute-apps=pid', "
            "'--format=csv,noheader'], text=True).split(), flush=True)\n"
            "    input()\n"
            "else:\n"
            "    print('alone', allocate(14 << 30), free() >> 20, flush=True)\n"
            "    child = subprocess.Popen([sys.executable, __file__, 'child'], "
            "stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)\n"
            "    for _ in range(3): print(child.stdout.readline().strip(), flush=True)\n"
            "    print('both', free() >> 20, os.getpid(), child.pid, flush=True)\n"
            "    child.communicate('\\n')\n"
            "    print('again', free() >> 20, flush=True)\n"
        )
        result = self.plan(program, "--device", "rtx-4090", "--no-activities")
        lines = [line.split(None, 1) for line in result.stdout.splitlines()]
        told = {
            words[0]: words[1].split()
            for words in lines
            if len(words) == 2 and words[0] in ("alone", "child", "both", "again")
        }
        self.assertEqual(told["alone"][0], "0", result.stdout + result.stderr)
        # the large allocation fails; the smaller one succeeds
        self.assertEqual(told["child"][:3], ["2", "0", str(1 << 30)])
        alone, both, again = int(told["alone"][1]), int(told["both"][0]), int(told["again"][0])
        self.assertEqual(alone, again)  # the child has ended
        self.assertGreater(alone - both, 1024)  # the child's memory, and its context
        self.assertLess(alone - both, 2048)
        used = int(result.stdout.splitlines()[2])
        self.assertGreater(used, 15 << 10)
        processes = result.stdout.splitlines()[3]
        for process in told["both"][1:]:
            self.assertIn("'%s'" % process, processes)

    def test_nvidia_smi_of_the_emulated_gpus(self):
        program = self.RUNTIME + (
            "allocate(100 << 20)\n"
            "print(subprocess.run(['nvidia-smi'], stdout=subprocess.PIPE, text=True).stdout)\n"
            "print(subprocess.check_output(['nvidia-smi', '-L'], text=True))\n"
            "print(subprocess.check_output(['nvidia-smi', "
            "'--query-gpu=name,memory.total,power.draw', '--format=csv'], text=True))\n"
            "print(subprocess.check_output(['nvidia-smi', '--query-gpu=index,memory.free', "
            "'--format=csv,noheader,nounits', '-i', '1'], text=True))\n"
            "wrong = subprocess.run(['nvidia-smi', '--query-gpu=name,colour'], "
            "stdout=subprocess.PIPE, text=True)\n"
            "print('wrong', wrong.returncode, wrong.stdout.strip())\n"
            "print('unknown', subprocess.run(['nvidia-smi', '--reset'], "
            "stdout=subprocess.PIPE).returncode)\n"
        )
        result = self.plan(program, "--device", "rtx-4090", "--devices", "2", "--no-activities")
        for words in (
            "Driver Version: 580.65.06",
            "CUDA Version: 13.0",
            "NVIDIA GeForce RTX 4090",
            "GPU 1: NVIDIA GeForce RTX 4090 (UUID: GPU-",
            "name, memory.total [MiB], power.draw",
            "NVIDIA GeForce RTX 4090, 24080 MiB, [N/A]",
            'wrong 2 Field "colour" is not a valid field to query.',
            "unknown 1",
        ):
            self.assertIn(words, result.stdout, result.stdout + result.stderr)
        self.assertRegex(result.stdout, r"(?m)^1, 2\d{4}$")
        widths = {len(line) for line in result.stdout.splitlines() if line.startswith(("|", "+"))}
        self.assertEqual(widths, {91})

    def test_peers_are_the_emulated_gpus(self):
        """Libraries query peer access to choose how GPUs copy: without it, they copy through the
        host."""
        program = self.RUNTIME + (
            "can = ctypes.c_int(-1)\nassert runtime.cudaDeviceCanAccessPeer(ctypes.byref(can), "
            "0, 1) == 0\n"
            "nvml = ctypes.CDLL('libnvidia-ml.so.1')\nhandles = ctypes.c_void_p(), "
            "ctypes.c_void_p()\n"
            "for i in (0, 1): assert nvml.nvmlDeviceGetHandleByIndex_v2(i, "
            "ctypes.byref(handles[i])) == 0\n"
            "status = ctypes.c_int(-1)\nassert nvml.nvmlDeviceGetP2PStatus(handles[0], "
            "handles[1], 2, ctypes.byref(status)) == 0\n"
            "fabric = (ctypes.c_ubyte * 64)()\nctypes.memmove(fabric, (36 | 2 << 24).to_bytes(4, "
            "'little'), 4)\n"
            "asked = nvml.nvmlDeviceGetGpuFabricInfoV(handles[0], fabric)\n"
            "old = nvml.nvmlDeviceGetGpuFabricInfoV(handles[0], (ctypes.c_ubyte * 64)())\n"
            "print('peers', can.value, runtime.cudaDeviceEnablePeerAccess(1, 0), status.value, "
            "asked, fabric[28], old)\n"
        )
        for device, answers in (
            ("rtx-4090", "0 217 2 3 0 25"),
            ("rtx-6000-ada", "0 217 2 3 0 25"),
            ("h100-pcie", "1 0 5 3 0 25"),
            ("a100-80gb", "1 0 0 3 0 25"),
            ("h100-sxm", "1 0 0 0 3 25"),
        ):
            result = self.plan(program, "--device", device, "--devices", "2", "--no-activities")
            self.assertIn("peers " + answers, result.stdout, device + result.stderr)

    def test_the_number_of_known_launches_is_reported(self):
        result = subprocess.run(
            [
                argument
                for argument in self.command(self.CUDA + "launch(5)\n", "--json")
                if argument not in ("-o", self.trace)
            ],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.expect(result, 0)
        answer = json.loads(result.stdout)
        self.assertEqual(answer["program"]["recognised"], {"launches": 5, "known": 0})
        self.assertIn(
            (
                "0.0 % of 5 launches run known kernels. The times of the other kernels are "
                "assumed from their thread counts",
                "_Z3addPfi",
            ),
            [(a["what"], a["where"]) for a in answer["assumptions"]],
        )

    def test_several_processes_are_told_apart(self):
        """Processes that are not ranks are listed with their process ids, and with the number that
        `--device` accepts."""
        program = (
            "import subprocess, sys, torch\ntorch.allocate(4 << 20)\n"
            "if len(sys.argv) == 1: subprocess.run([sys.executable, __file__, 'child'], "
            "check=True)\n"
        )
        result = self.plan(program)
        self.expect(result, 0)
        header, *rows = result.stdout[result.stdout.index("2 processes") :].splitlines()[1:4]
        self.assertEqual(header.split()[:5], ["Process", "Device", "in", "the", "trace"])
        self.assertNotEqual(rows[0].split()[0], rows[1].split()[0])

    def test_a_missing_function_of_the_platform(self):
        program = (
            "import ctypes\nruntime = ctypes.CDLL('libcudart.so.13')\naddress = ctypes.c_void_p()\n"
            "assert runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(100 << 20)) == 0\n"
            "assert ctypes.CDLL('libcublas.so.13').cublasXtCreate(0) == 15\n"
        )
        command = [
            argument
            for argument in self.command(program, "--json")
            if argument not in ("-o", self.trace)
        ]
        result = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=60
        )
        self.expect(result, 0)
        said = [
            a["where"]
            for a in json.loads(result.stdout)["assumptions"]
            if a["what"].startswith("cublasXtCreate() is not emulated")
        ]
        self.assertEqual(said, ["libcublas.so.13"])

    def test_a_program_without_python_and_without_a_reader(self):
        program = (
            "import ctypes\nruntime = ctypes.CDLL('libcudart.so.13')\naddress = ctypes.c_void_p()\n"
            "assert runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(100 << 20)) == 0\n"
        )
        command = self.command(program, "--json", "--no-activities")
        result = subprocess.run(
            [argument for argument in command if argument not in ("-o", self.trace)],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.expect(result, 0, "without Python")
        answer = json.loads(result.stdout)
        self.assertEqual(answer["peak"]["device_used"] - answer["context_bytes"], 100 << 20)
        result = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=60
        )
        self.expect(result, BAD_INPUT, "There is no trace")  # -o requested a trace

    def test_torch_is_for_the_processor_alone(self):
        self.expect(
            self.plan("import torch\n", FAKE_TORCH_CUDA="", FAKE_TORCH_VERSION="2.9.0+cpu"),
            BAD_INPUT,
            "2.9.0+cpu",
            "CPU only",
            "pip install torch",
        )

    def test_torch_is_too_old(self):
        self.expect(
            self.plan("import torch\n", FAKE_TORCH_VERSION="1.13.1+cu117"),
            BAD_INPUT,
            "1.13.1",
            "older than 2.0",
        )

    def test_torch_has_an_unknown_version(self):
        self.expect(
            self.plan("import torch\ntorch.allocate(1 << 20)\n", FAKE_TORCH_VERSION="3.7.0+cu150"),
            0,
        )

    def test_cuda_is_not_used(self):
        self.expect(self.plan("import torch\n"), BAD_INPUT, "never used CUDA")

    def test_a_full_disk(self):
        # A limit of the file size makes the same write fail that would fail on a full disk.
        program = (
            "import resource, torch\nresource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
            "[torch.allocate(1 << 20) for _ in range(3000)]\n"
        )
        self.expect(self.plan(program), INTERNAL, "could not be written")

    def test_two_at_once(self):
        program = "import time, torch\ntorch.allocate(%d << 20)\ntime.sleep(0.5)\n"
        both = []
        for i in (1, 2):
            path = os.path.join(self.folder.name, "train%d.py" % i)
            with open(path, "w") as file:
                file.write(program % i)
            both.append(
                subprocess.Popen(
                    [VRAMSCOPE, "plan", "--json", "--", sys.executable, path],
                    env=self.environment,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
        for i, running in enumerate(both, 1):
            out, errors = running.communicate(timeout=60)
            self.assertEqual(running.returncode, 0, errors)
            self.assertEqual(json.loads(out)["peak"]["reserved"], i << 20)

    def test_ranks(self):
        program = (
            "import os, torch\nassert os.environ['WORLD_SIZE'] == '3' and "
            "os.environ['MASTER_PORT']\n"
            "torch.allocate(int(os.environ['RANK']) + 1 << 20)\n"
        )
        result = self.plan(program, "--ranks", "3", "--json")
        self.expect(result, 0)
        answer = json.loads(result.stdout)
        self.assertEqual([r["peak"]["reserved"] >> 20 for r in answer["ranks"]], [1, 2, 3])
        self.assertEqual(answer["peak"]["reserved"], 3 << 20)
        # There is one trace, with rank R on device R.
        self.assertEqual([r["device"] for r in answer["ranks"]], [0, 1, 2])
        info = json.loads(self.vramscope("info", self.trace, "--json"))
        self.assertEqual(
            [(p["device"], p["name"], p["reserved"] >> 20) for p in info["peaks"]],
            [(0, "rank 0", 1), (1, "rank 1", 2), (2, "rank 2", 3)],
        )
        peak = json.loads(self.vramscope("peak", self.trace, "--device", "1", "--json"))
        self.assertEqual(peak["reserved"], 2 << 20)
        same = json.loads(self.vramscope("diff", self.trace, self.trace, "--json"))
        self.assertEqual(len(same["devices"]), 3)

    def test_the_port_of_ranks_is_not_ephemeral(self):
        """The system could assign a port from 32768 on to another process before rank 0 listens on
        it."""
        program = (
            "import os, torch\ntorch.allocate(1 << 20)\nassert 1024 < "
            "int(os.environ['MASTER_PORT']) < 32768\n"
        )
        self.expect(self.plan(program, "--ranks", "2"), 0)

    def test_a_rank_that_fails_ends_all(self):
        program = (
            "import os, time, torch\ntorch.allocate(1 << 20)\nif os.environ['RANK'] == '1':\n    "
            "raise ValueError('rank 1')\n"
            "time.sleep(1000)\n"
        )
        start = time.monotonic()
        result = self.plan(program, "--ranks", "2")
        self.expect(result, BAD_INPUT, "status 1: rank 1: ValueError: rank 1")
        self.assertLess(time.monotonic() - start, 30)
        self.nothing_left(self.folder.name)

    def test_the_first_failure_is_reported(self):
        """The launcher fails because a process that it started has failed. The report names the
        first failure, not the launcher's."""
        child = "import torch\ntorch.allocate(1 << 20)\nraise ValueError('the cause')"
        program = (
            "import subprocess, sys, torch\nsubprocess.run([sys.executable, '-c', %r], "
            "check=True)\n" % child
        )
        self.expect(self.plan(program), BAD_INPUT, "status 1: ValueError: the cause")

    @unittest.skipUnless(os.access("/dev/shm", os.W_OK), "no /dev/shm")
    def test_where_ranks_meet_is_gone(self):
        program = (
            "import os, signal, torch\nrooms = "
            "os.environ['VRAMSCOPE_EMULATED_ROOMS']\nopen(rooms + '/left', 'w').close()\n"
            "print(rooms, flush=True)\ntorch.allocate(1 << 20)\n%s"
        )
        rooms = self.plan(program % "os.kill(os.getpid(), signal.SIGKILL)").stdout.strip()
        self.assertTrue(rooms.startswith("/dev/shm/vramscope-"), rooms)
        self.assertFalse(os.path.exists(rooms))
        rooms = self.plan(program % "os.kill(os.getppid(), signal.SIGKILL)").stdout.strip()
        self.expect(self.plan(program % ""), 0)  # removes what the killed process may have left
        self.assertFalse(os.path.exists(rooms))

    def test_usage(self):
        for arguments in (
            ["plan", "--"],
            ["plan", "--preset", "gpt2", "--", "python"],
            ["plan", "--steps", "3"],
            ["plan", "--ranks", "2", "--as-rank", "2", "--", "python"],
            ["plan", "--ranks", "257", "--", "python"],
            ["record"],
        ):
            result = subprocess.run(
                [VRAMSCOPE, *arguments],
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=60,
            )
            self.expect(result, USAGE, "error")
        result = self.plan("", "--device", "h100-smx")
        self.expect(result, BAD_INPUT, "h100-sxm")

    def test_saved_files_are_deleted_afterwards(self):
        saved = os.path.join(self.folder.name, "model.pt")
        program = (
            "import torch\ntorch.allocate(1 << 20)\ntorch.save(1, %r)\nassert torch.load(%r) == "
            "b'saved'\n" % (saved, saved)
        )
        result = self.isolated(program, "--json")
        self.expect(result, 0, "Your files are not changed")
        self.assertFalse(os.path.exists(saved))
        self.assertIn(json.loads(result.stdout)["program"]["isolation"], ("overlay", "copy"))

    def test_the_program_finds_its_saved_files(self):
        run = os.path.join(self.folder.name, "run")
        os.makedirs(run)
        with open(os.path.join(run, "best.pt"), "wb") as file:
            file.write(b"mine")  # a file of an earlier run, which is not changed
        program = (
            "import glob, os, pathlib, shutil, torch\nos.chdir(%r)\ntorch.allocate(1 << "
            "20)\nos.makedirs('run/part')\n"
            "open('run/notes.txt', 'w').write('noted')\nopen('run/best.pt', 'wb').write(b'bytes')\n"
            "assert open('run/best.pt', 'rb').read() == b'bytes'\ntorch.save(1, "
            "'run/part/a.pt')\ntorch.save(1, f='run/best.pt')\n"
            "assert os.path.isfile('run/part/a.pt') and "
            "pathlib.Path('run/part/a.pt').stat().st_size == 5\n"
            "assert open('run/best.pt', 'rb').read() == b'saved' and glob.glob('run/part/*.pt') "
            "== ['run/part/a.pt']\n"
            "os.rename('run/part', 'run/whole')\nassert os.listdir('run/whole') == ['a.pt'] and "
            "not os.path.exists('run/part/a.pt')\n"
            "assert torch.load(f='run/whole/a.pt') == b'saved'\nshutil.copy('run/whole/a.pt', "
            "'run/b.pt')\n"
            "os.link('run/b.pt', 'run/e.pt')\nshutil.copy2('run/e.pt', 'run/f.pt')\nassert "
            "torch.load('run/f.pt') == b'saved'\n"
            "os.replace('run/whole/a.pt', 'run/whole/c.pt')\nos.remove('run/whole/c.pt')\nassert "
            "os.listdir('run/whole') == []\n"
            "torch.save(1, 'run/whole/d.pt')\nshutil.rmtree('run/whole')\nassert not "
            "os.path.exists('run/whole/d.pt')\n"
            "if os.fork() == 0:\n    assert torch.load('run/best.pt') == b'saved'\n    "
            "os._exit(0)\nassert os.wait()[1] == 0\n"
        )
        self.expect(self.isolated(program % self.folder.name), 0)
        self.assertEqual(os.listdir(run), ["best.pt"])
        with open(os.path.join(run, "best.pt"), "rb") as file:
            self.assertEqual(file.read(), b"mine")

    def test_a_script_that_sets_or_unsets_the_path_of_python(self):
        path = self.environment["PYTHONPATH"]
        for line in (
            "PYTHONPATH=%s exec %s %s",
            "unset PYTHONPATH; cd %s; exec %s %s",
            "export PYTHONPATH=%s:/nowhere; %s %s",
        ):
            with self.subTest(line=line):
                train = os.path.join(self.folder.name, "train.py")
                with open(train, "w") as file:
                    file.write(
                        "import sys\nsys.path.append(%r)\nimport torch\ntorch.allocate(1 << 20)\n"
                        % path
                    )
                script = line % (path, sys.executable, train)
                result = subprocess.run(
                    [VRAMSCOPE, "plan", "-o", self.trace, "--", "sh", "-c", script],
                    env=self.environment,
                    capture_output=True,
                    text=True,
                    timeout=60,
                )
                self.expect(result, 0)
                self.assertEqual(self.allocations(), 1)

    def test_the_users_own_sitecustomize_runs(self):
        own = os.path.join(self.folder.name, "own")
        os.makedirs(own)
        with open(os.path.join(own, "sitecustomize.py"), "w") as file:
            file.write("import os\nos.environ['MINE'] = 'ran'\n")
        path = own + os.pathsep + self.environment["PYTHONPATH"]
        result = self.plan(
            "import os, torch\ntorch.allocate(1 << 20)\nassert os.environ['MINE'] == 'ran'\n",
            PYTHONPATH=path,
        )
        self.expect(result, 0)


def _has_torch():
    return (
        subprocess.run(
            [sys.executable, "-c", "import torch"],
            env=dict(os.environ, PYTHONPATH=""),
            capture_output=True,
        ).returncode
        == 0
    )


if __name__ == "__main__":
    unittest.main(verbosity=1)

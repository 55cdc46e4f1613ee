"""What real PyTorch programs read back from the emulated GPU: values, counters of the allocator,
host memory, and what other processes send.

    VRAMSCOPE_TEST_PYTHONPATH=... python3 torch_values_test.py VRAMSCOPE

Skipped if neither VRAMSCOPE_TEST_PYTHONPATH nor this interpreter has a CUDA build of torch."""

import glob
import json
import os
import subprocess

import torch_program
from torch_program import ENVIRONMENT, HERE, PYTHON, VRAMSCOPE, Program


class Counters(Program):
    """If the program reads PyTorch's counters, the plan shows these values next to its own figures.
    The values do not change the figures."""

    def printed(self, word):
        return [
            [int(number) for number in line.split()[1:]]
            for line in self.stderr.splitlines()
            if line.startswith(word + " ")
        ]

    def test_report_and_trace_have_what_the_program_printed(self):
        answer = self.plan(
            "counters.py", options=("--steps", "0", "--devices", "2", "-o", self.path("a.trace"))
        )
        told = {(c["counter"], c["device"]): c for c in answer["program_counters"]}
        steps, other = self.printed("step"), self.printed("other")
        self.assertEqual(len(steps), 2)
        most = told["torch.cuda.max_memory_allocated", 0]
        self.assertEqual(
            (most["readings"], most["last"], most["most"]),
            (2, steps[1][0], max(s[0] for s in steps)),
        )
        self.assertEqual(most["most"], answer["peak"]["max_memory_allocated"])
        self.assertEqual(told["torch.cuda.memory_reserved", 0]["last"], steps[1][1])
        self.assertEqual(
            [
                told["torch.cuda.memory_allocated", 1]["last"],
                told["torch.cuda.max_memory_reserved", 1]["last"],
            ],
            other[0],
        )
        for row in self.printed("accelerator"):
            self.assertEqual([told["torch.accelerator.max_memory_allocated", 0]["last"]], row)
        self.assertEqual(
            self.json("info", self.path("a.trace"))["program_counters"], answer["program_counters"]
        )
        text = subprocess.run(
            [VRAMSCOPE, "info", self.path("a.trace")], capture_output=True, text=True
        ).stdout
        self.assertIn("torch.cuda.max_memory_allocated()", text)

    def test_a_program_that_reads_counters_at_every_operator(self):
        code = (
            "import torch\nx = torch.ones(1, device='cuda')\n"
            "for _ in range(5000):\n    x = x + 1\n    torch.cuda.memory_allocated()\n"
        )
        with open(self.path("often.py"), "w") as file:
            file.write(code)
        answer = self.plan(self.path("often.py"), options=("--steps", "0"))
        self.assertEqual([c["readings"] for c in answer["program_counters"]], [4096])
        self.assertTrue(
            [a for a in answer["assumptions"] if "only the first 4096 readings" in a["what"]]
        )


class HostMemory(Program):
    """Tests the size of pinned memory that the driver allocates. The program pins 20 MB, and then
    two batches of 256 kB one after the other."""

    def check(self, budget, status):
        command = [
            VRAMSCOPE,
            "check",
            "--budget",
            "24GiB",
            "--host-budget",
            budget,
            "--json",
            "--",
            PYTHON,
            os.path.join(HERE, "programs", "pinned.py"),
        ]
        result = subprocess.run(
            command, env=ENVIRONMENT, capture_output=True, text=True, timeout=900
        )
        self.assertEqual(result.returncode, status, result.stderr[-4000:])
        return json.loads(result.stdout)["host"]

    def test_the_budget_decides(self):
        host = self.check("33MiB", 0)
        self.assertEqual(host["needed"], (32 << 20) + (256 << 10))
        sites = [
            (
                site["name"],
                os.path.basename(site["file"]),
                site["line"],
                site["kind"],
                site["bytes"],
                site["count"],
            )
            for site in host["sites"]
        ]
        self.assertEqual(
            sites,
            [
                ("pinned.py:7 <module> > aten::_pin_memory", "pinned.py", 7, "pinned", 32 << 20, 1),
                (
                    "pinned.py:9 <module> > aten::_pin_memory",
                    "pinned.py",
                    9,
                    "pinned",
                    256 << 10,
                    1,
                ),
            ],
        )
        self.assertTrue(host["within_budget"])
        self.assertFalse(self.check("32MiB", 1)["within_budget"])

    def test_the_largest_line_is_named(self):
        path = self.path("pinned.trace")
        self.plan("pinned.py", options=("--steps", "0", "-o", path))
        largest = "largest: 32.00 MiB pinned at pinned.py:7 <module> > aten::_pin_memory"
        for command, status in (
            (("info",), 0),
            (("check", "--budget", "24GiB", "--host-budget", "32MiB"), 1),
        ):
            result = subprocess.run(
                [VRAMSCOPE, command[0], path, *command[1:]],
                env=ENVIRONMENT,
                capture_output=True,
                text=True,
                timeout=900,
            )
            self.assertEqual(result.returncode, status, result.stdout + result.stderr)
            self.assertIn(largest, " ".join(result.stdout.split()))

    def test_memory_pinned_before_cuda_is_initialized_is_counted(self):
        with open(self.path("early.py"), "w") as file:
            file.write(
                "import torch\nkept = torch.empty(1 << 20, pin_memory=True)\nassert not "
                "torch.cuda.is_initialized()\n"
                "x = kept.to('cuda', non_blocking=True)\ny = torch.ones(9).pin_memory().cuda()\n"
            )
        command = [
            VRAMSCOPE,
            "check",
            "--budget",
            "24GiB",
            "--host-budget",
            "1MiB",
            "--json",
            "--steps",
            "0",
            "--",
            PYTHON,
            self.path("early.py"),
        ]
        result = subprocess.run(
            command, env=ENVIRONMENT, capture_output=True, text=True, timeout=900
        )
        self.assertEqual(result.returncode, 1, result.stderr[-4000:])
        host = json.loads(result.stdout)["host"]
        self.assertEqual(host["needed"], (4 << 20) + 64)
        self.assertEqual(
            [(os.path.basename(site["file"]), site["line"]) for site in host["sites"]],
            [("early.py", 2), ("early.py", 5)],
        )

    def test_a_part_lacks_what_was_allocated_before(self):
        path = self.path("pinned.trace")
        self.plan("pinned.py", options=("--steps", "0", "-o", path))
        sentence = (
            "Host memory that was allocated before this part of the recording is not counted."
        )
        for part, said in ((), False), (("--time", "0s:1000s"), True):
            result = subprocess.run(
                [VRAMSCOPE, "info", path, *part],
                env=ENVIRONMENT,
                capture_output=True,
                text=True,
                timeout=900,
            )
            self.assertEqual(sentence in result.stdout, said, result.stdout + result.stderr)


class SleepMode(Program):
    def test_sleep_mode(self):
        """The program has a memory pool that uses cuMemCreate. The pool releases its memory, but
        keeps the addresses reserved."""
        self.plan("sleep_mode.py", options=("--steps", "0"))
        self.assertIn("taken 1024 0 1024 (268435456,)", self.stderr)


class Values(Program):
    def test_functions_are_found_by_identity(self):
        self.plan("overridden.py", options=("--steps", "0"))
        for line in (
            "class missed []",
            "mode missed []",
            "traced ['cat', 'cat', 'gt', 'ones_like', 'sum', 'where'] 8",
            "fake True",
            "devices {'cuda'}",
            "not pickled []",
            "lazy ['Linear', 'BatchNorm1d'] [4, 3] cuda",
            "not compiled []",
        ):
            self.assertIn(line, self.stderr.splitlines())

    def test_details_of_functions_tensors_and_autograd(self):
        answer = self.plan("semantics.py", options=("--steps", "0"))
        cases = [line for line in self.stderr.splitlines() if line.startswith("case ")]
        self.assertEqual(len(cases), 19)
        for line in cases:
            self.assertTrue(line.endswith(" as on a GPU"), line)
        self.assertIn("lists [0.0, 0.0, 0.0] [True, True]", self.stderr)
        said = {a["what"] for a in answer["assumptions"]}
        self.assertIn("numbers computed on the GPU are read back as 0", said)
        self.assertIn(
            "hooks that the program registers on one saved tensor are not called, so this tensor "
            "is kept unchanged",
            said,
        )

    def test_a_tensor_that_another_process_writes_has_unknown_values(self):
        answer = self.plan("shared.py", options=("--steps", "0"))
        self.assertIn("read [0, 0, 0, 0, 0, 0]", self.stderr)
        self.assertIn(
            "numbers computed on the GPU are read back as 0",
            {a["what"] for a in answer["assumptions"]},
        )

    def test_messages_between_ranks(self):
        self.plan("messages.py", options=("--steps", "0", "--ranks", "2"))
        self.assertEqual(self.stderr.count("exchanged"), 2)

    def test_several_objects_go_to_another_rank(self):
        self.plan(
            "objects.py",
            options=("--steps", "0", "--ranks", "2"),
            VRAMSCOPE_EMULATED_NCCL_TIMEOUT_S="60",
        )
        self.assertEqual(self.stderr.count("exchanged"), 2)

    def test_a_ring_that_receives_before_it_sends(self):
        self.plan(
            "ring.py",
            options=("--steps", "0", "--ranks", "3"),
            VRAMSCOPE_EMULATED_NCCL_TIMEOUT_S="60",
        )
        self.assertEqual(self.stderr.count("passed on"), 3)

    def test_what_is_read_back(self):
        answer = self.plan("values.py", options=("--steps", "0"))
        self.assertIn("as expected", self.stderr)
        places = {
            os.path.basename(a["where"]) for a in answer["assumptions"] if "computed" in a["what"]
        }
        self.assertTrue(
            any(place.startswith("values.py:") for place in places), answer["assumptions"]
        )
        (masks,) = [
            a["where"]
            for a in answer["assumptions"]
            if a["what"] == "a mask computed on the GPU is assumed to be true everywhere"
            and "/values.py" in a["where"]
        ]
        self.assertRegex(masks, r"/values\.py:\d+, \d+, \d+, \d+ and \d+ more$")
        said = {a["what"] for a in answer["assumptions"]}
        self.assertIn(
            "elements counted by bincount() on the GPU are assumed to be spread evenly over its "
            "bins",
            said,
        )
        evenly = [a for a in answer["assumptions"] if "the expert of each token" in a["what"]]
        self.assertTrue(evenly and all("values.py" in a["where"] for a in evenly), evenly)

    def test_what_is_written_into_a_tensor(self):
        self.plan("written_into.py", options=("--steps", "0"))
        self.assertIn("as on the CPU", self.stderr)

    def test_values_follow_copies_and_other_tensors_of_their_memory(self):
        self.plan("followed.py", options=("--steps", "0"))
        self.assertIn("as on the CPU", self.stderr)

    def test_what_is_compared(self):
        self.plan("compared.py", options=("--steps", "0"))
        self.assertIn("all comparisons hold", self.stderr)


class Processes(Program):
    def test_backward_started_by_the_engine(self):
        answer = self.plan("engine.py", options=("--steps", "0"))
        self.assertEqual(len(answer["steps"]), 3)
        for step in answer["steps"]:
            self.assertGreater(step.get("backward_ms", 0), 0, step)

    def test_a_child_that_ends_at_once_reports(self):
        answer = self.plan("children.py", "exit", options=("--steps", "0"))
        self.assertTrue(
            any(
                a["what"].startswith(
                    "the times of work on the host were recorded on another computer"
                )
                for a in answer["assumptions"]
            ),
            answer["assumptions"],
        )
        self.assertIsNone(answer["program"]["exception"])

    def test_what_a_process_recorded_before_exec_is_kept(self):
        kept = self.path("kept")
        answer = self.plan("replaced.py", options=("--steps", "0", "--keep", kept))
        self.assertEqual(self.stderr.count("\nrun "), 3, self.stderr)
        # If the model is called after the last step, another step begins.
        self.assertEqual(
            sorted(process["steps"] for process in answer["ranks"]), [3, 4, 4], answer["ranks"]
        )
        self.assertEqual(
            len({process["peak"]["allocated"] for process in answer["ranks"]}), 3, answer["ranks"]
        )
        self.assertFalse(
            [a for a in answer["assumptions"] if "damaged" in a["what"]], answer["assumptions"]
        )
        abouts = []
        for path in glob.glob(os.path.join(kept, "process-*.json")):
            with open(path) as file:
                abouts.append(json.load(file))
        self.assertEqual(sorted(about["ended"] for about in abouts), ["end", "exec", "exec"])
        for about in abouts:
            self.assertTrue(os.path.exists(os.path.join(kept, "platform-%d.json" % about["pid"])))
            self.assertTrue(
                os.path.exists(os.path.join(kept, "process-%d" % about["pid"], "activities.bin"))
            )

    def test_the_failure_of_a_child_is_reported_if_the_program_continues(self):
        answer = self.plan("children.py", "raise", options=("--steps", "0"))
        self.assertEqual(
            (answer["program"]["exit_status"], answer["program"]["exception"]),
            (0, "ValueError: the child's own"),
        )
        self.assertRegex(
            self.stderr, r"warning: process \d+ failed \(ValueError: the child's own\)"
        )

    def test_more_processes_than_gpus(self):
        result = subprocess.run(
            [
                VRAMSCOPE,
                "plan",
                "--",
                PYTHON,
                "-m",
                "torch.distributed.run",
                "--standalone",
                "--nproc-per-node",
                "2",
                os.path.join(HERE, "programs", "distributed.py"),
                "ddp",
                "--width",
                "128",
                "--layers",
                "2",
            ],
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=300,
        )
        self.assertNotEqual(result.returncode, 0)
        self.assertIn(
            "the plan has 1 GPU(s), fewer than the program uses: vramscope plan --devices 2",
            result.stderr,
        )


if __name__ == "__main__":
    torch_program.main()

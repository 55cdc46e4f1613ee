"""Plans of real PyTorch programs have the same kernels, memcpys and operators as torch.profiler
reports.

    VRAMSCOPE_TEST_PYTHONPATH=... python3 torch_activities_test.py VRAMSCOPE

Skipped if neither VRAMSCOPE_TEST_PYTHONPATH nor this interpreter has a CUDA build of torch."""

import collections
import csv
import glob
import json
import os
import random
import signal
import subprocess
import time

import torch_program
from torch_program import ENVIRONMENT, HERE, PYTHON, VRAMSCOPE, Program


class Activities(Program):
    """Tests that a trace has the same kernels and memcpys as torch.profiler. Both use CUPTI."""

    def activities(self, path, category):
        """Returns (correlation, name, stream) of each activity in launch order."""
        with open(path) as file:
            events = json.load(file)["traceEvents"]
        rows = [
            (e["args"]["correlation"], e["name"], e["args"]["stream"])
            for e in events
            if e.get("cat") == category
        ]
        return sorted(rows)

    def operators(self, path, theirs):
        """Returns the operator of each kernel in launch order."""
        with open(path) as file:
            events = json.load(file)["traceEvents"]
        names = (
            {e["args"]["External id"]: e["name"] for e in events if e.get("cat") == "cpu_op"}
            if theirs
            else {}
        )
        of_engine = "autograd::engine::evaluate_function: "
        rows = []
        for e in events:
            if e.get("cat") == "kernel":
                name = (
                    names.get(e["args"].get("External id"), "")
                    if theirs
                    else e["args"].get("Op", "")
                )
                rows.append((e["args"]["correlation"], name.removeprefix(of_engine)))
        return [name for _, name in sorted(rows)]

    def test_torch_profiler_sees_the_same(self):
        theirs, ours = self.path("kineto.json"), self.path("ours.json")
        self.plan("profiled.py", theirs, options=("--steps", "0", "-o", self.path("theirs.trace")))
        self.plan("profiled.py", options=("--steps", "0", "-o", self.path("ours.trace")))
        subprocess.run(
            [VRAMSCOPE, "export", self.path("ours.trace"), "--to", "chrome", "-o", ours],
            check=True,
            timeout=300,
        )
        for category in ("kernel", "gpu_memcpy"):
            expected = [row[1:] for row in self.activities(theirs, category)]
            self.assertGreater(len(expected), 10)
            have = [row[1:] for row in self.activities(ours, category)][-len(expected) :]
            # torch.profiler numbers streams as CUPTI does and the trace as the allocator does, so
            # streams are renumbered in order of appearance.
            have, expected = (
                [(name, streams.setdefault(stream, len(streams))) for name, stream in rows]
                for rows, streams in ((have, {}), (expected, {}))
            )
            if category == "gpu_memcpy":  # the two use different names for memcpys
                have, expected = [row[1] for row in have], [row[1] for row in expected]
            self.assertEqual(have, expected)
        self.assertGreater(
            len({stream for _, stream in [row[1:] for row in self.activities(theirs, "kernel")]}), 1
        )
        expected = self.operators(theirs, theirs=True)
        self.assertEqual(self.operators(ours, theirs=False)[-len(expected) :], expected)
        self.assertGreater(len(set(expected)), 20)
        counted = self.json("info", self.path("ours.trace"))
        # While the program's own profiler uses CUPTI, vramscope does not use it. It prints a
        # message and records all other data.
        paused = self.json("info", self.path("theirs.trace"))
        self.assertEqual(
            counted["kernels"] - paused["kernels"], len(self.activities(theirs, "kernel"))
        )

    def test_what_kernels_are_given(self):
        """The operands of each product and sum must be the tensors that the program printed. A
        freed block must not be confused with the block that reuses its address. The first and the
        last kernel that use a block must be known."""
        trace = self.path("operands.trace")
        self.plan("operands.py", options=("--steps", "0", "-o", trace))
        told = [
            json.loads(line.removeprefix("operands "))
            for line in self.stderr.splitlines()
            if line.startswith("operands ")
        ]
        self.assertEqual(len(told), 5 + 2 * 6)
        work = sorted(
            self.json("kernels", trace, "--top", "1000000")["longest"],
            key=lambda row: row["activity"],
        )
        self.assertGreater(self.json("info", trace)["operands"], 3 * len(told))
        for kind in ("gemm", "vectorized_elementwise_kernel"):
            rows = [
                row
                for row in work
                if kind in row["name"].lower()
                and (kind == "gemm" or "Functor_add" in row["name"] or "MulFunctor" in row["name"])
            ]
            expected = [row for row in told if row["kernel"] == kind]
            self.assertEqual(len(rows), len(expected), [row["name"] for row in work])
            for row, one in zip(rows, expected):
                blocks = self.json("kernels", trace, "--kernel", str(row["activity"]))["touches"]
                one["activity"], one["blocks"] = (
                    row["activity"],
                    {block["allocation"]: block for block in blocks},
                )
                for use, key in (("reads", "read"), ("writes", "written")):
                    inside = [
                        [
                            block["allocation"]
                            for block in blocks
                            if block[key]
                            and block["address"]
                            <= address
                            < block["address"] + block["bytes_rounded"]
                        ]
                        for address in one[use]
                    ]
                    self.assertTrue(all(len(found) == 1 for found in inside), (one, blocks))
                    one[use + "_of"] = [found[0] for found in inside]
                    self.assertEqual(
                        {block["allocation"] for block in blocks if block[key]},
                        set(one[use + "_of"]),
                        (one, blocks),
                    )
        # The first two products wrote to different blocks at the same address. The third product
        # read the second block.
        first, second, third = told[:3]
        self.assertEqual(first["writes"], second["writes"])
        self.assertNotEqual(first["writes_of"], second["writes_of"])
        of = {
            name: self.json("kernels", trace, "--allocation", str(row["writes_of"][0]))["touched"]
            for name, row in (("first", first), ("second", second))
        }
        ends = lambda touched, *names: [
            touched[name] and touched[name]["activity"] for name in names
        ]
        self.assertEqual(of["first"]["count"], 1)
        self.assertEqual(
            ends(of["first"], "first", "last", "first_read", "first_written"),
            [first["activity"]] * 2 + [None, first["activity"]],
        )
        self.assertEqual(of["second"]["count"], 2)
        self.assertEqual(
            ends(of["second"], "first", "last", "first_read", "last_written"),
            [second["activity"], third["activity"], third["activity"], second["activity"]],
        )
        # A graph with six kernels was replayed twice. Each replay uses the blocks of the capture,
        # all of which are freed.
        replays = [row for row in told if row.get("graph")]
        once, again = replays[:6], replays[6:]
        self.assertEqual([row["writes_of"] for row in once], [row["writes_of"] for row in again])
        self.assertEqual(len({row["writes_of"][0] for row in once}), 6)
        self.assertLess(len({row["writes"][0] for row in once}), 6)
        touched = self.json("kernels", trace, "--allocation", str(once[0]["writes_of"][0]))[
            "touched"
        ]
        self.assertEqual(
            (touched["count"], *ends(touched, "first", "last")),
            (4, once[0]["activity"], again[1]["activity"]),
        )

    def test_what_kernels_read_and_write(self):
        """Operands must be exactly the tensors that a kernel uses. Some rules use the kernel's
        signature. Others use the layout of PyTorch's structures, because the kernel's name does not
        show their fields."""
        trace = self.path("rules.trace")
        self.plan("operand_rules.py", options=("--steps", "0", "-o", trace))
        told = [
            json.loads(line.removeprefix("operands "))
            for line in self.stderr.splitlines()
            if line.startswith("operands ")
        ]
        self.assertEqual(len(told), 15)
        work = iter(
            sorted(
                self.json("kernels", trace, "--top", "1000000")["longest"],
                key=lambda row: row["activity"],
            )
        )
        for one in told:
            wanted = {use: set(one[use]) for use in ("reads", "writes")}
            seen = []
            # in launch order, finds the next kernel that has the first result as an operand
            for row in work:
                if one["kernel"] not in row["name"]:
                    continue
                blocks = self.json("kernels", trace, "--kernel", str(row["activity"]))["touches"]
                seen.append(blocks)
                if any(block["address"] == one["writes"][0] for block in blocks):
                    break
            else:
                self.fail((one, seen))
            for use, key in (("reads", "read"), ("writes", "written")):
                self.assertEqual(
                    {block["address"] for block in blocks if block[key]}, wanted[use], (one, blocks)
                )
            self.assertEqual(
                {block["address"] for block in blocks},
                wanted["reads"] | wanted["writes"],
                (one, blocks),
            )

    def test_all_sources_name_a_stream_alike(self):
        """The allocator identifies streams by handle and CUPTI by number, but the trace has one
        number for both."""
        self.plan("profiled.py", options=("--steps", "0", "-o", self.path("ours.trace")))
        for kind in ("csv", "chrome"):
            subprocess.run(
                [VRAMSCOPE, "export", self.path("ours.trace"), "--to", kind, "-o", self.path(kind)],
                check=True,
                timeout=300,
            )
        with open(self.path("csv"), newline="") as file:
            memory = {row["stream"] for row in csv.DictReader(file)}
        with open(self.path("chrome")) as file:
            work = {
                str(e["args"]["stream"])
                for e in json.load(file)["traceEvents"]
                if e.get("cat") in ("kernel", "gpu_memset", "gpu_memcpy")
            }
        self.assertEqual(len(memory), 2)
        self.assertEqual(work, memory)

    def test_what_lies_on_a_stream_does_not_overlap_and_is_in_order(self):
        ours = self.path("ours.json")
        self.plan("profiled.py", options=("--steps", "0", "-o", self.path("ours.trace")))
        subprocess.run(
            [VRAMSCOPE, "export", self.path("ours.trace"), "--to", "chrome", "-o", ours],
            check=True,
            timeout=300,
        )
        with open(ours) as file:
            events = json.load(file)["traceEvents"]
        streams = collections.defaultdict(list)
        for event in events:
            if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
                streams[event["args"]["stream"]].append(
                    (event["ts"], event["dur"], event["args"]["correlation"])
                )
        self.assertGreater(len(streams), 1)
        for works in streams.values():
            works.sort()
            self.assertEqual([work[2] for work in works], sorted(work[2] for work in works))
            for (begin, length, _), (after, _, _) in zip(works, works[1:]):
                self.assertLessEqual(begin + length, after + 0.001)

    def test_the_parts_of_the_gpus_memory_add_up(self):
        """NVML's figure for the process must be exactly the sum of the allocator's memory, NCCL's
        memory and the CUDA context."""
        self.plan(
            "distributed.py",
            "ddp",
            options=("--ranks", "2", "--device", "rtx-4090", "-o", self.path("two.trace")),
        )
        cards = self.json("info", self.path("two.trace"))["device_memory"]
        self.assertEqual(len(cards), 2)
        for card in cards:
            parts = {part["name"]: part["bytes"] for part in card["parts"]}
            self.assertEqual(card["remainder"], 0)
            # the first communicator loads NCCL's kernels (170 MiB)
            self.assertEqual(parts["CUDA context"], 450 + 170 << 20)
            # without peer access, buffers are in host memory
            self.assertEqual(parts["communication"], 28 << 20)
            self.assertEqual(card["used"], sum(parts.values()))

    def record_four(self, *arguments, status=0):
        """Records four PyTorch processes under torchrun; `plan` only provides the emulated GPUs."""
        program = os.path.join(HERE, "programs", "distributed.py")
        small = ["ddp", "--width", "128", "--layers", "2", *arguments]
        result = subprocess.run(
            [
                VRAMSCOPE,
                "plan",
                "--writable",
                self.folder,
                "--steps",
                "0",
                "--device",
                "rtx-4090",
                "--devices",
                "4",
                "--",
                VRAMSCOPE,
                "record",
                "-o",
                self.path("four.trace"),
                "--",
                PYTHON,
                "-m",
                "torch.distributed.run",
                "--standalone",
                "--nproc-per-node",
                "4",
                program,
                *small,
            ],
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=600,
        )
        self.assertTrue(os.path.exists(self.path("four.trace")), result.stderr[-4000:])
        return self.json("info", self.path("four.trace"))

    def test_four_processes_of_torchrun_are_four_ranks(self):
        have = self.record_four()
        self.assertEqual(
            [peak["name"] for peak in have["peaks"]], ["rank %d" % rank for rank in range(4)]
        )
        self.assertEqual((have["ranks"], have["steps"], have["truncated"]), (4, 3, False))
        self.assertEqual(
            [
                (process["name"], process["host"], process["devices"])
                for process in have["processes"]
            ],
            [("rank %d" % rank, os.uname().nodename, [rank]) for rank in range(4)],
        )
        self.assertEqual(min(process["clock_offset_ns"] for process in have["processes"]), 0)
        # The peaks differ a little, because DDP's first buckets are only freed before the peak if
        # NCCL's watchdog polls in time.
        peaks = [peak["allocated"] for peak in have["peaks"]]
        self.assertLess(max(peaks) - min(peaks), 0.1 * max(peaks))
        self.assertGreater(have["kernels"], 1000)
        self.assertGreater(have["collectives"], 4)

    def noted(self, ranks=4):
        """Returns each rank's process id and its last counts of allocations and launches, or {}
        until all ranks have written theirs."""
        rows = {}
        for rank in range(ranks):
            try:
                with open(self.path("rank-%d" % rank)) as file:
                    rows[rank] = tuple(map(int, file.read().split()))
            except FileNotFoundError:
                return {}
        return rows if all(len(row) == 3 for row in rows.values()) else {}

    def wait_until(self, done):
        for _ in range(6000):
            if done():
                return
            time.sleep(0.05)
        self.fail("it never came")

    def lives(self, pid):
        try:
            with open("/proc/%d/stat" % pid) as file:
                return file.read().rpartition(")")[2].split()[0] != "Z"
        except FileNotFoundError:
            return False

    def test_a_killed_rank_loses_nothing(self):
        have = self.record_four("--kill", "2", "--note", self.folder)
        # the third is truncated
        self.assertEqual((have["ranks"], have["steps"], have["truncated"]), (4, 3, True))
        self.assertIn("killed", have["end_message"])
        for rank, (_, count, _) in self.noted().items():
            self.assertGreaterEqual(have["peaks"][rank]["allocations"], count, rank)

    def test_the_process_that_watches_four_ranks_is_killed(self):
        """After the watching process is killed, no process or file is left, and the output file has
        the data that had arrived."""
        program = os.path.join(HERE, "programs", "distributed.py")
        running = subprocess.Popen(
            [
                VRAMSCOPE,
                "plan",
                "--writable",
                self.folder,
                "--steps",
                "0",
                "--device",
                "rtx-4090",
                "--ranks",
                "4",
                "-o",
                self.path("four.trace"),
                "--",
                PYTHON,
                program,
                "ddp",
                "--width",
                "128",
                "--layers",
                "2",
                "--steps",
                "100000",
                "--note",
                self.folder,
            ],
            env={**ENVIRONMENT, "TMPDIR": self.folder},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
        )
        self.addCleanup(running.kill)
        self.wait_until(
            lambda: min((count for _, count, _ in self.noted().values()), default=0) > 500
        )
        time.sleep(random.random())
        with open("/proc/%d/environ" % self.noted()[0][0]) as file:
            rooms = dict(entry.partition("=")[::2] for entry in file.read().split("\0"))[
                "VRAMSCOPE_EMULATED_ROOMS"
            ]
        self.assertTrue(os.path.isdir(rooms))
        running.kill()
        running.wait()
        ranks = self.noted()
        self.wait_until(lambda: not any(self.lives(pid) for pid, *_ in ranks.values()))
        self.wait_until(lambda: not glob.glob(self.path("vramscope-scratch-*")))
        self.assertFalse(os.path.exists(rooms))
        have = self.json("info", self.path("four.trace"))
        self.assertEqual((have["ranks"], have["truncated"]), (4, True))
        for rank, (_, count, _) in ranks.items():
            self.assertGreaterEqual(have["peaks"][rank]["allocations"], count, rank)

    def test_a_kill_at_any_time_of_a_step_loses_nothing(self):
        program = os.path.join(HERE, "programs", "distributed.py")
        for _ in range(3):
            trace = self.path("one.trace")
            running = subprocess.Popen(
                [
                    VRAMSCOPE,
                    "plan",
                    "--writable",
                    self.folder,
                    "--steps",
                    "0",
                    "--device",
                    "rtx-4090",
                    "-o",
                    trace,
                    "--",
                    PYTHON,
                    "-m",
                    "torch.distributed.run",
                    "--standalone",
                    "--nproc-per-node",
                    "1",
                    program,
                    "ddp",
                    "--width",
                    "128",
                    "--layers",
                    "2",
                    "--steps",
                    "100000",
                    "--note",
                    self.folder,
                ],
                env=ENVIRONMENT,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                stdin=subprocess.DEVNULL,
            )
            self.addCleanup(running.kill)
            self.wait_until(
                lambda: min((count for _, count, _ in self.noted(1).values()), default=0) > 300
            )
            time.sleep(random.random())
            pid, *_ = self.noted(1)[0]
            os.kill(pid, signal.SIGKILL)
            running.wait(timeout=300)
            _, count, launches = self.noted(1)[0]
            have = self.json("info", trace)
            self.assertTrue(have["truncated"])
            self.assertGreaterEqual(have["allocations"], count)
            # No launch may be missing either.
            self.assertGreater(launches, 300)
            self.assertGreaterEqual(have["kernels"] + have["collectives"], launches)
            os.unlink(self.path("rank-0"))
            os.unlink(trace)

    def test_a_plan_against_a_recording(self):
        """Compares a plan with a recording of the same program. `record` works as on a computer
        with a GPU, but the GPU is emulated."""
        program = os.path.join(HERE, "programs", "profiled.py")
        self.plan(
            "profiled.py",
            options=("--steps", "0", "--device", "rtx-4090", "-o", self.path("plan.trace")),
        )
        for name, changed in (
            ("same", lambda text: text),
            ("changed", lambda text: text.replace("y += 1", "y = y + 1")),
        ):
            with open(program) as file:
                text = changed(file.read())
            with open(self.path("%s.py" % name), "w") as file:
                file.write(text)
            # `plan` only provides the emulated GPU for `record`. It reports an error, because
            # `record` is not a Python program.
            subprocess.run(
                [
                    VRAMSCOPE,
                    "plan",
                    "--writable",
                    self.folder,
                    "--steps",
                    "0",
                    "--device",
                    "rtx-4090",
                    "--",
                    VRAMSCOPE,
                    "record",
                    "-o",
                    self.path("%s.trace" % name),
                    "--",
                    PYTHON,
                    self.path("%s.py" % name),
                ],
                env=ENVIRONMENT,
                capture_output=True,
                timeout=600,
            )
        same = self.json("diff", "--prediction", self.path("plan.trace"), self.path("same.trace"))
        self.assertTrue(same["equal"], same)
        self.assertIsNone(same["first_difference"])
        self.assertGreater(same["requests"]["total"], 100)
        kernels = same["kernels"]
        self.assertGreater(kernels["all"]["count"]["planned"], 100)
        self.assertEqual(kernels["all"]["count"]["planned"], kernels["all"]["count"]["measured"])
        self.assertEqual(kernels["of_both"], kernels["all"])
        other = self.json(
            "diff", "--prediction", self.path("plan.trace"), self.path("changed.trace")
        )
        self.assertFalse(other["equal"])
        self.assertIn("4096 B", other["first_difference"]["measured"]["request"])
        self.assertTrue(
            any("changed.py" in line for line in other["first_difference"]["measured"]["stack"]),
            other["first_difference"],
        )

    def test_the_doctor(self):
        """All checks pass on the emulated platform: the trace agrees with PyTorch's counters."""
        result = subprocess.run(
            [VRAMSCOPE, "doctor", "--gpu", "--emulated", "h100-sxm", "--python", PYTHON, "--json"],
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=600,
        )
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr[-4000:])
        checks = {check["check"]: check for check in json.loads(result.stdout)["checks"]}
        for name in (
            "tracker",
            "categories",
            "segments",
            "driver memory",
            "kernels",
            "card",
            "configurations",
            "operators",
        ):
            self.assertEqual(checks[name]["state"], "PASS", checks[name])
        self.assertIn("not checked on an emulated GPU", checks["overhead"]["detail"])


if __name__ == "__main__":
    torch_program.main()

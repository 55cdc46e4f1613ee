"""Uses the Python package in programs that train with PyTorch: records parts of them, on a GPU and
within a plan, and runs tests with a budget. The GPU is the emulated platform without the hooks of a
plan; programs use it like a real GPU.

    VRAMSCOPE_TEST_PYTHONPATH=... python3 python_torch_test.py VRAMSCOPE

Skipped if neither VRAMSCOPE_TEST_PYTHONPATH nor this interpreter has a CUDA build of torch.
"""

import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "emulated"))
sys.dont_write_bytecode = True
import torch_program  # noqa: E402
from torch_program import ENVIRONMENT, PYTHON, VRAMSCOPE, Program, has  # noqa: E402

PACKAGE = os.path.join(HERE, "..", "..", "emulated", "python")
MIB = 1 << 20

MODEL = """
import json, os, sys
import torch
import vramscope


def train(model, steps=2):
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(steps):
        model(torch.randn(256, 1024, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def make():
    return torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(4)]).cuda()


def told(recording):
    phases = subprocess.run([os.environ["VRAMSCOPE"], "phases", recording.path, "--json"],
                            capture_output=True, check=True, env=ENVIRONMENT).stdout
    return {"allocated": recording.peak_allocated, "reserved": recording.peak_reserved,
            "categories": recording.categories, "counted": torch.cuda.max_memory_allocated(),
            "warnings": recording.warnings,
            "steps": [step["index"] for step in json.loads(phases)["steps"]]}


import subprocess
from vramscope import program
ENVIRONMENT = program.environment()
"""


class InAProgram(Program):
    def setUp(self):
        super().setUp()
        self.environment = {
            **ENVIRONMENT,
            "VRAMSCOPE": VRAMSCOPE,
            "TMPDIR": self.folder,
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join(filter(None, [PACKAGE, ENVIRONMENT.get("PYTHONPATH")])),
        }

    def write(self, text, name="program.py"):
        path = self.path(name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def run_it(self, command, status=0, **environment):
        result = subprocess.run(
            command,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=900,
            cwd=self.folder,
        )
        self.assertEqual(result.returncode, status, result.stdout[-3000:] + result.stderr[-4000:])
        return result

    def gpu(self):
        """Returns environment variables with which a process finds a GPU: the emulated platform,
        without hooks."""
        said = self.path("card")
        self.run_it(
            [
                VRAMSCOPE,
                "plan",
                "--writable",
                self.folder,
                "--",
                PYTHON,
                self.write(
                    "import os, torch\ntorch.zeros(1, device='cuda')\nopen(%r, "
                    "'w').write(os.environ['VRAMSCOPE_EMULATED_GPU'] + '\\n' "
                    "+ os.environ['VRAMSCOPE_PROGRAM_EMULATED'])\n" % said,
                    "card.py",
                ),
            ]
        )
        with open(said) as file:
            card, platform = file.read().splitlines()
        return {
            "VRAMSCOPE_EMULATED_GPU": card,
            "VRAMSCOPE_EMULATED_DEVICES": "1",
            "GLIBC_TUNABLES": "glibc.rtld.optional_static_tls=16384",
            "LD_AUDIT": os.path.join(platform, "libvramscope-audit.so"),
        }

    def on_a_gpu(self, text):
        """Runs the program with a GPU. Returns the JSON in the last line of its output."""
        return json.loads(
            self.run_it([PYTHON, self.write(text)], **self.gpu()).stdout.splitlines()[-1]
        )

    def test_parts_are_recorded_one_after_the_other(self):
        trace = self.path("first.trace")
        answer = self.on_a_gpu(
            MODEL
            + """
model = make()
with vramscope.record(%r) as first:
    train(model)
told_first = told(first)
other = torch.nn.Linear(512, 512).cuda()
torch.cuda.reset_peak_memory_stats()
with vramscope.record() as second:
    optimizer = torch.optim.SGD(other.parameters(), momentum=0.9)
    for _ in range(3):
        other(torch.ones(64, 512, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
print(json.dumps([told_first, told(second)]))
"""
            % trace
        )
        self.assertTrue(os.path.exists(trace))
        for one, steps in zip(answer, ([0, 1], [0, 1, 2])):
            self.assertEqual(one["allocated"], one["counted"])
            self.assertEqual(sum(one["categories"].values()), one["allocated"])
            self.assertEqual(one["steps"], steps)
            self.assertEqual(one["warnings"], [])
        # The model was allocated before the recording began, but its category is known.
        weights = 4 * (1024 * 1024 + 1024) * 4
        self.assertEqual(answer[0]["categories"]["Parameter"], weights)
        self.assertEqual(answer[0]["categories"]["Optimizer state"], 2 * weights)
        self.assertGreaterEqual(answer[1]["categories"]["Parameter"], 512 * 512 * 4)

    def test_without_a_recording_the_programs_history_is_unchanged(self):
        answer = self.on_a_gpu(
            MODEL
            + """
with vramscope.record() as recording:
    keep = torch.zeros(8 << 20, dtype=torch.uint8, device="cuda")
torch.cuda.memory._record_memory_history()
more = torch.zeros(4 << 20, dtype=torch.uint8, device="cuda")
refused = ""
try:
    with vramscope.record():
        pass
except vramscope.VramscopeError as error:
    refused = str(error)
path = vramscope.snapshot("snapshot.pickle")
torch.cuda.memory._record_memory_history(enabled=None)
exists = ""
try:
    vramscope.snapshot("snapshot.pickle")
except FileExistsError as error:
    exists = str(error)
loaded = vramscope.load(path)
print(json.dumps([refused, exists, loaded.summary["events"], recording.peak_allocated,
                  loaded.peak_allocated]))
"""
        )
        self.assertIn("its own memory history", answer[0])
        self.assertIn("snapshot.pickle", answer[1])
        self.assertGreater(answer[2], 0)
        self.assertEqual(answer[3:], [8 * MIB, 12 * MIB])

    def test_what_the_block_raises_comes_through(self):
        answer = self.on_a_gpu(
            MODEL
            + """
recording = vramscope.record()
try:
    with recording:
        keep = torch.zeros(8 << 20, dtype=torch.uint8, device="cuda")
        raise ValueError("no such batch")
except ValueError as error:
    print(json.dumps([str(error), recording.peak_allocated]))
"""
        )
        self.assertEqual(answer, ["no such batch", 8 * MIB])

    def test_a_part_of_a_plan(self):
        """vramscope.record() inside a planned program gives a part of the plan. The plan itself
        still has the whole program."""
        kept = self.path("part.trace")
        program = self.write(
            MODEL
            + """
before = torch.zeros(200 << 20, dtype=torch.uint8, device="cuda")
del before
torch.cuda.empty_cache()
model = make()
torch.cuda.reset_peak_memory_stats()
with vramscope.record(%r) as recording:
    train(model)
print(json.dumps(told(recording)), file=sys.stderr)
after = torch.zeros(300 << 20, dtype=torch.uint8, device="cuda")
"""
            % kept
        )
        result = self.run_it(
            [
                VRAMSCOPE,
                "plan",
                "--steps",
                "0",
                "--json",
                "--writable",
                self.folder,
                "--device",
                "h100-sxm",
                "--",
                PYTHON,
                program,
            ]
        )
        part = json.loads(
            [line for line in result.stderr.splitlines() if line.startswith('{"allocated"')][-1]
        )
        self.assertEqual(part["allocated"], part["counted"])
        self.assertEqual(sum(part["categories"].values()), part["allocated"])
        self.assertEqual(part["categories"]["Parameter"], 4 * (1024 * 1024 + 1024) * 4)
        self.assertEqual(part["steps"], [0, 1])
        self.assertGreater(json.loads(result.stdout)["peak"]["allocated"], 300 * MIB)
        self.assertEqual(self.json("peak", kept)["allocated"], part["allocated"])

    def test_without_a_gpu_it_says_what_to_do(self):
        result = self.run_it(
            [
                PYTHON,
                "-c",
                "import torch, vramscope\ntorch.cuda.is_available = lambda: False\nwith "
                "vramscope.record(): pass",
            ],
            status=1,
            **self.gpu(),
        )
        self.assertIn("vramscope plan -- python", result.stderr)

    BUDGETS = """
def train(mib):
    import torch
    keep = torch.zeros(mib << 20, dtype=torch.uint8, device="cuda")
    del keep


def test_fits(vram_budget):
    with vram_budget("1GiB"):
        train(100)


def test_does_not_fit(vram_budget):
    with vram_budget("600MiB"):
        train(200)


def test_runs_out(vram_budget):
    with vram_budget("20GiB"):
        import torch
        small = torch.zeros(1 << 20, dtype=torch.uint8, device="cuda")
        train(60 << 10)


def test_fails_of_itself(vram_budget):
    with vram_budget("1GiB"):
        train(1)
        assert 1 == 2


def test_without_a_budget():
    pass
"""

    @unittest.skipUnless(has("pytest"), "no pytest")
    def test_budgets_in_pytest(self):
        self.write(self.BUDGETS, "test_budgets.py")
        pytest = [
            "-m",
            "pytest",
            "-p",
            "vramscope.pytest_plugin",
            "-p",
            "no:cacheprovider",
            "test_budgets.py",
        ]
        own = self.run_it(
            [PYTHON, *pytest, "--vram-plan", "--vram-device", "rtx-4090"], status=1
        ).stdout
        # the status of pytest, in which a test ran out of memory
        planned = self.run_it(
            [VRAMSCOPE, "plan", "--steps", "0", "--", PYTHON, *pytest], status=1
        ).stdout
        recorded = self.run_it([PYTHON, *pytest], status=1, **self.gpu()).stdout
        for said in (own, planned, recorded):
            self.assertIn("3 failed, 2 passed", said)
            self.assertIn(
                "over the budget: needs 650.00 MiB, budget 600.00 MiB: 50.00 MiB too much", said
            )
            self.assertIn("test_budgets.py:4 train", said)
            self.assertIn("at least", said)
            self.assertIn("assert 1 == 2", said)


if __name__ == "__main__":
    torch_program.main()

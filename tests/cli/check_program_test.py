"""Runs `vramscope check --budget SIZE -- PROGRAM` as a CI job does. The exit status is the verdict,
and the output contains the peak. Uses the stand-in for torch in tests/emulated.

    python3 check_program_test.py VRAMSCOPE
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import working_folder

HERE = os.path.dirname(os.path.abspath(__file__))
VRAMSCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "vramscope"
DONE, NO, USAGE, BAD_INPUT = 0, 1, 2, 3
MIB = 1 << 20
setUpModule = working_folder.enter


class CheckProgram(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment = dict(
            os.environ,
            PYTHONPATH=os.path.join(HERE, "..", "emulated", "fake_torch"),
            VRAMSCOPE_PROGRAM_HOOKS="none",
            TMPDIR=self.folder,
            PYTHONDONTWRITEBYTECODE="1",
        )

    def path(self, name):
        return os.path.join(self.folder, name)

    def check(self, program, *options, status=DONE):
        with open(self.path("train.py"), "w") as file:
            file.write(program)
        result = subprocess.run(
            [VRAMSCOPE, "check", *options, "--", sys.executable, self.path("train.py")],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=240,
        )
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result

    TRAINS = (
        "import torch\nprint('the program speaks', flush=True)\nfor _ in range(6):\n    "
        "torch.allocate(16 << 20)\n"
    )

    def test_within(self):
        result = self.check(self.TRAINS, "--budget", "1GiB")
        self.assertTrue(result.stdout.startswith("within the budget: needs "), result.stdout)
        self.assertIn("Allocated at the peak: 96.00 MiB", result.stdout)
        self.assertIn("train.py:1 main", result.stdout)
        self.assertNotIn("the program speaks", result.stdout)
        self.assertIn("the program speaks", result.stderr)

    def test_over(self):
        result = self.check(self.TRAINS, "--budget", "500MiB", status=NO)
        self.assertTrue(
            result.stdout.startswith("over the budget: needs 546.00 MiB"), result.stdout
        )
        self.assertIn("46.00 MiB more than the budget of 500.00 MiB", result.stdout)

    def test_json(self):
        answer = json.loads(
            self.check(
                self.TRAINS, "--budget", "500MiB", "--json", "--device", "h100-sxm", status=NO
            ).stdout
        )
        self.assertIs(answer["within_budget"], False)
        self.assertEqual(answer["verdict"], "over")
        self.assertEqual(answer["device"], "h100-sxm")
        self.assertEqual(answer["peak"]["reserved"], 96 * MIB)
        self.assertEqual(answer["needed"], 96 * MIB + answer["context"])
        self.assertEqual(answer["over"], answer["needed"] - 500 * MIB)
        self.assertEqual(sum(answer["peak_by_category"].values()), 96 * MIB)
        self.assertEqual(answer["sites"][0]["bytes"], 96 * MIB)
        self.assertEqual(len(answer["ranks"]), 1)

    def test_what_the_context_takes_can_be_said(self):
        self.check(self.TRAINS, "--budget", "96MiB", "--context", "0")
        self.check(self.TRAINS, "--budget", "95MiB", "--context", "0", status=NO)

    def test_the_rank_that_needs_most_decides(self):
        program = (
            "import os, torch\nfor _ in range(4 + 4 * int(os.environ['RANK'])):\n    "
            "torch.allocate(16 << 20)\n"
        )
        answer = json.loads(
            self.check(
                program, "--budget", "100MiB", "--context", "0", "--ranks", "2", "--json", status=NO
            ).stdout
        )
        self.assertEqual(answer["needed"], 128 * MIB)
        self.assertEqual([rank["within_budget"] for rank in answer["ranks"]], [True, False])

    def test_a_summary_is_appended_as_markdown(self):
        summary = self.path("summary.md")
        with open(summary, "w") as file:
            file.write("before\n")
        self.check(self.TRAINS, "--budget", "1GiB", "--summary", summary)
        self.check(self.TRAINS, "--budget", "500MiB", "--summary", summary, status=NO)
        with open(summary) as file:
            text = file.read()
        self.assertTrue(text.startswith("before\n### "), text)
        self.assertEqual(text.count("\n### "), 2)
        self.assertIn("within the budget", text)
        self.assertIn("over the budget", text)
        self.assertIn("| Unknown | 96.00 MiB | 100.0 % |", text)
        self.assertIn("train.py", text)

    def test_names_of_the_program_make_no_markdown(self):
        summary = self.path("summary.md")
        program = self.TRAINS.replace(
            "import torch\n", "import torch\ntorch._entry.__globals__['_C']\n"
        ) + (
            "for entry in torch._entries:\n    entry['frames'] = [{'name': '<b>|`x`', "
            "'filename': '/a|b.py', 'line': 1}]\n"
        )
        self.check(program, "--budget", "1GiB", "--summary", summary)
        with open(summary) as file:
            text = file.read()
        self.assertNotIn("<b>", text)
        self.assertIn("a\\|b.py:1 &lt;b&gt;\\|\\`x\\`", text)

    def test_a_summary_that_cannot_be_written(self):
        result = self.check(
            self.TRAINS,
            "--budget",
            "1GiB",
            "--summary",
            self.path("no/such/folder/summary.md"),
            status=BAD_INPUT,
        )
        self.assertIn("--summary", result.stderr)

    def test_a_trace_is_kept_in_the_given_folder(self):
        trace = self.path("kept.trace")
        self.check(self.TRAINS, "--budget", "1GiB", "-o", trace)
        peak = subprocess.run(
            [VRAMSCOPE, "peak", trace, "--json"], capture_output=True, check=True
        ).stdout
        self.assertEqual(json.loads(peak)["allocated"], 96 * MIB)

    def test_a_program_that_fails_has_no_verdict(self):
        result = self.check(
            self.TRAINS + "raise ValueError('no such batch')\n",
            "--budget",
            "1GiB",
            status=BAD_INPUT,
        )
        self.assertIn("no such batch", result.stderr)
        self.assertEqual(result.stdout, "")
        result = self.check("print('nothing trains')\n", "--budget", "1GiB", status=BAD_INPUT)
        self.assertEqual(result.stdout, "")

    def test_wrong_usage(self):
        for options in (
            ["--budget", "24"],
            ["--budget", "1GiB", "a.trace"],
            ["--budget", "1GiB", "--preset", "gpt2"],
            [],
            ["--budget", "1GiB", "--context", "much"],
        ):
            self.check(self.TRAINS, *options, status=USAGE)
        self.check(self.TRAINS, "--budget", "1GiB", "--device", "rtx-4900", status=BAD_INPUT)
        for options in (["--steps", "3", "a.trace"], ["--device", "h100-sxm", "a.trace"]):
            result = subprocess.run(
                [VRAMSCOPE, "check", "--budget", "1GiB", *options],
                capture_output=True,
                text=True,
                timeout=240,
            )
            self.assertEqual(result.returncode, USAGE, result.stderr)
        result = subprocess.run(
            [VRAMSCOPE, "check", "--budget", "1GiB", "--device", "1", "--preset", "gpt2"],
            capture_output=True,
            text=True,
            timeout=240,
        )
        self.assertEqual(result.returncode, BAD_INPUT, result.stderr)
        self.assertIn('the device table has no "1"', result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)

"""`vramscope explain` finds mistakes in a program's use of memory. Runs each case of
programs/findings.py twice: with its mistake, which must be found, and without the mistake, when the
finding of this case must not be reported.

    python3 findings_test.py VRAMSCOPE

All cases run in forks of one process that has imported torch. `plan --watch` starts this process.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

from torch_program import ENVIRONMENT, HERE, PYTHON, TORCH, VRAMSCOPE, Program, has

PROGRAM = os.path.join(HERE, "programs", "findings.py")
# Each case of programs/findings.py is named after the finding that it tests.
CASES = (
    "leak",
    "retained-graph",
    "kept-from-before",
    "old-gradients",
    "outputs-held",
    "second-weights",
    "held-since-setup",
    "resident-inputs",
    "no-grad",
    "eval-graph",
    "eval-peak",
    "load-peak",
    "logits-copies",
    "autocast-weights",
    "optimizer-temporaries",
    "gradient-copies",
    "attention-scores",
    "checkpointing-without-effect",
    "frozen-32-bits",
    "large-buffers",
    "workspaces",
    "no-gradient",
    "made-in-first-step",
    "dtype-copies",
    "uneven-steps",
    "other-streams",
    *(("kv-cache",) if has("transformers") else ()),
)
RULES = os.path.join(HERE, "../../profiler/explain/findings.cpp")
WAIT_S = 300


class Findings(Program):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.watch = subprocess.Popen(
            [VRAMSCOPE, "plan", "--watch", "--", PYTHON, PROGRAM, "retained-graph"],
            env={**ENVIRONMENT, "TMPDIR": cls.scratch.name},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        cls.socket, end = None, time.monotonic() + WAIT_S
        while cls.socket is None and time.monotonic() < end and cls.watch.poll() is None:
            paths = [
                os.path.join(cls.scratch.name, name, "server", "socket")
                for name in os.listdir(cls.scratch.name)
            ]
            cls.socket = next((path for path in paths if os.path.exists(path)), None)
            time.sleep(0.1)

    @classmethod
    def tearDownClass(cls):
        cls.watch.terminate()
        cls.watch.wait()
        cls.scratch.cleanup()

    def findings(self, case, *options):
        trace = self.path("plan.trace")
        self.plan(
            "findings.py",
            case,
            *options,
            options=("--warm", self.socket, "--steps", "5", "-o", trace),
            TMPDIR=self.scratch.name,
        )
        explained = subprocess.run(
            [VRAMSCOPE, "explain", trace, "--page", "findings", "--json"],
            env=ENVIRONMENT,
            check=True,
            capture_output=True,
            timeout=300,
        )
        os.remove(trace)
        return json.loads(explained.stdout)["findings"]

    def test_every_rule_has_a_case(self):
        with open(RULES) as file:
            rules = re.findall(r'^    \{\{"([a-z0-9-]+)"', file.read(), re.MULTILINE)
        self.assertEqual(sorted(rules), sorted({*CASES, "kv-cache"}))

    def test_each_case(self):
        self.assertIsNotNone(self.socket, "nothing waits for programs to plan")
        for case in CASES:
            with self.subTest(case=case):
                wrong = {finding["id"]: finding for finding in self.findings(case)}
                self.assertIn(case, wrong)
                self.assertGreaterEqual(wrong[case]["bytes"], 1 << 20)
                self.assertTrue(wrong[case]["text"] and wrong[case]["remedy"])
                ranked = [finding["bytes"] for finding in wrong.values()]
                self.assertEqual(ranked, sorted(ranked, reverse=True))
                self.assertNotIn(
                    case, [finding["id"] for finding in self.findings(case, "--right")]
                )

    def test_casts_in_recomputed_modules(self):
        """A checkpointed module makes its casts in backward."""
        for kind in ("reentrant", "non-reentrant"):
            with self.subTest(kind):
                wrong = {
                    finding["id"]: finding
                    for finding in self.findings("dtype-copies", "--recompute", kind)
                }
                # the last block's two copies
                self.assertEqual(wrong["dtype-copies"]["bytes"], 2 * 2048 * 1024 * 4)
                self.assertIn("findings.py", wrong["dtype-copies"]["text"])
                self.assertNotIn(
                    "dtype-copies",
                    [
                        finding["id"]
                        for finding in self.findings("dtype-copies", "--recompute", kind, "--right")
                    ],
                )


if __name__ == "__main__":
    if not TORCH:
        print("skipped: no torch that is built for CUDA")
        sys.exit(77)
    unittest.main(verbosity=2)

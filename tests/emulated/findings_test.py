"""`vramscope explain` finds what is wrong with the memory of a program, and nothing of the kind where it is not: programs/findings.py, each
case with its mistake and without.

    python3 findings_test.py VRAMSCOPE

$VRAMSCOPE_ALL_FINDINGS takes all cases (CI: a part). Not held yet, and so not told of (findings.cpp): attention-scores, autocast-weights,
casts, eval-graph, eval-peak, first-step, gradient-copies, held-since-setup, kept-from-before, layout-copies, leak, logits-copies, no-grad,
resident-inputs, save-peak and uneven-steps, whose programs do not show them or show them without the mistake, and rules without a program."""
import json
import os
import subprocess
import sys
import unittest

from torch_program import ENVIRONMENT, TORCH, VRAMSCOPE, Program

# A case has the name of the finding that it shows.
IN_CI = ("retained-graph", "old-gradients", "outputs-held", "optimizer-temporaries")
CASES = (*IN_CI, "second-weights", "frozen-32-bits", "large-buffers", "checkpointing-without-effect")


@unittest.skipUnless(TORCH, "no torch that is built for CUDA")
class Findings(Program):
    def findings(self, case, *options):
        trace = self.path("plan.trace")
        self.plan("findings.py", case, *options, options=("-o", trace))
        told = subprocess.run([VRAMSCOPE, "explain", trace, "--page", "findings", "--json"], env=ENVIRONMENT, check=True, capture_output=True,
                              timeout=300)
        os.remove(trace)
        return json.loads(told.stdout)["findings"]

    def test_each_case(self):
        for case in CASES if os.environ.get("VRAMSCOPE_ALL_FINDINGS") else IN_CI:
            with self.subTest(case=case):
                wrong = {finding["id"]: finding for finding in self.findings(case)}
                self.assertIn(case, wrong)
                self.assertGreaterEqual(wrong[case]["bytes"], 1 << 20)
                self.assertTrue(wrong[case]["text"] and wrong[case]["remedy"])
                ranked = [finding["bytes"] for finding in wrong.values()]
                self.assertEqual(ranked, sorted(ranked, reverse=True))
                self.assertNotIn(case, [finding["id"] for finding in self.findings(case, "--right")])


if __name__ == "__main__":
    if not TORCH:
        print("skipped: no torch that is built for CUDA")
        sys.exit(77)
    unittest.main(verbosity=2)

"""Plans real PyTorch programs without weights. The weights are neither initialised nor downloaded,
and are placed where a library places existing weights.

    VRAMSCOPE_TEST_PYTHONPATH=... python3 torch_weights_test.py VRAMSCOPE

Skipped under the same conditions as torch_programs_test.py."""

import os
import re
import unittest

import torch_program
from torch_program import TORCH, Program, has


class WithoutWeights(Program):
    def test_uninitialized_weights_take_no_memory(self):
        self.assertGreater(
            self.plan("unfilled.py")["peak"]["allocated"], 2 * 16 * 16384 * 16384 * 2
        )

    def test_uninitialized_weights_are_not_decomposed(self):
        answer = self.plan("decomposed.py")
        self.assertEqual(len(answer["steps"]), 2)
        places = [
            os.path.basename(a["where"])
            for a in answer["assumptions"]
            if "decompositions" in a["what"]
        ]
        self.assertTrue(
            places and all(place.startswith("decomposed.py:") for place in places),
            answer["assumptions"],
        )

    @unittest.skipUnless(
        TORCH and has("diffusers") and has("transformers"), "no diffusers or transformers"
    )
    def test_a_pipeline_without_weights(self):
        """Like diffusers' training scripts, calls from_pretrained on subfolders. They contain only
        configurations here."""
        answer = self.plan("pipeline.py", self.path("models"))
        self.assertEqual(len(answer["steps"]), 2)
        self.assertEqual(
            len(
                [a for a in answer["assumptions"] if a["what"].startswith("no weights were found")]
            ),
            3,
        )

    def test_weights_of_torch_hub_are_not_fetched(self):
        answer = self.plan("fetched_weights.py", "hub")
        self.assertIn(
            "https://nowhere.invalid/network-12345678.pth",
            [a["where"] for a in answer["assumptions"]],
        )
        self.assertEqual(answer["parameters"]["count"], 257 * 1024 + 1025 * 10)

    @unittest.skipUnless(TORCH and has("transformers"), "no transformers")
    def test_weights_of_the_hub_are_not_fetched(self):
        answer = self.plan("fetched_weights.py", "name", self.path("hub"), HF_HUB_OFFLINE="1")
        self.assertIn("nobody/small", [a["where"] for a in answer["assumptions"]])
        self.assertEqual(answer["parameters"]["bytes"], 2 * answer["parameters"]["count"])

    @unittest.skipUnless(
        TORCH and has("transformers") and has("accelerate") and has("bitsandbytes"),
        "no bitsandbytes",
    )
    def test_quantized(self):
        """from_pretrained quantizes to 4 bits and scales even if the folder has only a config.json
        and no weights."""
        answer = self.plan("quantized.py")
        weights = 16 * 1024 * 1024 * 6  # elements of the linear layers
        self.assertIn("layers: 4-bit", self.stderr)
        # From version 4.51 on, transformers first allocates one block on the GPU that is as large
        # as all weights together, and then loads the weights.
        self.assertGreater(answer["peak"]["allocated"], weights)
        self.assertGreater(answer["peak_by_category"]["Parameter"], weights // 2)
        self.assertLess(
            answer["peak_by_category"]["Parameter"], weights * 0.6 + 2 * 2 * 1000 * 1024
        )

    def placed(self, where, *options):
        answer = self.plan("placed.py", where, options=options)
        self.assertEqual(len(answer["steps"]), 2)
        self.assertGreaterEqual(
            sum(size for name, size in answer["peak_by_category"].items() if name != "Unknown"),
            0.99 * answer["peak"]["allocated"],
        )
        self.assertIn("no weights were found", "".join(a["what"] for a in answer["assumptions"]))
        return answer, re.findall(r"parameters: (\d+) of (\d+) on (\[[^]]*\])", self.stderr)

    @unittest.skipUnless(TORCH and has("transformers"), "no transformers")
    def test_tensor_parallel(self):
        """Each of two ranks gets half of each matrix, just as when transformers loads and splits a
        checkpoint."""
        answer, told = self.placed("tensors", "--ranks", "2")
        self.assertIn(len(told), (1, 2))  # with transformers 4, only the first rank prints
        half = int(told[0][1])  # half of the elements, 2 bytes each
        self.assertLess(answer["peak_by_category"]["Parameter"], 1.4 * half)
        self.assertLess(answer["peak_by_category"]["Optimizer state"], 2.4 * half)

    @unittest.skipUnless(TORCH and has("transformers.distributed"), "transformers has no such")
    def test_expert_parallel(self):
        answer, told = self.placed("experts", "--ranks", "2")
        self.assertIn(len(told), (1, 2))  # with transformers 4, only the first rank prints
        self.assertLess(answer["peak_by_category"]["Parameter"], 1.4 * int(told[0][1]))

    @unittest.skipUnless(
        TORCH and has("transformers") and has("accelerate"), "no transformers or accelerate"
    )
    def test_several_gpus_of_one_process(self):
        answer, told = self.placed("cards", "--devices", "2")
        self.assertEqual([place for _, _, place in told], ["['cuda:0', 'cuda:1']"])


if __name__ == "__main__":
    torch_program.main()

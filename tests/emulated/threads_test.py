"""Public threads about memory that name a figure: for each, a program (threads/), the command of
vramscope that answers the thread's question, and the cause and the figure that it prints.

    VRAMSCOPE_TEST_PYTHONPATH=... python3 threads_test.py VRAMSCOPE

Skipped if neither VRAMSCOPE_TEST_PYTHONPATH nor this interpreter has a CUDA build of torch. Threads
about other versions of packages are skipped unless VRAMSCOPE_TEST_ENVIRONMENTS names a folder, into
which these packages are installed (6 GB). If VRAMSCOPE_THREADS_RESULTS names a file, what was
measured and planned is written there: docs/results/data/threads.json, from which tests/results.py
writes docs/results/threads.md."""

import importlib.util
import json
import os
import subprocess
import unittest

import torch_program
from torch_program import ENVIRONMENT, HERE, PYTHON, TORCH, VRAMSCOPE, has

MIB, GIB = 2**20, 2**30
ENVIRONMENTS = os.environ.get("VRAMSCOPE_TEST_ENVIRONMENTS")
RESULTS = os.environ.get("VRAMSCOPE_THREADS_RESULTS")
VERSIONS = """
import importlib.metadata, json
names = ("torch", "transformers", "peft", "accelerate", "bitsandbytes", "trl")
found = {d.metadata["Name"]: d.version for d in reversed(list(importlib.metadata.distributions()))}
print(json.dumps({name: found[name] for name in names if name in found}))
"""


def environment_of_accuracy(name):
    """Returns the interpreter and the PYTHONPATH of an environment of tests/accuracy."""
    place = os.path.join(HERE, "../accuracy/run.py")
    spec = importlib.util.spec_from_file_location("accuracy_run", place)
    run = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(run)
    return run.Environments(ENVIRONMENTS).python(name)


class Thread(torch_program.Program):
    python, path_of_packages = PYTHON, ENVIRONMENT.get("PYTHONPATH", "")

    def setUp(self):
        super().setUp()
        self.printed = {}  # by the name of the trace

    def run_vramscope(self, *words):
        environment = {**ENVIRONMENT, "PYTHONPATH": self.path_of_packages, "HF_HUB_OFFLINE": "1"}
        if ENVIRONMENTS:
            environment["XDG_CACHE_HOME"] = os.path.abspath(ENVIRONMENTS)
        result = subprocess.run(
            [VRAMSCOPE, *words], env=environment, capture_output=True, text=True, timeout=2000
        )
        # 1: the files of `diff` differ
        self.assertIn(result.returncode, (0, 1), result.stderr[-4000:])
        self.stderr = result.stderr
        return json.loads(result.stdout)

    def words(self, program, *arguments):
        return ("--", self.python, os.path.join(HERE, "threads", program), *arguments)

    def trace(self, name, program, *arguments, options=()):
        """Plans the program and returns the path of the trace."""
        path = self.path(name + ".trace")
        plan = self.run_vramscope(
            "plan", "--json", *options, "-o", path, *self.words(program, *arguments)
        )
        self.assertTrue(plan["complete"], self.stderr[-2000:])
        self.printed[name] = self.stderr
        return path

    def peak(self, trace):
        return self.run_vramscope("peak", "--json", "--device", "0", "--top", "5000", trace)

    def difference(self, a, b):
        """Returns `diff --by stack` of device 0, with the differences by operator or function."""
        answer = self.run_vramscope(
            "diff", "--json", "--by", "stack", "--device", "0", "--top", "1000", a, b
        )
        return answer, {
            site["name"].rpartition(" > ")[2]: site["delta"] for site in reversed(answer["sites"])
        }

    def findings(self, trace):
        found = self.run_vramscope(
            "explain", "--json", "--page", "findings", "--device", "0", trace
        )["findings"]
        return {finding["id"]: finding for finding in found}

    def packages(self):
        result = subprocess.run(
            [self.python, "-c", VERSIONS],
            env={**ENVIRONMENT, "PYTHONPATH": self.path_of_packages},
            check=True,
            capture_output=True,
            text=True,
        )
        return json.loads(result.stdout)

    def near(self, planned, measured, tolerance):
        self.assertLessEqual(
            abs(planned - measured),
            tolerance * measured,
            "planned %s, measured %s" % (planned, measured),
        )

    def write(self, thread, command, printed, figures, packages=None):
        """Writes a thread's figures: [(what, unit, measured or None, planned)]. `printed` is what
        the command printed."""
        if not RESULTS:
            return
        kept = {}
        if os.path.exists(RESULTS):
            with open(RESULTS) as file:
                kept = json.load(file)
        commit = subprocess.run(
            ["git", "-C", HERE, "rev-parse", "--short", "HEAD"], capture_output=True, text=True
        ).stdout.strip()
        kept[thread] = {
            "command": command,
            "printed": printed,
            "packages": packages or self.packages(),
            "commit": commit or "unknown",
            "figures": [
                dict(zip(("what", "unit", "measured", "planned"), figure)) for figure in figures
            ],
        }
        with open(RESULTS, "w") as file:
            json.dump(dict(sorted(kept.items())), file, indent=1)
            file.write("\n")


def requested(blocks):
    return sum(block["bytes_requested"] for block in blocks)


def convolutions_of_resnet50():
    """Returns, for each convolution of a ResNet-50, the elements of its input and the number of its
    output's pixels."""
    found, before, side = [(3 * 224 * 224, 112 * 112)], 64, 56
    for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            smaller = side // 2 if block == 0 and width > 64 else side
            found += [
                (before * side * side, side * side),
                (width * side * side, smaller * smaller),
                (width * smaller * smaller, smaller * smaller),
            ]
            if block == 0:
                found.append((before * side * side, smaller * smaller))
            before, side = 4 * width, smaller
    return found


class CurrentVersions(Thread):
    @unittest.skipUnless(
        TORCH and has("transformers") and has("accelerate"), "no transformers or accelerate"
    )
    def test_logits_of_grpo(self):
        """trl#3678: the thread takes 310 MB for logits in bf16. They are in fp32, and a second copy
        is live at the peak."""
        peak = self.peak(
            self.trace("grpo", "grpo_logits.py", options=("--steps", "0", "--device", "h100-sxm"))
        )
        logits, copy, *chunks = peak["largest"][:5]
        # the last token is cut off afterwards
        self.assertEqual(logits["bytes_requested"], 2 * 257 * 151665 * 4)
        self.assertIn("_convert_to_fp32", logits["site"])
        self.assertEqual(copy["bytes_requested"], 2 * 256 * 151665 * 4)
        self.assertIn("entropy_from_logits > aten::clone", copy["site"])
        self.assertEqual([block["bytes_requested"] for block in chunks], [128 * 151665 * 4] * 3)
        # The length of the prompts, on which the model's small activations depend, is not stated.
        self.near(peak["allocated"], 902e6, 0.005)
        self.write(
            "trl#3678",
            "vramscope peak grpo.trace",
            [logits["site"], copy["site"]],
            [
                ("peak", "MB", 902, peak["allocated"] / 1e6),
                ("logits", "MB", 310, logits["bytes_requested"] / 1e6),
                ("copy of the logits", "MB", None, copy["bytes_requested"] / 1e6),
            ],
        )

    @unittest.skipUnless(TORCH and has("peft"), "no peft")
    def test_adapters_on_convolutions(self):
        """peft#2196: LoRA doubles the activations. The cause is the dropout of the adapters."""
        options = ("--device", "a100-80gb")
        full, plain, dropout = (
            self.trace(name, "lora_on_convolutions.py", *arguments, options=options)
            for name, arguments in (
                ("full", ("full",)),
                ("plain", ("lora", "0")),
                ("dropout", ("lora", "0.1")),
            )
        )
        at_full = self.peak(full)
        categories = {
            name: requested(block for block in at_full["largest"] if block["category"] == name)
            / MIB
            for name in ("Parameter", "Gradient", "Optimizer state", "Activation", "Input")
        }
        for name, measured in (
            ("Parameter", 89.68),
            ("Gradient", 89.68),
            ("Optimizer state", 179.37),
        ):
            self.assertAlmostEqual(categories[name], measured, delta=0.006)
        # MemTracker's peak is at another moment: its temporaries take 12.25 MiB.
        activations = categories["Activation"] + categories["Input"]
        self.near(activations, 1310.95, 0.01)

        answer, by_operator = self.difference(plain, dropout)
        self.assertIn("aten::native_dropout", answer["headline"])
        self.assertGreater(
            by_operator["aten::native_dropout"], 0.8 * answer["peak"]["allocated"]["delta"]
        )
        self.assertLess(
            abs(
                self.peak(plain)["by_category"]["Activation"] - at_full["by_category"]["Activation"]
            ),
            0.03 * at_full["by_category"]["Activation"],
        )

        blocks = self.peak(dropout)["largest"]
        of_dropout = [
            block["bytes_requested"] for block in blocks if block["op"] == "aten::native_dropout"
        ]
        low_rank = requested(
            block
            for block in blocks
            if "lora_A" in block["module"] and block["op"] == "aten::cudnn_convolution"
        )
        convolutions = convolutions_of_resnet50()
        inputs = 16 * sum(elements for elements, _ in convolutions)
        image = 16 * convolutions[0][0]
        # An adapter keeps its input after dropout, and dropout keeps its mask: one byte per
        # element. The image needs no mask, because it needs no gradient.
        self.assertEqual(sum(of_dropout), 4 * inputs + inputs - image)
        self.assertEqual(low_rank, 16 * sum(pixels for _, pixels in convolutions) * 4 * 4)
        # On the CPU, the mask has the type of the input.
        on_cpu = 4 * inputs + 4 * (inputs - image) + low_rank
        self.assertAlmostEqual(on_cpu / MIB, 2618.32 - 1310.95, delta=0.02)
        self.write(
            "peft#2196",
            "vramscope diff plain.trace dropout.trace --by stack",
            [answer["headline"]],
            [
                ("parameters", "MiB", 89.68, categories["Parameter"]),
                ("gradients", "MiB", 89.68, categories["Gradient"]),
                ("optimizer", "MiB", 179.37, categories["Optimizer state"]),
                ("activations of full fine-tuning", "MiB", 1310.95, activations),
                ("more with LoRA, with a CPU's masks of dropout", "MiB", 1307.37, on_cpu / MIB),
                ("more with LoRA, on the GPU", "MiB", None, (sum(of_dropout) + low_rank) / MIB),
            ],
        )

    @unittest.skipUnless(TORCH and has("transformers") and has("peft"), "no transformers or peft")
    def test_casts_of_the_inputs_of_adapters(self):
        """AgileRL PR 623. The two figures depend on a configuration that is not stated in full, so
        the difference is compared. It needs no more than the last two of the 24 layers, because the
        peak is in the recomputation of the last layer."""
        options, arguments = ("--device", "a100-40gb"), ("--layers", "2", "--dropout", "0.05")
        casts = self.trace("casts", "adapter_input_casts.py", *arguments, options=options)
        without = self.trace(
            "without", "adapter_input_casts.py", *arguments, "--without", options=options
        )
        found = self.findings(casts)
        self.assertEqual(list(found), ["dtype-copies"])
        self.assertIn("_cast_input_dtype", found["dtype-copies"]["text"])
        self.assertEqual(self.findings(without), {})
        tokens = 8 * 4096
        blocks = self.peak(casts)["largest"]
        copies = [
            block["bytes_requested"] for block in blocks if "_cast_input_dtype" in block["site"]
        ]
        # the copies of earlier layers are freed already, unlike the thread assumes
        self.assertEqual(copies, [tokens * 4864 * 4])
        answer, _ = self.difference(without, casts)
        more = answer["peak"]["allocated"]["delta"]
        # the copy, and its copy by dropout
        self.assertAlmostEqual(more / (2 * tokens * 4864 * 4), 1, delta=0.001)
        self.near(more / MIB, 6238 - 5002, 0.02)
        self.write(
            "AgileRL PR 623",
            "vramscope explain casts.trace --page findings",
            [found["dtype-copies"]["text"]],
            [("more with the casts", "MiB", 1236, more / MIB)],
        )

    def test_boolean_mask_against_is_causal(self):
        """transformers#30010, the small case: another kernel, a mask as a buffer, and a copy of it
        as a bias."""
        plain, mask = (
            self.trace(
                kind,
                "causal_mask_of_attention.py",
                kind,
                options=("--steps", "0", "--device", "rtx-4090"),
            )
            for kind in ("is_causal", "mask")
        )
        answer, by_operator = self.difference(plain, mask)
        self.assertLess(by_operator["aten::_flash_attention_backward"], 0)
        self.assertGreater(by_operator["aten::_efficient_attention_backward"], 0)
        categories = [
            self.run_vramscope("peak", "--json", trace)["by_category"] for trace in (plain, mask)
        ]
        self.assertEqual(
            categories[1].get("Buffer", 0) - categories[0].get("Buffer", 0), 2048 * 2048
        )
        (bias,) = [
            block["bytes_requested"]
            for block in self.peak(mask)["largest"]
            if block["op"] == "aten::where"
        ]
        self.assertEqual(bias, 2048 * 2048 * 2)
        self.write(
            "transformers#30010, one layer",
            "vramscope diff is_causal.trace mask.trace --by stack",
            [answer["headline"]],
            [
                ("buffer", "MiB", None, categories[1]["Buffer"] / MIB),
                ("bias", "MiB", None, bias / MIB),
                ("more at the peak", "MiB", None, answer["peak"]["allocated"]["delta"] / MIB),
            ],
        )

    @unittest.skipUnless(
        TORCH and has("transformers") and has("accelerate") and has("peft"),
        "no transformers, accelerate or peft",
    )
    def test_sharded_weights_cast_to_fp32(self):
        """accelerate#3844, with the cast that accelerate made until 1.12."""
        options = ("--ranks", "2", "--as-rank", "0", "--device", "a40")
        bf16, fp32 = (
            self.trace(name, "fully_sharded_adapters.py", "--layers", "2", *more, options=options)
            for name, more in (("bf16", ()), ("fp32", ("--upcast",)))
        )
        frozen = (
            151936 * 1536
            + 2 * (1536 * (1536 + 2 * 256 + 1536 + 3 * 8960) + 1536 + 2 * 256 + 2 * 1536)
            + 1536
        )
        adapters = 2 * 8 * (1536 + 1536 + 1536 + 256)
        parameters = []
        for trace in (bf16, fp32):
            blocks = self.peak(trace)["largest"]
            parameters.append(
                requested(block for block in blocks if block["category"] == "Parameter")
            )
        self.assertEqual(
            parameters, [frozen * 2 // 2 + adapters * 4 // 2, (frozen + adapters) * 4 // 2]
        )
        answer, _ = self.difference(bf16, fp32)
        self.assertTrue(
            any(
                "fully_sharded_adapters.py:" in site["name"]
                and site["name"].endswith("_to_copy")
                and site["delta"] > 0
                and site["category"] == "Parameter"
                for site in answer["sites"]
            )
        )
        self.assertIn(
            "'trained': ['torch.float32'], 'frozen': ['torch.float32']", self.printed["fp32"]
        )

    @unittest.skipUnless(
        TORCH and has("transformers") and has("accelerate") and has("peft"),
        "no transformers, accelerate or peft",
    )
    def test_habits_under_sharding(self):
        """llama-cookbook PR 41 and PR 165, a small Llama with current versions."""
        options = ("--ranks", "2", "--as-rank", "0", "--steps", "0", "--device", "a100-40gb")
        small = (
            "--layers",
            "4",
            "--width",
            "512",
            "--feed-forward",
            "1408",
            "--heads",
            "4",
            "--batch",
            "2",
            "--tokens",
            "512",
        )
        plain, kept, cache = (
            self.trace(name, "habits_under_sharding.py", *small, *more, options=options)
            for name, more in (
                ("plain", ()),
                ("kept", ("--keep-outputs",)),
                ("cache", ("--use-cache", "--no-checkpointing", "--vocabulary", "1000")),
            )
        )
        self.assertFalse({"outputs-held", "kv-cache"} & set(self.findings(plain)))
        logits = self.findings(kept)["outputs-held"]
        self.assertEqual(logits["bytes"] - 512, 2 * 512 * 32000 * 2)  # 512: the loss
        self.assertEqual(
            self.peak(kept)["allocated"] - self.peak(plain)["allocated"], 2 * 512 * 32000 * 2
        )
        self.assertEqual(self.findings(cache)["kv-cache"]["bytes"], 4 * 2 * (2 * 512 * 512) * 2)
        # The GPU must be slower than the host, or all-gathers cannot run ahead.
        large = (
            "--layers",
            "8",
            "--width",
            "4096",
            "--feed-forward",
            "11008",
            "--vocabulary",
            "1000",
            "--batch",
            "4",
            "--tokens",
            "2048",
        )
        limited, unlimited = (
            self.trace(name, "habits_under_sharding.py", *large, *more, options=options)
            for name, more in (("limited", ()), ("unlimited", ("--unlimited",)))
        )
        unit = 2 * (4 * 4096 * 4096 + 3 * 4096 * 11008 + 2 * 4096)  # the weights of a layer
        gathered = [
            sum(
                unit <= block["bytes_requested"] < 1.01 * unit
                for block in self.peak(trace)["largest"]
            )
            for trace in (limited, unlimited)
        ]
        self.assertLessEqual(gathered[0], 2)
        self.assertGreater(gathered[1], 4)
        answer, _ = self.difference(limited, unlimited)
        self.assertGreater(answer["peak"]["allocated"]["delta"], 2 * unit)


@unittest.skipUnless(ENVIRONMENTS, "VRAMSCOPE_TEST_ENVIRONMENTS names no folder for environments")
class OtherVersions(Thread):
    def use(self, environment):
        self.python, self.path_of_packages = environment_of_accuracy(environment)

    def with_versions(self, versions, program, *arguments, options=()):
        """Returns the rows of `plan --with` by version, and the changes by both versions."""
        answer = self.run_vramscope(
            "plan", "--json", "--with", versions, *options, *self.words(program, *arguments)
        )
        for row in answer["rows"]:
            self.assertIsNone(row["error"], row["version"])
        return {row["version"]: row for row in answer["rows"]}, {
            (change["from"], change["to"]): change for change in answer["changes"]
        }

    @unittest.skipUnless(
        TORCH and has("transformers") and has("accelerate"), "no transformers or accelerate"
    )
    def test_logits_of_the_function_of_trl(self):
        """trl#3678: the program that is written by hand equals trl's own function."""
        by_hand = self.peak(
            self.trace("grpo", "grpo_logits.py", options=("--steps", "0", "--device", "h100-sxm"))
        )
        rows, _ = self.with_versions(
            "trl==1.6.0",
            "grpo_logits.py",
            "--trl",
            options=("--steps", "0", "--device", "h100-sxm"),
        )
        # trl brings a later transformers, which keeps a few scalars less.
        self.assertAlmostEqual(rows["1.6.0"]["peak"], by_hand["allocated"], delta=4096)

    @unittest.skipUnless(TORCH and has("transformers") and has("peft"), "no transformers or peft")
    def test_sharded_weights_of_versions_of_accelerate(self):
        """accelerate#3474, #3844 and #3979."""
        options, layers = ("--ranks", "2", "--device", "a40"), ("--layers", "4")
        rows, changes = self.with_versions(
            "accelerate==1.6.0,1.9.0,1.10.1,1.12.0,1.13.0",
            "fully_sharded_adapters.py",
            *layers,
            options=options,
        )
        parameters = {
            version: row["peak_by_category"]["Parameter"] for version, row in rows.items()
        }
        frozen = (
            151936 * 1536
            + 4 * (1536 * (1536 + 2 * 256 + 1536 + 3 * 8960) + 1536 + 2 * 256 + 2 * 1536)
            + 1536
        )
        self.assertEqual(
            [
                changes[pair]["peak"]
                for pair in (("1.6.0", "1.9.0"), ("1.9.0", "1.10.1"), ("1.10.1", "1.12.0"))
            ],
            [0, 0, 0],
        )
        # Each of two ranks has a half. Blocks of more than 1 MiB have up to 1 MiB more than
        # requested.
        self.near(parameters["1.12.0"], frozen * 4 / 2, 0.03)
        self.near(parameters["1.13.0"], frozen * 2 / 2, 0.03)
        change = changes["1.12.0", "1.13.0"]
        self.assertEqual(
            max(change["categories"], key=lambda name: abs(change["categories"][name])), "Parameter"
        )
        (cast,) = [site for site in change["sites"][:1]]
        self.assertRegex(cast["name"], "fully_sharded_adapters.py:.*_to_copy$")

        adapters, _ = self.with_versions(
            "accelerate==1.12.0,1.13.0,1.15.0",
            "fully_sharded_adapters.py",
            *layers,
            "--adapters",
            "bfloat16",
            options=options,
        )
        states = {
            version: row["peak_by_category"]["Optimizer state"] for version, row in adapters.items()
        }
        self.assertEqual(states["1.12.0"], states["1.15.0"])
        # Adam's states have the type of the weights
        self.near(states["1.13.0"], states["1.15.0"] / 2, 0.1)
        self.write(
            "accelerate#3474, #3844, #3979",
            "vramscope plan --ranks 2 --with accelerate==1.6.0,...,1.13.0",
            ["%s: %+d B" % (site["name"], site["delta"]) for site in change["sites"][:3]],
            [
                ("parameters of a rank, %s" % version, "MiB", None, size / MIB)
                for version, size in parameters.items()
            ]
            + [
                ("optimizer state of adapters in bf16, %s" % version, "KiB", None, size / 1024)
                for version, size in states.items()
            ],
            {**self.packages(), "accelerate": ", ".join(rows)},
        )

    @unittest.skipUnless(TORCH and has("accelerate") and has("peft"), "no accelerate or peft")
    def test_sharded_weights_of_versions_of_transformers(self):
        """transformers#39795. Its figures are not in the excerpt. With the model's configuration
        alone, no version shards less than another, so the cause must lie elsewhere."""
        layers, width = 6, 4096
        rows, changes = self.with_versions(
            "transformers==4.49.0,4.53.3,4.54.0",
            "fully_sharded_granite.py",
            "--layers",
            str(layers),
            options=("--ranks", "2", "--device", "a100-80gb"),
        )
        attention = 2 * width * width + 2 * width * 1024 + 2 * width + 2 * 1024
        block = attention + 3 * width * 14336 + 2 * 14336 + 3 * width
        adapters = layers * 8 * (3 * width + 1024)
        half = ((49152 * width + layers * block + width) * 2 + adapters * 4) / 2
        for version, row in rows.items():
            with self.subTest(version):
                self.near(row["peak_by_category"]["Parameter"], half, 0.03)
                self.near(row["peak"], rows["4.54.0"]["peak"], 0.03)
        later = changes["4.53.3", "4.54.0"]
        self.assertLess(later["peak"], 0)  # keys and values are not repeated for the heads
        self.assertTrue(any("repeat_kv" in site["name"] for site in later["sites"]))
        self.write(
            "transformers#39795",
            "vramscope plan --ranks 2 --with transformers==4.49.0,4.53.3,4.54.0",
            ["%s: %+d B" % (site["name"], site["delta"]) for site in later["sites"][:2]],
            [
                ("peak of a rank, %s" % version, "GiB", None, row["peak"] / GIB)
                for version, row in rows.items()
            ],
            {**self.packages(), "transformers": ", ".join(rows)},
        )

    def test_causal_mask_of_versions_of_transformers(self):
        """transformers#30010."""
        self.use("torch-2.2.2")
        rows, changes = self.with_versions(
            "transformers==4.37.2,4.38.2,4.39.3",
            "causal_mask_of_qlora.py",
            options=("--device", "rtx-4090"),
        )
        worse, better = changes["4.37.2", "4.38.2"], changes["4.38.2", "4.39.3"]
        self.assertGreater(worse["peak"], 2e9)
        self.assertGreater(worse["peak"] + better["peak"], 2e9)  # 4.39.3 repairs a small part only
        (mask,) = [site for site in worse["sites"] if "_update_causal_mask" in site["name"]]
        self.assertEqual(mask["delta"], 4 * 4096 * 4096 * 2)
        self.assertEqual(better["categories"]["Buffer"], -4096 * 4096)
        kernel = max(
            (site for site in worse["sites"] if site["category"] == "Autograd detail"),
            key=lambda site: site["delta"],
        )
        self.assertIn("aten::_efficient_attention_backward", kernel["name"])
        self.write(
            "transformers#30010",
            "vramscope plan --with transformers==4.37.2,4.38.2,4.39.3",
            ["%s: %+d B" % (site["name"], site["delta"]) for site in (kernel, mask)],
            [
                ("peak, %s" % version, "GiB", None, row["peak"] / GIB)
                for version, row in rows.items()
            ]
            + [("buffer, 4.38.2", "MiB", None, -better["categories"]["Buffer"] / MIB)],
            {**self.packages(), "transformers": ", ".join(rows)},
        )

    def test_habits_under_sharding_of_2023(self):
        """llama-cookbook PR 41. Only the first figure depends on times: how far all-gathers run
        ahead."""
        self.use("llama-recipes-2023")
        traces, figures = {}, []
        for name, habits, active, reserved, tolerance in (
            ("as it was", ("--keep-outputs", "--unlimited"), 25.86, 32.67, 0.02),
            ("limit_all_gathers", ("--keep-outputs",), 20.20, 27.36, 0.0005),
            ("no outputs kept", (), 15.22, 19.36, 0.0005),
        ):
            traces[name] = self.trace(
                name.replace(" ", "-"),
                "habits_under_sharding.py",
                "--use-cache",
                *habits,
                options=("--ranks", "4", "--steps", "0", "--device", "a100-40gb"),
            )
            peak = self.peak(traces[name])
            self.near(peak["allocated"] / GIB, active, tolerance)
            self.near(peak["peak_reserved"] / GIB, reserved, 0.06)
            figures += [
                ("%s, active" % name, "GiB", active, peak["allocated"] / GIB),
                ("%s, reserved" % name, "GiB", reserved, peak["peak_reserved"] / GIB),
            ]
        _, ahead = self.difference(traces["limit_all_gathers"], traces["as it was"])
        kept, by_line = self.difference(traces["no outputs kept"], traces["limit_all_gathers"])
        # What the variable keeps: keys and values of 32 layers in bf16, and logits in fp32.
        self.assertEqual(
            kept["peak"]["allocated"]["delta"], 32 * 2 * 4 * 2048 * 4096 * 2 + 4 * 2048 * 32000 * 4
        )
        found = self.findings(traces["limit_all_gathers"])
        self.assertIn("kept-from-before", found)
        self.assertIn("other-streams", self.findings(traces["as it was"]))
        self.write(
            "llama-cookbook PR 41",
            "vramscope explain kept.trace --page findings",
            [found["kept-from-before"]["text"]],
            figures,
        )


if __name__ == "__main__":
    if TORCH and not ENVIRONMENTS:
        print(
            "skipped: threads about other versions of packages; VRAMSCOPE_TEST_ENVIRONMENTS "
            "names no folder"
        )
    torch_program.main()

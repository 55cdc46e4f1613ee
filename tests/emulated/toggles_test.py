"""Toggles on real PyTorch programs: a plan with a toggle has the same allocations as the plan of
the program with the change written by hand. Each toggle reports its effect, or why it had none.
`fit` finds toggles with which a program fits, and each proposal equals a separate plan.

    VRAMSCOPE_TEST_PYTHONPATH=... python3 toggles_test.py VRAMSCOPE

Skipped if neither VRAMSCOPE_TEST_PYTHONPATH nor this interpreter has a CUDA build of torch."""

import fcntl
import json
import os
import pty
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time
import unittest

import torch_program
from torch_program import ENVIRONMENT, HERE, TORCH, VRAMSCOPE, Program, has
from torch_program import words as command

PLAIN, TRAINER, ALREADY = "toggled.py", "toggled_trainer.py", "toggled_already.py"
MODELS = "toggled_models.py"
ACCELERATE, LIGHTNING = "toggled_accelerate.py", "toggled_lightning.py"
DONE, NO, USAGE, FAILED = 0, 1, 2, 3
ALL = os.environ.get("VRAMSCOPE_ALL_TOGGLES") == "1"


class Servers:
    """Processes that have imported the packages of a program. Plans of the program in their forks
    save the time for imports. Warm checks that such plans equal plans in a new process."""

    def __init__(self):
        self.folder = None
        self.sockets = {}

    def of(self, program):
        """Returns the socket of the program's server. Starts the server if needed."""
        if self.folder is None:
            folder = tempfile.TemporaryDirectory()
            unittest.addModuleCleanup(folder.cleanup)
            self.folder = folder.name
        if program not in self.sockets:
            first, keep = (
                os.path.join(self.folder, kind + program) for kind in ("first-", "server-")
            )
            subprocess.run(
                [VRAMSCOPE, "plan", "--json", "--all-toggles", "--keep", first, *command(program)],
                env=ENVIRONMENT,
                check=True,
                capture_output=True,
                timeout=900,
            )
            self.sockets[program] = serve(
                program, keep, os.path.join(first, "modules.json"), unittest.addModuleCleanup
            )
        return self.sockets[program]


def serve(program, keep, modules, cleanup, *arguments, options=()):
    """Starts a process that imports the modules. Returns its socket when it is ready. `cleanup`
    registers what stops it."""
    socket = os.path.join(keep, "socket")
    server = subprocess.Popen(
        [
            VRAMSCOPE,
            "plan",
            *options,
            "--keep",
            keep,
            "--serve",
            socket,
            "--modules",
            modules,
            *command(program, *arguments),
        ],
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    cleanup(server.wait)
    cleanup(server.send_signal, signal.SIGTERM)
    for _ in range(6000):
        if os.path.exists(socket) or server.poll() is not None:
            break
        time.sleep(0.05)
    return socket


SERVERS = Servers()


class Toggles(Program):
    def warm(self, program, options):
        """Returns the options for a plan in a fork of the program's server, if there can be one."""
        return (
            ()
            if "--ranks" in options or program not in (PLAIN, TRAINER)
            else ("--warm", SERVERS.of(program))
        )

    def plan(self, program, *arguments, options=(), status=DONE, warm=(), **environment):
        answer = super().plan(
            program, *arguments, options=(*options, *warm), status=status, **environment
        )
        if warm:
            self.assertIsNone(answer["program"]["cold"])
        return answer

    def run_vramscope(self, *words, status=DONE):
        result = subprocess.run(
            [VRAMSCOPE, *words], env=ENVIRONMENT, capture_output=True, text=True, timeout=900
        )
        self.assertEqual(result.returncode, status, result.stdout[-2000:] + result.stderr[-4000:])
        self.stderr = result.stderr
        return result.stdout

    def same(self, program, toggle, *arguments, options=(), also=""):
        """Checks that the toggle gives the same allocations as the change by hand. `also`: a change
        that both runs make by hand."""
        warm = self.warm(program, options)
        toggled = self.plan(
            program,
            *arguments,
            "--hand",
            also,
            options=("--toggle", toggle, *options, "-o", self.path("toggled.trace")),
            warm=warm,
        )
        self.plan(
            program,
            *arguments,
            "--hand",
            ",".join(filter(None, (also, toggle))),
            options=(*options, "-o", self.path("hand.trace")),
            warm=warm,
        )
        (report,) = toggled["toggles"]
        self.assertEqual(
            [report[key] for key in ("state", "why", "overridden", "unusable")],
            ["applied", "", "", ""],
        )
        self.assertTrue(report["change"])
        requests = self.json(
            "diff", self.path("toggled.trace"), self.path("hand.trace"), "--requests"
        )
        counts = requests["requests"]
        self.assertGreater(counts["total"], 100)
        # autocast clears its cache in the order of host addresses, which depend on all other host
        # allocations. So the order of these frees is ignored.
        self.assertEqual(
            counts["equal_frees_unordered"], counts["total"], requests["first_differences"][:3]
        )
        self.assertEqual(requests["peak"]["a"], requests["peak"]["b"])
        return report

    def not_applied(self, program, toggle, *arguments, state="not applied", options=()):
        answer = self.plan(
            program,
            *arguments,
            options=("--toggle", toggle, *options),
            status=NO,
            warm=self.warm(program, ()),
        )
        (report,) = answer["toggles"]
        self.assertEqual(report["state"], state)
        self.assertIn("--toggle %s" % toggle.split("=")[0], self.stderr)
        return report["why"] + report["overridden"] + report["unusable"]

    def at(self, program, report, *texts):
        """Checks that the places of the changes are the program's lines with these texts."""
        with open(os.path.join(HERE, "programs", program)) as file:
            lines = file.read().splitlines()
        self.assertEqual(len(report["change"]), len(texts))
        for change, text in zip(report["change"], texts):
            self.assertIn(text, lines[int(change["where"].rpartition(":")[2]) - 1])

    def already_on(self, program, toggles, *arguments, **environment):
        """Checks that the toggles are reported as already on. Returns the plan with the toggles."""
        answer = self.plan(
            program,
            *arguments,
            options=[word for toggle in toggles for word in ("--toggle", toggle)],
            **environment,
        )
        self.assertEqual(
            [(one["state"], one["reached"], one["change"]) for one in answer["toggles"]],
            [("already on", 0, [])] * len(toggles),
        )
        for one in answer["toggles"]:
            self.assertTrue(one["why"], one["name"])
            self.assertIn("--toggle %s" % one["name"], self.stderr)
        return answer


class PlainLoop(Toggles):
    def test_equal_to_the_change_by_hand(self):
        for toggle in (
            "bf16",
            "checkpointing",
            "optimizer=adafactor",
            "step-in-backward",
            "offload",
            "eval-no-grad",
        ):
            with self.subTest(toggle):
                self.same(PLAIN, toggle)

    @unittest.skipUnless(ALL, "VRAMSCOPE_ALL_TOGGLES=1 takes these, too (minutes)")
    def test_others_equal_to_the_change_by_hand(self):
        for toggle in (
            "checkpointing=reentrant",
            "optimizer=sgd",
            "optimizer-impl=fused",
            "optimizer-impl=for-loop",
            "free-gradients",
            "empty-cache",
            "sdpa-backend=math",
        ):
            with self.subTest(toggle):
                self.same(PLAIN, toggle)

    @unittest.skipUnless(TORCH and has("triton"), "no triton")
    def test_compiled_blocks(self):
        self.same(PLAIN, "compile", "--evaluate-first")
        budget = self.plan(PLAIN, options=("--toggle", "compile", "--toggle", "activation-budget"))
        by_hand = self.plan(PLAIN, "--hand", "activation-budget")
        self.assertEqual(budget["peak"], by_hand["peak"])

    def test_a_budget_of_compiled_models_needs_a_compiled_model(self):
        self.assertIn("does not use torch.compile", self.not_applied(PLAIN, "activation-budget"))

    def test_gradients_filled_with_zeros(self):
        self.same(PLAIN, "zero-grad-to-none", "--zero")
        answer = self.already_on(PLAIN, ["zero-grad-to-none"])
        self.assertIn("already frees the gradients", answer["toggles"][0]["why"])

    def test_settings_of_the_allocator(self):
        for toggle, setting in (
            ("expandable-segments", "expandable_segments:True"),
            ("max-split-size=64", "max_split_size_mb:64"),
            ("gc-threshold=0.6", "garbage_collection_threshold:0.6"),
        ):
            with self.subTest(toggle):
                toggled = self.plan(PLAIN, options=("--toggle", toggle))
                by_hand = self.plan(PLAIN, PYTORCH_CUDA_ALLOC_CONF=setting)
                self.assertEqual(toggled["peak"], by_hand["peak"])
                self.assertEqual(
                    toggled["toggles"][0]["change"],
                    [{"text": "PYTORCH_CUDA_ALLOC_CONF=" + setting, "where": "environment"}],
                )

    def test_settings_beside_those_of_the_environment(self):
        answer = self.plan(
            PLAIN,
            options=("--all-toggles",),
            PYTORCH_CUDA_ALLOC_CONF="max_split_size_mb:64,garbage_collection_threshold:0.6",
        )
        (row,) = [row for row in answer["toggles"] if row["name"] == "expandable-segments"]
        self.assertEqual(
            row["change"][0]["text"],
            "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64,garbage_collection_threshold:0.6,"
            "expandable_segments:True",
        )

    def test_the_line_is_that_of_the_program(self):
        report = self.same(PLAIN, "optimizer-impl=for-loop")
        with open(os.path.join(HERE, "programs", PLAIN)) as file:
            lines = file.read().splitlines()
        path, _, number = report["change"][0]["where"].rpartition(":")
        self.assertTrue(path.endswith(PLAIN))
        self.assertIn("torch.optim.AdamW(", lines[int(number) - 1])

    def test_lines_with_the_names_of_the_program(self):
        """The lines are correct Python where the model and the optimizer are created, also if the
        blocks are in several lists."""
        report = self.same(PLAIN, "checkpointing", "--halves")
        loop, call = [change["text"] for change in report["change"]]
        self.assertEqual(
            loop.partition("  #")[0], "for block in [*model.halves[0], *model.halves[1]]:"
        )
        compile("%s\n%s" % (loop, call), "change", "exec")
        with open(os.path.join(HERE, "programs", PLAIN)) as file:
            lines = file.read().splitlines()
        for toggle in ("checkpointing", "step-in-backward"):
            with self.subTest(toggle):
                (report,) = self.plan(PLAIN, options=("--toggle", toggle))["toggles"]
                self.assertIn(
                    "torch.optim.AdamW(",
                    lines[int(report["change"][0]["where"].rpartition(":")[2]) - 1],
                )

    @unittest.skipUnless(has("transformers") and has("accelerate"), "no transformers")
    def test_a_library_that_does_not_train(self):
        """The program only creates objects of a library, or trains another model with it."""
        loop = 'with torch.autocast("cuda", dtype=torch.bfloat16):  # around the forward pass'
        for unused, lines in (
            # in training and in evaluation
            ("Accelerator", [loop, loop]),
            ("TrainingArguments", [loop, loop]),
            ("Trainer", ["TrainingArguments(..., bf16=True)", loop, loop]),
        ):
            with self.subTest(unused):
                report = self.same(PLAIN, "bf16", "--unused", unused)
                self.assertEqual([change["text"] for change in report["change"]], lines)
        for toggle in ("optimizer=sgd", "free-gradients", "checkpointing", "optimizer-impl=fused"):
            with self.subTest(toggle):
                self.same(PLAIN, toggle, "--unused", "TrainingArguments")
        self.assertIn("--vary", self.not_applied(PLAIN, "micro-batch=1", "--unused", "Accelerator"))

    def test_lines_for_each_call(self):
        around = 'with torch.autocast("cuda", dtype=torch.bfloat16):  # around the forward pass'
        with open(os.path.join(HERE, "programs", PLAIN)) as file:
            program = file.read().splitlines()
        for option, calls in (
            ("--teacher", ["logits = model(ids)", "target = teacher(ids)", "    model(ids)"]),
            ("--wrapped", ["logits = model(ids)", "    model(ids)"]),
        ):
            with self.subTest(option):
                report = self.same(PLAIN, "bf16", option)
                self.assertEqual(
                    [change["text"] for change in report["change"]], [around] * len(calls)
                )
                for change, call in zip(report["change"], calls):
                    number = int(change["where"].rpartition(":")[2])
                    self.assertIn(call, program[number - 1])

    def test_lines_after_the_last_group_of_parameters(self):
        report = self.same(MODELS, "step-in-backward", "--case", "two-groups")
        with open(os.path.join(HERE, "programs", MODELS)) as file:
            program = file.read().splitlines()
        number = int(report["change"][0]["where"].rpartition(":")[2])
        self.assertIn("add_param_group", program[number - 1])

    def test_equal_lines_for_each_place(self):
        answer = self.plan(
            MODELS,
            "--case",
            "adversarial",
            options=("--toggle", "optimizer=sgd", "--toggle", "bf16"),
        )
        # two optimizers, and four calls of models
        for report, places in zip(answer["toggles"], (2, 4), strict=True):
            self.assertEqual(len({change["where"] for change in report["change"]}), places)

    def test_what_the_program_does_undoes_it(self):
        self.assertIn(
            "clipped", self.not_applied(PLAIN, "step-in-backward", "--clip", state="not usable")
        )

    def test_kernels_that_the_program_chooses(self):
        self.assertIn("sdpa_kernel", self.not_applied(PLAIN, "sdpa-backend=efficient", "--math"))

    def test_why_it_does_not_apply(self):
        self.assertIn("from_pretrained", self.not_applied(PLAIN, "lora"))
        self.assertIn("--vary", self.not_applied(PLAIN, "micro-batch=1"))

    def test_steps_in_backward_need_one_backward_pass_and_unchanged_gradients(self):
        for case, state, why in (
            ("two-losses", "not usable", "keeps the graph"),
            ("accumulate", "not usable", "accumulates gradients"),
            ("clip-by-hand", "not usable", "reads or changes gradients"),
            ("clip-with-norm", "not usable", "clipped"),
            ("closure", "not applied", "function that computes the loss"),
            ("own-optimizer", "not applied", "required arguments"),
            ("adversarial", "not usable", "accumulates gradients"),
            ("assigned", "not usable", "reads or changes gradients"),
            ("logged", "not usable", "reads gradients after the step"),
            ("resumed", "not applied", "loads the state"),
            ("distributed", "not applied", "several GPUs"),
        ):
            with self.subTest(case):
                ranks = ("--ranks", "2") if case == "distributed" else ()
                answer = self.plan(MODELS, "--case", case, options=("--all-toggles", *ranks))
                (row,) = [row for row in answer["toggles"] if row["name"] == "step-in-backward"]
                self.assertEqual(row["state"], "does not apply")
                self.assertIn(why, row["why"])
                self.assertIn(
                    why,
                    self.not_applied(
                        MODELS, "step-in-backward", "--case", case, state=state, options=ranks
                    ),
                )

    def test_steps_in_backward_of_two_models_or_without_scaling(self):
        for case in ("encoder-decoder", "scaler-off", "momentum"):
            with self.subTest(case):
                report = self.same(MODELS, "step-in-backward", "--case", case)
                compile("\n".join(line["text"] for line in report["change"]), "change", "exec")

    def test_gradients_through_a_model_in_evaluation_mode(self):
        for case, state, why in (
            ("frozen-norm", "not usable", "the input of a model that is trained"),
            ("perceptual", "not applied", "computes gradients through a model in evaluation mode"),
            ("keyword", "not applied", "computes gradients through a model in evaluation mode"),
            ("object", "not usable", "the input of a model that is trained"),
            ("stored", "not usable", "trains a model in evaluation mode"),
        ):
            with self.subTest(case):
                answer = self.plan(MODELS, "--case", case, options=("--all-toggles",))
                (row,) = [row for row in answer["toggles"] if row["name"] == "eval-no-grad"]
                self.assertEqual(row["state"], "does not apply")
                self.assertIn("a model in evaluation mode", row["why"])
                self.assertIn(
                    why, self.not_applied(MODELS, "eval-no-grad", "--case", case, state=state)
                )

    def test_gradients_of_each_optimizer(self):
        """Frees them, also if they exist only while another model is trained, or in evaluation."""
        for case, optimizers in (("adversarial", 2), ("evaluate", 1)):
            with self.subTest(case):
                report = self.same(MODELS, "free-gradients", "--case", case)
                self.assertEqual(len(report["change"]), optimizers)
                answer = self.plan(MODELS, "--case", case, options=("--all-toggles",))
                (row,) = [row for row in answer["toggles"] if row["name"] == "free-gradients"]
                self.assertEqual((row["state"], row["change"]), ("applies", report["change"]))

    def test_the_cache_is_emptied_after_each_optimizer(self):
        report = self.same(MODELS, "empty-cache", "--case", "adversarial")
        self.assertEqual(len(report["change"]), 2)

    def test_gradients_that_the_program_sets_to_none(self):
        answer = self.plan(MODELS, "--case", "set-to-none", options=("--all-toggles",))
        (row,) = [row for row in answer["toggles"] if row["name"] == "free-gradients"]
        self.assertEqual(row["state"], "already on")
        self.already_on(MODELS, ("free-gradients",), "--case", "set-to-none")

    def test_gradients_that_the_program_reads_after_the_step(self):
        for case, state in (("logged", "does not apply"), ("filled-with-zeros", "applies")):
            answer = self.plan(MODELS, "--case", case, options=("--all-toggles",))
            (row,) = [row for row in answer["toggles"] if row["name"] == "free-gradients"]
            self.assertEqual(row["state"], state)
        why = self.not_applied(MODELS, "free-gradients", "--case", "logged", state="not usable")
        self.assertIn("reads gradients after the step", why)

    def test_names_of_models(self):
        for case, name in (
            ("dictionary", 'nets["main"]'),
            ("slots", "state.net"),
            ("private", "state._net"),
            ("global", "net"),
            ("one-after-another", "model"),
        ):
            with self.subTest(case):
                report = self.same(MODELS, "checkpointing", "--case", case)
                self.assertEqual(len(report["change"]), 2)
                self.assertEqual(
                    report["change"][0]["text"].partition(":")[0], "for block in %s.blocks" % name
                )

    def test_checkpointing_of_several_models(self):
        for case in ("encoder-decoder", "comprehension"):
            with self.subTest(case):
                report = self.same(MODELS, "checkpointing", "--case", case)
                loop, call = [change["text"] for change in report["change"]]
                self.assertIn("[*encoder.blocks, *decoder.blocks]", loop)
                compile("%s\n%s" % (loop, call), "change", "exec")

    def test_checkpointing_of_a_model_that_checkpoints_some_blocks(self):
        for case, state in (("one-checkpointed", "applies"), ("all-checkpointed", "already on")):
            answer = self.plan(MODELS, "--case", case, options=("--all-toggles",))
            (row,) = [row for row in answer["toggles"] if row["name"] == "checkpointing"]
            self.assertEqual((row["state"], bool(row["change"])), (state, state == "applies"))
        self.same(MODELS, "checkpointing", "--case", "one-checkpointed")

    def test_checkpointing_of_copies_on_two_gpus(self):
        self.assertIn(
            "DataParallel",
            self.not_applied(
                MODELS, "checkpointing", "--case", "two-gpus", options=("--devices", "2")
            ),
        )

    def test_other_optimizers_of_torch(self):
        self.already_on(MODELS, ["optimizer=adafactor"], "--case", "adafactor")
        self.assertIn(
            "the optimizer is LBFGS",
            self.not_applied(MODELS, "optimizer=sgd", "--case", "closure"),
        )

    def test_refused_by_name(self):
        for toggles, words in (
            (("bf16", "weights"), "cannot be combined"),
            (("bf61",), "bf16"),
            (("lora=x",), "whole number"),
            (("optimizer",), "adafactor"),
        ):
            options = [word for toggle in toggles for word in ("--toggle", toggle)]
            self.run_vramscope("plan", *options, *command(PLAIN), status=USAGE)
            self.assertIn(words, self.stderr)

    def test_list(self):
        rows = {
            row["name"]: row
            for row in json.loads(self.run_vramscope("toggles", "--json"))["toggles"]
        }
        self.assertEqual(rows["lora"]["value_kind"], "RANK[@MODEL]")
        mine = {
            row["name"]: row
            for row in json.loads(self.run_vramscope("toggles", "--json", *command(PLAIN)))[
                "toggles"
            ]
        }
        self.assertEqual(set(mine), set(rows))
        self.assertEqual(mine["bf16"]["state"], "applies")
        self.assertEqual(mine["checkpointing"]["proposals"], ["non-reentrant"])
        self.assertEqual(mine["lora"]["state"], "does not apply")
        self.assertEqual(mine["zero-grad-to-none"]["state"], "already on")
        self.assertTrue(all(row["why"] for row in mine.values() if row["state"] != "applies"))
        self.assertTrue(all(row["applies_to"] for row in [*rows.values(), *mine.values()]))


class AlreadyOn(Toggles):
    """Tests programs that already have a toggle's setting. The toggle does not change the program,
    and reports this."""

    SETTING = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}
    SETTINGS = [
        "checkpointing",
        "eval-no-grad",
        "expandable-segments",
        "optimizer-impl=fused",
        "zero-grad-to-none",
        "free-gradients",
        "bf16",
    ]

    def test_of_a_loop_of_its_own(self):
        plain = self.plan(ALREADY, options=("--all-toggles",), **self.SETTING)
        already = {one["name"] for one in plain["toggles"] if one["state"] == "already on"}
        self.assertEqual(already, {toggle.split("=")[0] for toggle in self.SETTINGS})
        toggled = self.already_on(ALREADY, [*self.SETTINGS, "sdpa-backend=flash"], **self.SETTING)
        self.assertEqual(toggled["peak"]["allocated"], plain["peak"]["allocated"])

    def test_of_bfloat16_in_other_ways(self):
        for arguments, why in (
            (("--autocast", "around"), "called under autocast in bfloat16"),
            (
                ("--autocast", "weights", "--checkpointing", "reentrant"),
                "weights are already bfloat16",
            ),
        ):
            with self.subTest(arguments):
                answer = self.already_on(ALREADY, ["bf16", "checkpointing"], *arguments)
                self.assertIn(
                    why, next(one["why"] for one in answer["toggles"] if one["name"] == "bf16")
                )

    def test_another_value_is_applied(self):
        toggled = self.plan(
            ALREADY,
            options=("--toggle", "optimizer-impl=for-loop", "--toggle", "sdpa-backend=math"),
        )
        self.assertEqual(
            [(one["state"], one["places"]) for one in toggled["toggles"]], [("applied", 1)] * 2
        )

    @unittest.skipUnless(has("transformers") and has("accelerate"), "no transformers")
    def test_of_trainer(self):
        arguments = ("--hand", "weights,enable-checkpointing")
        plain = self.plan(TRAINER, *arguments)
        toggled = self.already_on(
            TRAINER,
            ["checkpointing", "no-use-cache", "attention", "micro-batch=4", "bf16"],
            *arguments,
        )
        self.assertEqual(toggled["peak"]["allocated"], plain["peak"]["allocated"])
        self.already_on(TRAINER, ["checkpointing", "bf16"], "--hand", "bf16,checkpointing")


class Savings(Toggles):
    def test_compared_with_the_unchanged_program(self):
        toggles = ("checkpointing", "gc-threshold=0.9", "zero-grad-to-none", "lora=4")
        options = [word for toggle in toggles for word in ("--toggle", toggle)]
        answer = json.loads(
            self.run_vramscope(
                "toggles", "--savings", "--json", *options, *command(PLAIN), status=NO
            )
        )
        rows = {row["toggle"]: row for row in answer["rows"]}
        self.assertEqual(tuple(rows), toggles)
        self.assertEqual(
            [row["outcome"][0]["state"] for row in rows.values()],
            ["applied", "applied", "already on", "not applied"],
        )
        own = self.plan(PLAIN, options=("--toggle", "checkpointing"))
        self.assertEqual(rows["checkpointing"]["peak"], own["peak"]["allocated"])
        self.assertEqual(
            rows["checkpointing"]["saves_allocated"],
            answer["start"]["peak"] - own["peak"]["allocated"],
        )
        self.assertFalse(rows["checkpointing"]["same_peak"])
        self.assertEqual(rows["checkpointing"]["changes"], "nothing")
        self.assertTrue(rows["checkpointing"]["label"])
        self.assertTrue(
            rows["gc-threshold=0.9"]["same_peak"], "applied, but there is enough memory"
        )
        self.assertEqual(
            [rows["zero-grad-to-none"][key] for key in ("error", "saves_allocated")], [None, 0]
        )
        self.assertIn("from_pretrained", rows["lora=4"]["error"])

    def test_arrive_one_by_one(self):
        words = [
            VRAMSCOPE,
            "toggles",
            "--savings",
            "--json-lines",
            "--toggle",
            "gc-threshold=0.9",
            "--toggle",
            "lora=4",
            *command(PLAIN),
        ]
        with subprocess.Popen(
            words, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            lines = [(json.loads(line), process.poll()) for line in process.stdout]
        self.assertEqual(process.returncode, NO)
        first, *parts, last = [line for line, _ in lines]
        self.assertEqual(
            [row["toggle"] for row in first["planning"]], ["gc-threshold=0.9", "lora=4"]
        )
        self.assertEqual(
            sorted(part["begun"] for part in parts if "begun" in part),
            ["gc-threshold=0.9", "lora=4"],
        )
        rows = [part["row"] for part in parts if "row" in part]
        self.assertCountEqual(rows, last["rows"])
        self.assertEqual(first["start"], last["start"])
        self.assertIsNone(lines[0][1], "the first line was held back until the end")

    def test_rows_on_a_terminal(self):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        words = [
            VRAMSCOPE,
            "toggles",
            "--savings",
            "--toggle",
            "gc-threshold=0.9",
            "--toggle",
            "lora=4",
            *command(PLAIN),
        ]
        process = subprocess.Popen(
            words,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=slave,
            stderr=subprocess.DEVNULL,
        )
        os.close(slave)
        text, at_row = b"", []
        while True:
            try:
                more = os.read(master, 4096)
            except OSError:  # the other side is closed
                break
            if not more:
                break
            text += more
            if not at_row and b"gc-threshold=0.9" in text:
                at_row.append(process.poll())
        os.close(master)
        self.assertEqual(process.wait(), NO)
        self.assertEqual(at_row, [None], "the row was printed at the end")
        lines = text.decode().splitlines()
        rows = [line for line in lines if "gc-threshold=0.9 " in line or "lora=4 " in line]
        self.assertEqual(len(rows), 2, "rows are not printed again at the end")
        self.assertTrue(all(len(line) <= 100 for line in rows))

    def test_named_by_a_plan(self):
        text = self.run_vramscope("plan", "--toggle", "gc-threshold=0.9", *command(PLAIN))
        self.assertIn("gc-threshold=0.9: applied at one place", text)
        self.assertIn(
            "vramscope toggles --savings --toggle gc-threshold=0.9", " ".join(text.split())
        )
        self.run_vramscope("toggles", "--savings", status=USAGE)
        self.run_vramscope("toggles", "--json-lines", status=USAGE)


class Fit(Toggles):
    def test_three_proposals_that_fit_each_its_own_plan(self):
        start = self.plan(PLAIN)
        # The budget is less than the allocated bytes plus the context, so it does not suffice to
        # release cached memory.
        budget = start["device_context"] + start["peak"]["allocated"] - (40 << 20)
        answer = json.loads(
            self.run_vramscope(
                "fit", "--json", "--budget", "%dB" % budget, "--patience", "600", *command(PLAIN)
            )
        )
        self.assertGreaterEqual(len(answer["proposals"]), 3)
        self.assertFalse(answer["start"]["fits"])
        kinds = [row["changes"] for row in answer["proposals"]]
        self.assertEqual(kinds, sorted(kinds, key=["nothing", "rounding", "training"].index))
        for row in answer["proposals"]:
            self.assertTrue(row["fits"])
            self.assertLessEqual(row["needed"], budget)
            self.assertTrue(all(toggle["change"] for toggle in row["toggles"]))
        sets = [
            {(toggle["name"], toggle["value"]) for toggle in row["toggles"]}
            for row in answer["proposals"]
        ]
        self.assertFalse(
            [one for one in sets for other in sets if other < one], "no proposal contains another"
        )
        names = [
            toggle["name"] + ("=" + toggle["value"] if toggle["value"] else "")
            for toggle in answer["proposals"][0]["toggles"]
        ]
        own = self.plan(
            PLAIN,
            options=[word for name in names for word in ("--toggle", name)]
            + ["--gpu-memory", "%dB" % budget],
        )
        self.assertEqual(
            (own["peak"]["allocated"], own["needed"]),
            (answer["proposals"][0]["peak"], answer["proposals"][0]["needed"]),
        )

    def test_a_program_that_fits(self):
        answer = json.loads(
            self.run_vramscope("fit", "--json", "--budget", "40GiB", *command(PLAIN))
        )
        self.assertTrue(answer["start"]["fits"])
        self.assertEqual((answer["proposals"], answer["single"]), ([], []))
        self.assertLessEqual(answer["plans"], 2)

    def test_nothing_fits(self):
        answer = json.loads(
            self.run_vramscope(
                "fit", "--json", "--budget", "500MiB", "--patience", "1", *command(PLAIN), status=NO
            )
        )
        self.assertFalse(any(row["fits"] for row in answer["proposals"]))

    def written(self, code):
        path = self.path("program.py")
        with open(path, "w") as file:
            file.write(code)
        return path

    def test_programs_that_adapt_to_the_memory(self):
        """They need more on a larger GPU, so only a plan at the budget tells whether they fit."""
        reads = "bytes = torch.cuda.mem_get_info()[0] // 2\n"
        tries = (
            "bytes = 1 << 40\n"
            "while True:\n"
            "    try:\n        torch.empty(bytes, dtype=torch.uint8, device='cuda'); break\n"
            "    except torch.cuda.OutOfMemoryError: bytes //= 2\n"
        )
        for how in (reads, tries):
            with self.subTest(how):
                program = self.written(
                    "import torch\n" + how + "torch.empty(bytes, dtype=torch.uint8, "
                    "device='cuda')\n"
                )
                answer = json.loads(
                    self.run_vramscope("fit", "--json", "--budget", "4GiB", *command(program))
                )
                self.assertTrue(answer["start"]["fits"])
                self.assertLessEqual(answer["start"]["needed"], 4 << 30)
        program = self.written("import torch\n" + reads + "torch.ones(bytes // 4, device='cuda')")
        for size in ("4GiB", "8GiB"):
            answer = json.loads(
                self.run_vramscope(
                    "fit", "--json", "--vary", "x=1", "--gpu-memory", size, *command(program, "{x}")
                )
            )
            plan = self.plan(program, "1", options=("--gpu-memory", size))
            self.assertEqual(answer["rows"][0]["needed"], plan["needed"])

    def test_programs_that_fail_beside_each_other(self):
        program = self.written(
            "import socket, time, torch\n"
            "server = socket.socket(); server.bind(('127.0.0.1', 47123)); time.sleep(1)\n"
            "torch.ones(1 << 20, device='cuda')\n"
        )
        answer = json.loads(self.run_vramscope("toggles", "--savings", "--json", *command(program)))
        self.assertGreaterEqual(len(answer["rows"]), 2)
        self.assertEqual({row["error"] for row in answer["rows"]}, {None})

    def test_vary(self):
        answer = json.loads(
            self.run_vramscope("fit", "--json", "--vary=--batch=1,2", *command(PLAIN))
        )
        self.assertEqual([row["values"] for row in answer["rows"]], [["1"], ["2"]])
        for row in answer["rows"]:
            own = self.plan(PLAIN, "--batch", row["values"][0])
            self.assertEqual(
                (row["peak"], row["needed"]), (own["peak"]["allocated"], own["needed"])
            )
        # The plans above are of a larger GPU and reserve more than a plan with this budget, which
        # releases cached memory in time. So larger batches may fit than the plans above suggest.
        budget = answer["rows"][0]["needed"]
        found = json.loads(
            self.run_vramscope(
                "fit", "--json", "--budget", "%dB" % budget, "--vary=--batch=1..4", *command(PLAIN)
            )
        )
        self.assertIn(found["largest"], (1, 2, 3))
        fits = {int(row["values"][0]): row["fits"] for row in found["rows"]}
        self.assertEqual(fits, {batch: batch <= found["largest"] for batch in fits})
        self.assertIn(found["largest"] + 1, fits)
        self.run_vramscope("fit", "--vary", "seq=1,2", *command(PLAIN), status=USAGE)
        self.assertIn("{seq}", self.stderr)

    def test_waterfall_adds_the_toggles_in_their_order(self):
        words = (
            "waterfall",
            "--json",
            "--toggle",
            "checkpointing",
            "--toggle",
            "bf16",
            *command(PLAIN),
        )
        bars = json.loads(self.run_vramscope(*words))["bars"]
        self.assertEqual([bar["toggle"] for bar in bars], [None, "checkpointing", "bf16"])
        own = self.plan(PLAIN, options=("--toggle", "checkpointing", "--toggle", "bf16"))
        self.assertEqual(bars[2]["peak"], own["peak"]["allocated"])
        self.assertEqual(sum(bar["saves"] for bar in bars), bars[0]["peak"] - bars[2]["peak"])
        self.run_vramscope("waterfall", *command(PLAIN), status=USAGE)
        self.run_vramscope("waterfall", "--toggle", "bf61", *command(PLAIN), status=USAGE)

    def test_waterfall_names_a_toggle_that_does_not_apply_once(self):
        program = self.written("import torch\ntorch.ones(1 << 20, device='cuda')\n")
        self.run_vramscope(
            "waterfall", "--toggle", "checkpointing", *command(program), status=FAILED
        )
        self.assertIn("error: checkpointing: ", self.stderr)
        self.assertNotIn("checkpointing: checkpointing", self.stderr)


class Warm(Toggles):
    """Tests that a plan in a fork of a process with imported packages equals a plan in a new
    process."""

    def serve(self, program, *arguments, options=()):
        return serve(
            program,
            self.path("server"),
            self.path("first/modules.json"),
            self.addCleanup,
            *arguments,
            options=options,
        )

    def equal(self, program, *arguments, options=()):
        common = ("--all-toggles", "--writable", self.folder, *options)
        cold = self.plan(
            program,
            *arguments,
            options=(*common, "--keep", self.path("first"), "-o", self.path("cold.trace")),
        )
        socket = self.serve(program, *arguments, options=("--writable", self.folder, *options))
        for _ in range(2):
            warm = self.plan(
                program,
                *arguments,
                options=(*common, "--warm", socket, "-o", self.path("warm.trace")),
            )
            self.assertIsNone(warm["program"]["cold"])
            for key in ("peak", "peak_by_category", "events", "needed", "assumptions", "toggles"):
                self.assertEqual(warm[key], cold[key], key)
            self.assertEqual(
                [rank["peak"] for rank in warm["ranks"]], [rank["peak"] for rank in cold["ranks"]]
            )
            requests = self.json(
                "diff", self.path("cold.trace"), self.path("warm.trace"), "--requests"
            )["requests"]
            self.assertEqual(requests["equal"], requests["total"])
            sites = [
                self.json(
                    "explain",
                    self.path(name + ".trace"),
                    "--device",
                    "0",
                    "--page",
                    "sites",
                    "--sort",
                    "bytes",
                    "--top",
                    "1000",
                )["sites"]["sites"]
                for name in ("cold", "warm")
            ]
            keys = ("site", "count", "bytes", "category", "peak_live_bytes")
            self.assertEqual(*[[[site[key] for key in keys] for site in of] for of in sites])

    def test_of_a_loop_of_its_own(self):
        self.equal(PLAIN)

    @unittest.skipUnless(has("transformers"), "no transformers")
    def test_of_trainer(self):
        self.equal(TRAINER)

    def test_of_two_ranks(self):
        self.equal("distributed.py", "ddp", options=("--ranks", "2"))

    def test_a_variable_that_a_later_import_may_read(self):
        """In the server, the package would be imported before the program sets the variable."""
        site = self.path("site-packages")
        os.makedirs(site + "/late_reader")
        os.makedirs(site + "/late_reader-1.0.dist-info")
        with open(site + "/late_reader/__init__.py", "w") as file:
            file.write("import os\nMIB = int(os.environ.get('LATE_READER_MIB', 1))\n")
        sets, imports = "os.environ['LATE_READER_MIB'] = '64'", "import late_reader"
        for lines, why in (
            ((sets, imports), "sets LATE_READER_MIB before it imports late_reader"),
            ((imports, sets), None),
        ):
            program = self.path("late.py")
            with open(program, "w") as file:
                file.write(
                    "import os, torch\n%s\n%s\n" % lines
                    + "torch.empty(late_reader.MIB << 20, dtype=torch.uint8, device='cuda')\n"
                )
            self.plan(
                program,
                options=("--all-toggles", "--keep", self.path("first")),
                PYTHONPATH=os.pathsep.join((site, ENVIRONMENT.get("PYTHONPATH", ""))),
            )
            with open(self.path("first/modules.json")) as file:
                told = json.load(file)
            self.assertIn("late_reader", told["modules"])
            self.assertIn(why or "", told["why_not"])
            self.assertEqual(bool(told["why_not"]), why is not None)
            shutil.rmtree(self.path("first"))

    def test_plans_at_the_same_time_do_not_share_gpus(self):
        """The first plan holds its memory until the second one has ended."""
        with open(self.path("holds.py"), "w") as file:
            file.write(
                "import sys\n\nimport torch\n\n"
                "held = torch.empty(768 << 20, dtype=torch.uint8, device='cuda')\n"
                "open(sys.argv[1], 'w').write(repr(torch.cuda.mem_get_info()))\n"
                "open(sys.argv[2]).read()\n"
            )
        alone, holding, beside, hold = map(self.path, ("alone", "holding", "beside", "hold"))
        end = os.devnull
        os.mkfifo(hold)
        options = ("--writable", self.folder, "--gpu-memory", "2GiB")
        program = self.path("holds.py")
        self.plan(
            program, alone, end, options=("--all-toggles", *options, "--keep", self.path("first"))
        )
        socket = self.serve(program, alone, end, options=options)
        with subprocess.Popen(
            [
                VRAMSCOPE,
                "plan",
                "--json",
                *options,
                "--warm",
                socket,
                *command(program, holding, hold),
            ],
            env=ENVIRONMENT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as first:
            while first.poll() is None and not os.path.exists(holding):
                time.sleep(0.05)
            self.assertIsNone(first.poll())
            with open(hold, "w"):  # the first plan ends when this file is closed
                second = self.plan(program, beside, end, options=(*options, "--warm", socket))
                self.assertIsNone(second["program"]["cold"])
                self.assertNotIn("cannot share", self.stderr)
                self.assertIsNone(first.poll())
            self.assertEqual(first.wait(), DONE)
        free = []
        for path in (alone, holding, beside):
            with open(path) as file:
                free.append(file.read())
        self.assertEqual(free, [free[0]] * 3)

    TORCHRUN = ("-m", "torch.distributed.run", "--nproc-per-node", "2")

    def test_of_torchrun(self):
        self.equal(
            (*self.TORCHRUN, os.path.join(HERE, "programs", "distributed.py")),
            "ddp",
            options=("--devices", "2"),
        )
        self.assertNotIn("imports all modules again", self.stderr)

    def test_ranks_of_torchrun_come_from_a_server_of_their_own(self):
        """A rank's parent process shows who started the rank."""
        with open(self.path("rank.py"), "w") as file:
            file.write(
                "import os, sys, torch\nrank = os.environ['RANK']\nblock = torch.empty(1 << 20, "
                "device='cuda:' + rank)\n"
                "with open(%r + sys.argv[1] + rank, 'w') as file:\n"
                "    file.write(open('/proc/%%d/cmdline' %% os.getppid()).read().replace('\\0', "
                "' '))\n"
                "sys.exit(int(sys.argv[2]) * int(rank))\n" % self.path("parent-")
            )

        def parents(name, status, *options):
            try:
                return self.plan(
                    (*self.TORCHRUN, self.path("rank.py")),
                    name,
                    str(status),
                    options=("--devices", "2", *options),
                    status=DONE if status == 0 else FAILED,
                )
            finally:
                self.parents = [
                    open(self.path("parent-%s%d" % (name, rank))).read() for rank in range(2)
                ]

        cold = parents("cold", 0, "--all-toggles", "--keep", self.path("first"))
        self.assertTrue(
            all("torch.distributed.run" in parent for parent in self.parents), self.parents
        )
        socket = self.serve(
            (*self.TORCHRUN, self.path("rank.py")),
            "cold",
            "0",
            options=("--devices", "2", "--writable", self.folder),
        )
        warm = parents("warm", 0, "--warm", socket, "--all-toggles", "--keep", self.path("second"))
        self.assertFalse(
            any("torch.distributed.run" in parent for parent in self.parents), self.parents
        )
        self.assertEqual((warm["peak"], warm["needed"]), (cold["peak"], cold["needed"]))
        ranks = []
        # a warm plan must report the same, because a later server may be started from its report
        for plan in ("first", "second"):
            with open(self.path(plan + "/modules.json")) as file:
                rank = json.load(file)["rank"]
            ranks.append((rank["command"][:-2], rank["environment"]))  # the arguments differ
        self.assertEqual(*ranks)
        parents("cold", 5)
        self.assertIn("exitcode  : 5", self.stderr)
        parents("failing", 5, "--warm", socket)
        self.assertFalse(
            any("torch.distributed.run" in parent for parent in self.parents), self.parents
        )
        self.assertIn("exitcode  : 5", self.stderr)

    def test_of_settings_of_the_allocator(self):
        """PyTorch reads these settings when CUDA is first used, which happens after the server's
        imports."""
        options = ("--writable", self.folder)
        plain = self.plan(PLAIN, options=("--all-toggles", *options, "--keep", self.path("first")))
        socket = self.serve(PLAIN, options=options)
        for toggle in ("expandable-segments", "max-split-size=32", "gc-threshold=0.5"):
            with self.subTest(toggle=toggle):
                cold, warm = (
                    self.plan(PLAIN, options=(*options, "--toggle", toggle, *more))
                    for more in ((), ("--warm", socket))
                )
                self.assertIsNone(warm["program"]["cold"])
                for key in ("peak", "events", "needed", "toggles"):
                    self.assertEqual(warm[key], cold[key], key)
                self.assertEqual(
                    [one["state"] for one in warm["toggles"] if one["on"]], ["applied"]
                )
                if toggle == "expandable-segments":
                    self.assertNotEqual(warm["needed"], plain["needed"])

    def test_of_another_size_of_memory(self):
        """The smaller GPU must release cached memory. The server's GPU has room for all of it."""
        options = ("--all-toggles", "--writable", self.folder)
        room = self.plan(PLAIN, options=(*options, "--keep", self.path("first")))
        small = ("--gpu-memory", "%dB" % (room["needed"] - (16 << 20)))
        cold = self.plan(PLAIN, options=(*options, *small))
        self.assertLess(cold["needed"], room["needed"])
        socket = self.serve(PLAIN, options=("--writable", self.folder))
        for memory, expected in ((small, cold), ((), room)):
            warm = self.plan(PLAIN, options=(*options, *memory, "--warm", socket))
            self.assertIsNone(warm["program"]["cold"])
            for key in ("peak", "events", "needed", "toggles"):
                self.assertEqual(warm[key], expected[key], key)
        other = self.plan(PLAIN, options=(*options, "--device", "t4", "--warm", socket))
        self.assertIn("another GPU", other["program"]["cold"])


class OtherLibraries(Toggles):
    """Tests toggles that set arguments of libraries that are not installed: a package with the same
    modules replaces each."""

    LOOP = (
        "model = torch.nn.Linear(64, 64).cuda()\noptimizer = torch.optim.SGD(model.parameters())\n"
        "model(torch.ones(%s, 64, device='cuda')).sum().backward()\noptimizer.step()\n"
    )

    def package(self, module, code):
        """Writes a package with this module. Returns the environment with which a program finds
        it."""
        folder, *names = self.folder, *module.split(".")
        for name in names[:-1]:
            folder = os.path.join(folder, name)
            os.makedirs(folder)
            open(os.path.join(folder, "__init__.py"), "w").close()
        with open(os.path.join(folder, names[-1] + ".py"), "w") as file:
            file.write(code)
        return {
            "PYTHONPATH": os.pathsep.join(
                filter(None, (self.folder, ENVIRONMENT.get("PYTHONPATH")))
            )
        }

    def report(self, code, toggle, status=DONE, **environment):
        path = self.path("program.py")
        with open(path, "w") as file:
            file.write(code)
        (report,) = self.plan((path,), options=("--toggle", toggle), status=status, **environment)[
            "toggles"
        ]
        return report

    def test_precision_of_lightning(self):
        environment = self.package(
            "lightning.pytorch.trainer.trainer",
            "class Trainer:\n    def __init__(self, precision=None):\n"
            "        self.precision = precision\n",
        )
        code = (
            "import torch\nfrom lightning.pytorch.trainer.trainer import Trainer\ntrainer = "
            "Trainer(%s)\n"
            "assert trainer.precision == 'bf16-mixed'\n" + self.LOOP % 8
        )
        report = self.report(code % "", "bf16", **environment)
        self.assertEqual(
            [(one["text"], one["where"].rpartition(":")[2]) for one in report["change"]],
            [('Trainer(..., precision="bf16-mixed")', "3")],
        )
        self.assertEqual(
            self.report(code % "precision='bf16-mixed'", "bf16", **environment)["state"],
            "already on",
        )

    def test_settings_of_a_recipe_of_torchtune(self):
        settings = {
            "batch_size": 4,
            "gradient_accumulation_steps": 2,
            "compile": False,
            "enable_activation_checkpointing": False,
            "model": {"lora_rank": 64, "lora_attn_modules": ["q_proj"], "apply_lora_to_mlp": True},
            "enable_activation_offloading": False,
        }
        environment = self.package(
            "torchtune.config._parse", "def _merge_yaml_and_cli_args():\n    return %r\n" % settings
        )
        for toggle, changed in (
            ("micro-batch=1", {"batch_size": 1, "gradient_accumulation_steps": 8}),
            ("checkpointing", {"enable_activation_checkpointing": True}),
            (
                "offload",  # the recipes need both
                {"enable_activation_checkpointing": True, "enable_activation_offloading": True},
            ),
            ("compile", {"compile": True}),
            ("lora-rank=8", {"model": {**settings["model"], "lora_rank": 8}}),
        ):
            if toggle == "compile" and not has("triton"):
                continue
            with self.subTest(toggle):
                code = (
                    "import torch\nfrom torchtune.config import _parse\nsettings = "
                    "_parse._merge_yaml_and_cli_args()\n"
                    "assert settings == %r, settings\n" % {**settings, **changed}
                ) + self.LOOP % "settings['batch_size']"
                # this recipe ignores the setting, so the toggle says that nothing was compiled
                compiles = toggle == "compile"
                report = self.report(code, toggle, status=NO if compiles else DONE, **environment)
                words = (
                    "model.lora_rank=8"
                    if "model" in changed
                    else " ".join("%s=%s" % pair for pair in changed.items())
                )
                self.assertEqual(
                    (report["state"], report["change"][0]["text"]),
                    ("no effect" if compiles else "applied", words + "  # on the command line"),
                )


@unittest.skipUnless(TORCH and has("transformers") and has("accelerate"), "no transformers")
class TransformersTrainer(Toggles):
    def test_equal_to_the_change_by_hand(self):
        for toggle in ("bf16", "checkpointing", "micro-batch=1", "weights", "eval-accumulation"):
            with self.subTest(toggle):
                self.same(TRAINER, toggle)

    @unittest.skipUnless(ALL, "VRAMSCOPE_ALL_TOGGLES=1 takes these, too (minutes)")
    def test_others_equal_to_the_change_by_hand(self):
        for toggle in (
            "fp16",
            "optimizer=adafactor",
            "optimizer=sgd",
            "optimizer-impl=foreach",
            "attention=eager",
            "no-use-cache",
            "eval-batch",
            "empty-cache",
        ):
            with self.subTest(toggle):
                self.same(TRAINER, toggle)

    def test_attention_that_a_configuration_asks_for(self):
        report = self.same(TRAINER, "attention=sdpa", "--eager")
        self.assertIn('attn_implementation="sdpa"', report["change"][0]["text"])

    def test_an_optimizer_of_the_program(self):
        """The program passes an optimizer to Trainer, or creates it in a method of Trainer."""
        for toggle, line in (
            ("optimizer=sgd", "torch.optim.SGD(..., lr=0.0001, weight_decay=0.1)"),
            ("optimizer-impl=fused", "torch.optim.AdamW(..., foreach=False, fused=True)"),
        ):
            for option in ("passed", "created"):
                with self.subTest(toggle=toggle, option=option):
                    report = self.same(TRAINER, toggle, "--own-optimizer", option)
                    self.assertEqual([change["text"] for change in report["change"]], [line])
                    row = self.row(toggle.partition("=")[0], TRAINER, "--own-optimizer", option)
                    self.assertEqual(row["state"], "applies")
                    self.assertIn("torch.optim.", row["change"][0]["text"])

    def test_two_trainers(self):
        report = self.same(TRAINER, "bf16", "--second")
        self.assertEqual(
            [change["text"] for change in report["change"]], ["TrainingArguments(..., bf16=True)"]
        )
        for toggle in ("bf16", "weights"):
            self.assertEqual(self.row(toggle, TRAINER, "--second")["state"], "applies")

    def test_a_model_that_has_no_checkpointing(self):
        self.assertIn(
            "Plain has no method gradient_checkpointing_enable",
            self.not_applied(TRAINER, "checkpointing", "--plain"),
        )

    @unittest.skipUnless(TORCH and has("peft"), "no peft")
    def test_adapters(self):
        peaks = {}
        for toggle in ("lora=4", "lora-attention=4", "dora=4"):
            with self.subTest(toggle):
                self.same(TRAINER, toggle)
                peaks[toggle] = self.json("info", self.path("toggled.trace"))["peak"]["allocated"]
        self.assertLess(peaks["lora-attention=4"], peaks["lora=4"])
        self.assertLess(peaks["lora=4"], peaks["dora=4"])

    @unittest.skipUnless(TORCH and has("peft"), "no peft")
    def test_adapters_of_a_student(self):
        """The first model is the teacher, so the adapters belong to the second one."""
        self.assertEqual(self.row("lora", TRAINER, "--teacher")["proposals"], ["8@2"])
        self.same(TRAINER, "lora=4@2", "--teacher")
        for toggle, state, why in (
            ("lora=4", "not usable", "use lora=4@2"),
            ("lora=4@3", "not applied", "creates only 2 models"),
        ):
            self.assertIn(why, self.not_applied(TRAINER, toggle, "--teacher", state=state))

    @unittest.skipUnless(TORCH and has("peft"), "no peft")
    def test_adapters_of_models_that_the_same_line_creates(self):
        for option in ("--model-init", "--one-after-another"):
            with self.subTest(option):
                self.assertEqual(self.row("lora", TRAINER, option)["proposals"], ["8"])
                self.assertEqual(self.same(TRAINER, "lora=4", option)["reached"], 2)

    @unittest.skipUnless(TORCH and has("peft"), "no peft")
    def test_adapters_of_the_program(self):
        own = (TRAINER, "--hand", "own-lora")
        for toggle, line in (
            ("lora-rank=4", "LoraConfig(..., r=4)"),
            ("lora-targets", "LoraConfig(..., target_modules=None)"),
        ):
            with self.subTest(toggle):
                self.same(TRAINER, toggle, also="own-lora")
                (report,) = self.plan(*own, options=("--toggle", toggle))["toggles"]
                self.assertEqual([one["text"] for one in report["change"]], [line])
        self.assertEqual(self.row("lora-rank", *own)["proposals"], ["8", "2"])
        (report,) = self.plan(*own, options=("--toggle", "lora-rank=16"))["toggles"]
        self.assertEqual((report["state"], report["why"]), ("already on", "the rank is already 16"))
        self.assertIn("LoraConfig", self.row("lora-rank", TRAINER)["why"])

    @unittest.skipUnless(TORCH and has("bitsandbytes") and has("peft"), "no bitsandbytes or peft")
    def test_quantized_weights_with_adapters(self):
        self.same(TRAINER, "quantize", "--pretrained", also="lora=4")

    def test_quantization_needs_adapters(self):
        row = self.row("quantize", TRAINER, "--pretrained")
        self.assertEqual(row["state"], "does not apply")
        self.assertRegex(
            row["why"], "quantized weights cannot be trained|bitsandbytes is not installed"
        )
        self.assertIn("only from_pretrained can", self.row("quantize", TRAINER)["why"])

    def test_sharding_among_two_ranks(self):
        self.same(TRAINER, "fsdp", options=("--ranks", "2"))
        self.assertIn("one process", self.row("fsdp", TRAINER)["why"])

    @unittest.skipUnless(TORCH and has("deepspeed"), "no deepspeed")
    def test_deepspeed(self):
        self.same(TRAINER, "zero=2", options=("--ranks", "2"))

    def test_activations_on_the_host(self):
        """Arguments such as those of trl's SFTTrainer have a field for it, others do not."""
        report = self.same(TRAINER, "offload", "--offloading")
        self.assertEqual(
            report["change"][0]["text"], "OffloadingArguments(..., activation_offloading=True)"
        )
        answer = self.already_on(TRAINER, ["offload"], "--offloading", "--hand", "offload")
        self.assertIn("activation_offloading=True", answer["toggles"][0]["why"])
        self.assertIn("not a loop in the program", self.not_applied(TRAINER, "offload"))

    @unittest.skipUnless(TORCH and has("triton"), "no triton")
    def test_compiled(self):
        self.same(TRAINER, "compile")

    def test_batches_of_similar_lengths(self):
        self.same(TRAINER, "group-by-length")

    def test_batches_of_similar_lengths_need_a_sampler_of_trainer(self):
        (report,) = self.plan(
            TRAINER, "--own-sampler", options=("--toggle", "group-by-length"), status=NO
        )["toggles"]
        self.assertIn("OwnSampler chooses the samples", report["why"])

    def test_batches_of_similar_lengths_need_a_loop_that_ends(self):
        self.assertIn(
            "never raises IndexError", self.not_applied(TRAINER, "group-by-length", "--endless")
        )

    def test_lines_for_each_model_that_is_created(self):
        report = self.same(TRAINER, "weights", "--teacher")
        self.assertEqual(len({change["where"] for change in report["change"]}), 2)

    def test_batches_of_an_evaluation_by_the_program(self):
        self.same(TRAINER, "eval-batch", "--evaluate")

    def test_kernels_that_liger_has(self):
        """Reads the list of models in liger-kernel without importing it."""
        package = os.path.join(self.folder, "liger_kernel")
        os.makedirs(os.path.join(package, "transformers"))
        for model, state in (("llama", "applies"), ("gemma", "does not apply")):
            with open(os.path.join(package, "__init__.py"), "w") as file:
                file.write("raise ImportError('must not be imported')\n")
            with open(os.path.join(package, "transformers", "monkey_patch.py"), "w") as file:
                file.write('MODEL_TYPE_TO_APPLY_LIGER_FN = {\n    "%s": apply,\n}\n' % model)
            row = self.row(
                "liger",
                TRAINER,
                PYTHONPATH=os.pathsep.join(
                    filter(None, (self.folder, ENVIRONMENT.get("PYTHONPATH")))
                ),
            )
            self.assertEqual((row["state"], "llama" in row["why"]), (state, state != "applies"))

    def test_arguments_of_the_command_line(self):
        self.assertEqual(
            self.row("checkpointing", TRAINER)["change"][0]["text"],
            "TrainingArguments(..., gradient_checkpointing=True, "
            'gradient_checkpointing_kwargs={"use_reentrant": False})',
        )
        self.assertEqual(
            self.row("checkpointing", TRAINER, "--parse")["change"][-1]["text"],
            '--gradient_checkpointing True --gradient_checkpointing_kwargs \'{"use_reentrant": '
            "false}'  # on the command line",
        )

    def test_a_model_that_is_not_trained(self):
        """Another model is passed to Trainer, which can have adapters."""
        other = (TRAINER, "--pretrained", "--other")
        self.assertRegex(self.row("quantize", *other)["why"], "other than the one|is not installed")
        if has("peft"):
            self.assertEqual(self.row("lora", *other)["proposals"], ["8@2"])

    def test_a_library_that_calls_compile_when_it_is_imported(self):
        self.assertIn("does not use torch.compile", self.row("activation-budget", TRAINER)["why"])

    def row(self, name, program, *arguments, **environment):
        """Returns the toggle's row of `toggles`."""
        answer = self.plan(program, *arguments, options=("--all-toggles",), **environment)
        return next(row for row in answer["toggles"] if row["name"] == name)

    def test_keys_and_values_are_kept_or_not(self):
        """An argument of the call overrides the model's configuration, so only the model's output
        shows whether it keeps a cache."""
        for arguments, state, why in (
            ((), "applies", ""),
            (("--right",), "already on", "is already False"),
            (("--call-without-cache",), "already on", "called with use_cache=False"),
        ):
            with self.subTest(arguments):
                rows = json.loads(
                    self.run_vramscope(
                        "toggles", "--json", *command("findings.py", "kv-cache", *arguments)
                    )
                )["toggles"]
                (row,) = [row for row in rows if row["name"] == "no-use-cache"]
                self.assertEqual(row["state"], state)
                self.assertIn(why, row["why"])
        answer = self.already_on(
            "findings.py", ["no-use-cache"], "kv-cache", "--call-without-cache"
        )
        self.assertIn("use_cache=False", answer["toggles"][0]["why"])

    def test_what_a_callback_sets_in_the_training(self):
        self.assertIn(
            "afterwards",
            self.not_applied(
                TRAINER,
                "eval-accumulation",
                "--undo",
                "eval_accumulation_steps=None",
                "--undo-later",
                state="no effect",
            ),
        )

    def test_what_the_program_sets_afterwards(self):
        self.assertIn(
            "afterwards",
            self.not_applied(
                TRAINER,
                "checkpointing",
                "--undo",
                "gradient_checkpointing=False",
                state="no effect",
            ),
        )


@unittest.skipUnless(TORCH and has("transformers") and has("accelerate"), "no accelerate")
class Accelerator(Toggles):
    RANKS = ("--ranks", "2")

    def test_sharding_among_two_ranks(self):
        report = self.same(ACCELERATE, "fsdp", options=self.RANKS)
        self.assertEqual(
            report["change"][0]["text"],
            "Accelerator(..., fsdp_plugin=accelerate.FullyShardedDataParallelPlugin("
            'sharding_strategy="FULL_SHARD", auto_wrap_policy="transformer_based_wrap", '
            "use_orig_params=True))  # import accelerate",
        )

    def test_blocks_of_a_model_that_does_not_name_them(self):
        report = self.same(ACCELERATE, "fsdp", "--plain", options=self.RANKS)
        self.assertIn(
            'transformer_cls_names_to_wrap=["TransformerEncoderLayer"]', report["change"][0]["text"]
        )
        answer = self.plan(ACCELERATE, "--plain", options=("--all-toggles", *self.RANKS))
        (row,) = [row for row in answer["toggles"] if row["name"] == "fsdp"]
        self.assertEqual((row["state"], row["change"]), ("applies", report["change"]))

    @unittest.skipUnless(TORCH and has("deepspeed"), "no deepspeed")
    def test_deepspeed(self):
        report = self.same(ACCELERATE, "zero=2", options=self.RANKS)
        self.assertEqual(
            report["change"][0]["text"],
            "Accelerator(..., deepspeed_plugin=accelerate.DeepSpeedPlugin(zero_stage=2, "
            "gradient_clipping=1.0))  # import accelerate",
        )

    def test_micro_batches(self):
        for toggle, case, lines in (
            ("micro-batch=2", "loop", ["Accelerator(..., gradient_accumulation_steps=4)"]),
            ("micro-batch=1", "plugin", ["GradientAccumulationPlugin(..., num_steps=8)"]),
            ("micro-batch=2", "next", ["Accelerator(..., gradient_accumulation_steps=4)"]),
        ):
            with self.subTest(case):
                report = self.same(ACCELERATE, toggle, "--accumulate", case)
                lines.append("DataLoader(..., batch_size=%s)" % toggle[-1])
                self.assertEqual([change["text"] for change in report["change"]], lines)
        self.at(ACCELERATE, report, "= Accelerator(", "loader = torch.utils.data.DataLoader(")
        self.same(ACCELERATE, "micro-batch=2", "--accumulate", "loop", options=self.RANKS)

    def test_micro_batches_of_a_program_that_is_only_checked(self):
        checked = self.plan(
            ACCELERATE,
            "--accumulate",
            "loop",
            options=("--all-toggles", "-o", self.path("checked.trace")),
        )
        (row,) = [row for row in checked["toggles"] if row["name"] == "micro-batch"]
        self.assertEqual((row["state"], row["proposals"]), ("applies", ["2", "1"]))
        self.plan(ACCELERATE, "--accumulate", "loop", options=("-o", self.path("plain.trace")))
        counts = self.json(
            "diff", self.path("checked.trace"), self.path("plain.trace"), "--requests"
        )["requests"]
        self.assertEqual(counts["equal_frees_unordered"], counts["total"])

    def test_why_batches_are_not_divided(self):
        for case, why in (
            ("all-cleared", "clear the gradients of earlier micro-batches"),
            ("before", "already before the training"),
            ("cleared", "clear the gradients of earlier micro-batches"),
            ("clip", "would clip the gradients"),
            ("function", "unknown which DataLoader"),
            ("loss", "does not call Accelerator.backward()"),
            ("optimizer", "optimizer that is not prepared"),
            ("sampler", "batch sampler of the program"),
            ("scheduler", "learning rate scheduler"),
            ("several", "several DataLoaders"),
            ("two", "several Accelerators"),
        ):
            with self.subTest(case):
                self.assertIn(
                    why, self.not_applied(ACCELERATE, "micro-batch=2", "--accumulate", case)
                )
        self.assertIn("does not accumulate", self.not_applied(ACCELERATE, "micro-batch=2"))
        loop = (ACCELERATE, "--accumulate", "loop")
        self.assertIn("3 does not divide", self.not_applied(loop[0], "micro-batch=3", *loop[1:]))
        self.already_on(loop[0], ["micro-batch=2"], *loop[1:], "--batch", "1")
        self.assertIn(
            "gradient_accumulation_steps=1 afterwards",
            self.not_applied(
                ACCELERATE, "micro-batch=2", "--accumulate", "set", state="not usable"
            ),
        )

    def test_two_models_in_one_module(self):
        report = self.same(ACCELERATE, "checkpointing", "--two")
        self.assertEqual(len(report["change"]), 2)

    def test_created_only_for_the_number_of_the_process(self):
        """The program trains with transformers' Trainer, whose arguments have to change."""
        arguments = {
            "fsdp=shard_grad_op": 'fsdp="shard_grad_op auto_wrap"',
            "bf16": "bf16=True",
        }
        for toggle, argument in arguments.items():
            with self.subTest(toggle=toggle):
                report = self.same(TRAINER, toggle, "--rank", options=self.RANKS)
                self.assertEqual(
                    [change["text"] for change in report["change"]],
                    ["TrainingArguments(..., %s)" % argument],
                )
        answer = self.plan(TRAINER, "--rank", options=("--all-toggles", *self.RANKS))
        (row,) = [row for row in answer["toggles"] if row["name"] == "fsdp"]
        self.assertEqual(
            [change["text"] for change in row["change"]],
            ['TrainingArguments(..., fsdp="full_shard auto_wrap")'],
        )

    def test_why_it_does_not_apply(self):
        self.assertIn("one process", self.not_applied(ACCELERATE, "fsdp"))
        for arguments, state, why in (
            (("--hand", "fsdp"), "already on", "Accelerator already has fsdp_plugin"),
            (("--unprepared",), "no effect", "trains no model that the library shards"),
        ):
            (report,) = self.plan(
                ACCELERATE,
                *arguments,
                options=("--toggle", "fsdp", *self.RANKS),
                status=NO if state == "no effect" else DONE,
            )["toggles"]
            self.assertEqual(report["state"], state)
            self.assertIn(why, report["why"] + report["overridden"])


@unittest.skipUnless(TORCH and has("lightning"), "no lightning")
class Lightning(Toggles):
    RANKS = ("--ranks", "2")

    def test_sharding_among_two_ranks(self):
        report = self.same(LIGHTNING, "fsdp", options=self.RANKS)
        self.assertEqual(
            [one["text"] for one in report["change"]],
            [
                "from lightning.pytorch.strategies import FSDPStrategy",
                "from torch.nn.modules.transformer import TransformerEncoderLayer",
                "Trainer(..., strategy=FSDPStrategy(auto_wrap_policy={TransformerEncoderLayer}))",
            ],
        )
        answer = self.plan(LIGHTNING, options=("--all-toggles", *self.RANKS))
        (row,) = [row for row in answer["toggles"] if row["name"] == "fsdp"]
        self.assertEqual((row["state"], row["change"]), ("applies", report["change"]))

    @unittest.skipUnless(TORCH and has("deepspeed"), "no deepspeed")
    def test_deepspeed(self):
        report = self.same(LIGHTNING, "zero=2", "--clip", options=self.RANKS)
        self.assertEqual(report["change"][0]["text"], 'Trainer(..., strategy="deepspeed_stage_2")')

    def test_micro_batches(self):
        for loaders, toggle, words in (
            ("passed", "micro-batch=2", ()),
            ("module", "micro-batch=4", ()),
            ("data", "micro-batch=1", ("--limit",)),
        ):
            with self.subTest(loaders):
                report = self.same(LIGHTNING, toggle, "--loaders", loaders, *words)
                parts = 8 // int(toggle[-1])
                limit = ", limit_train_batches=%d" % (2 * parts) if words else ""
                self.assertEqual(
                    [change["text"] for change in report["change"]],
                    [
                        "Trainer(..., accumulate_grad_batches=%d%s)" % (parts, limit),
                        "DataLoader(..., batch_size=%s)" % toggle[-1],
                    ],
                )
                self.at(LIGHTNING, report, "lightning.Trainer(", "batch_size=self.batch, shuffle=")
        self.same(LIGHTNING, "micro-batch=4", "--loaders", "data", options=self.RANKS)

    def test_why_batches_are_not_divided(self):
        for words, why in (
            (("--loaders", "passed", "--manual"), "automatic_optimization=False"),
            (("--loaders", "data", "--schedule"), "GradientAccumulationScheduler"),
            (("--loaders", "module", "--sampler"), "batch sampler of the program"),
            ((), "also evaluates with the training DataLoader"),
        ):
            with self.subTest(words):
                self.assertIn(why, self.not_applied(LIGHTNING, "micro-batch=2", *words))
        loaders = ("--loaders", "passed")
        self.assertIn("3 does not divide", self.not_applied(LIGHTNING, "micro-batch=3", *loaders))
        self.already_on(LIGHTNING, ["micro-batch=2"], *loaders, "--batch", "1")

    def test_why_it_does_not_apply(self):
        self.assertIn("one process", self.not_applied(LIGHTNING, "fsdp"))
        for arguments, state, why in (
            (("--hand", "fsdp"), "already on", "Trainer already has strategy=FSDPStrategy"),
            (("--clip",), "not applied", "Lightning does not clip gradients by their norm"),
        ):
            (report,) = self.plan(
                LIGHTNING,
                *arguments,
                options=("--toggle", "fsdp", *self.RANKS),
                status=NO if state == "not applied" else DONE,
            )["toggles"]
            self.assertEqual(report["state"], state)
            self.assertIn(why, report["why"])


if __name__ == "__main__":
    torch_program.main()

"""Toggles that set arguments of transformers' Trainer that determine how much is computed at a
time."""

import functools
import importlib.util
import os

from vramscope import imports
from vramscope.toggles.declaration import NOTHING, ROUNDING, Toggle, toggle
from vramscope.toggles.micro_batches import MicroBatches
from vramscope.toggles.words import on_command_line


class Argument(Toggle):
    """A toggle that sets fields of TrainingArguments."""

    group, changes, applies_to = "batches", NOTHING, "transformers' Trainer"
    set_to = {}  # the fields that the toggle has set in the last TrainingArguments
    before = {}  # their values before
    begun = None  # (the arguments of the last call of train(), {name: value} of these fields)

    def arguments(self, arguments):
        """Returns the fields to set as {name: value}. If the toggle does not apply, calls refuse()
        or already() and returns {}."""
        raise NotImplementedError

    def training_arguments(self, arguments):
        self.set_to, self.before, self.reported = {}, {}, self.found()
        missing = [name for name in self.needs if not hasattr(arguments, name)]
        if missing:
            self.refuse(
                "the installed transformers version has no TrainingArguments.%s" % missing[0]
            )
            return
        wanted = self.arguments(arguments)
        if wanted and self.reach(self.session.arguments_text(arguments, wanted)):
            self.set_to, self.before = wanted, {name: getattr(arguments, name) for name in wanted}
            for name, value in wanted.items():
                setattr(arguments, name, value)

    def trainer_begins(self, trainer, arguments):
        for name, value in self.set_to.items():
            if getattr(arguments, name) != value:
                self.override(
                    "the program sets %s=%r afterwards" % (name, getattr(arguments, name))
                )
        self.begun = arguments, {name: getattr(arguments, name) for name in self.set_to}

    def finish(self):
        arguments, values = self.begun or (None, {})
        for name, value in values.items() if self.on else ():
            if getattr(arguments, name) != value:  # a callback
                self.override(
                    "the program sets %s=%r afterwards" % (name, getattr(arguments, name))
                )

    def undo(self, arguments, why):
        """Call if the toggle turns out not to apply to this Trainer."""
        for name, value in self.before.items():
            setattr(arguments, name, value)
        self.set_to, self.before, self.begun = {}, {}, None
        self.withdraw_since(why, self.reported)

    def absent(self):
        return "the program does not use transformers' Trainer"


@toggle
class MicroBatch(MicroBatches, Argument):
    name, label, changes = "micro-batch", "Smaller micro-batches with accumulation", ROUNDING
    explains = (
        "The batch of a step is split into more, smaller micro-batches. Activations "
        "need less memory, but the GPU gets less work at once"
    )
    values = "N"
    # used before the program's own batch is known; proposals() returns the divisors of that batch
    tries = ("1",)
    needs = ("per_device_train_batch_size", "gradient_accumulation_steps")
    reduces = {"Activation": 1, "Autograd detail": 1, "Temporary": 1}
    applies_to = (
        "transformers' Trainer, Lightning's Trainer, torchtune's recipes, and loops with "
        "accelerate's Accelerator.accumulate()"
    )
    own = 0

    def arguments(self, arguments):
        return self.parts(*(getattr(arguments, name) for name in self.needs), *self.needs)

    def recipe(self, settings):
        batch, parts = settings.get("batch_size"), settings.get("gradient_accumulation_steps")
        if not isinstance(batch, int) or not isinstance(parts, int):
            return
        wanted = self.parts(batch, parts, "batch_size", "gradient_accumulation_steps")
        if wanted and self.reach(on_command_line(*("%s=%d" % pair for pair in wanted.items()))):
            settings.update(wanted)

    def parts(self, batch, parts, name_of_batch, name_of_parts):
        """Returns {name: value} of the two settings."""
        self.own = batch
        wanted = int(self.value)
        if batch == 1 or batch == wanted:
            self.already(
                "the micro-batch is already one sample"
                if batch == 1
                else "the micro-batch is already %d samples" % batch
            )
            return {}
        if wanted < 1 or wanted >= batch or batch % wanted:
            self.refuse(
                "%d does not divide the program's micro-batch of %d samples" % (wanted, batch)
            )
            return {}
        return {name_of_batch: wanted, name_of_parts: parts * (batch // wanted)}

    def proposals(self):
        parts = [part for part in range(self.own - 1, 0, -1) if self.own % part == 0]
        return [
            str(part)
            for part in ([parts[0], parts[len(parts) // 2], parts[-1]] if len(parts) > 3 else parts)
        ]

    def share(self, value):
        return 1 - int(value) / self.own

    def absent(self):
        if self.accelerators and self.session.prepared:
            return (
                "it is unknown which DataLoader the loop with Accelerator.accumulate() iterates"
                if self.accumulations
                else "the program does not accumulate gradients with Accelerator.accumulate(); "
                "vary the program's own argument for the batch size: vramscope fit "
                "--vary=--batch-size=1..64"
            )
        return (
            "the program creates its batches itself; vary the program's own argument for "
            "their size: vramscope fit --vary=--batch-size=1..64"
        )


@toggle
class GroupByLength(Argument):
    name, label, changes, slow = "group-by-length", "Batches of similar lengths", ROUNDING, True
    explains = (
        "Each batch has samples of similar lengths, so less memory is spent on padding. "
        "The longest batch may still be as long as before. The order of the samples "
        "changes"
    )
    needs = ("group_by_length",)
    reduces = {"Activation": 0.1, "Autograd detail": 0.1, "Temporary": 0.1}

    def arguments(self, arguments):
        if arguments.group_by_length:
            self.already("TrainingArguments already has group_by_length=True")
            return {}
        return {"group_by_length": True}

    def trainer_begins(self, trainer, arguments):
        super().trainer_begins(trainer, arguments)
        why = self.unsuitable(trainer, arguments) if self.reached else ""
        if why:
            self.undo(arguments, why)

    def unsuitable(self, trainer, arguments):
        """Returns why this Trainer ignores or refuses the argument, or ""."""
        own = next(
            (kind for kind in type(trainer).__mro__ if "_get_train_sampler" in kind.__dict__), None
        )
        samples = trainer.train_dataset
        columns = getattr(samples, "column_names", None)
        inputs = (
            getattr(getattr(trainer, "processing_class", None), "model_input_names", None)
            or ["input_ids"]
        )[0]
        layout = getattr(samples, "format", None)
        transformed = isinstance(layout, dict) and layout.get("type") == "custom"
        why = ""
        if own is not None and own.__module__ != "transformers.trainer":
            why = "%s chooses the samples of a batch itself" % own.__name__
        elif not hasattr(samples, "__len__"):
            why = "the data set is a stream, which cannot be sorted by length"
        elif (
            isinstance(columns, list)
            and not transformed
            and not {inputs, getattr(arguments, "length_column_name", "")} & set(columns)
        ):
            why = "the data set has no column %s, whose lengths Trainer compares" % inputs
        elif self.on and self.is_endless(samples):
            why = "Trainer loops over the data set, which never raises IndexError"
        return why

    @staticmethod
    def is_endless(samples):
        """Returns whether a loop over the samples does not end at their number. Only called if the
        toggle is on, because it may change the state of random numbers."""
        if hasattr(type(samples), "__iter__") or not hasattr(type(samples), "__getitem__"):
            return False
        try:
            samples[len(samples)]
        except Exception:  # any exception ends the loop
            return False
        return True


@toggle
class EvalBatch(Argument):
    name, label = "eval-batch", "Smaller batches in evaluation"
    explains = "Evaluation keeps the logits of fewer samples at once"
    values, default, tries, needs = "N", "1", ("1",), ("per_device_eval_batch_size",)
    reduces, reduces_in = (
        {"Activation": 0.9, "Autograd detail": 0.9, "Temporary": 0.9, "Unknown": 0.9},
        "eval",
    )
    applies_to = "transformers' Trainer with an evaluation"

    pending = None  # the line to write, and its place, if Trainer does not evaluate by itself

    def install(self):
        imports.after(self.session.process, "transformers.trainer", self.watch)

    def watch(self, module):
        evaluate = module.Trainer.evaluation_loop

        @functools.wraps(evaluate)
        def evaluation_loop(trainer, *args, **kwargs):
            if self.pending is not None and trainer.args is self.session.trainer:
                line, place = self.pending
                self.reach(line, place=place)
            return evaluate(trainer, *args, **kwargs)

        module.Trainer.evaluation_loop = evaluation_loop

    def arguments(self, arguments):
        if arguments.per_device_eval_batch_size <= int(self.value):
            self.already(
                "per_device_eval_batch_size is already %d" % arguments.per_device_eval_batch_size
            )
            return {}
        wanted = {"per_device_eval_batch_size": int(self.value)}
        self.pending = None
        if str(getattr(arguments.eval_strategy, "value", arguments.eval_strategy)) == "no":
            # It applies if the program itself calls evaluate() or predict().
            self.pending = self.session.arguments_text(arguments, wanted), self.session.place()
            self.refuse("Trainer does not evaluate")
            if self.on:
                arguments.per_device_eval_batch_size = int(self.value)
            return {}
        return wanted


@toggle
class EvalAccumulation(Argument):
    name, label = "eval-accumulation", "Earlier transfer of predictions to the host"
    explains = "Evaluation moves its predictions to the host every N batches instead of at the end"
    values, default, tries, needs = "N", "1", ("1",), ("eval_accumulation_steps",)
    reduces, reduces_in = {"Activation": 0.9, "Temporary": 0.9, "Unknown": 0.9}, "eval"
    applies_to = "transformers' Trainer with an evaluation that keeps predictions"

    def arguments(self, arguments):
        if arguments.eval_accumulation_steps == int(self.value):
            self.already("eval_accumulation_steps is already %s" % self.value)
            return {}
        if str(getattr(arguments.eval_strategy, "value", arguments.eval_strategy)) == "no":
            self.refuse("Trainer does not evaluate")
            return {}
        if arguments.prediction_loss_only:
            self.refuse("evaluation keeps only the loss")
            return {}
        return {"eval_accumulation_steps": int(self.value)}


@toggle
class Liger(Argument):
    name, label, changes = "liger", "Liger kernels", ROUNDING
    explains = (
        "The output layer and the loss are computed together, without storing the "
        "logits of all tokens"
    )
    needs = ("use_liger_kernel",)
    reduces = {"Activation": 0.3, "Autograd detail": 0.9, "Temporary": 0.9}

    def arguments(self, arguments):
        if arguments.use_liger_kernel:
            self.already("TrainingArguments already has use_liger_kernel=True")
        elif importlib.util.find_spec("liger_kernel") is None:
            self.refuse("the package liger-kernel is not installed")
        else:
            return {"use_liger_kernel": True}
        return {}

    def model_made(self, model, where):
        # This is not too late, because Trainer reads its arguments only after it has got its model.
        if self.reached and self.session.calls.trainer:
            base = model.get_base_model() if hasattr(model, "get_base_model") else model
            kind = getattr(getattr(base, "config", None), "model_type", "") or type(base).__name__
            if not _has_liger_kernels(kind):
                why = "liger-kernel has no kernels for %s" % kind
                self.undo(self.session.trainer, why)
        return model


def _has_liger_kernels(kind):
    """Reads liger-kernel's list of models, because importing it changes the program."""
    folder = os.path.dirname(importlib.util.find_spec("liger_kernel").origin or "")
    try:
        with open(
            os.path.join(folder, "transformers", "monkey_patch.py"), encoding="utf-8"
        ) as file:
            table = file.read().partition("MODEL_TYPE_TO_APPLY_LIGER_FN = {")[2].partition("}")[0]
    except OSError:
        return True
    return not table or '"%s":' % kind in table

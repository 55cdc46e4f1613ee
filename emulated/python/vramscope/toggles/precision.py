"""Toggles for lower precision: mixed precision, 16-bit weights."""

import functools
import os
import weakref

from vramscope.toggles.declaration import ROUNDING, Toggle, toggle

_VARIABLE = "ACCELERATE_MIXED_PRECISION"  # accelerate launch sets it


def _name(kind):
    return str(kind).replace("torch.", "")


def _kinds(module):
    return {parameter.dtype for parameter in module.parameters() if parameter.is_floating_point()}


class _Mixed(Toggle):
    """Uses the switch of the library that trains. If the program has its own loop, calls the
    program's model in an autocast context."""

    group, changes = "precision", ROUNDING
    reduces = {"Activation": 0.45, "Autograd detail": 0.3, "Temporary": 0.3}
    argument = ""  # field of TrainingArguments, and accelerate's mixed_precision
    kind = ""  # torch's name of the type

    def install(self):
        # Reads the variable now, because TrainingArguments changes it later.
        self.of_environment = os.environ.get(_VARIABLE, "no")
        # [(TrainingArguments that the toggle has changed, their values before, found() before)]
        self.changed = []

    def training_arguments(self, arguments):
        others = [
            name for name in ("bf16", "fp16") if name != self.argument and getattr(arguments, name)
        ]
        if getattr(arguments, self.argument):
            self.already("TrainingArguments already has %s=True" % self.argument)
        elif not others and self.of_environment == self.argument:
            self.already("%s is already %s" % (_VARIABLE, self.argument))
        else:
            self.change(arguments, others)

    def change(self, arguments, others):
        values = {name: getattr(arguments, name) for name in (self.argument, *others)}
        self.changed.append((arguments, values, self.found()))
        if self.reach(
            self.session.arguments_text(
                arguments, {self.argument: True, **dict.fromkeys(others, False)}
            )
        ):
            setattr(arguments, self.argument, True)
            for name in others:
                setattr(arguments, name, False)

    def set_back(self, arguments, values):
        for name, value in values.items():
            setattr(arguments, name, value)
        os.environ[_VARIABLE] = next(
            (name for name, value in values.items() if value), self.of_environment
        )
        if getattr(arguments, "mixed_precision", None) == self.argument:
            arguments.mixed_precision = os.environ[_VARIABLE]

    def model_made(self, model, where):
        """Undoes the setting for a model with low-precision weights. This is not too late, because
        Trainer reads its arguments only after it has got its model."""
        low = self.low_kinds(model) if self.session.calls.trainer else set()
        for each in [*self.changed] if low else ():
            arguments, values, found = each
            if arguments is self.session.arguments_of_trainer:
                self.withdraw_since(self.why_low(model), found, already=low == {self.kind})
                self.changed.remove(each)
                if self.on:
                    self.set_back(arguments, values)
        return model

    def trainer_begins(self, trainer, arguments):
        changed = any(each is arguments for each, _, _ in self.changed)
        if changed and not getattr(arguments, self.argument):
            self.override("the program sets %s=False afterwards" % self.argument)

    def accelerator(self, keywords):
        there = keywords.get("mixed_precision")
        if str(there) == self.argument:
            self.already('Accelerator already has mixed_precision="%s"' % self.argument)
        elif there is None and self.of_environment == self.argument:
            self.already("%s is already %s" % (_VARIABLE, self.argument))
        elif self.reach('Accelerator(..., mixed_precision="%s")' % self.argument):
            keywords["mixed_precision"] = self.argument

    def lightning(self, keywords):
        wanted, there = (
            {"bf16": "bf16-mixed", "fp16": "16-mixed"}[self.argument],
            str(keywords.get("precision") or "32"),
        )
        if there in (wanted, wanted.partition("-")[0]):
            self.already("%s already has %s" % ("Trainer", 'precision="%s"' % there))
        elif there.endswith("-true") and not there.startswith("32"):
            self.refuse("%s already has %s" % ("Trainer", 'precision="%s"' % there))
        elif self.reach('Trainer(..., precision="%s")' % wanted):
            keywords["precision"] = wanted

    def around_call(self, module):
        if self.session.library or self.session.lightning:
            return None
        under, low = self.under_autocast(), self.low_kinds(module)
        if under:
            (self.already if under == self.kind else self.refuse)(
                "the model is already called under autocast in %s" % under
            )
        elif low:
            (self.already if low == {self.kind} else self.refuse)(self.why_low(module))
        else:
            return self.autocast(module)
        return None

    def autocast(self, module):
        return None

    def low_kinds(self, module):
        """Returns the types of the weights if none of them has 32 bits, otherwise an empty set."""
        kinds = {_name(kind) for kind in _kinds(module)}
        return set() if "float32" in kinds else kinds

    def why_low(self, module):
        return "the weights are already %s" % ", ".join(sorted(self.low_kinds(module)))

    def under_autocast(self):
        """Returns the type of the active autocast, or "" if no autocast is active."""
        torch = self.torch
        try:
            return (
                _name(torch.get_autocast_dtype("cuda")) if torch.is_autocast_enabled("cuda") else ""
            )
        except (AttributeError, TypeError):  # before 2.4
            return _name(torch.get_autocast_gpu_dtype()) if torch.is_autocast_enabled() else ""


@toggle
class Bf16(_Mixed):
    name, label, argument, kind, excludes = (
        "bf16",
        "Mixed precision in bfloat16",
        "bf16",
        "bfloat16",
        ("fp16", "weights"),
    )
    explains = (
        "Matrix products and their saved tensors use bfloat16. The weights keep their "
        "type and get an additional copy in bfloat16"
    )
    applies_to = (
        "TrainingArguments, Accelerator, Lightning's Trainer, and models with 32-bit "
        "weights that are called outside autocast"
    )

    def install(self):
        super().install()
        self.ours = None  # the autocast around the present call
        self.depth = 0  # nesting of the program's own autocasts in this type
        # Whether a part of a model under the toggle's autocast was called inside one of the
        # program's own autocasts
        # (inside), and outside of them (outside).
        self.inside = self.outside = False
        kind = self.torch.amp.autocast_mode.autocast
        kind.__enter__, kind.__exit__ = (
            self.counted(kind.__enter__, 1),
            self.counted(kind.__exit__, -1),
        )

    def counted(self, function, change):
        @functools.wraps(function)
        def wrapper(context, *args):
            if (
                context is not self.ours
                and context.device == "cuda"
                and context._enabled
                and _name(context.fast_dtype) == self.kind
            ):
                self.depth += change
            return function(context, *args)

        return wrapper

    def inner_call(self, module):
        if (
            self.ours is None
            or next(module.children(), None) is not None
            or next(module.parameters(), None) is None
        ):
            return
        self.inside = self.inside or self.depth > 0
        self.outside = self.outside or self.depth <= 0

    def after_call(self, module, output):
        self.ours = None

    def finish(self):
        if self.reached and self.inside and not self.outside:
            self.withdraw("the model's own forward uses autocast in %s" % self.kind, already=True)

    def autocast(self, module):
        self.ours = self.torch.autocast("cuda", dtype=self.torch.bfloat16)
        line = 'with torch.autocast("cuda", dtype=torch.bfloat16):  # around the forward pass'
        return self.ours if self.reach(line) else None


@toggle
class Fp16(_Mixed):
    name, label, argument, kind, excludes = (
        "fp16",
        "Mixed precision in float16",
        "fp16",
        "float16",
        ("bf16", "weights"),
    )
    explains = "Like bf16, but for GPUs without bfloat16. Gradients are scaled"
    applies_to = "TrainingArguments, Accelerator, and Lightning's Trainer"

    def proposals(self):
        return []  # not worth a plan: bfloat16 applies in the same places

    def absent(self):
        return (
            "in the program's own training loop, no toggle can add the scaling that float16 "
            "gradients need; use bf16"
        )


@toggle
class Weights(Toggle):
    name, label, group, changes = "weights", "16-bit weights", "precision", ROUNDING
    explains = (
        "Weights, gradients and optimizer state have 16 bits per number, so the "
        "training runs at lower precision"
    )
    values, default, tries, excludes = ("bf16", "fp16"), "bf16", ("bf16",), ("bf16", "fp16")
    reduces = {
        "Parameter": 0.5,
        "Gradient": 0.5,
        "Optimizer state": 0.5,
        "Activation": 0.45,
        "Autograd detail": 0.3,
        "Temporary": 0.3,
    }
    applies_to = "models created by transformers' from_pretrained or from_config"

    @property
    def kind(self):
        return self.torch.float16 if self.value == "fp16" else self.torch.bfloat16

    def loads_model(self, keywords, which):
        import transformers

        version = tuple(int(part) for part in transformers.__version__.split(".")[:2])
        name = "dtype" if version >= (4, 56) else "torch_dtype"
        self.reported = self.found()
        there = keywords.get("dtype", keywords.get("torch_dtype"))
        if there in (self.kind, str(self.kind), _name(self.kind)):
            self.already("%s already has %s" % (which, self.kind))
        elif self.change(which, name):
            keywords.pop("torch_dtype", None)
            keywords[name] = self.kind

    def change(self, which, name):
        """Tells the change to make by hand. Returns whether to make it."""
        arguments = self.session.trainer
        if self.session.loading_class() and hasattr(arguments, "model_init_kwargs"):
            return self.reach(
                self.session.arguments_text(
                    arguments, {"model_init_kwargs": {name: _name(self.kind)}}
                ),
                place=self.session.trainer_place,
            )
        return self.reach("%s(..., %s=%s)" % (which, name, self.kind))

    def install(self):
        self.made = weakref.WeakSet()
        self.reported = self.found()  # before the last model was loaded

    def model_made(self, model, where):
        if self.reached:
            if not self.on and _kinds(model) == {self.kind}:
                why = "%s is created with %s" % (type(model).__name__, self.kind)
                self.withdraw_since(why, self.reported, already=True)
            else:
                self.made.add(model)
        return model

    def before_call(self, module):
        for part in module.modules() if self.reached else ():
            if part not in self.made:
                continue
            if not self.on and _kinds(part) == {self.kind}:
                self.withdraw(
                    "the program itself converts the weights to %s" % self.kind, already=True
                )
            elif self.on and self.kind not in _kinds(part):
                self.override("the program converts the weights afterwards")

    def absent(self):
        return "the model is not created by transformers' from_pretrained or from_config"

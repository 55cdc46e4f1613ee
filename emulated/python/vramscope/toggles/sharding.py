"""Toggles that divide the training state among several GPUs, for transformers' Trainer,
accelerate's Accelerator and Lightning's Trainer."""

import functools
import importlib.util
import os
import sys

from vramscope.toggles.activations import repeated_blocks
from vramscope.toggles.batches import Argument
from vramscope.toggles.declaration import ROUNDING, toggle
from vramscope.toggles.session import unwrapped
from vramscope.toggles.words import literal

# arguments of Accelerator that divide the state
_PLUGINS = ("fsdp_plugin", "deepspeed_plugin", "deepspeed_plugins", "megatron_lm_plugin")
# classes of models whose state is divided
_SHARDED = ("FullyShardedDataParallel", "DeepSpeedEngine")


def _by_environment():
    """Returns whether `accelerate launch` was asked to divide the state."""
    return (
        os.environ.get("ACCELERATE_USE_FSDP") == "true"
        or os.environ.get("ACCELERATE_USE_DEEPSPEED") == "true"
    )


def _blocks(model):
    """Returns the classes of the model's repeated blocks. Returns [] if the program itself has
    already wrapped them."""
    kinds = {type(block) for blocks in repeated_blocks(model).values() for block in blocks}
    return sorted(
        (kind for kind in kinds if kind.__name__ not in _SHARDED), key=lambda kind: kind.__name__
    )


class _Sharding(Argument):
    group, changes = "sharding", ROUNDING
    applies_to = (
        "transformers' Trainer, accelerate's Accelerator and Lightning's Trainer, with several "
        "processes"
    )
    keyword = ""  # argument of Accelerator
    variable = ""  # environment variable that Accelerator sets if the argument is given
    in_library = False  # Accelerator or Lightning's Trainer was created with the change
    # Until the line to write is known: (where Accelerator or Lightning's Trainer is created, the
    # function that returns the line for a model).
    pending = None
    divided = None  # whether the state of a model that the program trains is divided

    def sharded(self, arguments):
        """Returns why the state is already divided, or ""."""
        if arguments.fsdp:
            return "TrainingArguments already has fsdp"
        if arguments.deepspeed:
            return "TrainingArguments already has deepspeed"
        if _by_environment():
            return "accelerate's configuration already shards the model"
        return ""

    def possible(self):
        """Returns whether the program has several processes and the packages that it needs.
        Otherwise calls refuse()."""
        several = int(os.environ.get("WORLD_SIZE", "1") or 1) > 1
        if not several:
            self.refuse(
                "the program runs as one process; start it with torchrun, or plan it with --ranks 2"
            )
        return several

    def arguments(self, arguments):
        if self.sharded(arguments):
            self.already(self.sharded(arguments))
        elif self.possible():
            return self.settings()
        return {}

    def accelerator(self, keywords):
        if self.reached:  # other Accelerators share the state of the first one
            return
        there = next((name for name in _PLUGINS if keywords.get(name) is not None), "")
        if there:
            self.already("%s already has %s" % ("Accelerator", there))
        elif _by_environment():
            self.already("accelerate's configuration already shards the model")
        elif keywords.get("cpu"):
            self.refuse("Accelerator has cpu=True")
        elif self.possible():
            import accelerate

            name, arguments = self.plugin()
            kind = getattr(accelerate, name)
            missing = [one for one in arguments if one not in kind.__dataclass_fields__]
            if missing:
                self.refuse("the installed accelerate version has no %s.%s" % (name, missing[0]))
                return
            self.pending = self.session.place(), self.line_of_accelerator
            if self.reach():
                self.in_library = True
                keywords[self.keyword] = self.made(kind(**arguments))

    def accelerator_unused(self, found):
        if self.in_library:
            os.environ.pop(self.variable, None)  # Accelerator set it because of the plugin
        self.in_library, self.pending = False, None
        super().accelerator_unused(found)

    def library_unused(self, found):
        # If the toggle is on, finish() tells that it has no effect.
        if self.pending is None or not self.on:
            was_pending, self.pending = self.pending, None
            super().library_unused(found)
            if was_pending is not None:
                self.refuse("the program trains no model that the library shards")

    def made(self, plugin):
        return plugin

    def line_of_accelerator(self, model):
        name, arguments = self.plugin(model)
        words = ", ".join("%s=%s" % (one, literal(value)) for one, value in arguments.items())
        line = "Accelerator(..., %s=accelerate.%s(%s))  # import accelerate"
        return [line % (self.keyword, name, words)]

    def lightning(self, keywords):
        strategy = keywords.get("strategy") or "auto"
        name = strategy if isinstance(strategy, str) else type(strategy).__name__
        kind = name.lower().replace("_", "")
        there = "strategy=%s" % (literal(name) if name is strategy else name)
        if any(word in kind for word in ("fsdp", "fullysharded", "deepspeed", "modelparallel")):
            self.already("%s already has %s" % ("Trainer", there))
        elif kind != "auto" and not kind.startswith("ddp"):
            self.refuse("%s already has %s" % ("Trainer", there))
        elif keywords.get("accelerator") == "cpu":
            self.refuse("%s already has %s" % ("Trainer", 'accelerator="cpu"'))
        elif not self.possible() or not self.can_clip(keywords):
            return
        elif not hasattr(self.strategies(), self.needs_strategy):
            self.refuse("the installed Lightning version has no %s" % self.needs_strategy)
        else:
            self.pending = self.session.place(), self.lines_of_lightning
            if self.reach():
                self.in_library = True
                keywords["strategy"] = self.strategy()

    def strategies(self):
        return sys.modules.get(self.session.lightning + ".strategies")

    def clips_by(self, keywords, algorithm):
        """Returns whether Lightning clips the gradients by their "norm" or "value"."""
        given = str(keywords.get("gradient_clip_algorithm") or "norm").lower()
        return bool(keywords.get("gradient_clip_val")) and given.endswith(algorithm)

    def write(self, model):
        """Adds the line to write to the report. `model`: the model that is divided, or None if it
        is unknown."""
        if self.pending is not None:
            (place, text), self.pending = self.pending, None
            for line in text(model):
                self.lines.setdefault((line, ""), place)

    def before_call(self, module):
        model = unwrapped(module)
        if not model.training:
            return
        if self.in_library:
            if not self.divided:
                self.divided = any(type(part).__name__ in _SHARDED for part in module.modules())
        elif self.pending is not None:
            self.write(model)

    def finish(self):
        if self.divided is False:
            self.override("the program trains no model that the library shards")
        self.write(None)

    def absent(self):
        return (
            "the program uses neither transformers' Trainer, accelerate's Accelerator nor "
            "Lightning's Trainer"
        )

    def trainer_begins(self, trainer, arguments):
        # TrainingArguments itself completes the settings, so they are not compared.
        for name in self.set_to:
            if not getattr(arguments, name):
                self.override("the program removes %s afterwards" % name)


@toggle
class Fsdp(_Sharding):
    name, label, needs = "fsdp", "Fully sharded data parallel (FSDP)", ("fsdp", "deepspeed")
    explains = (
        "Each GPU stores only its part of the parameters, gradients and optimizer "
        "state, and gathers the parameters of one block at a time"
    )
    values, default, tries, excludes = (
        ("full_shard", "shard_grad_op"),
        "full_shard",
        ("full_shard",),
        ("zero",),
    )
    reduces = {"Parameter": 0.5, "Gradient": 0.5, "Optimizer state": 0.5}
    keyword, variable = "fsdp_plugin", "ACCELERATE_USE_FSDP"
    needs_strategy = "FSDPStrategy"

    def settings(self):
        return {"fsdp": "%s auto_wrap" % self.value}

    def plugin(self, model=None):
        """Returns (class of accelerate, its arguments)."""
        arguments = {
            "sharding_strategy": self.value.upper(),
            "auto_wrap_policy": "transformer_based_wrap",
            # The program creates the optimizer before accelerate divides the parameters, and some
            # parameters may be frozen.
            "use_orig_params": True,
        }
        # Without this attribute, accelerate would wrap no block.
        if model is not None and not getattr(model, "_no_split_modules", None):
            names = [kind.__name__ for kind in _blocks(model)]
            if names:
                arguments["transformer_cls_names_to_wrap"] = names
        return "FullyShardedDataParallelPlugin", arguments

    def made(self, plugin):
        """The classes of the model's blocks are known only when accelerate prepares the model."""
        prepare = plugin.set_auto_wrap_policy

        @functools.wraps(prepare)
        def set_auto_wrap_policy(model):
            if self.pending is not None:
                names = self.plugin(model)[1].get("transformer_cls_names_to_wrap")
                plugin.transformer_cls_names_to_wrap = names or plugin.transformer_cls_names_to_wrap
                self.write(model)
            return prepare(model)

        plugin.set_auto_wrap_policy = set_auto_wrap_policy
        return plugin

    def can_clip(self, keywords):
        """Returns whether Lightning can clip the gradients as the program asks. Otherwise calls
        refuse()."""
        impossible = self.clips_by(keywords, "norm")
        if impossible:
            self.refuse("Lightning does not clip gradients by their norm with FSDP")
        return not impossible

    def own_strategy(self):
        """Returns the arguments of FSDPStrategy that differ from its defaults."""
        return {"sharding_strategy": self.value.upper()} if self.value != self.default else {}

    def strategy(self):
        """The classes of the model's blocks are known only when Lightning sets up the model."""
        strategy = self.strategies().FSDPStrategy(**self.own_strategy())
        begin = strategy.setup

        @functools.wraps(begin)
        def setup(trainer):
            from torch.distributed.fsdp.wrap import ModuleWrapPolicy

            kinds = _blocks(strategy.model)
            if kinds:
                strategy.kwargs["auto_wrap_policy"] = ModuleWrapPolicy(kinds)
            self.write(strategy.model)
            return begin(trainer)

        strategy.setup = setup
        return strategy

    def lines_of_lightning(self, model):
        kinds = _blocks(model) if model is not None else []
        words = ["%s=%s" % (name, literal(value)) for name, value in self.own_strategy().items()]
        if kinds:
            words.append("auto_wrap_policy={%s}" % ", ".join(kind.__name__ for kind in kinds))
        if not words:
            return ['Trainer(..., strategy="fsdp")']
        return [
            "from %s.strategies import FSDPStrategy" % self.session.lightning,
            *(
                "from %s import %s" % (kind.__module__, kind.__name__)
                for kind in kinds
                if kind.__module__ != "__main__"
            ),
            "Trainer(..., strategy=FSDPStrategy(%s))" % ", ".join(words),
        ]


@toggle
class Zero(_Sharding):
    name, label, needs = "zero", "DeepSpeed ZeRO", ("fsdp", "deepspeed")
    explains = (
        "Stage 2 divides the gradients and the optimizer state among the GPUs, stage 3 "
        "also the parameters"
    )
    values, default, tries, excludes = ("2", "3"), "2", ("2", "3"), ("fsdp",)
    reduces = {"Gradient": 0.5, "Optimizer state": 0.5}
    keyword, variable = "deepspeed_plugin", "ACCELERATE_USE_DEEPSPEED"
    needs_strategy = "DeepSpeedStrategy"

    def possible(self):
        if not super().possible():
            return False
        installed = importlib.util.find_spec("deepspeed") is not None
        if not installed:
            self.refuse("the package deepspeed is not installed")
        return installed

    def settings(self):
        automatic = {
            name: "auto"
            for name in (
                "train_batch_size",
                "train_micro_batch_size_per_gpu",
                "gradient_accumulation_steps",
            )
        }
        return {
            "deepspeed": {
                "zero_optimization": {"stage": int(self.value)},
                "bf16": {"enabled": "auto"},
                **automatic,
            }
        }

    def plugin(self, model=None):
        # DeepSpeed clips the gradients instead of the program. This norm is accelerate's default.
        return "DeepSpeedPlugin", {"zero_stage": int(self.value), "gradient_clipping": 1.0}

    def can_clip(self, keywords):
        impossible = self.clips_by(keywords, "value")
        if impossible:
            self.refuse("DeepSpeed does not clip gradients by their value")
        return not impossible

    def strategy(self):
        return "deepspeed_stage_%s" % self.value

    def lines_of_lightning(self, model):
        return ['Trainer(..., strategy="%s")' % self.strategy()]

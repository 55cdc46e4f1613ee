"""Toggles that compile a model, and set what compiled models keep for backward."""

import functools
import importlib.util

from vramscope.toggles.activations import repeated_blocks
from vramscope.toggles.declaration import NOTHING, ROUNDING, Toggle, toggle


def _is_compiled(torch, module):
    optimized = getattr(getattr(torch, "_dynamo", None), "OptimizedModule", ())
    return any(
        isinstance(part, optimized) or getattr(part, "_compiled_call_impl", None) is not None
        for part in module.modules()
    )


@toggle
class Compile(Toggle):
    name, label, group, changes, slow = "compile", "torch.compile", "compilation", ROUNDING, True
    explains = (
        "Fused kernels store fewer intermediate tensors, and backward recomputes what "
        "is cheap to recompute. Compiling takes a minute or more"
    )
    applies_to = "TrainingArguments, and models with a list of blocks of the same class"
    reduces = {"Activation": 0.4, "Autograd detail": 0.4, "Temporary": 0.4}

    def install(self):
        self.seen = set()
        self.set_to = False

    def unavailable(self):
        return (
            ""
            if importlib.util.find_spec("triton") is not None
            else "the package triton is not installed"
        )

    def training_arguments(self, arguments):
        if not hasattr(arguments, "torch_compile"):
            self.refuse("the installed transformers version has no TrainingArguments.torch_compile")
        elif arguments.torch_compile:
            self.already("TrainingArguments already has torch_compile=True")
        elif self.unavailable():
            self.refuse(self.unavailable())
        elif self.reach("TrainingArguments(..., torch_compile=True)"):
            arguments.torch_compile = self.set_to = True

    def trainer_begins(self, trainer, arguments):
        if self.set_to and not arguments.torch_compile:
            self.override("the program sets torch_compile=False afterwards")

    def before_call(self, module):
        if not module.training or not self.torch.is_grad_enabled() or module in self.seen:
            return
        self.seen.add(module)
        if _is_compiled(self.torch, module):
            if not self.reached:
                self.already("the model is already compiled")
            return
        if self.session.trainer is not None:
            return
        name, blocks = repeated_blocks(module)
        if not blocks:
            self.refuse("%s has no list of modules of the same class" % type(module).__name__)
        elif self.unavailable():
            self.refuse(self.unavailable())
        elif self.reach(
            "for block in %s:" % (("model." + name) if name else "model"), "    block.compile()"
        ):
            for block in blocks:
                block.compile()


@toggle
class ActivationBudget(Toggle):
    name, label, group, changes, slow = (
        "activation-budget",
        "Activation memory budget of torch.compile",
        "compilation",
        NOTHING,
        True,
    )
    explains = (
        "Compiled models keep at most this share of their activations for backward, and "
        "recompute the others"
    )
    values, default, tries = "FRACTION", "0.5", ("0.5", "0.1")
    applies_to = "programs that use torch.compile"
    reduces = {"Activation": 0.5, "Autograd detail": 0.5}

    def install(self):
        try:
            from torch._functorch import config
        except ImportError:
            config = None
        if not hasattr(config, "activation_memory_budget"):
            self.refuse("the installed PyTorch version has no activation_memory_budget")
            return
        self.config = config
        self.torch.compile = self.before(self.torch.compile)
        self.torch.nn.Module.compile = self.before(self.torch.nn.Module.compile)

    def before(self, function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            self.compiles()
            return function(*args, **kwargs)

        return wrapper

    def compiles(self):
        if self.reached:
            return
        now = self.config.activation_memory_budget
        if now != 1.0:
            self.already("the program already sets activation_memory_budget=%s" % now)
        elif self.reach("torch._functorch.config.activation_memory_budget = %s" % self.value):
            self.config.activation_memory_budget = float(self.value)

    def finish(self):
        if self.on and self.reached and self.config.activation_memory_budget != float(self.value):
            self.override(
                "the program sets activation_memory_budget=%s afterwards"
                % self.config.activation_memory_budget
            )

    def absent(self):
        return "the program does not use torch.compile"

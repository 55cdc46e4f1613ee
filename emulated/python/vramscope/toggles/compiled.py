"""Toggles that compile a model, and set what compiled models keep for backward."""

import functools
import importlib.util
import sys
import weakref

from vramscope.toggles.activations import Loops, loop_over_blocks
from vramscope.toggles.declaration import NOTHING, ROUNDING, Toggle, toggle
from vramscope.toggles.words import on_command_line


def _is_compiled(torch, module):
    optimized = getattr(getattr(torch, "_dynamo", None), "OptimizedModule", ())
    return any(
        isinstance(part, optimized) or getattr(part, "_compiled_call_impl", None) is not None
        for part in module.modules()
    )


def compiled_graphs():
    """Returns how many graphs torch.compile has compiled in this process."""
    counters = getattr(sys.modules.get("torch._dynamo.utils"), "counters", {})
    return counters.get("stats", {}).get("unique_graphs", 0)


@toggle
class Compile(Toggle):
    name, label, group, changes, slow = "compile", "torch.compile", "compilation", ROUNDING, True
    explains = (
        "Fused kernels store fewer intermediate tensors, and backward recomputes what "
        "is cheap to recompute. Compiling takes a minute or more"
    )
    applies_to = (
        "TrainingArguments, torchtune's recipes, and models with a list of blocks of the same class"
    )
    reduces = {"Activation": 0.4, "Autograd detail": 0.4, "Temporary": 0.4}

    def install(self):
        self.seen, self.loops = weakref.WeakSet(), Loops()
        self.set_to = False
        self.by_recipe = False  # the program is a recipe of torchtune that can compile its model

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
        elif self.reach(self.session.arguments_text(arguments, {"torch_compile": True})):
            arguments.torch_compile = self.set_to = True

    def trainer_begins(self, trainer, arguments):
        if self.set_to and not arguments.torch_compile:
            self.override("the program sets torch_compile=False afterwards")

    def recipe(self, settings):
        if not isinstance(settings.get("compile"), bool):
            return
        if settings["compile"]:
            self.already("the model is already compiled")
        elif self.unavailable():
            self.refuse(self.unavailable())
        elif self.reach(on_command_line("compile=True")):
            settings["compile"] = True
        self.by_recipe = True

    def before_call(self, module):
        # Also before the first evaluation, which runs the compiled model, too. Frozen models are
        # not compiled.
        if module in self.seen or not any(
            parameter.requires_grad for parameter in module.parameters()
        ):
            return
        if _is_compiled(self.torch, module):
            if not self.reached:
                self.already("the model is already compiled")
            self.seen.add(module)
            return
        if self.session.library == "Trainer" or self.by_recipe:
            return
        self.seen.add(module)
        blocks, names, place = loop_over_blocks(self.session, module)
        if not blocks:
            self.refuse("%s has no list of modules of the same class" % type(module).__name__)
        elif self.unavailable():
            self.refuse(self.unavailable())
        elif not type(blocks[0]).__module__.startswith("torch."):
            if self.loops.reach(self, names, "    block.compile()", place):
                for block in blocks:
                    block.compile()
        # compile() of a module skips code that belongs to torch.
        elif self.loops.reach(
            self, names, "    block.forward = torch.compile(block.forward)", place
        ):
            for block in blocks:
                block.forward = self.torch.compile(block.forward)

    def finish(self):
        if self.on and self.reached and not compiled_graphs():
            self.override("PyTorch compiled nothing")


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
        self.changed = False  # the toggle has set the budget
        # the line of the program that imports a library that calls torch.compile
        self.imported = ""
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
        """Called by torch.compile. Libraries call it when they are imported, for functions that the
        program may never use."""
        now = self.config.activation_memory_budget
        if now != (float(self.value) if self.changed else 1.0):
            self.already("the program already sets activation_memory_budget=%s" % now)
            return
        if self.on:
            self.config.activation_memory_budget, self.changed = float(self.value), True
        frame, called = self.session.users_frames()
        if called is not None and called.f_code.co_filename.startswith("<frozen importlib"):
            self.imported = self.imported or self.session.place()
        elif not self.reached:
            self.reach(self.change())

    def change(self):
        return (
            "torch._functorch.config.activation_memory_budget = %s  # import "
            "torch._functorch.config" % self.value
        )

    def finish(self):
        if not compiled_graphs():
            if self.reached:
                self.withdraw(self.absent())
        elif self.imported and not self.reached and not self.already_on:
            self.reach(self.change(), place=self.imported)
        if self.on and self.reached and self.config.activation_memory_budget != float(self.value):
            self.override(
                "the program sets activation_memory_budget=%s afterwards"
                % self.config.activation_memory_budget
            )

    def absent(self):
        return "the program does not use torch.compile"

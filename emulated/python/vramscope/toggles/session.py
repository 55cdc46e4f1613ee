"""Installs one hook for each place where toggles are applied: calls of models, optimizers,
arguments of transformers and accelerate. It also stores facts about the program (whether it clips
gradients, which library trains), on which toggles depend."""

import functools
import inspect
import os
import sys
import threading

from vramscope import imports, packages

OPTIMIZERS = (
    "SGD",
    "Adam",
    "AdamW",
    "NAdam",
    "RAdam",
    "Adamax",
    "Adagrad",
    "Adadelta",
    "RMSprop",
    "Rprop",
    "ASGD",
)
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class _Calls(threading.local):
    def __init__(self):
        self.root = None  # the outermost module that this thread is in
        self.again = 0  # nested calls of that module
        self.contexts = []
        self.making = 0  # nesting of optimizers being created
        self.making_own = False  # a toggle creates an optimizer
        self.loading = 0  # nesting of from_pretrained
        self.trainer = 0  # nesting within transformers' Trainer


class Session:
    def __init__(self, process, kinds, chosen):
        self.process = process
        self.torch = process.torch
        self.chosen = chosen
        self.toggles = [
            kind(self, kind.name in chosen, chosen.get(kind.name)) for kind in kinds.values()
        ]
        self.inner = [toggle for toggle in self.toggles if hasattr(toggle, "inner_call")]
        self.calls = _Calls()
        self.trainer = None  # transformers' TrainingArguments; None until the program creates them
        self.accelerated = False  # the program itself uses accelerate
        # the place in the program that clips gradients (clips) or scales them (scales)
        self.clips = self.scales = ""
        self.forwards = 0  # training forward passes since the last step
        self.accumulates = False  # a step has several training forward passes
        self.steps = 0
        self.roots = []  # models called outermost: (class, parameters)

    def install(self):
        self.process.toggles = self
        unknown = [
            name for name in self.chosen if name not in {toggle.name for toggle in self.toggles}
        ]
        assert not unknown, unknown  # the command line has already refused unknown names
        part = self.process.part
        for toggle in self.toggles:
            part("not applied: %s" % toggle.name, toggle.install)
        part("toggles that act when a model is called", self._watch_calls)
        part("toggles for optimizers", self._watch_optimizers)
        part("gradient clipping is not detected", self._watch_gradients)
        imports.after(self.process, "transformers.training_args", self._watch_arguments)
        imports.after(self.process, "transformers.trainer", self._watch_trainer)
        imports.after(self.process, "transformers.modeling_utils", self._watch_models)
        imports.after(
            self.process, "transformers.models.auto.auto_factory", self._watch_auto_models
        )
        imports.after(self.process, "accelerate.accelerator", self._watch_accelerator)

    def each(self, place, *arguments):
        for toggle in self.toggles:
            getattr(toggle, place)(*arguments)

    def toggle(self, name):
        return next(toggle for toggle in self.toggles if toggle.name == name)

    def place(self):
        """Returns the innermost line of the user's own code, such as "train.py:12", or "". The
        started script counts as the user's code in any folder, because libraries contain scripts
        (trl/scripts/sft.py)."""
        script = getattr(sys.modules.get("__main__"), "__file__", None)
        frame = sys._getframe(1)
        while frame is not None:
            path = frame.f_code.co_filename
            if (
                path == script
                or not path.startswith((_HERE, "<"))
                and not packages.is_package(path)
            ):
                return "%s:%d" % (path, frame.f_lineno)
            frame = frame.f_back
        return ""

    def report(self):
        for toggle in self.toggles:
            toggle.finish()
        return [toggle.report() for toggle in self.toggles]

    @property
    def library(self):
        """Returns the library that trains the model; toggles then change that library's arguments.
        Returns "" if the program has its own loop."""
        return "Trainer" if self.trainer is not None else "accelerate" if self.accelerated else ""

    # --- calls of models ---

    def _watch_calls(self):
        module = self.torch.nn.modules.module
        handle = module.register_module_forward_pre_hook(self._call_begins)
        # This hook is moved to the front, so that other hooks see the call with the toggles
        # applied.
        module._global_forward_pre_hooks.move_to_end(handle.id, last=False)
        try:
            module.register_module_forward_hook(self._call_ends, always_call=True)
        except TypeError:  # torch 2.0
            module.register_module_forward_hook(self._call_ends)
        self.in_backward = getattr(self.torch._C, "_current_graph_task_id", lambda: -1)
        self.compiling = getattr(getattr(self.torch, "compiler", None), "is_compiling", None) or (
            lambda: False
        )
        self.loss = self.torch.nn.modules.loss._Loss

    def _call_begins(self, module, args):
        if self.compiling():  # first, because torch.compile traces this function up to here
            return
        calls = self.calls
        if calls.root is not None:
            if calls.root is module:
                calls.again += 1
            for toggle in self.inner:
                toggle.inner_call(module)
            return
        if (
            isinstance(module, self.loss)
            or self.in_backward() != -1
            or next(module.parameters(), None) is None
        ):
            return
        calls.root = module
        if self.torch.is_grad_enabled() and module.training:
            self.forwards += 1
            self.accumulates = self.accumulates or self.forwards > 1
        self.each("before_call", module)
        # Gets the contexts of all toggles before entering any of them, so that each toggle sees the
        # program's own settings.
        for context in [toggle.around_call(module) for toggle in self.toggles]:
            if context is not None:
                context.__enter__()
                calls.contexts.append(context)

    def _call_ends(self, module, args, output):
        if self.compiling():
            return
        calls = self.calls
        if calls.root is not module:
            return
        if calls.again:
            calls.again -= 1
            return
        calls.root = None
        while calls.contexts:
            calls.contexts.pop().__exit__(None, None, None)
        self.each("after_call", module, output)

    # --- optimizers ---

    def _watch_optimizers(self):
        optim = self.torch.optim
        for name in OPTIMIZERS:
            kind = getattr(optim, name, None)
            if kind is not None:
                kind.__init__ = self._made(kind, kind.__init__)
        from torch.optim import optimizer

        optimizer.register_optimizer_step_post_hook(self._stepped)

    def _made(self, kind, make):
        signature = inspect.signature(make)

        @functools.wraps(make)
        def __init__(optimizer, *args, **kwargs):
            if self.calls.making or type(optimizer) is not kind:
                return make(optimizer, *args, **kwargs)
            try:
                bound = signature.bind(optimizer, *args, **kwargs)
            except TypeError:
                # raises the error that the program would get without the toggle
                return make(optimizer, *args, **kwargs)
            arguments = list(bound.arguments.values())[:2] if len(bound.arguments) > 1 else None
            if arguments is None:
                return make(optimizer, *args, **kwargs)
            keywords = {
                name: value
                for name, value in bound.arguments.items()
                if name not in ("self", "params")
            }
            self.each("optimizer_arguments", kind, keywords)
            self.calls.making += 1
            try:
                return make(*arguments, **keywords)
            finally:
                self.calls.making -= 1

        return __init__

    def _stepped(self, optimizer, args, kwargs):
        if self.in_backward() != -1:
            return  # a step within a backward pass is only a part of a step
        self.each("stepped", optimizer)
        self.forwards = 0
        self.steps += 1

    def _watch_gradients(self):
        utils = self.torch.nn.utils

        def seen(function, what):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                setattr(self, what, getattr(self, what) or self.place() or "a library")
                return function(*args, **kwargs)

            return wrapper

        for name in ("clip_grad_norm_", "clip_grad_value_"):
            for owner in (utils, utils.clip_grad):
                if hasattr(owner, name):
                    setattr(owner, name, seen(getattr(owner, name), "clips"))
        for owner in {
            getattr(self.torch.amp, "GradScaler", None),
            self.torch.cuda.amp.GradScaler,
        } - {None}:
            if "step" in owner.__dict__:
                owner.step = seen(owner.step, "scales")

    # --- transformers, accelerate ---

    def _watch_arguments(self, module):
        kind = module.TrainingArguments
        complete = kind.__post_init__

        @functools.wraps(complete)
        def __post_init__(arguments):
            self.trainer = arguments
            self.each("training_arguments", arguments)
            return complete(arguments)

        kind.__post_init__ = __post_init__

    def _watch_trainer(self, module):
        kind = module.Trainer
        begin, train = kind.__init__, kind.train

        @functools.wraps(begin)
        def __init__(trainer, *args, **kwargs):
            args = list(args)
            model = args[0] if args else kwargs.get("model")
            self.calls.trainer += 1
            try:
                if isinstance(model, self.torch.nn.Module):
                    model = self._model(model, "")
                    if args:
                        args[0] = model
                    else:
                        kwargs["model"] = model
                return begin(trainer, *args, **kwargs)
            finally:
                self.calls.trainer -= 1

        @functools.wraps(train)
        def train_(trainer, *args, **kwargs):
            self.each("trainer_begins", trainer, trainer.args)
            return train(trainer, *args, **kwargs)

        kind.__init__, kind.train = __init__, train_

    def _model(self, model, where):
        for toggle in self.toggles:
            model = toggle.model_made(model, where)
        return model

    def _loads(self, function, which):
        """Wraps a class method."""
        inner = function.__func__

        @functools.wraps(inner)
        def wrapper(cls, *args, **kwargs):
            if self.calls.loading:
                return inner(cls, *args, **kwargs)
            self.calls.loading += 1
            try:
                self.each("loads_model", kwargs, "%s.%s" % (cls.__name__, which))
                made = inner(cls, *args, **kwargs)
            finally:
                self.calls.loading -= 1
            if isinstance(made, self.torch.nn.Module):
                made = self._model(made, self.place())
            return made

        return classmethod(wrapper)

    def _watch_models(self, module):
        kind = module.PreTrainedModel
        for name in ("from_pretrained", "_from_config"):
            if name in kind.__dict__:
                setattr(kind, name, self._loads(getattr(kind, name), name))

    def _watch_auto_models(self, module):
        base = module._BaseAutoModelClass
        # Each class has its own copies of these methods, made when the class is imported. In a fork
        # of the warm process, the classes already exist.
        for kind in (base, *base.__subclasses__()):
            for name in ("from_pretrained", "from_config"):
                if name in kind.__dict__:
                    setattr(kind, name, self._loads(getattr(kind, name), name))

    def _watch_accelerator(self, module):
        kind = module.Accelerator
        begin = kind.__init__

        @functools.wraps(begin)
        def __init__(accelerator, *args, **kwargs):
            if not self.calls.trainer and self.trainer is None:
                self.accelerated = True
                self.each("accelerator", kwargs)
            return begin(accelerator, *args, **kwargs)

        kind.__init__ = __init__

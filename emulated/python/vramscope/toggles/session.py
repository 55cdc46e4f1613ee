"""Installs one hook for each place where toggles are applied: calls of models and optimizers, and
the libraries that train models (libraries.py). It also stores facts about the program (whether it
clips gradients, which library trains), on which toggles depend."""

import contextlib
import dataclasses
import functools
import inspect
import json
import os
import shlex
import sys
import threading
import types
import weakref

from vramscope import imports, packages
from vramscope.toggles.libraries import Libraries
from vramscope.toggles.words import literal, on_command_line

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
    "Adafactor",
    "LBFGS",
)
COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
# Limits of the search for modules: how deep (self.state.nets["main"]), the items of a list or
# dictionary, and the values of each depth
MOST_DEPTH, MOST_ITEMS, MOST_VALUES = 4, 64, 4096
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def tensors_in(torch, value):
    """Returns the tensors in the inputs or outputs of a module."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = [getattr(value, field.name, None) for field in dataclasses.fields(value)]
    if isinstance(value, (tuple, list)):
        return [tensor for each in value for tensor in tensors_in(torch, each)]
    return []


def unwrapped(module):
    """Returns the model within the wrapper that trains it on several GPUs, or the module itself.
    After a validation, Lightning leaves the wrapper in evaluation mode, but not the model."""
    name = type(module).__name__
    wrappers = ("DistributedDataParallel", "FullyShardedDataParallel", "DeepSpeedEngine")
    return module.module if name in wrappers else module


def _keywords_of_call():
    """Returns the keyword arguments of the call whose hook calls this. PyTorch does not pass them
    to hooks of all modules, so they are read from the frame of Module._call_impl."""
    keywords = sys._getframe(2).f_locals.get("kwargs")
    return keywords if type(keywords) is dict else {}


def _script():
    return getattr(sys.modules.get("__main__"), "__file__", None)


def _statements_frame(frame):
    """Returns the frame of the statement that contains a comprehension. The variables of the
    comprehension do not exist outside of it."""
    while frame is not None and frame.f_code.co_name in COMPREHENSIONS:
        frame = frame.f_back
    return frame


def _line(frame):
    return "" if frame is None else "%s:%d" % (frame.f_code.co_filename, frame.f_lineno)


def variables_of(frame):
    """Returns a copy of a frame's variables."""
    found = frame.f_locals
    variables = dict(found)
    # Before Python 3.13, the frame keeps the dictionary, which would keep tensors of the program in
    # memory.
    if sys.version_info < (3, 13) and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        found.clear()
    return variables


def _globals_used(frame):
    """Returns the global variables that a function reads."""
    used, found = frame.f_code.co_names, frame.f_globals
    return {name: found[name] for name in used if name in found}


def _slots(value):
    """Returns {name: content} of the fields that the class of an object declares in __slots__."""
    found = {}
    for kind in type(value).__mro__[:-1]:
        for name, one in kind.__dict__.items() if "__slots__" in kind.__dict__ else ():
            if type(one) is types.MemberDescriptorType:
                with contextlib.suppress(AttributeError):  # not set
                    found[name] = one.__get__(value)
    return found


def _modules(torch, frame):
    """Returns [(name, weak reference)] of the modules that have a name in a line of the program:
    variables, their attributes, and items of lists and dictionaries. The shortest names come
    first, and private attributes of other objects last."""
    module, found = torch.nn.Module, []
    values = list({**_globals_used(frame), **variables_of(frame)}.items())
    for depth in range(MOST_DEPTH):
        inner = []
        for name, value in values:
            # The type, because isinstance() would run code of proxy objects.
            if issubclass(type(value), module):
                found.append((name, weakref.ref(value)))
            if len(inner) < MOST_VALUES and depth + 1 < MOST_DEPTH:
                inner += _parts(module, name, value, depth)
        values = inner
    return sorted(found, key=lambda one: "._" in one[0] and not one[0].startswith("self."))


def _parts(module, name, value, depth):
    """Returns [(name, value)] of the items of a list or dictionary, or of the attributes of an
    object."""
    kind = type(value)
    if kind in (dict, list, tuple):
        items = value.items() if kind is dict else enumerate(value)
        return [
            ("%s[%s]" % (name, literal(key)), content)
            for key, content in (list(items) if len(value) <= MOST_ITEMS else ())
            if type(key) in (str, int)
        ]
    if (
        depth > 1
        or issubclass(kind, (type, type(sys)))
        or kind.__getattribute__ not in (object.__getattribute__, module.__getattribute__)
    ):
        return []
    fields = getattr(value, "__dict__", None)
    found = {**(fields if type(fields) is dict else {}), **_slots(value)}
    return [
        ("%s.%s" % (name, field), content)
        for field, content in found.items()
        if isinstance(field, str)
        and field.isidentifier()
        and (
            not field.startswith("_")
            or name == "self"
            and field != "_modules"
            or issubclass(type(content), module)
        )
    ] + [
        (name + _steps([step]), content)
        for step, content in (value._modules.items() if issubclass(kind, module) else ())
    ]


def _steps(path):
    """Returns the expression for these submodules of a module."""
    return "".join(
        "[%s]" % step
        if step.isdigit()
        else "." + step
        if step.isidentifier()
        else "[%s]" % literal(step)
        for step in path
    )


class _Calls(threading.local):
    def __init__(self):
        self.root = None  # the outermost module that this thread is in
        self.inputs = ()  # the arguments of that call
        self.again = 0  # nested calls of that module
        self.contexts = []
        self.making = 0  # nesting of optimizers being created
        self.making_own = False  # a toggle creates an optimizer
        self.making_own_adapters = 0  # nesting of a toggle that creates adapters
        self.loading = 0  # nesting of from_pretrained
        self.trainer = 0  # nesting within transformers' Trainer


class Session(Libraries):
    def __init__(self, process, kinds, chosen):
        self.process = process
        self.torch = process.torch
        self.chosen = chosen
        self.toggles = [
            kind(self, kind.name in chosen, chosen.get(kind.name)) for kind in kinds.values()
        ]
        self.inner = [toggle for toggle in self.toggles if hasattr(toggle, "inner_call")]
        self.recomputed = [toggle for toggle in self.toggles if hasattr(toggle, "recomputed_call")]
        self.calls = _Calls()
        self.trainer = None  # transformers' TrainingArguments; None until the program creates them
        self.trainer_place = ""  # where the program creates them
        self.arguments_of_trainer = None  # those of the Trainer that is being created
        self.parsed = False  # whether transformers' parser of command lines creates them
        # the package of Lightning's Trainer ("lightning.pytorch") if the program uses it
        self.lightning = ""
        self.recipe = None  # the settings of a recipe of torchtune
        # the attention implementation that the configuration of the model to load names, or None
        self.attention = None
        self.accelerated = False  # the program itself creates accelerate's Accelerator
        self.prepared = False  # and prepares a model with it
        self.inside = []  # the instances of transformers' Trainer whose methods are running
        self.own_loop = False  # the program has trained a model outside of these libraries
        # the TrainingArguments from which Trainer has last chosen an optimizer
        self.optimizer_of = None
        # toggles that an unused Accelerator has reached: {toggle: its found() before that}
        self.before_accelerator = {}
        # toggles that TrainingArguments have reached with which no Trainer has run so far, and what
        # they reported before the program turned out not to use these arguments
        self.before_arguments, self.given_up = {}, {}
        # the place in the program that clips gradients (clips) or scales them (scales)
        self.clips = self.scales = ""
        self.forwards = 0  # training forward passes since the last step
        self.steps = 0
        self.roots = []  # models called outermost: (class, parameters)
        self.optimizer_place = ""  # where the program's script creates its first optimizer
        # {where it creates an optimizer: [(name, weak reference)] of the modules with names there}
        self.optimizer_sites = {}
        self.optimizer_places = weakref.WeakKeyDictionary()  # {optimizer: where it is created}

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
        imports.after(self.process, "peft.tuners.lora.config", self._watch_adapters)
        imports.after(self.process, "accelerate.accelerator", self._watch_accelerator)
        for name in ("lightning.pytorch", "pytorch_lightning"):
            imports.after(self.process, name + ".trainer.trainer", self._watch_lightning)
        imports.after(self.process, "torchtune.config._parse", self._watch_recipes)

    def each(self, place, *arguments):
        for toggle in self.toggles:
            getattr(toggle, place)(*arguments)

    def toggle(self, name):
        return next(toggle for toggle in self.toggles if toggle.name == name)

    def place(self):
        """Returns the innermost line of the user's own code, such as "train.py:12", or ""."""
        return _line(self.users_frames()[0])

    def users_frames(self):
        """Returns the innermost frame of the user's own code, and the frame that it calls; each is
        None if there is none. The started script counts as the user's code in any folder, because
        libraries contain scripts (trl/scripts/sft.py)."""
        frame, called = sys._getframe(1), None
        while frame is not None:
            if self.is_users(frame):
                return frame, called
            path = frame.f_code.co_filename
            frame, called = frame.f_back, frame if not path.startswith(HERE) else called
        return None, None

    def is_users(self, frame):
        """Returns whether the frame runs the user's own code."""
        path = frame.f_code.co_filename
        return path == _script() or (
            not path.startswith((HERE, "<")) and not packages.is_package(path)
        )

    def users_calls(self):
        """Returns the calls in the user's own code that lead here, beginning with the innermost
        one, up to code that a library calls. A call is a line, and a position in its function,
        because a line may contain several calls."""
        frame, calls = self.users_frames()[0], []
        while frame is not None and self.is_users(frame):
            calls.append((_line(frame), frame.f_lasti))
            frame = frame.f_back
        return calls

    def scripts_frame(self):
        """Returns the innermost frame of the started script, or else of the user's own code."""
        frame, script = sys._getframe(1), _script()
        while frame is not None and frame.f_code.co_filename != script:
            frame = frame.f_back
        return self.users_frames()[0] if frame is None else frame

    def loading_class(self):
        """Called within from_pretrained. Returns the class of transformers' Trainer whose
        constructor loads the model, because the program only passes it the model's name. Returns ""
        if the program loads the model itself."""
        frame = self.users_frames()[1]
        if (
            frame is None
            or frame.f_code.co_name != "__init__"
            or "peft_config" not in frame.f_code.co_varnames
        ):
            return ""
        return type(variables_of(frame).get("self")).__name__

    def name_of(self, root, part="", names=None):
        """Returns how the innermost line of the user's code can refer to `part` of the module
        `root` ("encoder.layers"), such as "self.model.encoder.layers". `names`: [(name, weak
        reference)] of the modules that have names at another line."""
        if names is None:
            frame = _statements_frame(self.users_frames()[0])
            names = _modules(self.torch, frame) if frame is not None else []
        path, owners = part.split(".") if part else [], [root]
        for step in path:
            owners.append(getattr(owners[-1], step))
        for length in range(len(path), -1, -1):  # the shortest expression
            for name, reference in names:
                if reference() is owners[length]:
                    return name + _steps(path[length:])
        return "model" + _steps(path)

    def before_training(self, root, part=""):
        """Returns (expression, place) for a change that the user makes to `part` of the module
        `root` once, before the training: where the script creates an optimizer, if the module has
        a name there, or else where the module is called."""
        for place, names in self.optimizer_sites.items():
            known = {id(reference()) for _, reference in names} - {id(None)}
            if any(id(module) in known for module in (root, *root.children())):
                return self.name_of(root, part, names), place
        return self.name_of(root, part), self.place()

    def arguments_text(self, arguments, values):
        """Returns the change that sets these fields of TrainingArguments: arguments of the command
        line if transformers' parser creates them, otherwise of the constructor."""
        if not self.parsed:
            words = ", ".join("%s=%s" % (name, literal(value)) for name, value in values.items())
            return "%s(..., %s)" % (type(arguments).__name__, words)
        return on_command_line(
            *(
                "--%s %s"
                % (name, shlex.quote(json.dumps(value) if isinstance(value, dict) else str(value)))
                for name, value in values.items()
            )
        )

    def report(self):
        for toggle in self.toggles:
            toggle.finish()
        return [toggle.report() for toggle in self.toggles]

    @property
    def library(self):
        """Returns the library that trains the model; toggles then change that library's arguments.
        Returns "" if the program has its own loop. Until a model is trained, returns the library of
        which the program has created an object."""
        if self.inside:
            return "Trainer"
        if self.own_loop:
            return ""
        return "Trainer" if self.trainer is not None else "accelerate" if self.accelerated else ""

    # --- arguments of libraries that do not train ---

    def _trains_itself(self):
        """The program trains a model outside of the libraries, so the toggles that have changed
        their arguments take their reports back. The changes remain, because they have no effect."""
        self.own_loop = True
        self._arguments_unused(lambda toggle: True)
        for toggle, found in self.before_accelerator.items():
            toggle.library_unused(found)
        self.before_accelerator = {}

    def _arguments_unused(self, which):
        for toggle in [toggle for toggle in self.before_arguments if which(toggle)]:
            self.given_up[toggle] = toggle.found()
            toggle.library_unused(self.before_arguments.pop(toggle))

    def _arguments_used(self, which):
        for toggle in [toggle for toggle in self.before_arguments if which(toggle)]:
            del self.before_arguments[toggle]
        for toggle in [toggle for toggle in self.given_up if which(toggle)]:
            toggle.add(self.given_up.pop(toggle))

    def is_own_optimizer(self):
        """Returns whether the program itself creates the optimizer that is now being created, or
        that now steps, rather than Trainer from TrainingArguments."""
        own = not self.inside or self.optimizer_of is not self.inside[-1].args
        if own:
            self._arguments_unused(lambda toggle: toggle.is_of_optimizer)
        return own

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
        if self.in_backward() != -1:
            for toggle in self.recomputed:
                toggle.recomputed_call(module)
            return
        if isinstance(module, self.loss) or next(module.parameters(), None) is None:
            return
        calls.root, calls.inputs = module, (args, _keywords_of_call())
        if self.torch.is_grad_enabled() and unwrapped(module).training:
            libraries = self.inside or calls.trainer or self.accelerated and self.prepared
            if not libraries:
                self._trains_itself()
            self.forwards += 1
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
        calls.inputs = ()
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
            if self.is_own_optimizer():
                self._remember_names(optimizer)
            self.each("optimizer_arguments", kind, keywords)
            self.calls.making += 1
            try:
                return make(*arguments, **keywords)
            finally:
                self.calls.making -= 1

        return __init__

    def _remember_names(self, optimizer):
        frame = _statements_frame(self.scripts_frame())
        if frame is None:
            return
        place = self.optimizer_places[optimizer] = _line(frame)
        self.optimizer_place = self.optimizer_place or place
        before = self.optimizer_sites.get(place)
        if before is not None or len(self.optimizer_sites) < 16:
            # A line within a loop or a function creates the optimizers of several models.
            names = [*_modules(self.torch, frame), *(before or ())]
            known = {(name, one()): (name, one) for name, one in names if one() is not None}
            self.optimizer_sites[place] = list(known.values())

    def place_of(self, optimizer):
        """Returns where the script creates an optimizer. If that is unknown, returns where it
        creates the first one, or None."""
        return self.optimizer_places.get(optimizer) or self.optimizer_place or None

    def _stepped(self, optimizer, args, kwargs):
        if self.in_backward() != -1:
            return  # a step within a backward pass is only a part of a step
        if self.inside and self.is_own_optimizer():
            for toggle in self.toggles:
                if toggle.is_of_optimizer:
                    toggle.refuse("the program creates its optimizer itself")
        self.each("stepped", optimizer)
        self.forwards = 0
        self.steps += 1

    def _watch_gradients(self):
        utils = self.torch.nn.utils

        def seen(function, what, applies=lambda *args: True):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                if not self.inside and applies(*args):
                    setattr(self, what, getattr(self, what) or self.place() or "a library")
                return function(*args, **kwargs)

            return wrapper

        for name in ("clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_"):
            for owner in (utils, utils.clip_grad):
                if hasattr(owner, name):
                    setattr(owner, name, seen(getattr(owner, name), "clips"))
        for owner in {
            getattr(self.torch.amp, "GradScaler", None),
            self.torch.cuda.amp.GradScaler,
        } - {None}:
            if "step" in owner.__dict__:
                owner.step = seen(owner.step, "scales", lambda scaler, *_: scaler.is_enabled())

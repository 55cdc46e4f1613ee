"""Toggles for the optimizer: its class, its implementation, and steps in backward."""

import functools
import inspect
import os
import sys
import weakref

from vramscope.toggles.declaration import NOTHING, TRAINING, Toggle, toggle
from vramscope.toggles.session import HERE, unwrapped
from vramscope.toggles.words import on_command_line


@toggle
class Optimizer(Toggle):
    name, label, group, changes = "optimizer", "Optimizer with less state", "optimizer", TRAINING
    explains = (
        "Adam keeps two numbers per parameter, Adafactor keeps one row and one column "
        "per matrix, and SGD without momentum keeps nothing. 8-bit AdamW keeps a "
        "quarter of Adam's bytes"
    )
    values, tries = ("adafactor", "sgd", "adamw-8bit"), ("adafactor", "sgd")
    excludes = ("step-in-backward",)
    is_of_optimizer = True
    reduces = {"Optimizer state": 1}
    applies_to = "TrainingArguments, and Adam, AdamW, NAdam and RAdam of torch.optim"
    adams = ("Adam", "AdamW", "NAdam", "RAdam")
    classes = {
        "adafactor": "torch.optim.Adafactor",
        "sgd": "torch.optim.SGD",
        "adamw-8bit": "bitsandbytes.optim.AdamW8bit",
    }
    trainers = {"adafactor": "adafactor", "sgd": "sgd", "adamw-8bit": "adamw_bnb_8bit"}

    def install(self):
        self.set_in = None  # the last TrainingArguments that the toggle has changed
        if self.on:
            for name in self.adams:
                self.replace(getattr(self.torch.optim, name))

    def available(self):
        if self.value != "adamw-8bit":
            return hasattr(self.torch.optim, "Adafactor") or self.value == "sgd"
        import importlib.util

        return importlib.util.find_spec("bitsandbytes") is not None

    def training_arguments(self, arguments):
        there = str(getattr(arguments.optim, "value", arguments.optim))
        if there == self.trainers[self.value]:
            self.already('TrainingArguments already has optim="%s"' % there)
        elif not self.on and not there.startswith("adam"):
            self.refuse('TrainingArguments has optim="%s"' % there)
        elif self.value == "adamw-8bit" and not self.available():
            self.refuse("the package bitsandbytes is not installed")
        elif self.reach(
            self.session.arguments_text(arguments, {"optim": self.trainers[self.value]})
        ):
            self.set_in, arguments.optim = arguments, self.trainers[self.value]

    def trainer_begins(self, trainer, arguments):
        there = str(getattr(arguments.optim, "value", arguments.optim))
        if self.set_in is arguments and there != self.trainers[self.value]:
            self.override('the program sets optim="%s" afterwards' % arguments.optim)

    def optimizer_arguments(self, kind, keywords):
        if not self.session.is_own_optimizer():
            return
        if kind.__name__ in self.adams:
            if not self.on:  # if the toggle is on, replace() is called
                defaults = inspect.signature(kind.__init__).parameters
                self.reach(
                    self.change(
                        *(
                            keywords.get(name, defaults[name].default)
                            for name in ("lr", "weight_decay")
                        )
                    )
                )
        elif kind.__name__.lower() == self.value:
            self.already("the optimizer is already %s" % kind.__name__)
        else:
            self.refuse("the optimizer is %s" % kind.__name__)

    def change(self, lr, weight_decay):
        settings = (self.session.recipe or {}).get("optimizer")
        if settings and "_component_" in settings:
            others = [
                "~optimizer.%s" % name
                for name in settings
                if name not in ("_component_", "lr", "weight_decay")
            ]
            return on_command_line("optimizer._component_=%s" % self.classes[self.value], *others)
        return "%s(..., lr=%r, weight_decay=%r)" % (self.classes[self.value], lr, weight_decay)

    def replace(self, kind):
        make = kind.__init__

        def __new__(cls, *args, **kwargs):
            if cls is not kind or self.session.calls.making or not self.session.is_own_optimizer():
                return object.__new__(cls)
            if not self.available():
                self.refuse(
                    "the package bitsandbytes is not installed"
                    if self.value == "adamw-8bit"
                    else "the installed PyTorch version has no Adafactor"
                )
                return object.__new__(cls)
            bound = inspect.signature(make).bind(None, *args, **kwargs)
            bound.apply_defaults()
            settings = {
                "lr": bound.arguments["lr"],
                "weight_decay": bound.arguments["weight_decay"],
            }
            if self.value == "adamw-8bit":
                import bitsandbytes

                other = bitsandbytes.optim.AdamW8bit
            else:
                other = self.torch.optim.SGD if self.value == "sgd" else self.torch.optim.Adafactor
            self.reach(self.change(**settings))
            return other(bound.arguments["params"], **settings)

        kind.__new__ = staticmethod(__new__)

    def absent(self):
        return "the program creates no optimizer of torch.optim"


@toggle
class OptimizerImpl(Toggle):
    name, label, group, changes = (
        "optimizer-impl",
        "Implementation of the optimizer step",
        "optimizer",
        NOTHING,
    )
    explains = (
        "The foreach implementation allocates temporaries as large as the weights. The "
        "fused and for-loop implementations allocate none, but for-loop is slow"
    )
    values, tries = ("fused", "for-loop", "foreach"), ("fused", "for-loop")
    reduces, reduces_in = {"Temporary": 1}, "optimizer"
    applies_to = (
        "TrainingArguments, and optimizers of torch.optim that have more than one implementation"
    )
    settings = {
        "fused": {"fused": True, "foreach": False},
        "for-loop": {"fused": False, "foreach": False},
        "foreach": {"fused": False, "foreach": True},
    }
    is_of_optimizer = True
    by_arguments = False  # TrainingArguments choose the implementation
    own = "foreach"  # the program's own implementation, which by default is "foreach" on a GPU

    def training_arguments(self, arguments):
        there = str(getattr(arguments.optim, "value", arguments.optim))
        self.by_arguments = True
        self.own = "fused" if there == "adamw_torch_fused" else "foreach"
        # TrainingArguments has no value for for-loop
        wanted = {"fused": "adamw_torch_fused", "foreach": "adamw_torch"}.get(self.value)
        if there not in ("adamw_torch", "adamw_torch_fused"):
            self.refuse('optim="%s" has only one implementation' % there)
        elif wanted is None:
            self.refuse("TrainingArguments has no optim value for this implementation")
        elif wanted == there:
            self.already('optim="%s" is already %s' % (there, self.own))
        elif self.reach(self.session.arguments_text(arguments, {"optim": wanted})):
            arguments.optim = wanted

    def proposals(self):
        return [
            value
            for value in self.tries
            if value != self.own and not (self.by_arguments and value == "for-loop")
        ]

    def optimizer_arguments(self, kind, keywords):
        if not self.session.is_own_optimizer():
            return
        self.by_arguments = False
        names = inspect.signature(kind.__init__).parameters
        self.own = (
            "fused"
            if keywords.get("fused")
            else "for-loop"
            if keywords.get("foreach") is False
            else "foreach"
        )
        wanted = self.settings[self.value]
        if "foreach" not in names:
            self.refuse("%s has no arguments foreach and fused" % kind.__name__)
        elif self.value == "fused" and "fused" not in names:
            self.refuse("%s has no fused implementation" % kind.__name__)
        elif self.own == self.value:
            self.already("%s is already %s" % (kind.__name__, self.own))
        else:
            wanted = {name: value for name, value in wanted.items() if name in names}
            if self.reach(
                "torch.optim.%s(..., %s)"
                % (kind.__name__, ", ".join("%s=%s" % pair for pair in sorted(wanted.items())))
            ):
                keywords.update(wanted)

    def stepped(self, optimizer):
        if self.on and self.reached and not self.by_arguments and self.session.is_own_optimizer():
            wanted = self.settings[self.value]
            for group in optimizer.param_groups:
                if any(
                    bool(group[name]) != value for name, value in wanted.items() if name in group
                ):
                    self.override(
                        "the program sets %s in the parameter groups of an optimizer that it has "
                        "already created" % "foreach and fused"
                    )

    def absent(self):
        return "the program creates no optimizer of torch.optim"


@toggle
class StepInBackward(Toggle):
    name, label, group, changes = (
        "step-in-backward",
        "Optimizer step inside backward",
        "optimizer",
        NOTHING,
    )
    explains = (
        "Each gradient is applied and freed as soon as it is computed, so only one "
        "parameter's gradient exists at a time"
    )
    excludes = ("optimizer", "free-gradients")
    reduces = {"Gradient": 0.9}
    applies_to = (
        "the program's own loop, if it uses an optimizer of torch.optim and does not "
        "clip, scale or accumulate gradients"
    )
    text = (
        'own = {p: (type(optimizer)([{**group, "params": [p]}]), group) for group in '
        'optimizer.param_groups for p in group["params"]}',
        "def step(p, own=own):",
        '    own[p][0].param_groups[0].update({**own[p][1], "params": [p]})',
        "    own[p][0].step()",
        "    own[p][0].zero_grad()",
        "for p in [p for p in own if p.requires_grad]:",
        "    p.register_post_accumulate_grad_hook(step)",
    )
    reducers = ("DistributedDataParallel", "FullyShardedDataParallel", "DeepSpeedEngine")

    def install(self):
        self.optimizers = []  # weak references
        self.done = weakref.WeakSet()
        # {optimizer: where the program adds its last group of parameters before the training}
        self.completed = weakref.WeakKeyDictionary()
        self.unsuitable = ""  # why the steps cannot be in backward
        # The gradients that backward has computed since the last step of their optimizer, by the
        # parameter's id: (how often, the gradient, its version). The gradient is a weak reference.
        self.computed = {}
        self.watched = None  # whether reads of gradients are watched; True only in the first step
        self.attached = set()  # ids of the parameters whose steps are in backward
        from torch.optim.optimizer import register_optimizer_step_pre_hook

        add = self.torch.optim.Optimizer.add_param_group

        @functools.wraps(add)
        def add_param_group(optimizer, group):
            if not self.session.calls.making_own:
                if all(reference() is not optimizer for reference in self.optimizers):
                    self.optimizers.append(weakref.ref(optimizer))
                elif not self.session.calls.making and optimizer not in self.done:
                    self.completed[optimizer] = self.session.place()
            return add(optimizer, group)

        self.torch.optim.Optimizer.add_param_group = add_param_group
        load = self.torch.optim.Optimizer.load_state_dict

        @functools.wraps(load)
        def load_state_dict(optimizer, state_dict):
            if state_dict.get("state"):
                self.unsuited("the program loads the state of its optimizer from a checkpoint")
            return load(optimizer, state_dict)

        self.torch.optim.Optimizer.load_state_dict = load_state_dict
        register_optimizer_step_pre_hook(self.steps)
        self.torch.autograd.backward = self.observed(self.torch.autograd.backward)

    def unsuited(self, why):
        self.unsuitable = self.unsuitable or why
        self.computed = {}
        self.unwatch()

    def parameters(self):
        """Returns the parameters of all optimizers that have been reached."""
        return [p for optimizer in list(self.done) for p in parameters_of(optimizer)]

    def observed(self, backward):
        """Wraps torch.autograd.backward to find out which gradients a backward pass computes."""

        @functools.wraps(backward)
        def wrapper(*args, **kwargs):
            if (
                self.unsuitable
                or not self.done
                or self.session.library == "Trainer"
                or self.session.in_backward() != -1
                or self.session.compiling()
            ):
                return backward(*args, **kwargs)
            self.unwatch()
            if kwargs.get("retain_graph", args[2] if len(args) > 2 else None):
                self.unsuited("the program keeps the graph of a backward pass for another one")
                return backward(*args, **kwargs)
            before = {id(p): self.state(p.grad) for p in self.parameters()}
            result = backward(*args, **kwargs)
            if not self.on:
                for p in self.parameters():
                    state = self.state(p.grad)
                    if state is not None and state != before.get(id(p)):
                        self.compute(p, state)
            if self.watched is None and self.computed:
                self.watch()
            return result

        return wrapper

    @staticmethod
    def state(gradient):
        return None if gradient is None else (weakref.ref(gradient), gradient._version)

    def compute(self, p, state):
        times = self.computed.get(id(p), (0, None))[0]
        self.computed[id(p)] = times + 1, state
        if times:
            self.unsuited("the program accumulates gradients over several batches")

    def watch(self):
        """Watches whether the program reads gradients after its first backward pass. If the steps
        are in backward, the gradients do not exist then."""
        kind, grad = self.torch.nn.Parameter, self.torch.Tensor.grad

        def read(parameter):
            if reads_itself(self.torch, sys._getframe(1)):
                self.unsuited("the program reads or changes gradients between backward and step")
            return grad.__get__(parameter)

        if "grad" not in kind.__dict__:
            kind.grad = property(read, grad.__set__, grad.__delete__)
            self.watched = True

    def unwatch(self):
        if self.watched:
            del self.torch.nn.Parameter.grad
            self.watched = False

    def steps(self, optimizer, args, kwargs):
        """Called before an optimizer steps."""
        if self.session.in_backward() != -1 or self.session.calls.making_own:
            return
        self.unwatch()
        if self.unsuitable or optimizer not in self.done:
            return
        # Lightning passes a function that runs backward, and the optimizer calls it once.
        closure = kwargs.get("closure", args[1] if args[1:] else None)
        for p in parameters_of(optimizer):
            _, state = self.computed.pop(id(p), (0, None))
            # With the toggle, the gradient has been freed, unless it does not come from backward.
            changed = self.state(p.grad) != state and (not self.on or id(p) in self.attached)
            if changed and closure is None:
                self.unsuited("the program reads or changes gradients between backward and step")

    def stepped(self, optimizer):
        self.unwatch()
        for p in parameters_of(optimizer) if self.computed else ():
            self.computed.pop(id(p), None)

    def before_call(self, module):
        if not unwrapped(module).training or not self.torch.is_grad_enabled():
            return
        if self.session.library == "Trainer":
            self.refuse("%s runs the optimizer steps itself" % self.session.library)
            return
        if any(type(part).__name__ in self.reducers for part in module.modules()):
            self.unsuited("the gradients of several GPUs are combined before the step")
        for reference in self.optimizers:
            optimizer = reference()
            if (
                optimizer is None
                or optimizer in self.done
                or self.unsuitable
                or not hasattr(self.torch.Tensor, "register_post_accumulate_grad_hook")
            ):
                continue
            why = self.needs(type(optimizer))
            if why:
                self.unsuited(why)
                continue
            self.done.add(optimizer)
            place = self.completed.get(optimizer) or self.session.place_of(optimizer)
            if self.reach(*self.text, place=place):
                self.session.calls.making_own = True
                self.session.calls.making += 1
                try:
                    self.attach(optimizer)
                finally:
                    self.session.calls.making -= 1
                    self.session.calls.making_own = False

    def needs(self, kind):
        """Returns why an optimizer of this class cannot be created for one parameter or step
        without arguments, or ""."""

        def required(function):
            return [
                name
                for name, one in list(inspect.signature(function).parameters.items())[1:]
                if one.default is one.empty
                and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
            ]

        why = ""
        if required(kind.step):
            why = "the optimizer gets a function that computes the loss"
        elif len(required(kind.__init__)) > 1:
            why = "the optimizer's class has required arguments besides the parameters"
        return why

    def attach(self, optimizer):
        own = {
            p: (type(optimizer)([{**group, "params": [p]}]), group)
            for group in optimizer.param_groups
            for p in group["params"]
        }

        def step(p):
            if self.unsuitable:
                return
            # Schedulers change the learning rate, and some also the momentum.
            own[p][0].param_groups[0].update({**own[p][1], "params": [p]})
            own[p][0].step()
            own[p][0].zero_grad()
            self.compute(p, None)

        for p in own:
            if p.requires_grad:
                self.attached.add(id(p))
                p.register_post_accumulate_grad_hook(step)

    def finish(self):
        session = self.session
        self.unwatch()
        session.toggle("free-gradients").unwatch()
        why = (
            "gradients are clipped in %s, and clipping needs all gradients at once" % session.clips
            if session.clips
            else "gradients are scaled in %s" % session.scales
            if session.scales
            else self.unsuitable
        )
        if why and self.session.library != "Trainer":
            if not self.on or not self.reached:
                self.withdraw(why)
            else:
                self.reject(why)

    def absent(self):
        return "no optimizer of torch.optim takes a step"


def parameters_of(optimizer):
    return [p for group in optimizer.param_groups for p in group["params"]]


def reads_itself(torch, frame):
    """Returns whether this frame, which reads a gradient, needs its value: it belongs to the
    program or to a library other than torch, or it computes the norm of gradients."""
    folder = os.path.dirname(torch.__file__) + os.sep
    utils = os.path.join(folder, "nn", "utils") + os.sep
    path = frame.f_code.co_filename
    return not path.startswith((folder, HERE)) or path.startswith(utils)

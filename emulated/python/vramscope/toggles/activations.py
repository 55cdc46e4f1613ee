"""Toggles for the tensors that are kept from the forward to the backward pass."""

import functools
import weakref

from vramscope import imports
from vramscope.toggles.declaration import NOTHING, Toggle, toggle
from vramscope.toggles.session import tensors_in, unwrapped
from vramscope.toggles.words import on_command_line


def _trains(torch, module):
    return unwrapped(module).training and torch.is_grad_enabled()


@toggle
class Checkpointing(Toggle):
    name, label, group = "checkpointing", "Activation checkpointing", "activations"
    explains = (
        "Only the inputs of each repeated block are kept. Backward recomputes the rest, "
        "and the training takes about a third more time"
    )
    values, default, tries = ("non-reentrant", "reentrant"), "non-reentrant", ("non-reentrant",)
    reduces = {"Activation": 0.8, "Autograd detail": 0.2}
    applies_to = (
        "TrainingArguments, torchtune's recipes, models with a method that enables "
        "checkpointing, and models with a list of blocks of the same class"
    )

    def install(self):
        self.seen = weakref.WeakSet()
        self.loops = Loops()
        self.blocks = weakref.WeakKeyDictionary()  # {model: ids of its blocks}
        self.called = self.again = 0  # calls of these blocks in forward, and again in backward
        self.programs_own = 0  # calls of checkpoint() by the program
        self.ours = 0  # calls of blocks that this toggle checkpoints
        self.by_recipe = False  # the program is a recipe of torchtune that can checkpoint its model
        self.expected = False  # the next call of checkpoint() is the toggle's
        self.set_in = None  # the last TrainingArguments that the toggle has changed
        self.reported = self.found()  # before these TrainingArguments
        imports.after(self.session.process, "torch.utils.checkpoint", self.watch)

    def watch(self, module):
        """Counts the program's own uses of checkpointing."""

        def seen(function):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                self.programs_own += not self.expected
                self.expected = False
                return function(*args, **kwargs)

            return wrapper

        if hasattr(module, "_CheckpointFrame"):
            module._CheckpointFrame.__init__ = seen(module._CheckpointFrame.__init__)
            module.CheckpointFunction.forward = staticmethod(
                seen(module.CheckpointFunction.forward)
            )

    @property
    def settings(self):
        return {"use_reentrant": self.value == "reentrant"}

    def training_arguments(self, arguments):
        self.reported = self.found()
        if arguments.gradient_checkpointing:
            self.already("TrainingArguments already has gradient_checkpointing=True")
        elif self.reach(
            self.session.arguments_text(
                arguments,
                {"gradient_checkpointing": True, "gradient_checkpointing_kwargs": self.settings},
            )
        ):
            self.set_in, self.before = arguments, arguments.gradient_checkpointing_kwargs
            arguments.gradient_checkpointing, arguments.gradient_checkpointing_kwargs = (
                True,
                self.settings,
            )

    def trainer_begins(self, trainer, arguments):
        # False if train() is called again: then Trainer itself has already switched checkpointing
        # on.
        first = trainer.model not in self.seen
        self.seen.add(trainer.model)
        method = "gradient_checkpointing_enable"
        if first and self.reached and getattr(trainer.model, "is_gradient_checkpointing", False):
            self.withdraw_since(
                "model.gradient_checkpointing_enable() is already called",
                self.reported,
                already=True,
            )
            self.set_back(arguments)
        elif self.reached and not hasattr(trainer.model, method) and trainer.model is not None:
            self.withdraw_since(
                "%s has no method %s, which Trainer calls" % (type(trainer.model).__name__, method),
                self.reported,
            )
            self.set_back(arguments)
        elif self.set_in is arguments and not arguments.gradient_checkpointing:
            self.override("the program sets gradient_checkpointing=False afterwards")

    def set_back(self, arguments):
        if self.set_in is arguments:
            arguments.gradient_checkpointing = False
            arguments.gradient_checkpointing_kwargs = self.before
            self.set_in = None

    def recipe(self, settings):
        name = "enable_activation_checkpointing"
        if self.value == "reentrant" or not isinstance(settings.get(name), bool):
            return
        if settings[name]:
            self.already("the program already uses checkpointing")
        elif self.reach(on_command_line("%s=True" % name)):
            settings[name] = True
        self.by_recipe = True

    def before_call(self, module):
        if self.session.library == "Trainer" or self.by_recipe or not _trains(self.torch, module):
            return
        if module in self.seen:
            self.called += len(self.blocks.get(module, ()))
            return
        self.seen.add(module)
        switched = []  # the outermost parts that have such a method
        for name, part in module.named_modules():
            if any(not outer or name.startswith(outer + ".") for outer in switched):
                continue
            switch = self.switch_of(part)
            if switch is not None:
                self.by_method(part, *self.session.before_training(module, name), *switch)
                switched.append(name)
        if switched:
            return
        self.by_structure(module)
        self.called += len(self.blocks.get(module, ()))

    def recomputed_call(self, module):
        self.again += any(id(module) in blocks for blocks in self.blocks.values())

    def switch_of(self, model):
        """Returns (name, keyword arguments) of the model's own method that enables checkpointing,
        or None if there is no such method."""
        if getattr(model, "supports_gradient_checkpointing", False) and hasattr(
            model, "gradient_checkpointing_enable"
        ):
            # transformers
            return "gradient_checkpointing_enable", {"gradient_checkpointing_kwargs": self.settings}
        if self.settings["use_reentrant"]:
            return None
        if getattr(model, "_supports_gradient_checkpointing", False) and hasattr(
            model, "enable_gradient_checkpointing"
        ):
            return "enable_gradient_checkpointing", {}  # diffusers
        if hasattr(model, "set_grad_checkpointing"):
            return "set_grad_checkpointing", {}  # timm
        return None

    def by_method(self, model, name, place, method, arguments):
        # grad_checkpointing: timm.
        if getattr(model, "is_gradient_checkpointing", False) or getattr(
            model, "grad_checkpointing", False
        ):
            self.already("model.%s() is already called" % method)
        elif self.reach(
            "%s.%s(%s)"
            % (
                name,
                method,
                ", ".join("%s=%s" % pair for pair in arguments.items()).replace("'", '"'),
            ),
            place=place,
        ):
            getattr(model, method)(**arguments)

    def by_structure(self, module):
        if any(
            isinstance(part, self.torch.nn.DataParallel) and len(part.device_ids) > 1
            for part in module.modules()
        ):
            self.refuse("DataParallel copies the model, and the copies ignore changed blocks")
            return
        blocks, names, place = loop_over_blocks(self.session, module)
        if not blocks:
            self.refuse("%s has no list of modules of the same class" % type(module).__name__)
            return
        if not self.on:
            self.blocks[module] = {id(block) for block in blocks}
        if self.loops.reach(
            self,
            names,
            "    block.forward = functools.partial(torch.utils.checkpoint.checkpoint, "
            "block.forward, use_reentrant=%s)" % self.settings["use_reentrant"],
            place,
            "  # import functools, torch.utils.checkpoint",
        ):
            for block in blocks:
                block.forward = self.checkpointed(block.forward)

    def checkpointed(self, forward):
        from torch.utils.checkpoint import checkpoint

        @functools.wraps(forward)
        def wrapper(*args, **kwargs):
            self.ours += self.torch.is_grad_enabled()
            self.expected = True
            try:
                return checkpoint(forward, *args, **kwargs, **self.settings)
            finally:
                self.expected = False

        return wrapper

    def finish(self):
        # A block that the program itself checkpoints is called twice: in forward, and again in
        # backward.
        if self.by_recipe and self.on:
            return
        # The program checkpoints only a few of the blocks.
        if self.called and 0 < self.again < self.called / 2:
            return
        if self.programs_own and (not self.on or 0 < self.ours <= 2 * self.programs_own):
            self.withdraw("the program already uses checkpointing", already=True)


def repeated_blocks(module):
    """Finds the repeated blocks of a model: lists of two or more modules of the same class. Of
    several classes, takes the one of the list with the most parameters. Of nested lists, takes the
    outer one. Returns {name of a list: its blocks}."""
    best, most, lists = None, 0, {}
    from torch import nn

    for name, part in module.named_modules():
        if not isinstance(part, (nn.ModuleList, nn.Sequential)) or len(part) < 2:
            continue
        blocks = list(part)
        if len({type(block) for block in blocks}) != 1 or next(blocks[0].children(), None) is None:
            continue
        lists[name] = blocks
        size = sum(parameter.numel() for parameter in part.parameters())
        if size > most:
            best, most = type(blocks[0]), size
    found = {}
    for name, blocks in lists.items():  # the outer list comes first
        if type(blocks[0]) is best and not any(name.startswith(outer + ".") for outer in found):
            found[name] = blocks
    return found


def loop_over_blocks(session, module):
    """Returns the repeated blocks of a model, expressions of the lists that contain them, and the
    place for a loop over them."""
    lists = repeated_blocks(module)
    named = [session.before_training(module, name) for name in lists]
    blocks = list({id(block): block for several in lists.values() for block in several}.values())
    if not blocks:
        return [], [], ""
    names, place = [name for name, _ in named], named[0][1]
    kind = type(blocks[0])
    if len(names) > 4 and sum(type(part) is kind for part in module.modules()) == len(blocks):
        names = [
            '[part for part in %s.modules() if type(part).__name__ == "%s"]'
            % (session.before_training(module)[0], kind.__name__)
        ]
    return blocks, names, place


class Loops:
    """The loops over blocks that a toggle writes: one for each place, so that each has its body."""

    def __init__(self):
        self.names = {}  # {(place, body): expressions of lists of blocks}

    def reach(self, toggle, names, body, place, comment=""):
        """Calls the toggle's reach() with one loop over all blocks of this place."""
        all_names = self.names.setdefault((place, body), [])
        if all_names:
            before = (self.head(all_names) + comment, place)
            for key in (before, (body, place)):
                toggle.lines.pop(key, None)
        all_names += [name for name in names if name not in all_names]
        return toggle.reach(self.head(all_names) + comment, body, place=place)

    @staticmethod
    def head(names):
        if len(names) == 1:
            return "for block in %s:" % names[0]
        return "for block in [%s]:" % ", ".join("*" + name for name in names)


@toggle
class Offload(Toggle):
    name, label, group, changes, slow = (
        "offload",
        "Saved tensors in host memory",
        "activations",
        NOTHING,
        True,
    )
    explains = (
        "Tensors that autograd saves are moved to pinned host memory and back over the "
        "bus. This is slow, and takes as much host memory as it saves on the GPU"
    )
    reduces = {"Activation": 0.9, "Autograd detail": 0.2}
    applies_to = (
        "models that the program's own training loop calls, torchtune's recipes, and trainers of "
        "trl whose arguments have activation_offloading"
    )
    by_recipe = False  # the recipe can move the activations itself
    by_trainer = False  # the trainer can
    set_in = None  # the trainer's arguments that the toggle has changed

    def recipe(self, settings):
        checkpoints, offloads = "enable_activation_checkpointing", "enable_activation_offloading"
        if not isinstance(settings.get(offloads), bool):
            return
        self.by_recipe = True
        # The recipes refuse to move activations without checkpointing.
        wanted = [name for name in (checkpoints, offloads) if not settings.get(name)]
        if offloads not in wanted:
            self.already("%s is already %s" % (offloads, True))
        elif self.reach(on_command_line(*("%s=True" % name for name in wanted))):
            settings.update(dict.fromkeys(wanted, True))

    def training_arguments(self, arguments):
        self.by_trainer = hasattr(arguments, "activation_offloading")
        self.set_in = None
        if not self.by_trainer:
            return
        if arguments.activation_offloading:
            self.already(
                "%s already has %s" % (type(arguments).__name__, "activation_offloading=True")
            )
        elif self.reach(self.session.arguments_text(arguments, {"activation_offloading": True})):
            self.set_in, arguments.activation_offloading = arguments, True

    def trainer_begins(self, trainer, arguments):
        if self.set_in is arguments and not arguments.activation_offloading:
            self.override("the program sets %s=False afterwards" % "activation_offloading")

    def around_call(self, module):
        if self.by_recipe or not _trains(self.torch, module):
            return None
        if self.session.library == "Trainer":
            if not self.by_trainer:
                self.refuse("Trainer, not a loop in the program, calls the model")
            return None
        if self.reach(
            "with torch.autograd.graph.save_on_cpu(pin_memory=True):  # around the call of the "
            "model"
        ):
            return self.torch.autograd.graph.save_on_cpu(pin_memory=True)
        return None


@toggle
class NoUseCache(Toggle):
    name, label, group, changes = (
        "no-use-cache",
        "No key-value cache in training",
        "activations",
        NOTHING,
    )
    explains = (
        "use_cache is for generation. In training, it keeps the keys and values of all "
        "layers in memory as long as the model's outputs exist"
    )
    reduces = {"KV cache": 1, "Activation": 0.05}
    applies_to = "transformers models that keep keys and values in training"

    def install(self):
        self.seen, self.expressions = weakref.WeakSet(), weakref.WeakKeyDictionary()
        self.expression = ""  # the one of the current call
        # the current call trains a model whose configuration enables the cache
        self.candidate = False
        self.asked = None  # the call's own use_cache argument

    def before_call(self, module):
        self.candidate = False
        if not _trains(self.torch, module):
            return
        name, part = next(
            (
                (name, part)
                for name, part in module.named_modules()
                if hasattr(getattr(part, "config", None), "use_cache")
            ),
            ("", None),
        )
        if part is None:
            self.refuse("the model has no config.use_cache")
        elif getattr(part, "is_gradient_checkpointing", False):
            self.already("with gradient checkpointing, the model keeps no keys and values anyway")
        elif part in self.seen or part.config.use_cache:
            # false in the first call, which began before the hook was installed
            self.candidate = part in self.seen
            if part not in self.seen:
                self.seen.add(part)
                self.expressions[part] = self.session.name_of(module, name)
                part.register_forward_pre_hook(self.called, with_kwargs=True)
            self.expression = self.expressions[part]
            if self.on:
                part.config.use_cache = False
        else:
            self.already("model.config.use_cache is already False")

    def called(self, part, args, kwargs):
        self.asked = kwargs.get("use_cache")

    def after_call(self, module, output):
        """Checks whether the output contains a cache, because an argument of the call may override
        the configuration."""
        if not self.candidate:
            return
        kept = getattr(output, "past_key_values", None) is not None
        if self.asked is not None:
            (self.refuse if self.asked else self.already)(
                "the model is called with use_cache=%s" % self.asked
            )
        elif kept and self.on:
            self.override("the model still keeps keys and values")
        elif kept or self.on:
            self.reach("%s.config.use_cache = False" % self.expression, each=False)
        else:
            self.already("the model keeps no keys and values in training")


@toggle
class EvalNoGrad(Toggle):
    name, label, group, changes = (
        "eval-no-grad",
        "No gradients in evaluation",
        "activations",
        NOTHING,
    )
    explains = (
        "A model in evaluation mode keeps no activations for a backward pass that the "
        "program never runs"
    )
    reduces, reduces_in = {"Activation": 1, "Autograd detail": 0.5}, "eval"
    applies_to = "models that are called in evaluation mode with gradients enabled"

    def install(self):
        self.evaluations = 0  # number of evaluations since the last step
        self.trained = False  # a step followed evaluations, with no training forward pass before it
        self.observed = False  # the current call is an evaluation with gradients
        self.without = []  # outputs computed without gradients (weak references)
        # models called in evaluation mode, and in training mode, since the last step; and models
        # ever called in training mode
        self.evaluated, self.called = weakref.WeakSet(), weakref.WeakSet()
        self.ever_called = weakref.WeakSet()
        self.has_stepped = False  # the next call is the first one after a step
        self.needed = ""  # why the program needs gradients of an evaluation

    def before_call(self, module):
        if self.has_stepped:
            self.evaluated, self.called = weakref.WeakSet(), weakref.WeakSet()
            self.has_stepped = False
        if not unwrapped(module).training or not self.torch.is_grad_enabled():
            return
        self.called.add(module)
        self.ever_called.add(module)
        if self.without:
            outputs = {id(one()) for one in self.without} - {id(None)}
            if any(id(one) in outputs for one in self.inputs()):
                self.unsuited(
                    "the output in evaluation mode is the input of a model that is trained"
                )

    def unsuited(self, why):
        self.needed = self.needed or why

    def inputs(self):
        return tensors_in(self.torch, self.session.calls.inputs)

    def around_call(self, module):
        if unwrapped(module).training or not any(
            parameter.requires_grad for parameter in module.parameters()
        ):
            return None
        if not self.torch.is_grad_enabled():
            self.already("the program already evaluates without gradients")
            return None
        self.evaluations += 1
        if any(one.requires_grad for one in self.inputs()):
            self.unsuited("the program computes gradients through a model in evaluation mode")
        if self.needed:
            return None
        self.evaluated.add(module)
        self.observed = True
        return (
            self.torch.no_grad()
            if self.reach("with torch.no_grad():  # around the evaluation")
            else None
        )

    def after_call(self, module, output):
        if not self.observed:
            return
        self.observed = False
        tensors = tensors_in(self.torch, output)
        if self.on:
            self.without = [weakref.ref(one) for one in tensors]
            return
        for one in tensors:
            if one.requires_grad:
                one.register_hook(self.used)

    def used(self, gradient):
        self.unsuited("the program computes gradients through a model in evaluation mode")

    def stepped(self, optimizer):
        if self.evaluations and not self.session.forwards:
            self.trained = True
        self.evaluations = 0
        self.has_stepped = True
        if self.evaluated and not self.needed:
            own = {
                id(p)
                for group in optimizer.param_groups
                for p in group["params"]
                # With the toggle, the models in evaluation mode have no gradients.
                if (p.grad is None) == self.on
            }
            for each in self.ever_called if self.on else self.called:
                own -= {id(p) for p in each.parameters()}
            if any(id(p) in own for each in self.evaluated for p in each.parameters()):
                self.unsuited("the program trains a model in evaluation mode")

    def finish(self):
        if self.trained:
            self.withdraw("the program trains in evaluation mode")
        elif self.needed and self.on and self.reached:
            self.reject(self.needed)
        elif self.needed:
            self.withdraw(self.needed)

    def absent(self):
        return "in the planned steps, no model is called in evaluation mode with gradients enabled"

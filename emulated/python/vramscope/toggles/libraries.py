"""Hooks in the libraries that train models or load them: transformers, peft, accelerate, Lightning
and torchtune."""

import contextlib
import functools
import inspect
import os
import sys

from vramscope.toggles.words import literal, on_command_line


def _called_by(name):
    frame = sys._getframe(1)
    while frame is not None and os.path.basename(frame.f_code.co_filename) != name:
        frame = frame.f_back
    return frame is not None


def _lora_words(values):
    """Returns the change that sets these fields of peft's LoraConfig on the command line of a
    script of trl."""
    return on_command_line(
        *(
            "(without --lora_%s)" % name if value is None else "--lora_%s %s" % (name, value)
            for name, value in values.items()
        )
    )


def _lora_arguments(values):
    words = ", ".join("%s=%s" % (name, literal(value)) for name, value in values.items())
    return "LoraConfig(..., %s)" % words


class Libraries:
    """The part of a Session that watches these libraries."""

    def _watch_arguments(self, module):
        kind = module.TrainingArguments
        complete = kind.__post_init__

        @functools.wraps(complete)
        def __post_init__(arguments):
            self.trainer, self.trainer_place, self.parsed = (
                arguments,
                self.place(),
                _called_by("hf_argparser.py"),
            )
            # An Accelerator that has prepared nothing serves another purpose, such as the number of
            # the process. transformers then resets accelerate's state.
            for toggle, found in self.before_accelerator.items():
                toggle.accelerator_unused(found)
            self.before_accelerator = {}
            before = {toggle: toggle.found() for toggle in self.toggles}
            self.each("training_arguments", arguments)
            for toggle, found in before.items():
                if toggle.found() != found:
                    self.before_arguments.setdefault(toggle, found)
            return complete(arguments)

        kind.__post_init__ = __post_init__

    def _watch_trainer(self, module):
        kind = module.Trainer
        begin, train, choose = kind.__init__, kind.train, kind.get_optimizer_cls_and_kwargs

        @functools.wraps(begin)
        def __init__(trainer, *args, **kwargs):
            args = list(args)
            model = args[0] if args else kwargs.get("model")
            self.arguments_of_trainer = args[1] if len(args) > 1 else kwargs.get("args")
            for each in type(trainer).__mro__:
                if issubclass(each, kind):
                    self._watch_methods(each)
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
            if trainer.optimizer is not None:
                self.is_own_optimizer()
            self.each("trainer_begins", trainer, trainer.args)
            return train(trainer, *args, **kwargs)

        @functools.wraps(choose)
        def choose_(arguments, *args, **kwargs):
            self.optimizer_of = arguments
            self._arguments_used(lambda toggle: toggle.is_of_optimizer)
            return choose(arguments, *args, **kwargs)

        kind.__init__, kind.train = __init__, train_
        kind.get_optimizer_cls_and_kwargs = staticmethod(choose_)

    def _watch_methods(self, kind):
        """Observes when the methods of a class of Trainer run that compute with the model. Classes
        derived from Trainer may replace them."""

        def seen(method):
            @functools.wraps(method)
            def wrapper(trainer, *args, **kwargs):
                self._arguments_used(lambda toggle: not toggle.is_of_optimizer)
                self.inside.append(trainer)
                try:
                    return method(trainer, *args, **kwargs)
                finally:
                    self.inside.pop()

            wrapper.seen = True
            return wrapper

        for name in ("train", "evaluate", "predict", "training_step", "create_optimizer"):
            method = kind.__dict__.get(name)
            if inspect.isfunction(method) and not getattr(method, "seen", False):
                setattr(kind, name, seen(method))

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
            config = args[0] if args and which == "from_config" else kwargs.get("config")
            self.attention = getattr(config, "_attn_implementation_internal", None)
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

    @contextlib.contextmanager
    def own_adapters(self):
        """A toggle creates peft's LoraConfig."""
        self.calls.making_own_adapters += 1
        try:
            yield
        finally:
            self.calls.making_own_adapters -= 1

    def _watch_adapters(self, module):
        kind = module.LoraConfig
        make = kind.__init__
        signature = inspect.signature(make)
        defaults = {name: signature.parameters[name].default for name in ("r", "target_modules")}
        peft = os.path.dirname(sys.modules["peft"].__file__) + os.sep

        @functools.wraps(make)
        def __init__(config, *args, **kwargs):
            caller = sys._getframe(1).f_code
            # peft itself creates copies, and the settings of saved adapters, whose sizes are given
            if self.calls.making_own_adapters or caller.co_filename.startswith(peft):
                return make(config, *args, **kwargs)
            try:
                keywords = dict(signature.bind(config, *args, **kwargs).arguments)
            except TypeError:
                return make(config, *args, **kwargs)
            keywords.pop("self", None)
            keywords = {**defaults, **keywords}
            from_words = caller.co_name == "get_peft_config"  # trl's, from the command line
            self.each("lora_config", keywords, _lora_words if from_words else _lora_arguments)
            return make(config, **keywords)

        kind.__init__ = __init__

    def _watch_accelerator(self, module):
        kind = module.Accelerator
        begin = kind.__init__

        @functools.wraps(begin)
        def __init__(accelerator, *args, **kwargs):
            if not self.calls.trainer and self.trainer is None:
                before = {toggle: toggle.found() for toggle in self.toggles}
                self.each("accelerator", kwargs)
                if not self.accelerated:
                    self.before_accelerator = {
                        toggle: found for toggle, found in before.items() if toggle.found() != found
                    }
                self.accelerated = True
            return begin(accelerator, *args, **kwargs)

        def used(method, always):
            @functools.wraps(method)
            def wrapper(accelerator, *args, **kwargs):
                models = (self.torch.nn.Module,)
                if not self.inside and (always or any(isinstance(one, models) for one in args)):
                    self.prepared, self.before_accelerator = True, {}
                return method(accelerator, *args, **kwargs)

            return wrapper

        kind.__init__ = __init__
        for name in ("prepare", "prepare_model", "autocast"):
            setattr(kind, name, used(getattr(kind, name), name != "prepare"))

    def _watch_lightning(self, module):
        kind = module.Trainer
        begin = kind.__init__

        @functools.wraps(begin)
        def __init__(trainer, *args, **kwargs):
            self.lightning = module.__name__.partition(".trainer.")[0]
            self.each("lightning", kwargs)
            return begin(trainer, *args, **kwargs)

        kind.__init__ = __init__

    def _watch_recipes(self, module):
        read = module._merge_yaml_and_cli_args

        @functools.wraps(read)
        def wrapper(*args, **kwargs):
            self.recipe = read(*args, **kwargs)
            self.each("recipe", self.recipe)
            return self.recipe

        module._merge_yaml_and_cli_args = wrapper

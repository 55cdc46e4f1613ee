"""A toggle is a class: its attributes are its declaration, and its methods are the places where it
is applied.

    @toggle
    class EvalNoGrad(Toggle):
        name, label = "eval-no-grad", "No gradients in evaluation"
        group, changes = "activations", NOTHING

        def around_call(self, module):
            if not module.training and self.reach("with torch.no_grad():  # around the evaluation"):
                return self.torch.no_grad()
"""

# How a toggle changes the result of the training. `fit` shows it.
NOTHING, ROUNDING, TRAINING = "nothing", "rounding", "training"
MOST_LINES = 60
FURTHER = "# further places are not listed"
ALL = {}  # name: class, in the order of declaration


def toggle(kind):
    """Registers a toggle."""
    assert kind.name and kind.name not in ALL, kind.name
    ALL[kind.name] = kind
    return kind


class Toggle:
    name = label = group = ""
    changes = NOTHING
    explains = ""  # its effect on memory and time, in one sentence
    # the condition under which it applies; completes the sentence "it applies to ..."
    applies_to = ""
    # the accepted values, or a string that names the kind of value; (): it takes no value
    values = ()
    default = None  # used if no value is given; None: a value is required
    excludes = ()  # names of toggles that cannot be combined with this one
    tries = ()  # values that `fit` plans; it tries a toggle without values as it is
    slow = False  # `fit` tries it only after all others
    # An estimate of the reduction: {category: share of its live bytes at the peak}. "cached" stands
    # for the allocator's cached memory. `fit` uses the estimate to order its plans.
    reduces = {}
    # TrainingArguments can set it, but only for an optimizer that Trainer creates
    is_of_optimizer = False
    reduces_in = ""  # "eval", "optimizer": reduces a peak only in that phase

    def __init__(self, session, chosen, value):
        self.session, self.torch = session, session.process.torch
        self.on = chosen
        self.value = value if value is not None else self.default
        if self.value is None and self.tries:
            self.value = self.tries[0]  # the value with which places of application are looked for
        self.reached = 0  # how often the program reached a place where it applies
        self.places = set()  # the places of the program at which it was reached
        self.why = ""  # why it applies nowhere
        self.already_on = False  # it applies nowhere because the program has this setting itself
        self.overridden = ""  # why it had no effect although it was applied
        self.unusable = ""  # why the program cannot use it although it was applied
        # changes to make by hand: {(text, place or ""): place in the program}
        self.lines = {}

    @classmethod
    def declaration(cls):
        return {
            "name": cls.name,
            "label": cls.label,
            "group": cls.group,
            "changes": cls.changes,
            "explains": cls.explains,
            "applies_to": cls.applies_to,
            "values": cls.values if isinstance(cls.values, str) else list(cls.values),
            "default": cls.default,
            "needs_value": bool(cls.values) and cls.default is None,
            "excludes": list(cls.excludes),
            "slow": cls.slow,
            "reduces": cls.reduces,
            "reduces_in": cls.reduces_in,
            "before_torch": "before_torch"
            in {name for base in cls.__mro__[:-2] for name in base.__dict__},
        }

    # --- calls by toggles ---

    def reach(self, *lines, place=None, each=True):
        """Call where the toggle applies. Returns whether to apply it. `lines` are the lines that
        the user would write here. The report has equal lines once for each place, or only once if
        `each` is not set."""
        self.reached += 1
        here = self.session.place() if place is None else place
        self.places.add(here)
        keys = [(line, here if each else "") for line in lines]
        new = [key for key in keys if key not in self.lines]
        if len(self.lines) + len(new) > MOST_LINES:
            new = [(FURTHER, "")]
        for key in new:
            self.lines.setdefault(key, here)
        return self.on

    def refuse(self, why):
        """Call where the toggle does not apply. `why` is reported if it applies nowhere."""
        if not self.why:
            self.why = why

    def already(self, why):
        """Call where the program already has this setting. If the toggle applies nowhere, `why` is
        reported, even if refuse() was also called."""
        if not self.already_on:
            self.why, self.already_on = why, True

    def withdraw(self, why, already=False):
        """Call if the toggle does not apply after all. Cancels all calls of reach(). `already`
        means that the program already has this setting."""
        self.reached, self.places, self.lines = 0, set(), {}
        self.why, self.already_on = why, already

    def found(self):
        """Returns what reach(), refuse() and already() have stored."""
        return self.reached, set(self.places), dict(self.lines), self.why, self.already_on

    def restore(self, found):
        """Cancels all calls since found() returned `found`."""
        self.reached, self.places, self.lines, self.why, self.already_on = found

    def add(self, found):
        """Adds what found() returned before restore() was called."""
        reached, places, lines, why, already = found
        self.reached += reached
        self.places |= places
        self.lines = {**self.lines, **lines}
        if not self.why:
            self.why, self.already_on = why, already

    def withdraw_since(self, why, found, already=False):
        """Like withdraw(), but keeps the calls of reach() before found() returned `found`."""
        if found[0]:
            self.restore(found)
        else:
            self.withdraw(why, already)

    def override(self, why):
        """Call if the program later undoes the toggle's change."""
        if self.on and not self.overridden:
            self.overridden = why

    def reject(self, why):
        """Call if the toggle was applied, but with it the program would not train, or would train
        something else. The plan includes the change."""
        if self.on and not self.unusable:
            self.unusable = why

    def proposals(self):
        """Returns the values with which `fit` should plan this program."""
        return list(self.tries) if self.values else [None]

    def share(self, value):
        """Returns which share of the reduction in `reduces` the toggle achieves with this value."""
        return 1.0

    def absent(self):
        """Returns the reason to report if neither reach() nor refuse() was called."""
        return "the program never reaches a place where this toggle applies"

    def report(self):
        undone = self.overridden
        proposals = [] if not self.reached or undone or self.unusable else self.proposals()
        if not self.reached and not self.why:
            self.why = self.absent()
        return {
            "name": self.name,
            "value": self.value if self.values else None,
            "on": self.on,
            "reached": self.reached,
            "places": len(self.places),
            "already_on": self.already_on and not self.reached,
            "why": "" if self.reached else self.why,
            "overridden": undone,
            "unusable": self.unusable,
            "applies_to": self.applies_to,
            "proposals": proposals,
            "shares": [self.share(value) for value in proposals],
            "change": [{"text": text, "where": place} for text, place in self.lines_to_write()],
        }

    def lines_to_write(self):
        """Returns the lines and their places: file by file as the program reaches them, and in the
        order of a file's lines."""
        files = []

        def order(line):
            text, place = line
            file, _, number = place.rpartition(":")
            if file not in files:
                files.append(file)
            return text == FURTHER, files.index(file), int(number) if number.isdigit() else 0

        return sorted(((text, place) for (text, _), place in self.lines.items()), key=order)

    # --- places of application, implemented by toggles ---

    @classmethod
    def before_torch(cls, value):
        """Called only if the toggle is on, before torch is imported and reads the environment."""

    def install(self):
        """Called after torch was imported."""

    def training_arguments(self, arguments):
        """Called when the program creates transformers' TrainingArguments, before they are checked
        and completed."""

    def trainer_begins(self, trainer, arguments):
        """Called when the program calls the trainer's train()."""

    def loads_model(self, keywords, which):
        """Called before transformers' from_pretrained or from_config (`which`), but not for a call
        from within another one. May change the keyword arguments."""

    def model_made(self, model, where):
        """Called after from_pretrained or from_config has created a model in the line `where`, or
        after a model was passed to a Trainer. Returns the model or a replacement."""
        return model

    def lora_config(self, keywords, text):
        """Called when the program creates peft's LoraConfig. May change `keywords`, which has at
        least the rank and the target modules. `text` returns the change that sets {name:
        value}."""

    def accelerator(self, keywords):
        """Called when the program creates accelerate's Accelerator."""

    def accelerator_unused(self, found):
        """Called if the program then trains with transformers' Trainer instead. `found` is what
        found() returned before accelerator() was called."""
        self.restore(found)

    def library_unused(self, found):
        """Called if the program then trains in its own loop, without the Accelerator or the
        TrainingArguments that it has created. `found` is what found() returned before accelerator()
        or training_arguments() was called."""
        self.restore(found)

    def lightning(self, keywords):
        """Called when the program creates Lightning's Trainer."""

    def recipe(self, settings):
        """Called when a recipe of torchtune has read its settings (an omegaconf.DictConfig). May
        change them."""

    def optimizer_arguments(self, kind, keywords):
        """Called before the program creates an optimizer of class `kind`. May change `keywords`,
        which has all arguments except the parameters. Not called for an optimizer that another
        optimizer creates."""

    def before_call(self, module):
        """Called before the program calls an outermost module, but not during backward."""

    def around_call(self, module):
        """Returns a context manager for the call of the outermost module, or None."""

    # def inner_call(self, module): called for each module within the outermost module. These calls
    # are frequent, so only toggles that need the method define it.

    # def recomputed_call(self, module): called for each module that checkpointing calls again in
    # backward, likewise only for toggles that define it.

    def after_call(self, module, output):
        """Called when the call of the outermost module has returned."""

    def stepped(self, optimizer):
        """Called after an optimizer has stepped."""

    def finish(self):
        """Called when the program ends."""

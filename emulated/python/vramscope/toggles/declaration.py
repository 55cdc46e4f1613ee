"""What a toggle is: one class, whose attributes are its declaration and whose methods are the places where it is applied.

    @toggle
    class EvalNoGrad(Toggle):
        name, label, group, changes = "eval-no-grad", "No gradients in evaluation", "activations", NOTHING

        def around_call(self, module):
            if not module.training and self.reach("with torch.no_grad():  # around the evaluation"):
                return self.torch.no_grad()
"""

NOTHING, ROUNDING, TRAINING = "nothing", "rounding", "training"  # what a toggle changes of the training, as `fit` has it
ALL = {}  # name: class, in the order of their files


def toggle(kind):
    """Declares a toggle."""
    assert kind.name and kind.name not in ALL, kind.name
    ALL[kind.name] = kind
    return kind


class Toggle:
    name = label = group = ""
    changes = NOTHING
    explains = ""  # what it does to memory and time, in a sentence
    values = ()  # that it takes; a text: what kind of value; (): none
    default = None  # where none is given; None: one has to be
    excludes = ()  # names of toggles that do not go together with this one
    tries = ()  # values that `fit` plans; one without values is tried as it is
    slow = False  # `fit` looks at it where nothing else is left
    # What it may take less of, in parts of what there is at the peak: categories, "cached" for what the allocator holds and nobody uses. A
    # guess, by which `fit` orders what it plans.
    reduces = {}
    reduces_in = ""  # "eval", "optimizer": of a peak in that phase alone

    def __init__(self, session, chosen, value):
        self.session, self.torch = session, session.process.torch
        self.on = chosen
        self.value = value if value is not None else self.default
        if self.value is None and self.tries:
            self.value = self.tries[0]  # what is looked for
        self.reached = 0  # how often it came to a place where it applies
        self.why = ""  # it applies nowhere: why
        self.overridden = ""  # it was applied and had no effect: why
        self.lines = {}  # to write down: {text: place in the program}

    @classmethod
    def declaration(cls):
        return {"name": cls.name, "label": cls.label, "group": cls.group, "changes": cls.changes, "explains": cls.explains,
                "values": cls.values if isinstance(cls.values, str) else list(cls.values), "default": cls.default,
                "needs_value": bool(cls.values) and cls.default is None, "excludes": list(cls.excludes), "slow": cls.slow,
                "reduces": cls.reduces, "reduces_in": cls.reduces_in,
                "before_torch": "before_torch" in {name for base in cls.__mro__[:-2] for name in base.__dict__}}

    # --- what a toggle says of itself ---

    def reach(self, *lines, place=None):
        """It applies here: whether it is to. `lines`: what the user would write."""
        self.reached += 1
        for line in lines:
            if line not in self.lines and len(self.lines) < 16:
                self.lines[line] = self.session.place() if place is None else place
        return self.on

    def refuse(self, why):
        """It does not apply here: told where it applies nowhere."""
        if not self.why:
            self.why = why

    def override(self, why):
        """What the program does afterwards undoes it."""
        if self.on and not self.overridden:
            self.overridden = why

    def proposals(self):
        """Values that are worth a plan of this program."""
        return list(self.tries) if self.values else [None]

    def share(self, value):
        """How much of what it reduces that value does."""
        return 1.0

    def absent(self):
        """Why it does not apply where no place for it was come to."""
        return "the program never comes to where it applies"

    def report(self):
        undone = self.overridden
        proposals = [] if not self.reached or undone else self.proposals()
        if not self.reached and not self.why:
            self.why = self.absent()
        return {"name": self.name, "value": self.value if self.values else None, "on": self.on, "reached": self.reached,
                "why": "" if self.reached else self.why, "overridden": undone,
                "proposals": proposals, "shares": [self.share(value) for value in proposals],
                "change": [{"text": text, "where": place} for text, place in self.lines.items()]}

    # --- the places ---

    @classmethod
    def before_torch(cls, value):
        """torch is about to be imported: it reads the environment. Only of a toggle that is on."""

    def install(self):
        """torch has been imported."""

    def training_arguments(self, arguments):
        """transformers' TrainingArguments have been made, and are about to be checked and completed."""

    def trainer_begins(self, trainer, arguments):
        """Its train() is called."""

    def loads_model(self, keywords, which):
        """`which` is from_pretrained or from_config of transformers, outermost: its keyword arguments may be changed."""

    def model_made(self, model, where):
        """By from_pretrained, from_config (where: the line of it), or handed to a Trainer. Another model may be returned in its place."""
        return model

    def accelerator(self, keywords):
        """accelerate's Accelerator is made, by the program itself."""

    def optimizer_arguments(self, kind, keywords):
        """An optimizer of this class is made, outermost: its keyword arguments may be changed, parameters but the first among them."""

    def before_call(self, module):
        """The outermost module is called, by the program and not by backward."""

    def around_call(self, module):
        """A context for that call; None."""

    def after_call(self, module, output):
        """It returns."""

    def stepped(self, optimizer):
        """An optimizer has."""

    def finish(self):
        """The program ends."""

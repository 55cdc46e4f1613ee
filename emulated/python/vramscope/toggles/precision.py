"""Toggles for lower precision: mixed precision, 16-bit weights."""
import weakref

from vramscope.toggles.declaration import ROUNDING, Toggle, toggle


class _Mixed(Toggle):
    """Uses the switch of the library that trains; for a program's own loop, autocast around the calls of its model."""
    group, changes = "precision", ROUNDING
    reduces = {"Activation": 0.45, "Autograd detail": 0.3, "Temporary": 0.3}
    argument = ""  # field of TrainingArguments, and accelerate's mixed_precision

    def training_arguments(self, arguments):
        others = [name for name in ("bf16", "fp16") if name != self.argument and getattr(arguments, name)]
        if getattr(arguments, self.argument):
            self.refuse("TrainingArguments already has %s=True" % self.argument)
        elif self.reach("TrainingArguments(..., %s)" % ", ".join(["%s=True" % self.argument] + ["%s=False" % name for name in others])):
            setattr(arguments, self.argument, True)
            for name in others:
                setattr(arguments, name, False)

    def trainer_begins(self, trainer, arguments):
        if not getattr(arguments, self.argument):
            self.override("the program sets %s=False afterwards" % self.argument)

    def accelerator(self, keywords):
        if str(keywords.get("mixed_precision")) == self.argument:
            self.refuse("Accelerator already has mixed_precision=\"%s\"" % self.argument)
        elif self.reach("Accelerator(..., mixed_precision=\"%s\")" % self.argument):
            keywords["mixed_precision"] = self.argument

    def under_autocast(self):
        enabled = self.torch.is_autocast_enabled
        try:
            return enabled("cuda")
        except TypeError:  # before 2.4
            return enabled()


@toggle
class Bf16(_Mixed):
    name, label, argument, excludes = "bf16", "Mixed precision in bfloat16", "bf16", ("fp16", "weights")
    explains = "Matrix products and their saved tensors use bfloat16; the weights keep their type, with an additional copy in bfloat16"

    def around_call(self, module):
        if self.session.library:
            return None
        if self.under_autocast():
            self.refuse("the model is already called under autocast")
            return None
        kinds = {parameter.dtype for parameter in module.parameters()}
        if self.torch.float32 not in kinds:
            self.refuse("the weights are already %s" % ", ".join(sorted(str(kind).replace("torch.", "") for kind in kinds)))
            return None
        if self.reach("model.forward = torch.autocast(\"cuda\", dtype=torch.bfloat16)(model.forward)"):
            return self.torch.autocast("cuda", dtype=self.torch.bfloat16)
        return None


@toggle
class Fp16(_Mixed):
    name, label, argument, excludes = "fp16", "Mixed precision in float16", "fp16", ("bf16", "weights")
    explains = "Like bf16, for GPUs without bfloat16; gradients are scaled"

    def proposals(self):
        return []  # not better than bfloat16 if that applies

    def absent(self):
        return "the program has its own training loop, where float16 gradients must be scaled, which no switch can do; use bf16"


@toggle
class Weights(Toggle):
    name, label, group, changes = "weights", "16-bit weights", "precision", ROUNDING
    explains = "Weights, gradients and optimizer state have 16 bits: the training runs at lower precision"
    values, default, tries, excludes = ("bf16", "fp16"), "bf16", ("bf16",), ("bf16", "fp16")
    reduces = {"Parameter": 0.5, "Gradient": 0.5, "Optimizer state": 0.5, "Activation": 0.45, "Autograd detail": 0.3, "Temporary": 0.3}

    @property
    def kind(self):
        return self.torch.float16 if self.value == "fp16" else self.torch.bfloat16

    def loads_model(self, keywords, which):
        import transformers

        version = tuple(int(part) for part in transformers.__version__.split(".")[:2])
        name = "dtype" if version >= (4, 56) else "torch_dtype"
        there = keywords.get("dtype", keywords.get("torch_dtype"))
        if there in (self.kind, str(self.kind), str(self.kind).replace("torch.", "")):
            self.refuse("%s already has %s" % (which, self.kind))
        elif self.reach("%s(..., %s=%s)" % (which, name, self.kind)):
            keywords.pop("torch_dtype", None)
            keywords[name] = self.kind

    def install(self):
        self.made = weakref.WeakSet()

    def model_made(self, model, where):
        if self.reached:
            self.made.add(model)
        return model

    def before_call(self, module):
        for part in module.modules() if self.on else ():
            if part in self.made and all(parameter.dtype is not self.kind for parameter in part.parameters()):
                self.override("the program converts the weights afterwards")

    def absent(self):
        return "the model is not created by transformers' from_pretrained or from_config"

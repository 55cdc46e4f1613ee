"""Toggles that train adapters instead of all weights."""

import importlib.util
import json
import weakref

from vramscope.toggles.declaration import ROUNDING, TRAINING, Toggle, toggle
from vramscope.toggles.session import unwrapped
from vramscope.toggles.words import on_command_line

TASKS = (
    ("ForCausalLM", "CAUSAL_LM"),
    ("LMHeadModel", "CAUSAL_LM"),
    ("ForSequenceClassification", "SEQ_CLS"),
    ("ForConditionalGeneration", "SEQ_2_SEQ_LM"),
    ("ForTokenClassification", "TOKEN_CLS"),
    ("ForQuestionAnswering", "QUESTION_ANS"),
)


@toggle
class Lora(Toggle):
    name, label, group, changes = "lora", "LoRA instead of full fine-tuning", "adapters", TRAINING
    explains = (
        "Only two small matrices per linear layer are trained and have gradients and "
        "optimizer state"
    )
    # MODEL counts the models that transformers creates. Without it, the first one gets adapters.
    # Models that a loop creates one after another count as one, because the line that adds adapters
    # to one of them adds adapters to all.
    values, default, tries, excludes = "RANK[@MODEL]", "8", ("8",), ("lora-attention", "dora")
    reduces = {"Gradient": 1, "Optimizer state": 1}
    applies_to = (
        "models created by transformers' from_pretrained or from_config, or passed to its Trainer"
    )
    # arguments of LoraConfig besides the rank and the task
    options = {"target_modules": "all-linear"}

    def install(self):
        rank, _, number = self.value.partition("@")
        self.rank, self.number = int(rank), int(number or 1)
        self.models = 0  # how many could have had adapters
        self.calls = {}  # the calls that create them: {number: calls}
        self.numbers = weakref.WeakKeyDictionary()  # {model: its number}
        self.found_at = {}  # what was found for each model, if the toggle is off: {number: found()}
        # the numbers of the models that the program trains; None: a model without a number
        self.trained = set()

    def model_made(self, model, where):
        if model in self.numbers:
            return model
        if getattr(model, "peft_config", None) is not None:
            (self.already if self.is_same(model) else self.refuse)(
                "the program already uses adapters"
            )
        elif not hasattr(model, "config") or not hasattr(model, "save_pretrained"):
            self.refuse("the model is not from transformers")
        elif importlib.util.find_spec("peft") is None:
            self.refuse("the package peft is not installed")
        else:
            number = self.new_number()
            if not self.on:
                before = self.found()
                self.withdraw("")
                self.adapt(model)
                self.found_at[number] = self.found()
                if number != self.number:
                    self.restore(before)
            elif number == self.number:
                model = self.adapt(model)
            self.numbers[model] = number
        return model

    def new_number(self):
        """Returns the number of the model that is now created."""
        calls = self.session.users_calls()
        for number, others in self.calls.items() if calls else ():
            # A function of the program may also create a teacher and a student, but not if one is
            # created after the other has been trained.
            if calls == others or number in self.trained and calls[0] == others[0]:
                return number
        self.models += 1
        self.calls[self.models] = calls or [None]
        return self.models

    def adapt(self, model):
        """Returns the model with adapters if the toggle is on."""
        task = next((task for name, task in TASKS if type(model).__name__.endswith(name)), None)
        options = {"r": self.rank, **self.options, **({"task_type": task} if task else {})}
        words = ", ".join("%s=%r" % pair for pair in options.items()).replace("'", '"')
        why, trainer = self.unsuitable(model), self.session.loading_class()
        if why:
            self.refuse(why)
        elif self.reach(
            "%s(..., peft_config=peft.LoraConfig(%s))  # import peft" % (trainer, words)
            if trainer
            else "model = peft.get_peft_model(model, peft.LoraConfig(%s))  # import peft" % words
        ):
            from peft import LoraConfig, get_peft_model

            with self.session.own_adapters():
                model = get_peft_model(model, LoraConfig(**options))
        return model

    def is_same(self, model):
        """Returns whether the program's own adapters are those of this toggle, apart from their
        rank."""
        return True

    def unsuitable(self, model):
        """Returns why the adapters cannot be added to a model of transformers, or ""."""
        return ""

    def before_call(self, module):
        if not unwrapped(module).training or not self.torch.is_grad_enabled():
            return
        parts = list(module.modules())
        numbers = {self.numbers[part] for part in parts if part in self.numbers}
        self.trained |= numbers or {None}
        owns = next(
            (
                part
                for part in parts
                if getattr(part, "peft_config", None) is not None and part not in self.numbers
            ),
            None,
        )
        if owns is not None and not self.on:
            self.withdraw("the program already uses adapters", already=self.is_same(owns))
            self.found_at = {}
        elif owns is not None and hasattr(owns, "get_base_model"):
            self.override("the program already uses adapters")

    def finish(self):
        others = self.trained - {None}
        if not self.on:
            if self.trained and self.number not in others and self.found_at:
                self.choose(others)
        elif not self.reached and 0 < self.models < self.number:
            self.refuse("transformers creates only %d models without adapters" % self.models)
        elif self.reached and others and self.number not in others:
            number = min(others)
            self.reject(
                "the program trains model %d of those that transformers creates; use %s=%d@%d"
                % (number, self.name, self.rank, number)
            )
        elif self.reached and self.trained == {None}:
            self.reject("the program trains a model other than the one with the adapters")

    def choose(self, numbers):
        if numbers:
            self.number = min(numbers)
            self.restore(self.found_at[self.number])
        else:
            self.withdraw("the program trains a model other than the one that transformers created")

    def proposals(self):
        return [value + ("@%d" % self.number if self.number > 1 else "") for value in self.tries]

    def absent(self):
        return (
            "the model is not created by transformers' from_pretrained or from_config, nor "
            "trained by its Trainer"
        )


@toggle
class LoraAttention(Lora):
    name, label = "lora-attention", "LoRA on the layers that peft chooses"
    explains = (
        "Adapters only on the layers that peft chooses for this architecture, usually "
        "the query and value projections. They keep fewer activations than adapters on "
        "all linear layers"
    )
    options, excludes = {}, ("lora", "dora")

    def is_same(self, model):
        return False

    def unsuitable(self, model):
        from peft.utils import constants

        known = constants.TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING
        kind = getattr(model.config, "model_type", "")
        return (
            ""
            if kind in known
            else "peft has no default layers for %s; use lora" % (kind or type(model).__name__)
        )


@toggle
class Dora(Lora):
    name, label, slow = "dora", "DoRA instead of full fine-tuning", True
    explains = (
        "Like LoRA, but also trains the magnitude of each row of a weight. Needs more "
        "memory than LoRA"
    )
    options, excludes = (
        {"target_modules": "all-linear", "use_dora": True},
        ("lora", "lora-attention"),
    )

    def is_same(self, model):
        settings = getattr(model, "peft_config", None)
        return (
            any(getattr(each, "use_dora", False) for each in settings.values())
            if isinstance(settings, dict)
            else False
        )


class _OwnLora(Toggle):
    """A toggle that changes the LoRA that the program itself adds: the arguments of peft's
    LoraConfig, or the settings of a recipe of torchtune."""

    group, changes = "adapters", TRAINING
    applies_to = "programs that create peft's LoraConfig, and torchtune's recipes with LoRA"

    def install(self):
        self.wanted = {}  # fields of peft's LoraConfig, if the toggle has set them
        self.configs = []  # the settings of all adapters with which the program trains

    def lora_config(self, keywords, text):
        wanted = self.settings(keywords)
        if wanted and self.reach(text(wanted)):
            self.wanted = wanted
            keywords.update(wanted)

    def recipe(self, settings):
        model = settings.get("model")
        wanted = self.settings_of_recipe(model) if model and "lora_rank" in model else {}
        words = (
            "model.%s=%s" % (name, json.dumps(value).replace('"', "").replace(" ", ""))
            for name, value in wanted.items()
        )
        if wanted and self.reach(on_command_line(*words)):
            model.update(wanted)

    def before_call(self, module):
        if not unwrapped(module).training or not self.torch.is_grad_enabled():
            return
        for part in module.modules():
            settings = getattr(part, "peft_config", None)
            if isinstance(settings, dict):
                found = [one for one in settings.values() if hasattr(one, "r")]
                self.configs += [one for one in found if one not in self.configs]
                self.trains(part, found)

    def trains(self, model, configs):
        """Called when a model with adapters of these settings is trained."""

    def finish(self):
        if not self.wanted:
            return
        if not self.configs:
            self.override("the program does not train with this LoraConfig")
        elif not any(self.is_set(one) for one in self.configs):
            self.override("the program changes the LoraConfig afterwards")

    def is_set(self, config):
        return all(getattr(config, name) == value for name, value in self.wanted.items())

    def absent(self):
        return "the program does not create peft's LoraConfig"


@toggle
class LoraRank(_OwnLora):
    name, label, slow = "lora-rank", "Smaller rank of the program's LoRA", True
    explains = "The two matrices per layer are smaller, and so are their gradients and states"
    # used before the program's own rank is known; proposals() returns parts of that rank
    values, tries = "RANK", ("1",)
    reduces = {"Parameter": 0.02, "Gradient": 0.7, "Optimizer state": 0.7}
    own = 0

    def settings(self, keywords):
        return self.changed("r", keywords["r"])

    def settings_of_recipe(self, model):
        return self.changed("lora_rank", model["lora_rank"])

    def changed(self, name, own):
        wanted, self.own = int(self.value), own
        if own == wanted:
            self.already("the rank is already %d" % wanted)
        elif wanted < 1:
            self.refuse("the rank must be at least 1")
        else:
            return {name: wanted}
        return {}

    def proposals(self):
        return [str(self.own // part) for part in (2, 8) if self.own >= part]

    def share(self, value):
        return 1 - int(value) / self.own


@toggle
class LoraTargets(_OwnLora):
    name, label, slow = "lora-targets", "LoRA on fewer layers", True
    explains = (
        "LoRA only on the layers that peft chooses for this architecture, or on the query and "
        "value projections (torchtune). Adapters on fewer layers keep fewer activations"
    )
    reduces = {"Parameter": 0.01, "Gradient": 0.7, "Optimizer state": 0.7, "Activation": 0.2}
    own = None  # the program's target modules, as given to peft's LoraConfig

    def settings(self, keywords):
        if keywords["target_modules"] is None:
            self.already("peft already chooses the layers")
            return {}
        self.own = keywords["target_modules"]
        return {"target_modules": None}

    def settings_of_recipe(self, model):
        wanted = {"lora_attn_modules": ["q_proj", "v_proj"], "apply_lora_to_mlp": False}
        if "apply_lora_to_output" in model:
            wanted["apply_lora_to_output"] = False
        if all(model.get(name) == value for name, value in wanted.items()):
            self.already("LoRA is already only on the query and value projections")
            return {}
        return wanted

    def trains(self, model, configs):
        if self.on or not self.reached:
            return
        from peft.utils import constants

        known = constants.TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING
        kind = getattr(getattr(model, "config", None), "model_type", "") or type(model).__name__
        if kind not in known:
            self.withdraw("peft has no default layers for %s" % kind)
        elif isinstance(self.own, (list, tuple, set)) and set(self.own) == set(known[kind]):
            self.withdraw("LoRA is already only on the layers that peft chooses", already=True)

    def is_set(self, config):
        # peft replaces None by its own choice
        return set(config.target_modules or ()) != set(self.own)


@toggle
class Quantize(Toggle):
    name, label, group, changes = "quantize", "Quantized base weights", "adapters", ROUNDING
    explains = (
        "The frozen weights of the base model are stored in 4 or 8 bits (bitsandbytes), "
        "as QLoRA does. Only adapters can be trained"
    )
    values, default, tries, excludes = ("4bit", "8bit"), "4bit", ("4bit",), ("weights",)
    applies_to = "models created by transformers' from_pretrained and trained with adapters"
    reduces = {"Parameter": 0.6}

    def install(self):
        self.made = weakref.WeakSet()
        self.adapters = False  # a model of from_pretrained is trained with adapters
        self.trained = False  # a model of from_pretrained is trained

    def loads_model(self, keywords, which):
        if not which.endswith(".from_pretrained"):
            self.refuse("%s cannot quantize; only from_pretrained can" % which)
        elif (
            keywords.get("quantization_config") is not None
            or keywords.get("load_in_4bit")
            or keywords.get("load_in_8bit")
        ):
            self.already("%s already quantizes the model" % which)
        elif importlib.util.find_spec("bitsandbytes") is None:
            self.refuse("the package bitsandbytes is not installed")
        elif self.reach(
            "%s(..., quantization_config=transformers.BitsAndBytesConfig(%s))  # import "
            "transformers" % (which, self.words())
        ):
            import torch
            from transformers import BitsAndBytesConfig

            keywords["quantization_config"] = BitsAndBytesConfig(
                **(
                    {"load_in_8bit": True}
                    if self.value == "8bit"
                    else {
                        "load_in_4bit": True,
                        "bnb_4bit_quant_type": "nf4",
                        "bnb_4bit_compute_dtype": torch.bfloat16,
                    }
                )
            )

    def words(self):
        if self.value == "8bit":
            return "load_in_8bit=True"
        return 'load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16'

    def model_made(self, model, where):
        if self.reached and where:  # not a model that is only passed to a Trainer
            self.made.add(model)
            if not self.on and getattr(model, "is_quantized", False):
                self.withdraw("the checkpoint is already quantized", already=True)
        return model

    def before_call(self, module):
        if unwrapped(module).training and self.torch.is_grad_enabled() and not self.adapters:
            parts = list(module.modules())
            trained = any(part in self.made for part in parts)
            self.trained = self.trained or trained
            self.adapters = trained and any(
                getattr(part, "peft_config", None) is not None for part in parts
            )

    def finish(self):
        if self.reached and not self.on and not self.trained:
            self.withdraw("the program trains a model other than the one that transformers created")
        elif self.reached and not self.on and not self.adapters:
            self.withdraw(
                "the program trains all weights, but quantized weights cannot be trained; add "
                "adapters first, for example with lora"
            )

    def absent(self):
        return "the model is not created by transformers' from_pretrained"

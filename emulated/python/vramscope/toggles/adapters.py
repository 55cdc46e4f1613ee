"""Toggles that train adapters instead of all weights."""

import importlib.util
import weakref

from vramscope.toggles.declaration import ROUNDING, TRAINING, Toggle, toggle

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
    values, default, tries, excludes = "RANK", "8", ("8",), ("lora-attention", "dora")
    reduces = {"Gradient": 1, "Optimizer state": 1}
    applies_to = (
        "models created by transformers' from_pretrained or from_config, or passed to its Trainer"
    )
    # arguments of LoraConfig besides the rank and the task
    options = {"target_modules": "all-linear"}

    def install(self):
        self.models = 0
        self.made = weakref.WeakSet()
        # For all calls of a model in training: whether the model contains one in `made` (a set of
        # True and False).
        self.trained = set()

    def model_made(self, model, where):
        if getattr(model, "peft_config", None) is not None:
            (self.already if self.is_same(model) else self.refuse)(
                "the program already uses adapters"
            )
        elif not hasattr(model, "config") or not hasattr(model, "save_pretrained"):
            self.refuse("the model is not from transformers")
        elif importlib.util.find_spec("peft") is None:
            self.refuse("the package peft is not installed")
        elif not self.models:
            self.models += 1
            task = next((task for name, task in TASKS if type(model).__name__.endswith(name)), None)
            options = {
                "r": int(self.value),
                **self.options,
                **({"task_type": task} if task else {}),
            }
            words = ", ".join("%s=%r" % pair for pair in options.items()).replace("'", '"')
            why, trainer = self.unsuitable(model), self.session.loading_class()
            if why:
                self.refuse(why)
            elif self.reach(
                "%s(..., peft_config=peft.LoraConfig(%s))  # import peft" % (trainer, words)
                if trainer
                else "model = peft.get_peft_model(model, peft.LoraConfig(%s))  # import peft"
                % words
            ):
                from peft import LoraConfig, get_peft_model

                model = get_peft_model(model, LoraConfig(**options))
            self.made.add(model)
        return model

    def is_same(self, model):
        """Returns whether the program's own adapters are those of this toggle, apart from their
        rank."""
        return True

    def unsuitable(self, model):
        """Returns why the adapters cannot be added to a model of transformers, or ""."""
        return ""

    def before_call(self, module):
        if not module.training or not self.torch.is_grad_enabled():
            return
        parts = list(module.modules())
        self.trained.add(any(part in self.made for part in parts))
        owns = next(
            (
                part
                for part in parts
                if getattr(part, "peft_config", None) is not None and part not in self.made
            ),
            None,
        )
        if owns is not None and not self.on:
            self.withdraw("the program already uses adapters", already=self.is_same(owns))
        elif owns is not None and hasattr(owns, "get_base_model"):
            self.override("the program already uses adapters")

    def finish(self):
        if self.reached and self.trained == {False}:
            self.override("the program trains a model other than the one with the adapters")
            if not self.on:
                self.withdraw(
                    "the program trains a model other than the one that transformers created"
                )

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
        if self.reached:
            self.made.add(model)
            if not self.on and getattr(model, "is_quantized", False):
                self.withdraw("the checkpoint is already quantized", already=True)
        return model

    def before_call(self, module):
        if module.training and self.torch.is_grad_enabled() and not self.adapters:
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

"""Toggles that train adapters instead of all weights."""
import importlib.util
import weakref

from vramscope.toggles.declaration import TRAINING, Toggle, toggle

TASKS = (("ForCausalLM", "CAUSAL_LM"), ("LMHeadModel", "CAUSAL_LM"), ("ForSequenceClassification", "SEQ_CLS"),
         ("ForConditionalGeneration", "SEQ_2_SEQ_LM"), ("ForTokenClassification", "TOKEN_CLS"), ("ForQuestionAnswering", "QUESTION_ANS"))


@toggle
class Lora(Toggle):
    name, label, group, changes = "lora", "LoRA instead of full fine-tuning", "adapters", TRAINING
    explains = "Only two small matrices per linear layer are trained and have gradients and optimizer state"
    values, default, tries = "RANK", "8", ("8",)
    reduces = {"Gradient": 1, "Optimizer state": 1}
    applies_to = "models created by transformers' from_pretrained or from_config, or passed to its Trainer"

    def install(self):
        self.models = 0
        self.made = weakref.WeakSet()
        # For all calls of a model in training: whether the model contains one in `made` (a set of True and False).
        self.trained = set()

    def model_made(self, model, where):
        if getattr(model, "peft_config", None) is not None:
            self.already("the program already uses adapters")
        elif not hasattr(model, "config") or not hasattr(model, "save_pretrained"):
            self.refuse("the model is not from transformers")
        elif importlib.util.find_spec("peft") is None:
            self.refuse("the package peft is not installed")
        elif not self.models:
            self.models += 1
            task = next((task for name, task in TASKS if type(model).__name__.endswith(name)), None)
            task = "" if task is None else ", task_type=\"%s\"" % task
            if self.reach("model = get_peft_model(model, LoraConfig(r=%s, target_modules=\"all-linear\"%s))" % (self.value, task)):
                from peft import LoraConfig, get_peft_model

                more = {"task_type": task.split("\"")[1]} if task else {}
                model = get_peft_model(model, LoraConfig(r=int(self.value), target_modules="all-linear", **more))
            self.made.add(model)
        return model

    def before_call(self, module):
        if not module.training or not self.torch.is_grad_enabled():
            return
        parts = list(module.modules())
        self.trained.add(any(part in self.made for part in parts))
        if not self.on and any(getattr(part, "peft_config", None) is not None for part in parts):
            self.withdraw("the program already uses adapters", already=True)

    def finish(self):
        if self.reached and self.trained == {False}:
            self.override("the program trains another model")
            if not self.on:
                self.withdraw("the program trains a model other than the one that transformers created")

    def absent(self):
        return "the model is not created by transformers' from_pretrained or from_config, nor trained by its Trainer"

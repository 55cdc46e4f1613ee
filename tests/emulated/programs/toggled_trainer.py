"""transformers' Trainer on a small Llama. --hand makes a toggle's change in the script; --undo reverts the change of a toggle."""
import argparse
import contextlib
import dataclasses
import functools
import tempfile

import torch
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, HfArgumentParser, LlamaConfig, LlamaForCausalLM, Trainer, TrainerCallback, TrainingArguments


class Sentences(torch.utils.data.Dataset):
    endless = False

    def __len__(self):
        return 64

    def __getitem__(self, index):
        if index >= len(self) and not self.endless:
            raise IndexError(index)  # ends a loop over the sentences
        ids = torch.full((256,), index)
        return {"input_ids": ids, "labels": ids.clone(), "attention_mask": torch.ones_like(ids)}


class OwnSampler(Trainer):
    def _get_train_sampler(self, *args):
        return torch.utils.data.RandomSampler(self.train_dataset)


class OwnOptimizer(Trainer):
    create = None  # a function

    def create_optimizer(self, *args):
        self.optimizer = type(self).create(self.model)
        return self.optimizer


class Plain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.head = torch.nn.Embedding(8000, 64), torch.nn.Linear(64, 8000)

    def forward(self, input_ids, labels=None):
        logits = self.head(self.embedding(input_ids))
        return {"loss": torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten()), "logits": logits}


@dataclasses.dataclass
class OffloadingArguments(TrainingArguments):
    """Like trl's SFTConfig."""

    activation_offloading: bool = False


class OffloadingTrainer(Trainer):
    def training_step(self, *args, **kwargs):
        with torch.autograd.graph.save_on_cpu(pin_memory=True) if self.args.activation_offloading else contextlib.nullcontext():
            return super().training_step(*args, **kwargs)


ARGUMENTS = {
    "offload": {"activation_offloading": True},
    "bf16": {"bf16": True},
    "fp16": {"fp16": True},
    "checkpointing": {"gradient_checkpointing": True, "gradient_checkpointing_kwargs": {"use_reentrant": False}},
    "micro-batch=1": {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 8},
    "optimizer=adafactor": {"optim": "adafactor"},
    "optimizer=sgd": {"optim": "sgd"},
    "optimizer-impl=foreach": {"optim": "adamw_torch"},
    "empty-cache": {"torch_empty_cache_steps": 1},
    "compile": {"torch_compile": True},
    "group-by-length": {"group_by_length": True},
    "fsdp": {"fsdp": "full_shard auto_wrap"},
    "fsdp=shard_grad_op": {"fsdp": "shard_grad_op auto_wrap"},
    "zero=2": {"deepspeed": {"zero_optimization": {"stage": 2}, "bf16": {"enabled": "auto"}, "train_batch_size": "auto",
                             "train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": "auto"}},
    "eval-batch": {"per_device_eval_batch_size": 1},
    "eval-accumulation": {"eval_accumulation_steps": 1},
}

ADAPTERS = {"lora=4": {"target_modules": "all-linear"}, "lora=4@2": {"target_modules": "all-linear"}, "lora-attention=4": {}, "dora=4": {"target_modules": "all-linear", "use_dora": True}}


def optimizer_by_hand(hands):
    """Returns a function that creates the program's own optimizer of a model."""
    def create(model):
        if "optimizer=sgd" in hands:
            return torch.optim.SGD(model.parameters(), lr=1e-4, weight_decay=0.1)
        fused = {"fused": True, "foreach": False} if "optimizer-impl=fused" in hands else {}
        return torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.1, **fused)

    return create


def several_models(config, hands, model_init):
    def create():
        model = AutoModelForCausalLM.from_config(config)
        if "lora=4" in hands:
            from peft import LoraConfig, get_peft_model

            model = get_peft_model(model, LoraConfig(r=4, task_type="CAUSAL_LM", **ADAPTERS["lora=4"]))
        return model

    def arguments(steps):
        return TrainingArguments(output_dir="out", max_steps=steps, save_strategy="no", report_to=[], per_device_train_batch_size=4)

    if model_init:
        Trainer(model_init=create, args=arguments(2), train_dataset=Sentences()).train()
        return
    Trainer(model=create(), args=arguments(1), train_dataset=Sentences()).train()
    Trainer(model=create(), args=arguments(1), train_dataset=Sentences()).train()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hand", default="", help="a toggle, or several with commas between them")
    parser.add_argument("--undo", default="", help="NAME=VALUE of TrainingArguments that is set behind them")
    parser.add_argument("--undo-later", action="store_true", help="revert it when the training begins")
    parser.add_argument("--pretrained", action="store_true", help="load the model with from_pretrained")
    parser.add_argument("--other", action="store_true", help="train a model other than the loaded one")
    parser.add_argument("--own-sampler", action="store_true", help="a Trainer that chooses the samples itself")
    parser.add_argument("--offloading", action="store_true", help="a Trainer that can move activations to the host itself")
    parser.add_argument("--parse", action="store_true", help="create TrainingArguments from a command line")
    parser.add_argument("--evaluate", action="store_true", help="call evaluate() instead of setting eval_strategy")
    parser.add_argument("--rank", action="store_true", help="ask accelerate for the number of the process")
    parser.add_argument("--eager", action="store_true", help="a configuration that asks for eager attention")
    parser.add_argument("--own-optimizer", choices=("passed", "created"), help="an optimizer that the program creates")
    parser.add_argument("--plain", action="store_true", help="train a model that is not from transformers")
    parser.add_argument("--teacher", action="store_true", help="first create a larger model, which is not trained")
    parser.add_argument("--endless", action="store_true", help="a data set over which a loop does not end")
    parser.add_argument("--second", action="store_true", help="then train a model in bfloat16 with another Trainer")
    parser.add_argument("--model-init", action="store_true", help="a Trainer that creates its model itself")
    parser.add_argument("--one-after-another", action="store_true", help="train two models one after another")
    options = parser.parse_args()
    Sentences.endless = options.endless
    if options.rank:
        from accelerate import Accelerator

        print(Accelerator().process_index)
    hands = options.hand.split(",")
    asked = {"attn_implementation": "eager"} if options.eager else {}
    config = LlamaConfig(vocab_size=8000, hidden_size=256, intermediate_size=688, num_hidden_layers=4, num_attention_heads=4, **asked)
    if options.model_init or options.one_after_another:
        several_models(config, hands, options.model_init)
        return
    loads = {}
    if "weights" in hands:
        loads["dtype"] = torch.bfloat16
    for name in ("eager", "sdpa"):
        if "attention=" + name in hands:
            loads["attn_implementation"] = name
    if "quantize" in hands:
        loads["quantization_config"] = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16)
    if options.teacher:
        teacher = AutoModelForCausalLM.from_config(LlamaConfig(**{**config.to_dict(), "num_hidden_layers": 6}), **loads)
        print(teacher.eval().requires_grad_(False).num_parameters())
    if options.pretrained:
        with tempfile.TemporaryDirectory() as folder:
            LlamaForCausalLM(config).save_pretrained(folder)
            model = AutoModelForCausalLM.from_pretrained(folder, **loads)
    else:
        model = AutoModelForCausalLM.from_config(config, **loads)
    for name, adapters in ADAPTERS.items():
        if name in hands:
            from peft import LoraConfig, get_peft_model

            model = get_peft_model(model, LoraConfig(r=4, task_type="CAUSAL_LM", **adapters))
    if "own-lora" in hands:
        from peft import LoraConfig, get_peft_model

        rank = 4 if "lora-rank=4" in hands else 16
        model = get_peft_model(model, LoraConfig(r=rank, target_modules=None if "lora-targets" in hands else "all-linear", task_type="CAUSAL_LM"))
    if "no-use-cache" in hands:
        model.config.use_cache = False
    if "enable-checkpointing" in hands:
        model.gradient_checkpointing_enable()
    arguments = {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 2}
    for hand in hands:
        arguments.update(ARGUMENTS.get(hand, {}))
    kind, trainer = (OffloadingArguments, OffloadingTrainer) if options.offloading else (TrainingArguments, OwnSampler if options.own_sampler else Trainer)
    arguments = kind(output_dir="out", max_steps=2, eval_strategy="no" if options.evaluate else "steps", eval_steps=1, save_strategy="no", report_to=[], **arguments)
    if options.parse:
        arguments, = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses("--output_dir out --max_steps 2 --report_to none".split())
    if options.other:
        model = LlamaForCausalLM(config)
    callbacks = []
    if options.undo:
        name, value = options.undo.split("=")
        undo = functools.partial(setattr, arguments, name, {"False": False, "None": None}.get(value, value))
        if options.undo_later:
            callback = TrainerCallback()
            callback.on_train_begin = lambda *args, **kwargs: undo()
            callbacks.append(callback)
        else:
            undo()
    if options.plain:
        model = Plain()
    further = {}
    if options.own_optimizer:
        create = optimizer_by_hand(hands)
        if options.own_optimizer == "passed":
            further["optimizers"] = create(model.cuda()), None
        else:
            trainer, OwnOptimizer.create = OwnOptimizer, staticmethod(create)
    trainer = trainer(model=model, args=arguments, train_dataset=Sentences(), eval_dataset=torch.utils.data.Subset(Sentences(), range(8)), callbacks=callbacks, **further)
    if options.evaluate:
        trainer.evaluate()
    trainer.train()
    if options.second:
        arguments = TrainingArguments(output_dir="out", max_steps=1, save_strategy="no", report_to=[], per_device_train_batch_size=4)
        Trainer(model=AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16), args=arguments, train_dataset=Sentences()).train()


if __name__ == "__main__":
    main()

"""What `vramscope plan --model config.json --set ...` plans with its own loop, as people write it: transformers, PEFT, torch.optim.

    python train.py --model config.json batch=2 seq=512 precision=amp-bf16

The settings are vramscope's; one that this program has no way to follow ends it."""
import argparse
import contextlib
import functools
import json
import re
import sys

import sharding
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoModelForSequenceClassification
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

DEFAULTS = {"batch": "2", "seq": "512", "micro_batches": "1", "steps": "2", "precision": "fp32", "optimizer.name": "adamw",
            "optimizer.impl": "foreach", "optimizer.lr": "1e-3", "optimizer.momentum": "0", "optimizer.weight_decay": "0",
            "checkpointing.mode": "none", "attention": "eager", "lora.rank": "0", "lora.alpha": "16", "lora.dropout": "0",
            "lora.targets": "q_proj,v_proj", "trainable": "all", "zero_grad": "none", **sharding.DEFAULTS}
PRECISIONS = {"fp32": (torch.float32, None), "bf16": (torch.bfloat16, None), "fp16": (torch.float16, None),
              "amp-bf16": (torch.float32, torch.bfloat16), "amp-fp16": (torch.float32, torch.float16)}


def settings_of(words):
    settings = dict(DEFAULTS)
    for word in words:
        key, _, value = word.partition("=")
        if key not in settings:
            sys.exit("train.py: there is no way here to follow %s" % word)
        settings[key] = value
    return settings


def read_config(described):
    return CONFIG_MAPPING[described["model_type"]].from_dict({**described, "use_cache": False})


class CausalModel:
    """A model of transformers that makes its loss itself, from token ids and labels."""
    task = "CAUSAL_LM"

    def __init__(self, described, settings, weights):
        self.model = AutoModelForCausalLM.from_config(read_config(described), torch_dtype=weights,
                                                      attn_implementation=attention_of_transformers(settings))

    def batch(self, rows, settings):
        ids = torch.randint(0, 64, (rows, int(settings["seq"])))
        return {"input_ids": ids.to("cuda"), "labels": ids.clone().to("cuda")}

    def loss(self, model, batch):
        return model(**batch).loss


class Classifier:
    """A sequence classifier of transformers, given what a tokenizer makes of sequences without padding."""
    task = None

    def __init__(self, described, settings, weights):
        self.types = described["model_type"] == "bert"
        self.model = AutoModelForSequenceClassification.from_config(
            read_config(described), torch_dtype=weights, attn_implementation=attention_of_transformers(settings))

    def batch(self, rows, settings):
        ids = torch.randint(0, 64, (rows, int(settings["seq"])))
        batch = {"input_ids": ids, "token_type_ids": torch.zeros_like(ids), "attention_mask": torch.ones_like(ids),
                 "labels": torch.randint(0, 2, (rows,))}
        if not self.types:
            del batch["token_type_ids"]
        return {name: tensor.to("cuda") for name, tensor in batch.items()}

    def loss(self, model, batch):
        return model(**batch).loss


class SequenceToSequence:
    """A model of transformers that makes its decoder's ids from the labels."""
    task = "SEQ_2_SEQ_LM"

    def __init__(self, described, settings, weights):
        self.model = AutoModelForSeq2SeqLM.from_config(read_config(described), torch_dtype=weights)

    def batch(self, rows, settings):
        ids = torch.randint(0, 64, (rows, int(settings["seq"])))
        batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": ids.clone()}
        return {name: tensor.to("cuda") for name, tensor in batch.items()}

    def loss(self, model, batch):
        return model(**batch).loss


class VisionModel:
    """torchvision's, and the cross entropy of its logits."""
    task = None

    def __init__(self, described, settings, weights):
        from torchvision.models.vision_transformer import VisionTransformer
        arguments = ("image_size", "patch_size", "num_layers", "num_heads", "hidden_dim", "mlp_dim", "dropout", "attention_dropout",
                     "num_classes")
        self.size, self.weights = described["image_size"], weights
        self.model = VisionTransformer(**{key: described[key] for key in arguments}).to(weights)

    def batch(self, rows, settings):
        pixels = torch.rand(rows, 3, self.size, self.size).to(self.weights)
        labels = torch.randint(0, 4, (rows,))
        return {"pixels": pixels.to("cuda"), "labels": labels.to("cuda")}

    def layers(self):
        return self.model.encoder.layers

    def loss(self, model, batch):
        logits = model(batch["pixels"])
        return nn.functional.cross_entropy(logits, batch["labels"])


class TorchTransformer:
    """torch.nn.Transformer on float inputs, dense targets."""
    task = None

    def __init__(self, described, settings, weights):
        self.width, self.weights = described["d_model"], weights
        arguments = ("d_model", "nhead", "num_encoder_layers", "num_decoder_layers", "dim_feedforward", "dropout")
        self.model = nn.Transformer(**{key: described[key] for key in arguments}).to(weights)

    def batch(self, rows, settings):
        shape = (int(settings["seq"]), rows, self.width)
        batch = {"src": torch.randn(shape), "tgt": torch.rand(shape), "labels": torch.rand(shape)}
        return {name: tensor.to(self.weights).to("cuda") for name, tensor in batch.items()}

    def layers(self):
        return [*self.model.encoder.layers, *self.model.decoder.layers]

    def loss(self, model, batch):
        output = model(batch["src"], batch["tgt"])
        return nn.functional.cross_entropy(output, batch["labels"])


# By model_type; any other is a causal language model.
PROGRAMS = {"vision_transformer": VisionModel, "bert": Classifier, "distilbert": Classifier,
            "torch_transformer": TorchTransformer, "mt5": SequenceToSequence, "t5": SequenceToSequence}


def attention_of_transformers(settings):
    return "eager" if settings["attention"] == "eager" else "sdpa"


def with_techniques(program, settings, strategy):
    model = program.model
    if int(settings["lora.rank"]):
        import peft
        model = peft.get_peft_model(model, peft.LoraConfig(
            task_type=program.task, r=int(settings["lora.rank"]), lora_alpha=float(settings["lora.alpha"]),
            lora_dropout=float(settings["lora.dropout"]), target_modules=settings["lora.targets"].split(",")))
    if settings["trainable"] != "all":
        pattern = re.compile(settings["trainable"].replace(".", r"\.").replace("*", ".*"))
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(bool(pattern.fullmatch(name)))
    strategy.place(model)
    if settings["checkpointing.mode"] == "layer" and hasattr(program, "layers"):
        for layer in program.layers():
            layer.forward = functools.partial(checkpoint, layer.forward, use_reentrant=True)
    elif settings["checkpointing.mode"] == "layer":
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": True})
        if not model.get_input_embeddings().weight.requires_grad:
            model.enable_input_require_grads()
    return strategy.wrap(model.train(), program)


def make_optimizer(parameters, settings):
    rate, decay = float(settings["optimizer.lr"]), float(settings["optimizer.weight_decay"])
    how = {"loop": {"foreach": False}, "foreach": {"foreach": True}, "fused": {"fused": True}}[settings["optimizer.impl"]]
    if settings["optimizer.name"] == "sgd":
        return torch.optim.SGD(parameters, lr=rate, momentum=float(settings["optimizer.momentum"]), weight_decay=decay, **how)
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[settings["optimizer.name"]]
    return kind(parameters, lr=rate, weight_decay=decay, **how)


def attention_of(name):
    if name == "eager":
        return contextlib.nullcontext()
    from torch.nn.attention import SDPBackend, sdpa_kernel
    return sdpa_kernel({"math": SDPBackend.MATH, "efficient": SDPBackend.EFFICIENT_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}[name])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="a config.json")
    parser.add_argument("settings", nargs="*")
    arguments = parser.parse_args()
    settings = settings_of(arguments.settings)
    with open(arguments.model, encoding="utf-8") as file:
        described = json.load(file)
    weights, autocast = PRECISIONS[settings["precision"]]
    program = PROGRAMS.get(described["model_type"], CausalModel)(described, settings, weights)
    strategy = sharding.strategy_of(settings)
    model = with_techniques(program, settings, strategy)
    optimizer = strategy.optimizer(make_optimizer, [p for p in model.parameters() if p.requires_grad], settings)
    scaler = torch.amp.GradScaler("cuda", enabled=settings["precision"] == "amp-fp16")
    micro_batches = int(settings["micro_batches"])
    rows = int(settings["batch"]) // micro_batches
    with attention_of(settings["attention"]):
        for step in range(int(settings["steps"])):
            for micro_batch in range(micro_batches):
                batch = program.batch(rows, settings)
                with strategy.around(model, micro_batch == micro_batches - 1):
                    with torch.autocast("cuda", autocast or torch.bfloat16, enabled=autocast is not None):
                        loss = program.loss(model, batch)
                        if micro_batches > 1:
                            loss = loss / micro_batches
                    scaler.scale(loss).backward()
                    del loss
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=settings["zero_grad"] == "none")
    strategy.end()


if __name__ == "__main__":
    main()

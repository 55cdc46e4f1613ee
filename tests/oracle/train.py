"""The training that `vramscope plan --model config.json --set ...` plans with its own loop, as users write it: with transformers, PEFT and torch.optim.

    python train.py --model config.json batch=2 seq=512 precision=amp-bf16

The settings are vramscope's; an unsupported one ends the program."""
import argparse
import contextlib
import functools
import itertools
import json
import os
import re
import sys
import tempfile

import sharding
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoModelForSequenceClassification
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

import checkpointing
import lengths
import techniques

DEFAULTS = {"batch": "2", "seq": "512", "micro_batches": "1", "steps": "2", "precision": "fp32", "optimizer.name": "adamw",
            "optimizer.impl": "foreach", "optimizer.lr": "1e-3", "optimizer.momentum": "0", "optimizer.weight_decay": "0",
            "attention": "eager", "lora.rank": "0", "lora.alpha": "16", "lora.dropout": "0", "lora.kind": "lora", "lora.dtype": "fp32",
            "lora.targets": "q_proj,v_proj", "trainable": "all", "zero_grad": "none", "zero_grad_when": "end",
            "optimizer.bits": "32", "optimizer.paged": "false", "optimizer.in_backward": "false", "offload.optimizer": "none", "quantization": "none",
            "offload.activations": "none", "activation_compression": "none", "loss": "full",
            "loss_chunks": "8", "loss_keeps": "nothing", "loss_reentrant": "false", "clip_grad_norm": "0", "lengths": "", "pin_memory": "false", "load": "device", "init_on_device": "false", "mode": "train", "empty_cache": "never", "schedule": "none", "save": "none",
            "eval": "none", "eval_keeps_logits": "false", "generate.tokens": "0", "generate.cache": "dynamic", "generate.lengths": "", "loss_path": "labels-shifted", "kernels": "eager", "gradients.dtype": "weights", "optimizer.library": "bitsandbytes", "lora.placement": "weight", "resume.map_location": "none", "resume.keeps": "false",
            "seed": "0", "tf32": "false", "cast_cache": "true", "use_cache": "false", "prefix.tokens": "0", "galore.rank": "0", "galore.gap": "200", "galore.targets": "layers", "optimizer.embedding_bits": "32", "prepare_kbit_training": "false", "samples.file": "", "samples.batches": "padded", **checkpointing.DEFAULTS, **sharding.DEFAULTS}
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


def where_made(settings):
    return torch.device("cuda") if settings["init_on_device"] == "true" else contextlib.nullcontext()


def read_config(described, cached=False):
    return CONFIG_MAPPING[described["model_type"]].from_dict({**described, "use_cache": cached})


class CausalModel:
    """A model from transformers that itself computes the loss from token ids and labels."""
    task = "CAUSAL_LM"

    def __init__(self, described, settings, weights):
        config, attention = read_config(described, settings["use_cache"] == "true"), attention_of_transformers(settings)
        with where_made(settings):
            self.model = AutoModelForCausalLM.from_config(config, torch_dtype=weights, attn_implementation=attention)
        self.chunks = int(settings["loss_chunks"]) if settings["loss"] == "chunked" else 0
        self.reentrant, self.keeps = settings["loss_reentrant"] == "true", settings["loss_keeps"] == "logits"
        self.shared = self.chunks and settings["shard.strategy"] != "none"
        if settings["loss_path"] != "labels-shifted":
            techniques.loss_of_older_versions(self.model, upcasts=settings["loss_path"] == "upcast-in-model")
        if settings["kernels"] == "fused":
            techniques.fuse_kernels(self.model)
        if self.shared:
            techniques.chunk_loss_in_forward(self.model, self.chunks, self.reentrant)

    def batch(self, rows, seq):
        ids = torch.randint(0, 64, (rows, seq))
        return {"input_ids": ids, "labels": ids.clone()}

    def layers(self):
        return self.model.transformer.h if hasattr(self.model, "transformer") else self.model.model.layers

    def loss(self, model, batch):
        if self.shared:
            return model(**batch), None
        if self.chunks and self.keeps:
            return techniques.loss_of_kept_logits(model, batch, self.chunks), None
        if self.chunks:
            return techniques.chunked_loss(model, batch, self.chunks, self.reentrant), None
        output = model(**batch)
        return output.loss, output.logits


class Classifier:
    """A sequence classifier from transformers. Its inputs are what a tokenizer returns for sequences without padding."""
    task = None

    def __init__(self, described, settings, weights):
        self.types = described["model_type"] == "bert"
        with where_made(settings):
            self.model = AutoModelForSequenceClassification.from_config(
                read_config(described), torch_dtype=weights, attn_implementation=attention_of_transformers(settings))

    def batch(self, rows, seq):
        ids = torch.randint(0, 64, (rows, seq))
        batch = {"input_ids": ids, "token_type_ids": torch.zeros_like(ids), "attention_mask": torch.ones_like(ids),
                 "labels": torch.randint(0, 2, (rows,))}
        if not self.types:
            del batch["token_type_ids"]
        return batch

    def loss(self, model, batch):
        output = model(**batch)
        return output.loss, output.logits


class SequenceToSequence:
    """A model from transformers that derives the decoder's token ids from the labels."""
    task = "SEQ_2_SEQ_LM"

    def __init__(self, described, settings, weights):
        self.model = AutoModelForSeq2SeqLM.from_config(read_config(described), torch_dtype=weights)

    def batch(self, rows, seq):
        ids = torch.randint(0, 64, (rows, seq))
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": ids.clone()}

    def loss(self, model, batch):
        output = model(**batch)
        return output.loss, output.logits


class VisionModel:
    """A torchvision model, trained with the cross entropy of its logits."""
    task = None

    def __init__(self, described, settings, weights):
        from torchvision.models.vision_transformer import VisionTransformer
        arguments = ("image_size", "patch_size", "num_layers", "num_heads", "hidden_dim", "mlp_dim", "dropout", "attention_dropout",
                     "num_classes")
        self.size, self.weights = described["image_size"], weights
        self.model = VisionTransformer(**{key: described[key] for key in arguments}).to(weights)

    def batch(self, rows, seq):
        return {"pixels": torch.rand(rows, 3, self.size, self.size).to(self.weights), "labels": torch.randint(0, 4, (rows,))}

    def layers(self):
        return self.model.encoder.layers

    def loss(self, model, batch):
        logits = model(batch["pixels"])
        return nn.functional.cross_entropy(logits, batch["labels"]), logits


class TorchTransformer:
    """torch.nn.Transformer, trained with float inputs and dense targets."""
    task = None

    def __init__(self, described, settings, weights):
        self.width, self.weights = described["d_model"], weights
        # A re-entrant checkpoint needs an input that requires a gradient. This model has no embedding to produce one for the first layer, so the model's input must require a gradient.
        self.leads_on = settings["checkpointing.mode"] != "none" and checkpointing.is_reentrant(settings)
        arguments = ("d_model", "nhead", "num_encoder_layers", "num_decoder_layers", "dim_feedforward", "dropout")
        self.model = nn.Transformer(**{key: described[key] for key in arguments}).to(weights)

    def batch(self, rows, seq):
        shape = (seq, rows, self.width)
        batch = {"src": torch.randn(shape), "tgt": torch.rand(shape), "labels": torch.rand(shape)}
        return {name: tensor.to(self.weights) for name, tensor in batch.items()}

    def layers(self):
        return [*self.model.encoder.layers, *self.model.decoder.layers]

    def loss(self, model, batch):
        src, tgt = batch["src"], batch["tgt"]
        if self.leads_on and model.training:
            src, tgt = src.detach().requires_grad_(), tgt.detach().requires_grad_()
        output = model(src, tgt)
        return nn.functional.cross_entropy(output, batch["labels"]), output


# The program for each model_type. All other types are causal language models.
PROGRAMS = {"vision_transformer": VisionModel, "bert": Classifier, "distilbert": Classifier, "big_bird": Classifier,
            "torch_transformer": TorchTransformer, "mt5": SequenceToSequence, "t5": SequenceToSequence}


def attention_of_transformers(settings):
    return {"eager": "eager", "flash-2": "flash_attention_2"}.get(settings["attention"], "sdpa")


def with_techniques(program, settings, strategy):
    model = program.model
    if settings["quantization"] != "none":
        techniques.quantize(model, settings["quantization"])
        if settings["prepare_kbit_training"] == "true":
            import peft
            # First moves the model to the GPU, because from_pretrained places a quantized model there, too.
            model = peft.prepare_model_for_kbit_training(model.to("cuda"), use_gradient_checkpointing=False)
    if int(settings["lora.rank"]) and settings["lora.placement"] == "weight":
        import peft
        model = peft.get_peft_model(model, autocast_adapter_dtype=settings["lora.dtype"] == "fp32", peft_config=peft.LoraConfig(
            task_type=program.task, r=int(settings["lora.rank"]), lora_alpha=float(settings["lora.alpha"]),
            lora_dropout=float(settings["lora.dropout"]), use_dora=settings["lora.kind"] == "dora",
            use_rslora=settings["lora.kind"] == "rslora", target_modules=settings["lora.targets"].split(",")))
        if settings["lora.kind"] == "lora-fa":
            for name, parameter in model.named_parameters():
                if "lora_A" in name:
                    parameter.requires_grad_(False)
    if int(settings["prefix.tokens"]):
        import peft
        model = peft.get_peft_model(model, peft.PrefixTuningConfig(task_type=program.task, num_virtual_tokens=int(settings["prefix.tokens"])))
    if settings["trainable"] != "all":
        pattern = re.compile(settings["trainable"].replace(".", r"\.").replace("*", ".*"))
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(bool(pattern.fullmatch(name)))
    if settings["lora.placement"] != "weight":
        techniques.adapters_beside_layers(model, program.layers(), settings)
    strategy.place(model)
    checkpointing.apply(model, program, settings)
    return strategy.wrap(model.train(settings["mode"] == "train"), program)


def optimizer_of(settings):
    """Returns a function that creates an optimizer from parameters."""
    rate, decay = float(settings["optimizer.lr"]), float(settings["optimizer.weight_decay"])
    name, how = settings["optimizer.name"], {"loop": {"foreach": False}, "foreach": {"foreach": True}, "fused": {"fused": True}}
    if settings["optimizer.bits"] in ("4", "8") and settings["optimizer.library"] == "torchao" or settings["optimizer.bits"] == "4":
        import torchao.optim
        kind, options = getattr(torchao.optim, {"adam": "Adam", "adamw": "AdamW"}[name] + settings["optimizer.bits"] + "bit"), {}
    elif settings["optimizer.bits"] == "16":
        return functools.partial(techniques.AnyPrecisionAdamW, lr=rate, weight_decay=decay)
    elif settings["optimizer.bits"] == "8":
        import bitsandbytes
        paged = "Paged" if settings["optimizer.paged"] == "true" else ""
        kind, options = getattr(bitsandbytes.optim, paged + {"adam": "Adam8bit", "adamw": "AdamW8bit"}[name]), {}
    elif name == "adam-mini":
        return functools.partial(techniques.adam_mini, lr=rate, weight_decay=decay)
    elif name == "lion":
        from lion_pytorch import Lion as kind
        options = {}
    elif name == "muon":
        return functools.partial(techniques.MuonAndAdamW, lr=rate, weight_decay=decay)
    else:
        kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "adafactor": torch.optim.Adafactor, "adagrad": torch.optim.Adagrad, "sgd": torch.optim.SGD}[name]
        options = how[settings["optimizer.impl"]]
        if name == "sgd":
            options["momentum"] = float(settings["optimizer.momentum"])
    return functools.partial(kind, lr=rate, weight_decay=decay, **options)


def make_optimizer(model, parameters, settings):
    if int(settings["galore.rank"]):
        return techniques.galore_of_trainer(model, settings)
    make = optimizer_of(settings)
    if settings["optimizer.bits"] == "8" and settings["optimizer.library"] == "bitsandbytes" and settings["optimizer.embedding_bits"] == "32":
        techniques.keep_embeddings_in_32_bits(model)
    if settings["optimizer.in_backward"] == "true":
        return techniques.InBackward(parameters, make)
    if settings["offload.optimizer"] == "cpu":
        return techniques.OnHostOptimizer(model, parameters, make)
    return make(parameters)


def attention_of(name):
    if name in ("eager", "flash-2"):
        return contextlib.nullcontext()
    from torch.nn.attention import SDPBackend, sdpa_kernel
    return sdpa_kernel({"math": SDPBackend.MATH, "efficient": SDPBackend.EFFICIENT_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION,
                        "cudnn": SDPBackend.CUDNN_ATTENTION}[name])


CACHES = {"dynamic": {"use_cache": True}, "none": {"use_cache": False},
          "static": {"use_cache": True, "cache_implementation": "static", "disable_compile": True},
          "sliding": {"use_cache": True, "cache_implementation": "sliding_window", "disable_compile": True}}


def generate(program, model, settings):
    """Generates greedily up to the maximum length. If there is an end token, generation stops when the longest sequence ends."""
    tokens = int(settings["generate.tokens"])
    rows, autocast = int(settings["batch"]) // int(settings["micro_batches"]), PRECISIONS[settings["precision"]][1]
    for name in ("bos_token_id", "eos_token_id", "pad_token_id"):
        setattr(model.generation_config, name, None)
    if settings["generate.lengths"]:
        model.generation_config.eos_token_id = 0
        longest = max(int(length) for length in settings["generate.lengths"].split(",")[:rows])
        tokens = min(tokens, longest)
    model.eval()
    ids = program.batch(rows, int(settings["seq"]))["input_ids"].to("cuda")
    with torch.autocast("cuda", autocast or torch.bfloat16, enabled=autocast is not None):
        model.generate(input_ids=ids, max_new_tokens=tokens, do_sample=False, **CACHES[settings["generate.cache"]])


def resume(model, optimizer, settings):
    """Loads a checkpoint like the ones that the same run would write. Returns the objects that the program keeps alive."""
    state = {"state": {}, "param_groups": optimizer.state_dict()["param_groups"]}
    for number, parameter in enumerate(parameter for group in optimizer.param_groups for parameter in group["params"]):
        if settings["optimizer.name"] in ("adam", "adamw"):
            moments = {name: torch.empty_like(parameter, device="cpu") for name in ("exp_avg", "exp_avg_sq")}
            state["state"][number] = {"step": torch.tensor(1.0), **moments}
        elif float(settings["optimizer.momentum"]):
            state["state"][number] = {"momentum_buffer": torch.empty_like(parameter, device="cpu")}
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "checkpoint.pt")
        weights = {name: torch.empty_like(tensor, device="cpu") for name, tensor in model.state_dict().items() if not tied(model, name)}
        torch.save({"model": weights, "optimizer": state}, file)
        del state, weights
        checkpoint = torch.load(file, map_location=settings["resume.map_location"])
    model.load_state_dict(checkpoint["model"], strict=False)
    optimizer.load_state_dict(checkpoint["optimizer"])
    return checkpoint if settings["resume.keeps"] == "true" else None


def tied(model, name):
    """Returns whether this is an additional name of a tied parameter."""
    return name not in dict(model.named_parameters())


def train(program, model, settings, strategy):
    autocast = PRECISIONS[settings["precision"]][1]
    trained = [p for p in model.parameters() if p.requires_grad]
    trains = settings["mode"] == "train"
    optimizer = strategy.optimizer(functools.partial(make_optimizer, model), trained, settings) if trains else None
    in_fp32 = techniques.GradientsInFp32(trained) if settings["gradients.dtype"] == "fp32" else None
    scaler = strategy.scaler(settings["precision"] == "amp-fp16")
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, int(settings["steps"])) if trains and settings["schedule"] == "cosine" else None
    micro_batches, steps = int(settings["micro_batches"]), int(settings["steps"])
    rows = int(settings["batch"]) // micro_batches
    listed = [int(length) for length in (settings["lengths"] or settings["seq"]).split(",")]
    shapes = lengths.shapes(settings, rows) if settings["samples.file"] else ((rows, length) for length in itertools.cycle(listed))
    checkpoint = resume(model, optimizer, settings) if trains and settings["resume.map_location"] != "none" else None
    late, clip = settings["zero_grad_when"] == "before_backward", float(settings["clip_grad_norm"])

    def next_batch():
        batch = program.batch(*next(shapes))
        if settings["pin_memory"] == "true":
            return {name: tensor.pin_memory().to("cuda", non_blocking=True) for name, tensor in batch.items()}
        return {name: tensor.to("cuda") for name, tensor in batch.items()}

    def loss_of(batch):
        with torch.autocast("cuda", autocast or torch.bfloat16, enabled=autocast is not None, cache_enabled=settings["cast_cache"] == "true"), \
                techniques.saved_activations(model, settings):
            return program.loss(model, batch)

    def zero_grad():
        optimizer.zero_grad(set_to_none=settings["zero_grad"] == "none")

    for _ in range(steps):
        for micro_batch in range(micro_batches):
            batch = next_batch()
            with strategy.around(model, micro_batch == micro_batches - 1):
                with torch.set_grad_enabled(trains):
                    loss = loss_of(batch)[0]
                    if micro_batches > 1:
                        loss = loss / micro_batches
                if trains and late and micro_batch == 0:
                    zero_grad()
                if trains:
                    scaler.scale(loss).backward()
                del loss
        if trains:
            if in_fp32:
                in_fp32.before_step()
            if clip:
                scaler.unscale_(optimizer)
                strategy.clip(model, trained, clip)
            scaler.step(optimizer)
            scaler.update()
            if schedule:
                schedule.step()
            if not late:
                zero_grad()
            if in_fp32:
                in_fp32.after_step()
            if settings["save"] == "step":
                with open(os.devnull, "wb") as file:
                    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
        if settings["empty_cache"] == "step":
            torch.cuda.empty_cache()
    if settings["eval"] != "none":
        kept = []
        model.eval()
        with torch.set_grad_enabled(settings["eval"] == "grad"):
            for _ in range(4):
                batch = next_batch()
                loss, logits = loss_of(batch)
                if settings["eval_keeps_logits"] == "true":
                    kept.append(logits)
    if int(settings["generate.tokens"]):
        generate(program, model, settings)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="a config.json")
    parser.add_argument("settings", nargs="*")
    arguments = parser.parse_args()
    settings = settings_of(arguments.settings)
    with open(arguments.model, encoding="utf-8") as file:
        described = json.load(file)
    if settings["attention"] == "flash-2":
        # flash-attn cannot be built without a GPU compiler, so functions of PyTorch's own FlashAttention get flash-attn's names.
        sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "accuracy", "programs"))
        import flash_attention_names
        flash_attention_names.install()
    torch.backends.cuda.matmul.allow_tf32 = settings["tf32"] == "true"
    weights = PRECISIONS[settings["precision"]][0]
    program = PROGRAMS.get(described["model_type"], CausalModel)(
        described, settings, torch.float32 if settings["load"] == "cast-on-device" else weights)
    strategy = sharding.strategy_of(settings)
    model = with_techniques(program, settings, strategy)
    if settings["load"] == "cast-on-device":
        model.to(weights)
    with attention_of(settings["attention"]):
        if settings["mode"] == "generate":
            for _ in range(int(settings["steps"])):
                generate(program, model, settings)
        else:
            train(program, model, settings, strategy)
    strategy.end()


if __name__ == "__main__":
    main()

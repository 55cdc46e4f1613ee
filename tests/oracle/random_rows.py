"""Random combinations of several techniques over all model families, for `run.py --random N --seed
S`. If vramscope refuses a combination, run.py draws another. Combinations that train.py cannot
reproduce are not returned. Large models get fewer layers than in reality (of the real width), so
that many rows take little time."""

import random

CAUSAL = (
    "q_proj,v_proj",
    "q_proj,k_proj,v_proj,o_proj",
    "q_proj,k_proj,v_proj,o_proj,gate_proj,up_proj,down_proj",
)
# For each model: its name, changes to its config.json, its type, lists of modules that adapters may
# target, and patterns. Each pattern selects a part of the model to train.
MODELS = [
    (
        "qwen2-0.5b",
        {"num_hidden_layers": 7},
        "decoder",
        CAUSAL,
        ("*.q_proj.*", "*.layers.6.*", "*.layers.1.*"),
    ),
    ("llama-3.2-1b", {"num_hidden_layers": 4}, "decoder", CAUSAL, ("*.mlp.*", "*.layers.3.*")),
    ("mistral, window of 256", {}, "decoder", CAUSAL, ("*.self_attn.*", "*.layers.0.*")),
    ("qwen3-0.6b", {"num_hidden_layers": 7}, "decoder", CAUSAL, ("*.k_proj.*", "*.layers.6.*")),
    ("gemma-2b", {"num_hidden_layers": 3}, "decoder", CAUSAL, ("*.down_proj.*", "*.layers.2.*")),
    ("gemma-2, window of 256", {}, "decoder", CAUSAL, ("*.v_proj.*", "*.layers.5.*")),
    ("gemma-3-1b", {"num_hidden_layers": 7}, "decoder", CAUSAL, ("*.o_proj.*", "*.layers.4.*")),
    (
        "mixtral, 8 experts",
        {},
        "experts",
        ("q_proj,v_proj", "q_proj,v_proj,w1,w2,w3", "w2,gate"),
        ("*.q_proj.*", "*.layers.5.*"),
    ),
    (
        "qwen3-moe, 16 experts",
        {},
        "experts",
        ("q_proj,v_proj", "q_proj,up_proj,down_proj"),
        ("*.v_proj.*", "*.layers.2.*"),
    ),
    (
        "phi-1.5",
        {"num_hidden_layers": 6},
        "decoder",
        ("q_proj,v_proj", "q_proj,k_proj,v_proj,dense,fc1,fc2"),
        ("*.fc1.*", "*.layers.5.*"),
    ),
    (
        "phi-3-mini",
        {"num_hidden_layers": 3},
        "decoder",
        ("qkv_proj", "qkv_proj,o_proj,gate_up_proj,down_proj"),
        ("*.o_proj.*", "*.layers.1.*"),
    ),
    (
        "phi-3, window of 256",
        {},
        "decoder",
        ("qkv_proj,down_proj", "o_proj"),
        ("*.gate_up_proj.*", "*.layers.5.*"),
    ),
    (
        "gpt2",
        {"n_layer": 7},
        "decoder",
        ("c_attn", "c_attn,c_proj", "c_fc"),
        ("*.c_fc.*", "*.h.6.*", "*.h.0.*"),
    ),
    (
        "bert-base-uncased",
        {"num_hidden_layers": 6},
        "classifier",
        ("query,value", "query,key,value,dense"),
        ("*.query.*", "*.layer.5.*", "classifier.*"),
    ),
    (
        "distilbert-base-uncased",
        {},
        "classifier",
        ("q_lin,v_lin", "q_lin,k_lin,v_lin,out_lin,lin1,lin2"),
        ("*.lin1.*", "*.layer.5.*", "*classifier.*"),
    ),
    (
        "bigbird-roberta-base",
        {"num_hidden_layers": 3},
        "classifier",
        ("query,value", "query,key,value,dense"),
        ("*.value.*", "*.layer.2.*"),
    ),
    (
        "mt5-base",
        {"num_layers": 4, "num_decoder_layers": 4},
        "both",
        ("q,v", "q,k,v,o", "q,k,v,o,wi_0,wi_1,wo"),
        ("*.q.*", "decoder.*", "encoder.block.0.*"),
    ),
    ("t5-small", {}, "both", ("q,v", "q,k,v,o,wi,wo"), ("*.v.*", "decoder.block.5.*")),
    (
        "vit-l-16",
        {"num_layers": 7},
        "vision",
        ("mlp.0,mlp.3", "mlp.3"),
        ("*.mlp.*", "*encoder_layer_6.*", "heads.*"),
    ),
    (
        "nn-transformer-512",
        {"num_encoder_layers": 2, "num_decoder_layers": 4},
        "torch",
        (),
        ("decoder.layers.0.*", "decoder.layers.3.*"),
    ),
]


def optimizer(draw):
    name = draw.choice(
        [
            "adamw",
            "adamw",
            "adam",
            "sgd",
            "sgd-momentum",
            "adafactor",
            "adagrad",
            "lion",
            "muon",
            "adam-mini",
            "bits8",
            "paged",
            "bits16",
        ]
    )
    impl = draw.choice(["loop", "foreach", "fused"])
    if name in ("bits8", "paged", "bits16"):
        settings = {"optimizer.bits": "16" if name == "bits16" else "8"}
        return {**settings, "optimizer.paged": "true"} if name == "paged" else settings
    if name in ("lion", "muon", "adam-mini"):
        return {"optimizer.name": name, "optimizer.impl": "loop"}
    if name in ("adafactor", "adagrad"):
        return {"optimizer.name": name, "optimizer.impl": draw.choice(["loop", "foreach"])}
    if name == "sgd-momentum":
        return {"optimizer.name": "sgd", "optimizer.momentum": "0.9", "optimizer.impl": impl}
    return {"optimizer.name": name, "optimizer.impl": impl}


def checkpoint(draw, kind):
    modes = ["layer", "layer", "selective"]
    if kind != "classifier" and kind != "both":
        modes += ["every-k", "alternate", "budget"]
    if kind == "decoder":
        modes += ["ffn", "attention"]
    settings = {"checkpointing.mode": draw.choice(modes)}
    # reentrant checkpointing does not pass on keyword arguments, which attention needs
    if settings["checkpointing.mode"] == "attention":
        settings["checkpointing.reentrant"] = "false"
    elif settings["checkpointing.mode"] not in ("selective", "budget"):
        settings["checkpointing.reentrant"] = draw.choice(["true", "false"])
    if settings["checkpointing.mode"] == "every-k":
        settings["checkpointing.k"] = draw.choice(["2", "3"])
    return settings


def adapters(draw, targets):
    settings = {"lora.rank": draw.choice(["4", "8", "64"]), "lora.targets": draw.choice(targets)}
    kind = draw.choice(["lora", "lora", "lora", "dora", "lora-fa", "rslora"])
    if kind != "lora":
        settings["lora.kind"] = kind
    if draw.random() < 0.4:
        settings["lora.dropout"] = "0.1"
    if draw.random() < 0.3:
        settings["lora.dtype"] = "weights"
    if draw.random() < 0.2 and kind != "dora":
        settings["quantization"] = draw.choice(["nf4", "nf4", "int8"])
    return settings


def sharded(draw, kind):
    strategy = draw.choice(["ddp", "zero1", "zero2", "zero3", "fsdp1", "tensor"])
    settings = {"shard.strategy": strategy, "shard.ranks": draw.choice(["2", "4"])}
    if strategy == "fsdp1":
        settings.update(
            {"shard.strategy": draw.choice(["zero2", "zero3"]), "shard.implementation": "fsdp1"}
        )
    if strategy == "ddp":
        settings.update(
            draw.choice([{}, {"shard.gradients": "views"}, {"shard.find_unused": "true"}])
        )
    if strategy == "tensor":
        settings["optimizer.impl"] = "loop"
    return settings


def techniques(draw, kind, targets, patterns, drawn):
    """Draws one technique that suits the kind of model, and returns its settings. Does not check
    whether they are compatible with the settings `drawn` before: see goes_together()."""
    text, causal = kind != "vision" and kind != "torch", kind in ("decoder", "experts")
    found = [
        lambda: checkpoint(draw, kind),
        lambda: checkpoint(draw, kind),
        lambda: optimizer(draw),
        lambda: optimizer(draw),
        lambda: {"optimizer.in_backward": "true"},
        lambda: {"offload.optimizer": "cpu"},
        lambda: {"offload.activations": "cpu"},
        lambda: {"activation_compression": "int8"},
        lambda: {"clip_grad_norm": "1"},
        lambda: {"clip_grad_norm": "1"},
        lambda: {"zero_grad": "zero"},
        lambda: {"zero_grad_when": "before_backward"},
        lambda: {"gradients.dtype": "fp32"},
        lambda: {"empty_cache": "step"},
        lambda: {"save": "step"},
        lambda: {"pin_memory": "true"},
        lambda: {"schedule": "cosine"},
        lambda: {"load": "cast-on-device"},
        lambda: {"tf32": "true"},
        lambda: {"cast_cache": "false"},
        lambda: {"alloc_conf": "expandable_segments:True"},
        lambda: {"alloc.max_split_size_mb": "64"},
        lambda: {"alloc.roundup_power2_divisions": "4"},
        lambda: {
            "resume.map_location": draw.choice(["cpu", "cuda"]),
            "resume.keeps": draw.choice(["true", "false"]),
        },
        lambda: {
            "eval": draw.choice(["grad", "no_grad"]),
            "eval_keeps_logits": draw.choice(["true", "false"]),
        },
        lambda: {"mode": "inference"},
        lambda: sharded(draw, kind),
        lambda: sharded(draw, kind),
    ]
    if targets:
        found += 4 * [lambda: adapters(draw, targets)]
    found += 2 * [lambda: {"trainable": draw.choice(patterns)}]
    if text:
        found.append(lambda: {"seq": draw.choice(["128,300,64", "200,100"]), "steps": "3"})
        found.append(
            lambda: {
                "samples.file": "lengths.csv",
                "steps": "3",
                "samples.batches": draw.choice(["padded", "grouped", "packed"]),
            }
        )
    if causal:
        found += [
            lambda: {"loss": "chunked", "loss_chunks": draw.choice(["4", "8"])},
            lambda: {"loss": "chunked", "loss_reentrant": "true"},
            lambda: {"loss_path": draw.choice(["logits-cut", "upcast-in-model"])},
            lambda: {"use_cache": "true"},
            lambda: {"prefix.tokens": "20"},
            lambda: {"init_on_device": "true"},
            lambda: {"kernels": "fused"},
        ]
    if causal or kind == "both":
        found.append(
            lambda: {
                "generate.tokens": "3",
                "generate.cache": draw.choice(["dynamic", "dynamic", "static", "none"]),
            }
        )
    return draw.choice(found)()


def goes_together(settings):
    """Returns False for combinations that vramscope can plan but train.py does not support."""
    has = settings.keys().__contains__
    later = {"eval", "generate.tokens", "mode"} & settings.keys()
    if has("trainable") and (has("lora.rank") or has("prefix.tokens")):
        return False
    if later and ("," in settings["seq"] or has("samples.file") or len(later) > 1):
        return False
    return not ("," in settings["seq"] and has("samples.file"))


def row(draw):
    model, changes, kind, targets, patterns = draw.choice(MODELS)
    settings = {
        "seq": draw.choice(["64", "128", "200", "300"]),
        "precision": draw.choice(
            ["fp32", "bf16", "bf16", "amp-bf16", "amp-bf16", "amp-fp16", "fp16"]
        ),
    }
    if kind == "vision" or kind == "torch":
        settings["attention"] = draw.choice(["math", "efficient", "flash"])
    elif kind != "both" and model != "bigbird-roberta-base":
        settings["attention"] = draw.choice(["eager", "math", "efficient", "flash"])
    if model == "bigbird-roberta-base":
        settings["seq"] = draw.choice(["768", "1000"])
    if kind == "torch":
        settings["seq"] = draw.choice(["1", "40"])
    if draw.random() < 0.4:
        settings.update({"batch": "4", "micro_batches": "2"})
    for _ in range(draw.randint(2, 4)):
        settings.update(techniques(draw, kind, targets, patterns, settings))
    if not goes_together(settings):
        return None
    return {
        "model": model,
        "changes": changes,
        "settings": [key + "=" + value for key, value in settings.items()],
    }


def rows(seed):
    """Yields random rows without end."""
    draw = random.Random(seed)
    while True:
        made = row(draw)
        if made:
            yield made

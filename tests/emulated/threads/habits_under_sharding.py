"""llama-cookbook PR 41 and PR 165 (2023): how much memory do three habits cost in fully sharded
LoRA? All-gathers that run ahead, logits that a variable keeps through backward, and a key-value
cache in training.

Configuration of PR 41: Llama-2-7B on 4 A100 of 40 GB, FSDP (full shard), bf16, activation
checkpointing, LoRA (rank 8, alpha 32, dropout 0.05) on q_proj and v_proj, AdamW. use_cache is on,
as in the model's configuration. The batch of 4 sequences of 2,048 tokens is the default of the
repository in July 2023. Measured (GB of 2^30 bytes):
                                                                           active   reserved
    --use-cache --keep-outputs --unlimited   (limit_all_gathers=False)      25.86      32.67
    --use-cache --keep-outputs               (limit_all_gathers=True)       20.20      27.36
    --use-cache                              (loss = model(**batch).loss)   15.22      19.36
PR 165, with a prototype of another FSDP on 8 GPUs: use_cache=True 14.93 and 19.52, about 4 GB less
without.

    habits_under_sharding.py [--unlimited] [--keep-outputs] [--use-cache] [--no-checkpointing] \
        [--layers N] ...

Assumed, because the threads do not state it: transformers 4.31, peft 0.4 and torch 2.1.0 in place
of a nightly build of July 2023. The weights are created in bf16 instead of being cast, and are
random."""

import argparse
import functools
import os

import torch
from peft import LoraConfig, get_peft_model
from torch import distributed
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    CheckpointImpl,
    apply_activation_checkpointing,
    checkpoint_wrapper,
)
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributed.fsdp.wrap import (
    _or_policy,
    lambda_auto_wrap_policy,
    transformer_auto_wrap_policy,
)
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.models.llama.modeling_llama import LlamaDecoderLayer

parser = argparse.ArgumentParser()
for habit in ("--unlimited", "--keep-outputs", "--use-cache", "--no-checkpointing"):
    parser.add_argument(habit, action="store_true")
for name, value in (
    ("layers", 32),
    ("width", 4096),
    ("feed-forward", 11008),
    ("heads", 32),
    ("vocabulary", 32000),
    ("batch", 4),
    ("tokens", 2048),
    ("steps", 2),
):
    parser.add_argument("--" + name, type=int, default=value)


def is_trained_leaf(module):
    return (
        not list(module.children())
        and getattr(module, "weight", None) is not None
        and module.weight.requires_grad
    )


def sharded(arguments):
    config = LlamaConfig(
        vocab_size=arguments.vocabulary,
        hidden_size=arguments.width,
        intermediate_size=arguments.feed_forward,
        num_hidden_layers=arguments.layers,
        num_attention_heads=arguments.heads,
        use_cache=arguments.use_cache,
    )
    config._attn_implementation = "eager"
    torch.set_default_dtype(torch.bfloat16)
    model = LlamaForCausalLM(config)
    torch.set_default_dtype(torch.float32)
    model = get_peft_model(
        model,
        LoraConfig(
            r=8,
            lora_alpha=32,
            lora_dropout=0.05,
            target_modules=["q_proj", "v_proj"],
            task_type="CAUSAL_LM",
        ),
    )
    policies = [
        functools.partial(lambda_auto_wrap_policy, lambda_fn=is_trained_leaf),
        functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={LlamaDecoderLayer}),
    ]
    model = FullyShardedDataParallel(
        model,
        auto_wrap_policy=functools.partial(_or_policy, policies=policies),
        device_id=torch.cuda.current_device(),
        limit_all_gathers=not arguments.unlimited,
    )
    if not arguments.no_checkpointing:
        apply_activation_checkpointing(
            model,
            check_fn=lambda module: isinstance(module, LlamaDecoderLayer),
            checkpoint_wrapper_fn=functools.partial(
                checkpoint_wrapper, checkpoint_impl=CheckpointImpl.NO_REENTRANT
            ),
        )
    return model.train()


def main():
    arguments = parser.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    distributed.init_process_group("nccl")
    model = sharded(arguments)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.0)
    for _ in range(arguments.steps):
        ids = torch.randint(0, 1000, (arguments.batch, arguments.tokens), device="cuda")
        batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": ids}
        if arguments.keep_outputs:
            outputs = model(**batch)
            loss = outputs.loss
        else:
            loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    stats = torch.cuda.memory_stats()
    print(
        "active %.2f reserved %.2f"
        % (stats["active_bytes.all.peak"] / 2**30, stats["reserved_bytes.all.peak"] / 2**30)
    )


if __name__ == "__main__":
    main()

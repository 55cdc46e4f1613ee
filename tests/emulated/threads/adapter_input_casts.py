"""AgileRL PR 623: peft casts the input of each adapted layer to fp32, because adapters are fp32
over weights in bf16. How much memory do these copies take?

Configuration (A100 40 GB, 2026-07): Qwen2.5-0.5B, micro-batch of 8, sequences of 4,096 tokens, LoRA
of rank 64 on all linear layers, bf16 autocast. Measured peak of the trainer: 6,238 MiB, and 5,002
MiB without the casts.

    adapter_input_casts.py [--without] [--layers N] [--batch N] [--dropout P]

Assumed, because the thread does not state it: each layer is checkpointed (not reentrant), the loss
is a mean over the last hidden states instead of GRPO's, AdamW, no padding. With a dropout of 0.05
in the adapters, the plan has the measured difference, without dropout it has 756 MiB. The thread's
second model, Qwen2.5-1.5B with a micro-batch of 4, measured 10,352 and 7,840 MiB; with the same
assumptions, its plans differ by 1,118 MiB only. Weights are random."""

import argparse

import torch
from peft import LoraConfig, get_peft_model
from peft.tuners.tuners_utils import BaseTunerLayer
from transformers import Qwen2Config, Qwen2ForCausalLM

parser = argparse.ArgumentParser()
parser.add_argument("--without", action="store_true", help="leave the casts out")
parser.add_argument("--layers", type=int, default=24)
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--dropout", type=float, default=0.0)
arguments = parser.parse_args()
config = Qwen2Config(
    vocab_size=151936,
    hidden_size=896,
    intermediate_size=4864,
    num_hidden_layers=arguments.layers,
    num_attention_heads=14,
    num_key_value_heads=2,
    tie_word_embeddings=True,
    use_cache=False,
)
model = Qwen2ForCausalLM._from_config(config, dtype=torch.bfloat16)
model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
model = (
    get_peft_model(
        model, LoraConfig(r=64, target_modules="all-linear", lora_dropout=arguments.dropout)
    )
    .cuda()
    .train()
)
if arguments.without:
    for module in model.modules():
        if isinstance(module, BaseTunerLayer):
            module.cast_input_dtype_enabled = False
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
for _ in range(2):
    ids = torch.randint(0, 1000, (arguments.batch, 4096), device="cuda")
    mask = torch.ones_like(ids)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        hidden = model.base_model.model.model(input_ids=ids, attention_mask=mask).last_hidden_state
        loss = hidden.float().pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()

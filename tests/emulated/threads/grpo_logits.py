"""trl#3678: GRPO of a small model fills the GPU. How much memory do the logits take?

Configuration of a measurement in that thread (2026-06, H100):
trl-internal-testing/tiny-Qwen2ForCausalLM-2.5 with a vocabulary of 151,665, two samples,
logits_to_keep 256, bf16, GRPOTrainer._get_per_token_logps_and_entropies. Measured: logits 310 MB,
peak 902 MB, 44 MB before the forward pass (MB = 1,000,000 bytes).

    grpo_logits.py          the function as in trl 1.6, written by hand
    grpo_logits.py --trl    the function of the installed trl

Assumed, because the thread does not state it: bf16 is autocast over weights in fp32, as with
GRPOConfig(bf16=True). The 44 MB are then these weights and cuBLAS' workspace of 32 MiB. trl is of
the month of the measurement, the temperature 0.9, and a prompt has 256 tokens. Weights are
random."""

import sys
import types

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from transformers import Qwen2Config, Qwen2ForCausalLM

BATCH, PROMPT, KEEP = 2, 256, 256


def entropy_from_logits(logits, rows=128):
    flat = logits.reshape(-1, logits.shape[-1])  # copies, because the last token was cut off
    parts = []
    for chunk in flat.split(rows):
        logps = F.log_softmax(chunk, dim=-1)
        parts.append(-(torch.exp(logps) * logps).sum(-1))
    return torch.cat(parts).reshape(logits.shape[:-1])


def logps_and_entropies(model, ids, mask):
    logits = model(
        input_ids=ids, attention_mask=mask, logits_to_keep=KEEP + 1, use_cache=False
    ).logits
    logits = logits[:, :-1, :][:, -KEEP:, :]
    logits.div_(0.9)
    chosen = torch.gather(logits, -1, ids[:, -KEEP:].unsqueeze(-1))
    logps = chosen - torch.stack([torch.logsumexp(row, dim=-1) for row in logits]).unsqueeze(-1)
    with torch.no_grad():
        entropies = entropy_from_logits(logits)
    return logps.squeeze(-1), entropies


def function_of_trl(model, ids, mask):
    from trl import GRPOTrainer

    trainer = types.SimpleNamespace(
        temperature=0.9,
        model_kwarg_keys=("logits_to_keep",),
        model=model,
        accelerator=accelerator,
        args=types.SimpleNamespace(report_to=[]),
    )
    return GRPOTrainer._get_per_token_logps_and_entropies(
        trainer, model, ids, mask, KEEP, compute_entropy=True
    )


config = Qwen2Config(
    vocab_size=151665,
    hidden_size=8,
    intermediate_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=32768,
)
accelerator = Accelerator(mixed_precision="bf16")
model = accelerator.prepare(Qwen2ForCausalLM(config))
ids = torch.randint(0, 1000, (BATCH, PROMPT + KEEP), device="cuda")
mask = torch.ones_like(ids)
# cuBLAS was used before, for the generation
torch.ones(8, 8, device="cuda") @ torch.ones(8, 8, device="cuda")
print("before: %d" % torch.cuda.memory_allocated())
logps, entropies = (function_of_trl if "--trl" in sys.argv else logps_and_entropies)(
    model, ids, mask
)[:2]
print("peak: %d" % torch.cuda.max_memory_allocated())

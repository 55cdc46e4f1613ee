"""LitGPT's LoRA recipe on one GPU: bf16, LoRA of rank 8 on queries and values, the output layer in chunks of 128 tokens.

    vramscope plan --device a100-40gb --steps 0 -- python lit_gpt_lora.py phi-1_5 --micro-batch 4 --longest 1044

The recipe puts the longest sample into its first batch, so that the first iteration has the peak, which is printed.
"""

import argparse
import json

import lightning
import litgpt.model
import torch
from litgpt.lora import GPT, Config, mark_only_lora_as_trainable
from litgpt.utils import chunked_cross_entropy


def normalized(self, x):
    """The published figures are from October 2023, when RMSNorm kept the precision of its input."""
    return self.weight * (x * torch.rsqrt(torch.mean(x * x, dim=-1, keepdim=True) + self.eps))


litgpt.model.RMSNorm.forward = normalized


def batch(fabric, size, length):
    ids = torch.randint(0, 1000, (size, length))
    return fabric.to_device((ids.pin_memory(), ids.clone().pin_memory()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", help="one of litgpt's names")
    parser.add_argument("--micro-batch", type=int, default=1)
    parser.add_argument("--longest", type=int, required=True, help="tokens of the longest sample")
    parser.add_argument("--quantize", choices=["nf4", "nf4-dq"])
    arguments = parser.parse_args()
    size, accumulated = arguments.micro_batch, 128 // arguments.micro_batch
    plugins = None
    if arguments.quantize:
        plugins = lightning.fabric.plugins.BitsandbytesPrecision(arguments.quantize, torch.bfloat16)
    fabric = lightning.Fabric(devices=1, precision=None if plugins else "bf16-true", plugins=plugins)
    fabric.launch()
    config = Config.from_name(
        arguments.model, lora_r=8, lora_alpha=16, lora_dropout=0.05, lora_query=True, lora_key=False, lora_value=True,
        lora_projection=False, lora_mlp=False, lora_head=False)
    with fabric.init_module(empty_init=False):
        model = GPT(config)
    mark_only_lora_as_trainable(model)
    model = fabric.setup_module(model)
    trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if plugins:
        import bitsandbytes
        optimizer = bitsandbytes.optim.PagedAdamW(trainable, lr=3e-4, weight_decay=0.01)
    else:
        optimizer = torch.optim.AdamW(trainable, lr=3e-4, weight_decay=0.01)
    optimizer = fabric.setup_optimizers(optimizer)
    model.max_seq_length = arguments.longest

    model.eval()
    with torch.inference_mode():
        for _ in range(2):
            ids, targets = batch(fabric, size, 400)
            chunked_cross_entropy(model(ids)[..., :-1, :], targets[..., 1:], chunk_size=0)
    model.train()
    for iteration in range(accumulated + 2):
        ids, targets = batch(fabric, size, 300 if iteration else arguments.longest)
        waits = (iteration + 1) % accumulated != 0
        with fabric.no_backward_sync(model, enabled=waits):
            logits = model(ids, lm_head_chunk_size=128)
            logits[-1] = logits[-1][..., :-1, :]
            loss = chunked_cross_entropy(logits, targets[..., 1:])
            fabric.backward(loss / accumulated)
        if not waits:
            optimizer.step()
            optimizer.zero_grad()
        loss.item()
    print(json.dumps({"peak": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.max_memory_reserved()}))


main()

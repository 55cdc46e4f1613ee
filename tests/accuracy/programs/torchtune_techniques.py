"""torchtune's single-device recipes for Llama 3.2 3B on packed data of 2 x 4096 tokens; each technique is an option.

    vramscope plan --device a100-80gb --steps 0 -- python torchtune_techniques.py --compile --chunked

Prints the maximum of active memory, as the recipes log it.
"""

import argparse
import contextlib
import gc
import json

import torch
from torchtune import modules, training
from torchtune.models import llama3_2
from torchtune.modules import loss as losses
from torchtune.modules import peft
from torchtune.modules.attention_utils import packed_block_causal_mask

BATCH, LENGTH = 2, 4096
IGNORED = -100


def main():
    parser = argparse.ArgumentParser()
    for technique in ("compile", "chunked", "checkpoint", "in-backward", "offload", "lora", "qlora"):
        parser.add_argument("--" + technique, action="store_true")
    parser.add_argument("--eight-bit", nargs="?", choices=["bitsandbytes", "torchao"], const="bitsandbytes")
    parser.add_argument("--rank", type=int, default=64, help="of LoRA and QLoRA")
    parser.add_argument("--steps", type=int, default=3)
    arguments = parser.parse_args()
    device = torch.device("cuda")
    with training.set_default_dtype(torch.bfloat16), device:
        if arguments.lora or arguments.qlora:
            model = llama3_2.lora_llama3_2_3b(
                lora_attn_modules=["q_proj", "v_proj", "output_proj"], apply_lora_to_mlp=True, lora_rank=arguments.rank, lora_alpha=2 * arguments.rank,
                lora_dropout=0.0, quantize_base=arguments.qlora)
            peft.set_trainable_params(model, peft.get_adapter_params(model))
        else:
            model = llama3_2.llama3_2_3b()
    loss_function = losses.CEWithChunkedOutputLoss() if arguments.chunked else torch.nn.CrossEntropyLoss()
    if arguments.chunked:
        model.set_num_output_chunks(loss_function.num_output_chunks)
    if arguments.compile:
        training.compile_model(model, verbose=False)
        # torchtune's full fine-tuning recipe ignores the return value of compile_loss(), so this program does too. As a result, a chunked loss is compiled, because it is compiled in place, but CrossEntropyLoss is not.
        training.compile_loss(loss_function, verbose=False)
    if arguments.checkpoint:
        training.set_activation_checkpointing(model, auto_wrap_policy={modules.TransformerSelfAttentionLayer})
    offloading = training.get_act_offloading_ctx_manager(model, True) if arguments.offload else contextlib.nullcontext()
    if arguments.eight_bit == "torchao":
        from torchao.prototype.low_bit_optim import AdamW8bit as make
    elif arguments.eight_bit:
        from bitsandbytes.optim import AdamW8bit as make
    else:
        make = lambda parameters, **settings: torch.optim.AdamW(parameters, fused=True, **settings)
    if arguments.in_backward:
        training.register_optim_in_bwd_hooks(
            model=model, optim_dict={p: make([p], lr=2e-5) for p in model.parameters() if p.requires_grad})
    else:
        optimizer = make(model.parameters(), lr=2e-5)
    ignored = torch.full((BATCH, 1), IGNORED, device=device)
    model.train()
    torch.cuda.reset_peak_memory_stats()
    for _ in range(arguments.steps):
        tokens = torch.randint(0, 128000, (BATCH, LENGTH)).to(device)
        labels = tokens.clone()
        positions = torch.arange(LENGTH).repeat(BATCH, 1).to(device)
        mask = packed_block_causal_mask([torch.tensor([512] * 8)] * BATCH).to(device)
        count = (labels != IGNORED).sum()
        with offloading:
            logits = model(tokens, mask=mask, input_pos=positions)
        labels = torch.hstack((labels[..., 1:], ignored))
        if not isinstance(logits, list):
            labels = labels.reshape(-1)
            logits = logits.reshape(-1, logits.size(-1))
        loss = loss_function(logits, labels) * count
        del logits
        loss.backward()
        if not arguments.in_backward:
            training.scale_grads(model, 1 / count)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        loss.item()
        # Compilation by torch.compile leaves objects in reference cycles. Without this call, Python's garbage collector does not free them before the 25th step.
        gc.collect()
        print(json.dumps({"peak": torch.cuda.memory_stats()["active_bytes.all.peak"]}))
        torch.cuda.reset_peak_memory_stats()  # as the recipes do after logging a step


main()

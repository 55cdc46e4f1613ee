"""transformers#30010: the same QLoRA script needs more memory since transformers 4.38. Where?

Configuration: Llama-7B in 4 bits with LoRA, attention by SDPA, batches of 4 sequences of 1,280
random tokens, ten samples, torch 2.2.2, a GPU of 24 GB. Version 4.37.2 fits, 4.38.2 and 4.39.3 need
more. Causes: a causal mask of max_position_embeddings squared as a buffer (4.38), and masks with
which SDPA does not choose flash attention.

    causal_mask_of_qlora.py [--layers N]

Assumed, because the thread's excerpt does not state it: the configuration of Llama-2-7B
(max_position_embeddings 4,096), NF4 without double quantization and bf16 as type of computation,
LoRA of rank 8 on q_proj and v_proj, AdamW, no padding, and activation checkpointing (24 GB do not
suffice without it) that is reentrant, the default of that time. There are no weights."""

import argparse
import tempfile

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, LlamaConfig

parser = argparse.ArgumentParser()
parser.add_argument("--layers", type=int, default=32)
parser.add_argument("--batch", type=int, default=4)


def main():
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        LlamaConfig(
            num_hidden_layers=arguments.layers,
            max_position_embeddings=4096,
            architectures=["LlamaForCausalLM"],
        ).save_pretrained(folder)
        model = AutoModelForCausalLM.from_pretrained(
            folder,
            torch_dtype=torch.bfloat16,
            device_map={"": 0},
            attn_implementation="sdpa",
            quantization_config=BitsAndBytesConfig(
                load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16
            ),
        )
    model.config.use_cache = False
    model.gradient_checkpointing_enable()
    model.enable_input_require_grads()
    model = get_peft_model(
        model, LoraConfig(r=8, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    ).train()
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
    for _ in range(2):
        ids = torch.randint(0, 1000, (arguments.batch, 1280), device="cuda")
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()

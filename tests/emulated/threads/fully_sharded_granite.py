"""transformers#39795: LoRA on granite-8b-code-base in FSDP needs more memory since an upgrade of
transformers. Which version began it?

Configuration: bf16 weights, LoRA by peft, peft's fsdp_auto_wrap_policy, a forward pass on each rank
(accelerate 1.9, A100 80 GB).

    fully_sharded_granite.py [--layers N]

Assumed, because the thread's excerpt does not state it: LoRA of rank 8 on q_proj and v_proj, one
sequence of 512 tokens on each rank, use_orig_params=False. The weights are random."""

import argparse

import torch
from accelerate import Accelerator, FullyShardedDataParallelPlugin
from peft import LoraConfig, get_peft_model
from peft.utils.other import fsdp_auto_wrap_policy
from transformers import LlamaConfig, LlamaForCausalLM

parser = argparse.ArgumentParser()
parser.add_argument("--layers", type=int, default=36)


def main():
    plugin = FullyShardedDataParallelPlugin(
        fsdp_version=1,
        use_orig_params=False,
        cpu_ram_efficient_loading=False,
        sync_module_states=False,
    )
    accelerator = Accelerator(fsdp_plugin=plugin)
    config = LlamaConfig(
        vocab_size=49152,
        hidden_size=4096,
        intermediate_size=14336,
        num_hidden_layers=parser.parse_args().layers,
        num_attention_heads=32,
        num_key_value_heads=8,
        attention_bias=True,
        mlp_bias=True,
        tie_word_embeddings=True,
    )
    model = LlamaForCausalLM._from_config(config, torch_dtype=torch.bfloat16)
    model = get_peft_model(
        model, LoraConfig(r=8, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    )
    accelerator.state.fsdp_plugin.auto_wrap_policy = fsdp_auto_wrap_policy(model)
    model = accelerator.prepare(model)
    for _ in range(2):
        ids = torch.randint(0, 49152, (1, 512), device=accelerator.device)
        model(input_ids=ids, attention_mask=torch.ones_like(ids), labels=ids)


if __name__ == "__main__":
    main()

"""accelerate#3474, accelerate#3844, accelerate#3979 and transformers#39795: LoRA in FSDP2 needs
more memory than expected. Which type do the weights have?

Configuration of #3474: accelerate 1.6, torch 2.6, 2 x A40, Qwen2.5-1.5B with LoRA, FSDP2 (each
decoder layer a unit, reshard after forward), mixed precision bf16. Cause, found in #3844: with
FSDP2, accelerate casts the whole model to fp32, with FSDP1 only what is trained. #3979: since
1.13.0, the cast of trained weights in bf16 does nothing.

    fully_sharded_adapters.py [--fsdp 1|2] [--adapters float32|bfloat16] [--upcast] [--layers N]
--upcast: cast the whole model to fp32 after it was sharded, as accelerate did until 1.12

Assumed, because the threads' excerpts do not state it: LoRA of rank 8 on q_proj and v_proj, a batch
of one sequence of 128 tokens on each rank. The model is loaded in bf16, weights are random. FSDP1
uses peft's fsdp_auto_wrap_policy."""

import argparse

import torch
from accelerate import Accelerator, FullyShardedDataParallelPlugin
from peft import LoraConfig, get_peft_model
from peft.utils.other import fsdp_auto_wrap_policy
from transformers import Qwen2Config, Qwen2ForCausalLM

parser = argparse.ArgumentParser()
parser.add_argument("--fsdp", type=int, default=2)
parser.add_argument("--adapters", default="float32")
parser.add_argument("--upcast", action="store_true")
parser.add_argument("--layers", type=int, default=28)


def main():
    arguments = parser.parse_args()
    options = {"reshard_after_forward": True} if arguments.fsdp == 2 else {"use_orig_params": True}
    plugin = FullyShardedDataParallelPlugin(
        fsdp_version=arguments.fsdp,
        auto_wrap_policy="transformer_based_wrap",
        transformer_cls_names_to_wrap=["Qwen2DecoderLayer"],
        cpu_ram_efficient_loading=False,
        **options,
    )
    accelerator = Accelerator(mixed_precision="bf16", fsdp_plugin=plugin)
    config = Qwen2Config(
        vocab_size=151936,
        hidden_size=1536,
        intermediate_size=8960,
        num_hidden_layers=arguments.layers,
        num_attention_heads=12,
        num_key_value_heads=2,
        tie_word_embeddings=True,
        use_cache=False,
    )
    model = Qwen2ForCausalLM._from_config(config, torch_dtype=torch.bfloat16)
    model = get_peft_model(
        model,
        LoraConfig(r=8, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"),
        autocast_adapter_dtype=arguments.adapters == "float32",
    )
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
    if arguments.fsdp == 1:
        accelerator.state.fsdp_plugin.auto_wrap_policy = fsdp_auto_wrap_policy(model)
    model, optimizer = accelerator.prepare(model, optimizer)
    if arguments.upcast:
        model.to(torch.float32)
    if accelerator.is_main_process:
        parameters = list(model.parameters())
        print(
            "types:",
            {
                kind: sorted({str(p.dtype) for p in parameters if p.requires_grad == trained})
                for kind, trained in (("trained", True), ("frozen", False))
            },
        )
    for _ in range(2):
        ids = torch.randint(0, 1000, (1, 128), device=accelerator.device)
        loss = model(input_ids=ids, attention_mask=torch.ones_like(ids), labels=ids).loss
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()

"""A Llama-3-70B that is created on the meta device, sharded by fully_shard (FSDP2) and then allocated, as in torchtitan; bf16 with fp32
master weights, each block checkpointed. With 64 GPUs: vramscope plan --device h100-sxm --ranks 64 --as-rank 0 -- python llama70b.py"""
import argparse
import os

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from transformers import LlamaConfig, LlamaForCausalLM


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=80)
    parser.add_argument("--width", type=int, default=8192)
    parser.add_argument("--sequence", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=3)
    arguments = parser.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    mesh = init_device_mesh("cuda", (dist.get_world_size(),))
    with torch.device("meta"):
        model = LlamaForCausalLM(LlamaConfig(vocab_size=128256, hidden_size=arguments.width, intermediate_size=7 * arguments.width // 2,
                                             num_hidden_layers=arguments.layers, num_attention_heads=arguments.width // 128, num_key_value_heads=8,
                                             max_position_embeddings=8192, rope_theta=500000.0, use_cache=False))
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for layer in model.model.layers:
        fully_shard(layer, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    model.to_empty(device="cuda")
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    for step in range(arguments.steps):
        ids = torch.randint(0, 128256, (1, arguments.sequence), device="cuda")
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        print("step %d: loss %.4f" % (step, loss.item()))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

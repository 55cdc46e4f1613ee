"""Calls from_pretrained on folders without weights. It places parts of the model on ranks (tensor or expert parallel) or on several GPUs."""
import argparse
import os
import tempfile

import torch
from transformers import AutoModelForCausalLM, LlamaConfig, MixtralConfig


def distributed():
    from transformers.distributed import DistributedConfig

    ranks = int(os.environ["WORLD_SIZE"])
    return DistributedConfig(tp_size=ranks, ep_size=ranks) if hasattr(DistributedConfig, "ep_size") else DistributedConfig(enable_expert_parallel=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("where", choices=("tensors", "experts", "cards"))
    where = parser.parse_args().where
    more = {"hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 4, "vocab_size": 1000}
    config = MixtralConfig(num_local_experts=4, **more) if where == "experts" else LlamaConfig(**more)
    if where == "experts":
        torch.distributed.init_process_group("nccl")
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    with tempfile.TemporaryDirectory() as folder:
        config.save_pretrained(folder)
        model = AutoModelForCausalLM.from_pretrained(folder, torch_dtype=torch.bfloat16, use_cache=False, **{
            "tensors": lambda: {"tp_plan": "auto"}, "cards": lambda: {"device_map": "balanced"},
            "experts": lambda: {"distributed_config": distributed()}}[where]())
    whole = sum(parameter.numel() for parameter in model.parameters())
    here = sum(getattr(parameter, "_local_tensor", parameter).numel() for parameter in model.parameters())
    print("parameters: %d of %d on %s" % (here, whole, sorted({str(parameter.device) for parameter in model.parameters()})))
    assert not model.config.use_cache
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    for _ in range(2):
        ids = torch.randint(0, 1000, (2, 128), device=model.device)
        model(input_ids=ids, labels=ids).loss.backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()

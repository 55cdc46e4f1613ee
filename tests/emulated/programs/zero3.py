"""DeepSpeed ZeRO-3 as in its documentation: zero.Init, deepspeed.initialize, bf16. Runs under `deepspeed`, torchrun, or --ranks."""
import argparse
import os

import deepspeed
import torch
from transformers import GPT2Config, GPT2LMHeadModel

CONFIGURATION = {
    "train_micro_batch_size_per_gpu": 2,
    "gradient_accumulation_steps": 2,
    "gradient_clipping": 1.0,
    "bf16": {"enabled": True},
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}},
    "zero_optimization": {"stage": 3, "overlap_comm": True, "contiguous_gradients": True},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--local_rank", type=int, default=-1)
    parser.add_argument("--stage", type=int, default=3)
    parser.add_argument("--steps", type=int, default=3)
    arguments = parser.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    CONFIGURATION["zero_optimization"]["stage"] = arguments.stage
    deepspeed.init_distributed()
    with deepspeed.zero.Init(config_dict_or_path=CONFIGURATION, enabled=arguments.stage == 3):
        model = GPT2LMHeadModel(GPT2Config(use_cache=False))
    engine, _, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=CONFIGURATION)
    for step in range(2 * arguments.steps):
        ids = torch.randint(0, 50257, (2, 512), device=engine.device)
        loss = engine(input_ids=ids, labels=ids).loss
        engine.backward(loss)
        engine.step()
        if engine.global_rank == 0:
            print("micro-step %d: loss %.4f" % (step, loss.item()), flush=True)


if __name__ == "__main__":
    main()

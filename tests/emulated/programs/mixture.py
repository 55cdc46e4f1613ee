"""A mixture of experts as transformers has it (Mixtral's layers), two experts of eight for a token."""
import argparse

import torch
from transformers import MixtralConfig, MixtralForCausalLM


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--experts", type=int, default=8)
    arguments = parser.parse_args()
    with torch.device("cuda"):
        model = MixtralForCausalLM(MixtralConfig(hidden_size=512, intermediate_size=1792, num_hidden_layers=arguments.layers, num_attention_heads=8,
                                                 num_key_value_heads=2, num_local_experts=arguments.experts, use_cache=False))
    rows = {}
    for name, module in model.named_modules():
        if name.endswith("w1"):
            module.register_forward_hook(lambda module, args, output, name=name: rows.update({name: len(output)}))
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(2):
        ids = torch.randint(0, 32000, (2, 512), device="cuda")
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print("step %d: loss %.4f" % (step, loss.item()))
    print("rows of each expert:", sorted(set(rows.values())), "of", len(rows), "experts")


if __name__ == "__main__":
    main()

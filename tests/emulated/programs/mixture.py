"""transformers' mixture of experts (Mixtral's layers) with two of eight experts per token."""
import argparse

import torch
from transformers import MixtralConfig, MixtralForCausalLM


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--experts", type=int, default=8)
    parser.add_argument("--implementation", help="eager, grouped_mm (transformers from 5 on)")
    arguments = parser.parse_args()
    with torch.device("cuda"):
        model = MixtralForCausalLM(MixtralConfig(hidden_size=512, intermediate_size=1792, num_hidden_layers=arguments.layers, num_attention_heads=8,
                                                 num_key_value_heads=2, num_local_experts=arguments.experts, use_cache=False))
    if arguments.implementation:
        model.set_experts_implementation(arguments.implementation)
    rows, functions = set(), torch.nn.functional
    linear, grouped = functions.linear, getattr(functions, "grouped_mm", None)

    def linear_with_rows(tokens, weight, bias=None):
        if weight.size(0) % 1792 == 0:
            rows.add(len(tokens))
        return linear(tokens, weight, bias)

    def grouped_with_rows(tokens, weights, **more):
        ends = more["offs"].tolist()
        rows.update(end - begin for begin, end in zip([0] + ends, ends))
        return grouped(tokens, weights, **more)

    functions.linear, functions.grouped_mm = linear_with_rows, grouped_with_rows
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(2):
        ids = torch.randint(0, 32000, (2, 512), device="cuda")
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print("step %d: loss %.4f" % (step, loss.item()))
    print("rows of each expert:", sorted(rows))


if __name__ == "__main__":
    main()

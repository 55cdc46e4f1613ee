"""A small Llama compiled under torch._functorch.config.activation_memory_budget (pytorch/pytorch#197838). Prints the peak of a
forward and backward pass, after a first pass that compiles.

    llama_memory_budgets.py --scale 4 --budget 0.15 | --eager
"""
import argparse
import json

import torch
import torch._functorch.config
import transformers


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=int, default=8, help="4 layers and 128 tokens each")
    parser.add_argument("--budget", type=float, default=1.0)
    parser.add_argument("--eager", action="store_true")
    arguments = parser.parse_args()
    torch._functorch.config.activation_memory_budget = arguments.budget
    config = transformers.LlamaConfig(
        hidden_size=256, intermediate_size=688, num_attention_heads=8, num_key_value_heads=8, vocab_size=1000, use_cache=False,
        num_hidden_layers=4 * arguments.scale)
    model = transformers.LlamaModel(config).cuda()
    ids = torch.randint(0, 1000, (2, 128 * arguments.scale), device="cuda")
    torch._dynamo.reset()
    torch.cuda.empty_cache()
    run = model if arguments.eager else torch.compile(model, backend="aot_eager", dynamic=False)

    def once():
        run(input_ids=ids).last_hidden_state.sum().backward()
        torch.cuda.synchronize()

    once()
    model.zero_grad(set_to_none=False)
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    resident = torch.cuda.memory_allocated()
    peaks = []
    for _ in range(5):
        torch.cuda.reset_peak_memory_stats()
        once()
        peaks.append(torch.cuda.max_memory_allocated())
        model.zero_grad(set_to_none=False)
    print(json.dumps({"peak": peaks[-1], "peaks": peaks, "resident": resident}), flush=True)


main()

"""A program that downloads weights: from torch.hub, and from a Hugging Face Hub model of which only the configuration is cached."""
import json
import os
import sys

import torch


class Network(torch.nn.Sequential):
    def __init__(self):
        super().__init__(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10))


def main(kind):
    if kind == "hub":
        model = Network()
        state = torch.hub.load_state_dict_from_url("https://nowhere.invalid/network-12345678.pth")
        model.load_state_dict({name: value for name, value in state.items() if not name.startswith("2.")})
        model = model.cuda()
        model(torch.randn(8, 256, device="cuda")).sum().backward()
        torch.optim.AdamW(model.parameters()).step()
        return
    folder = os.path.join(sys.argv[2], "models--nobody--small")  # as huggingface_hub stores its downloads
    snapshot = os.path.join(folder, "snapshots", "0" * 40)
    os.makedirs(snapshot)
    os.makedirs(os.path.join(folder, "refs"))
    with open(os.path.join(folder, "refs", "main"), "w") as file:
        file.write("0" * 40)
    with open(os.path.join(snapshot, "config.json"), "w") as file:
        json.dump({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 256, "n_layer": 2, "n_head": 4, "vocab_size": 1000}, file)
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained("nobody/small", cache_dir=sys.argv[2], torch_dtype=torch.bfloat16).cuda()
    assert model.config._name_or_path == model.name_or_path == "nobody/small"
    tokens = torch.randint(1000, (2, 64), device="cuda")
    model(input_ids=tokens, labels=tokens).loss.backward()
    torch.optim.AdamW(model.parameters()).step()


if __name__ == "__main__":
    main(sys.argv[1])

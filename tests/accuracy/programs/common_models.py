"""Well-known models, trained in the simplest way: in fp32 with Adam, then validated.

    vramscope plan --device a100-40gb --steps 0 -- python common_models.py vgg16 --batch 32

Prints all GPU memory that the process uses, as nvidia-smi shows it.
"""

import argparse
import json

import torch


def vision(name):
    import torchvision
    model = getattr(torchvision.models, name)(num_classes=1000)
    return model, lambda size: (torch.randn(size, 3, 224, 224), torch.randint(0, 1000, (size,))), torch.nn.functional.cross_entropy


def language(name):
    import transformers
    if name == "bert_large":
        config = transformers.BertConfig(
            vocab_size=28996, hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096)
        model = transformers.BertForMaskedLM(config)
    else:
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(n_embd=1600, n_layer=48, n_head=25))
    return model, lambda size: (torch.randint(0, 28000, (size, 512)),) * 2, None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=["vgg16", "resnet50", "mobilenet_v2", "bert_large", "gpt2_xl"])
    parser.add_argument("--batch", type=int, default=32)
    arguments = parser.parse_args()
    model, data, criterion = (language if arguments.model in ("bert_large", "gpt2_xl") else vision)(arguments.model)
    model.to("cuda")
    if criterion:
        with torch.no_grad():
            model(torch.rand(2, 3, 224, 224, device="cuda"))  # a summary of the model
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for mode in ("train", "eval"):
        model.train(mode == "train")
        for _ in range(3):
            inputs, labels = (tensor.to("cuda") for tensor in data(arguments.batch))
            with torch.set_grad_enabled(mode == "train"):
                optimizer.zero_grad()
                if criterion:
                    outputs = model(inputs)
                    loss = criterion(outputs, labels)
                else:
                    outputs = model(input_ids=inputs, labels=labels)
                    loss = outputs.loss
                if mode == "train":
                    loss.backward()
                    optimizer.step()
            loss.item()
    free, total = torch.cuda.mem_get_info()
    print(json.dumps({"peak": total - free, "reserved": torch.cuda.max_memory_reserved()}))


main()

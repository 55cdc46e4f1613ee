"""ViT-L/16 of torchvision fine-tuned on images of 224 pixels, ten classes, after a public series of 2023 that lowers
the memory step by step (rasbt/pytorch-memory-optim): autocast, bf16 everywhere, smaller batches, accumulation, SGD.

    vramscope plan --device a100-80gb --steps 0 -- python vision_transformer.py --batch 64
"""

import argparse
import json

import torch
import torchvision


def fine_tune():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--precision", choices=["fp32", "amp", "bf16"], default="fp32")
    parser.add_argument("--accumulate", type=int, default=1)
    parser.add_argument("--optimizer", choices=["Adam", "SGD"], default="Adam")
    parser.add_argument("--batches", type=int, default=12)
    parser.add_argument("--pictures", type=int, default=45000, help="of an epoch: the last batch is what is left")
    parser.add_argument("--load", choices=["convert", "on-device"], help="no training: the weights are brought to the card")
    arguments = parser.parse_args()
    dtype = torch.bfloat16 if arguments.precision == "bf16" else torch.float32
    if arguments.load == "convert":
        torchvision.models.vit_l_16().to("cuda").half()
        return
    if arguments.load == "on-device":
        torch.set_default_dtype(torch.float16)
        with torch.device("cuda"):
            torchvision.models.vit_l_16()
        return
    model = torchvision.models.vit_l_16()
    model.heads.head = torch.nn.Linear(1024, 10)
    model = model.to(dtype).to("cuda")
    optimizer = getattr(torch.optim, arguments.optimizer)(model.parameters(), lr=5e-5)
    scaler = torch.cuda.amp.GradScaler(enabled=arguments.precision == "amp")
    model.train()
    sizes = [arguments.batch] * arguments.batches
    if arguments.pictures % arguments.batch:
        sizes.append(arguments.pictures % arguments.batch)
    for index, size in enumerate(sizes):
        pictures = torch.zeros(size, 3, 224, 224).to("cuda")
        classes = torch.zeros(size, dtype=torch.long).to("cuda")
        with torch.autocast("cuda", torch.float16, enabled=arguments.precision == "amp"):
            logits = model(pictures.to(dtype)).float()
            loss = torch.nn.functional.cross_entropy(logits, classes)
        if arguments.accumulate == 1:
            optimizer.zero_grad()
        scaler.scale(loss / arguments.accumulate if arguments.accumulate > 1 else loss).backward()
        if index % arguments.accumulate == 0:  # as in the series: its first update uses one batch
            scaler.step(optimizer)
            scaler.update()
            if arguments.accumulate > 1:
                optimizer.zero_grad()
        torch.argmax(logits, 1) == classes


fine_tune()
print(json.dumps({"peak": torch.cuda.max_memory_reserved()}))

"""A handwritten loop that itself has the settings of many toggles."""
import argparse
import contextlib

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


def autocast(on):
    return torch.autocast("cuda", dtype=torch.bfloat16) if on else contextlib.nullcontext()


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (part.view(b, t, 4, c // 4).transpose(1, 2) for part in self.qkv(x).split(c, dim=2))
        return x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c))


class Model(nn.Module):
    def __init__(self, autocast, checkpointing, width=128, words=1024):
        super().__init__()
        self.autocast, self.checkpointing = autocast, checkpointing
        self.embed, self.head = nn.Embedding(words, width), nn.Linear(width, words)
        self.blocks = nn.ModuleList(Block(width) for _ in range(3))

    def forward(self, ids):
        with autocast(self.autocast == "within"):
            x = self.embed(ids)
            for block in self.blocks:
                x = checkpoint(block, x, use_reentrant=self.checkpointing == "reentrant")
            return self.head(x)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--autocast", choices=("within", "around", "weights"), default="within", help="how the program uses bfloat16")
    parser.add_argument("--checkpointing", choices=("non-reentrant", "reentrant"), default="non-reentrant")
    arguments = parser.parse_args()
    model = Model(arguments.autocast, arguments.checkpointing).cuda()
    if arguments.autocast == "weights":
        model.to(torch.bfloat16)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, foreach=False, fused=True)
    for _ in range(3):
        ids = torch.randint(0, 1024, (4, 128), device="cuda")
        with autocast(arguments.autocast == "around"):
            logits = model(ids)
        F.cross_entropy(logits.flatten(0, 1).float(), ids.flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()
        model.eval()
        with torch.no_grad(), autocast(arguments.autocast == "around"):
            model(ids)
        model.train()


main()

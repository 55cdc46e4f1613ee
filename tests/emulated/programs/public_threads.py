"""Programs from public issues, with the results measured there.

    public_threads.py linear                            pytorch#104604: the workspace of a linear layer
    public_threads.py stack none|late|reentrant model|layer   pytorch#147449: checkpoints over a stack"""
import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x):
        x = self.first(x + self.attention(x, x, x)[0])
        return self.second(x + self.down(torch.relu(self.up(x))))


class Stack(nn.Module):
    def __init__(self, kind, where, width=1024, layers=12):
        super().__init__()
        self.kind, self.where = kind, where
        self.layers = nn.ModuleList(Layer(width, 16) for _ in range(layers))
        self.head = nn.Linear(width, 1)

    def stack(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def forward(self, x):
        reentrant = self.kind == "reentrant"
        if self.kind == "none":
            x = self.stack(x)
        elif self.where == "model":
            x = checkpoint(self.stack, x, use_reentrant=reentrant)
        else:
            for layer in self.layers:
                x = checkpoint(layer, x, use_reentrant=reentrant)
        return self.head(x)


if sys.argv[1] == "linear":
    linear = nn.Linear(1024, 1024, bias=False, device="cuda")
    x = torch.rand(1, 512, 1024, device="cuda")
    y = linear(x)
else:
    model = Stack(*sys.argv[2:]).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(3):
        x, y = torch.randn(64, 512, 1024, device="cuda"), torch.randn(64, 512, 1, device="cuda")
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    parameters = list(model.parameters())
    print("gradients: %d of %d" % (sum(p.grad is not None for p in parameters), len(parameters)))

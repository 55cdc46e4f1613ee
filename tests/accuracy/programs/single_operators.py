"""Forward and backward of one plain PyTorch module, as Liger-Kernel's benchmark measures its peers: ten calls, inputs included,
gradients of the call before are still there, and the module of Liger's own beside it holds a second set of weights.

    vramscope plan --device a100-80gb --steps 0 -- python single_operators.py cross_entropy 4096
"""

import sys

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        kind = x.dtype
        x = x.to(torch.float32)
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * x.to(kind)


class GatedMLP(nn.Module):
    def __init__(self, activation, hidden=4096, intermediate=11008):
        super().__init__()
        self.gate = nn.Linear(hidden, intermediate, bias=False)
        self.up = nn.Linear(hidden, intermediate, bias=False)
        self.down = nn.Linear(intermediate, hidden, bias=False)
        self.activation = activation

    def forward(self, x):
        return self.down(self.activation(self.gate(x)) * self.up(x))


class Head(nn.Module):
    def __init__(self, hidden, vocabulary):
        super().__init__()
        self.linear = nn.Linear(hidden, vocabulary, bias=False, dtype=torch.bfloat16)
        self.loss = nn.CrossEntropyLoss()

    def forward(self, x, target):
        return self.loss(self.linear(x), target)


def norm(make, rows, width, dtype):
    peer, module = make().cuda(), make().cuda()
    x = torch.randn(rows, width, dtype=dtype, device="cuda")
    gradient = torch.randn_like(x)
    x.requires_grad_(True)
    return peer, lambda: module(x).backward(gradient, retain_graph=True)


def cross_entropy(vocabulary, rows=8 * 2048):
    loss = nn.CrossEntropyLoss()
    x = torch.randn(rows, vocabulary, requires_grad=True, device="cuda")
    target = torch.randint(vocabulary, (rows, 1), device="cuda").squeeze(1)
    return None, lambda: loss(x, target).backward()


def embedding(vocabulary, batch, length, width):
    peer, module = nn.Embedding(vocabulary, width).cuda(), nn.Embedding(vocabulary, width).cuda()
    ids = torch.randint(0, vocabulary, (batch, length), device="cuda")

    def call():
        out = module(ids)
        out.backward(torch.randn_like(out))

    return peer, call


def mlp(batch, length, activation):
    x = torch.randn(batch, length, 4096, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    module = GatedMLP(activation).to("cuda").to(torch.bfloat16)

    def call():
        out = module(x)
        out.backward(torch.randn_like(out), retain_graph=True)

    return None, call


def linear_cross_entropy(rows, hidden=4096, vocabulary=128256):
    with torch.device("cuda"):
        peer, module = Head(hidden, vocabulary), Head(hidden, vocabulary)
    x = torch.randn(rows, hidden, requires_grad=True, dtype=torch.bfloat16, device="cuda")
    target = torch.randint(vocabulary, (rows, 1), dtype=torch.long, device="cuda").squeeze(1)
    return peer, lambda: module(x, target).backward()


OPERATORS = {
    "rms_norm": lambda width: norm(lambda: RMSNorm(width), 2048, width, torch.bfloat16),
    "layer_norm": lambda width: norm(lambda: nn.LayerNorm(width, eps=1e-6), 4096, width, torch.float32),
    "cross_entropy": cross_entropy,
    "embedding": embedding,
    "fused_linear_cross_entropy": linear_cross_entropy,
    "swiglu": lambda length: mlp(4, length, nn.functional.silu),
    "geglu": lambda length: mlp(8, length, lambda x: nn.functional.gelu(x, approximate="tanh")),
}

name, *sizes = sys.argv[1:]
kept, call = OPERATORS[name](*map(int, sizes))
for _ in range(10):
    call()

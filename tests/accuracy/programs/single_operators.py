"""Forward and backward of one plain PyTorch module, measured as in Liger-Kernel's benchmark. There are ten calls. The peak
includes inputs, the gradients of the previous call, and a second set of weights for Liger's own module.

    vramscope plan --device a100-80gb --steps 0 -- python single_operators.py cross_entropy 4096
"""

import json
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


def rotate(x):
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]  # sliced in this order, which backward reverses
    return torch.cat((-second, first), dim=-1)


def rope(hidden, length=2048, heads=32, key_heads=8):
    """Uses the rotary embedding of transformers' Llama as it was in September 2024."""
    size = hidden // heads
    q, k = (torch.randn(1, length, count, size, device="cuda", dtype=torch.bfloat16, requires_grad=True).transpose(1, 2)
            for count in (heads, key_heads))
    gradients = torch.randn_like(q), torch.randn_like(k)
    positions = torch.arange(length, device="cuda").unsqueeze(0)
    frequencies = 1.0 / 10000 ** (torch.arange(0, size, 2, dtype=torch.int64).float().to("cuda") / size)
    with torch.no_grad(), torch.autocast("cuda", enabled=False):
        angles = frequencies[None, :, None].expand(1, -1, 1).float() @ positions[:, None, :].float()
        angles = angles.transpose(1, 2)
        angles = torch.cat((angles, angles), dim=-1)
        cos, sin = angles.cos(), angles.sin()
    cos, sin = cos.to(torch.bfloat16), sin.to(torch.bfloat16)
    del angles

    def call():
        c, s = cos.unsqueeze(1), sin.unsqueeze(1)
        turned = q * c + rotate(q) * s, k * c + rotate(k) * s
        torch.autograd.grad(turned, (q, k), gradients, allow_unused=True, retain_graph=True)

    return (frequencies, positions), call


def embedding_in_turn(vocabulary, batch, length, width):
    """The published benchmark measures everything in one process, so this program does too. It first measures the speed for all vocabulary
    sizes in both configurations, forward alone and with backward. Memory that torch.compile allocates for this stays on the GPU."""
    configurations = ((32, 512, 768), (8, 2048, 4096))
    vocabularies = [2**i for i in range(10, 18)]

    def compiled(vocabulary, batch, length, width, backward):
        peer, module = nn.Embedding(vocabulary, width).cuda(), nn.Embedding(vocabulary, width).cuda()
        ids = torch.randint(0, vocabulary, (batch, length), device="cuda")
        fast = torch.compile(module)
        for _ in range(2):
            out = fast(ids)
            if backward:
                out.backward(torch.randn_like(out))

    for configuration in configurations:
        for backward in (False, True):
            for each in vocabularies:
                compiled(each, *configuration, backward)
    for configuration in configurations:
        if configuration == (batch, length, width):
            break
        for each in vocabularies:
            compiled(each, *configuration, True)
    return embedding(vocabulary, batch, length, width)


OPERATORS = {
    "rms_norm": lambda width: norm(lambda: RMSNorm(width), 2048, width, torch.bfloat16),
    "layer_norm": lambda width: norm(lambda: nn.LayerNorm(width, eps=1e-6), 4096, width, torch.float32),
    "cross_entropy": cross_entropy,
    "embedding": embedding,
    "embedding_in_turn": embedding_in_turn,
    "rope": rope,
    "fused_linear_cross_entropy": linear_cross_entropy,
    "swiglu": lambda length: mlp(4, length, nn.functional.silu),
    "geglu": lambda length: mlp(8, length, lambda x: nn.functional.gelu(x, approximate="tanh")),
}

name, *sizes = sys.argv[1:]
kept, call = OPERATORS[name](*map(int, sizes))
for _ in range(10):
    torch.cuda.reset_peak_memory_stats()
    call()
print(json.dumps({"peak": torch.cuda.max_memory_allocated()}))

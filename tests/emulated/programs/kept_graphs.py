"""Backward passes with retain_graph: the saved tensors of the graph are freed with its output."""
import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width, device="cuda"))

    def forward(self, x):
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * torch.exp(torch.tanh(x * scale))


def main():
    module = RMSNorm(1024)
    x = torch.randn(512, 1024, device="cuda", requires_grad=True)
    gradient = torch.randn_like(x)
    kept = []
    for _ in range(40):
        module(x).backward(gradient, retain_graph=True)
        kept.append(torch.cuda.memory_allocated())
    assert kept[-1] == kept[2], kept


if __name__ == "__main__":
    main()

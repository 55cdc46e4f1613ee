"""transformers#30010, the reporter's small case: one attention layer needs more memory with a
boolean mask than with is_causal.

Configuration: hidden size 2,048, 16 heads, 2,048 tokens. The causal mask is a boolean buffer [1, 1,
tokens, tokens].

    causal_mask_of_attention.py mask|is_causal

Assumed, because the thread's excerpt does not state it: batch of 4, bf16."""

import sys

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width=2048, heads=16, tokens=2048):
        super().__init__()
        self.heads = heads
        self.into, self.out = (
            nn.Linear(width, 3 * width, bias=False),
            nn.Linear(width, width, bias=False),
        )
        mask = (
            torch.ones(1, 1, tokens, tokens, dtype=torch.bool).tril()
            if sys.argv[1] == "mask"
            else None
        )
        self.register_buffer("mask", mask)

    def forward(self, x):
        batch, tokens, width = x.shape
        query, key, value = (
            self.into(x).reshape(batch, tokens, 3, self.heads, -1).transpose(3, 1).unbind(dim=2)
        )
        y = nn.functional.scaled_dot_product_attention(
            query, key, value, self.mask, is_causal=self.mask is None
        )
        return self.out(y.transpose(1, 2).reshape(batch, tokens, width))


model = Attention().to("cuda", torch.bfloat16)
for _ in range(2):
    x = torch.randn(4, 2048, 2048, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    model(x).sum().backward()
    model.zero_grad()

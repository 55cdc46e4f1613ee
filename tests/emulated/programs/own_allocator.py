"""A program that sets its own allocator, as programs do that share an allocator with other libraries. --usual: uses PyTorch's allocator."""
import sys

import torch

if "--usual" not in sys.argv:
    allocator = torch.cuda.memory.CUDAPluggableAllocator("libc.so.6", "malloc", "free")  # existing symbols, which nothing calls
    torch.cuda.memory.change_current_allocator(allocator)
model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1024)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    model(torch.randn(64, 1024, device="cuda")).pow(2).mean().backward()
    optimizer.step()
    optimizer.zero_grad()

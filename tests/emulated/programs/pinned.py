"""Trains on batches in pinned memory and keeps 20 MB of it. PyTorch's host allocator rounds each
allocation up to a power of two: 32 MiB and 256 KiB."""
import torch

model = torch.nn.Linear(1000, 1000).cuda()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
kept = torch.empty(5_000_000).pin_memory()
for _ in range(2):
    batch = torch.randn(64, 1000).pin_memory().to("cuda", non_blocking=True)
    model(batch).sum().backward()
    optimizer.step()
    optimizer.zero_grad()

"""Prints PyTorch's memory counters, as training scripts do: for each GPU, after the peak of each step, and after a reset."""
import torch
from torch import nn


def main():
    model = nn.Sequential(*[nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)) for _ in range(3)]).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        torch.cuda.reset_peak_memory_stats()
        model(torch.randn(256, 512, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        print("step", torch.cuda.max_memory_allocated(), torch.cuda.memory_reserved("cuda:0"))
    if torch.cuda.device_count() > 1:
        other = torch.empty(1 << 20, device="cuda:1")
        print("other", torch.cuda.memory_allocated(other.device), torch.cuda.max_memory_reserved(device=1))
    if hasattr(torch, "accelerator") and hasattr(torch.accelerator, "max_memory_allocated"):
        print("accelerator", torch.accelerator.max_memory_allocated())


if __name__ == "__main__":
    main()

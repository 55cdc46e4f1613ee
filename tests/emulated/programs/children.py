"""A program whose child process trains and then ends as the command line requests: exit or raise."""
import multiprocessing
import os
import sys

import torch


def train():
    model = torch.nn.Linear(1024, 1024, device="cuda")
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(2):
        model(torch.randn(64, 1024, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    if sys.argv[1] == "exit":
        os._exit(0)
    raise ValueError("the child's own")


if __name__ == "__main__":
    child = multiprocessing.get_context("spawn").Process(target=train)
    child.start()
    child.join()

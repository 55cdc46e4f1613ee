"""CUDA graphs as in PyTorch's documentation: warms up on a side stream, captures a whole training
step, and replays it with new data. With --callables, uses make_graphed_callables."""
import argparse

import torch
from torch import nn


def network():
    return nn.Sequential(nn.Linear(4096, 8192), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8192, 4096), nn.ReLU(), nn.Linear(4096, 1000)).cuda()


def whole(steps):
    model, loss_function = network(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    static_input, static_target = torch.randn(512, 4096, device="cuda"), torch.randint(0, 1000, (512,), device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            optimizer.zero_grad(set_to_none=True)
            loss_function(model(static_input), static_target).backward()
            optimizer.step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        static_loss = loss_function(model(static_input), static_target)
        static_loss.backward()
        optimizer.step()
    for step in range(steps):
        static_input.copy_(torch.randn(512, 4096))
        static_target.copy_(torch.randint(0, 1000, (512,)))
        graph.replay()
        print("step %d: loss %.4f" % (step, static_loss.item()))


def callables(steps):
    model, loss_function = network(), nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters())
    model = torch.cuda.make_graphed_callables(model, (torch.randn(512, 4096, device="cuda"),))
    for step in range(steps):
        optimizer.zero_grad(set_to_none=True)
        loss = loss_function(model(torch.randn(512, 4096, device="cuda")), torch.randint(0, 1000, (512,), device="cuda"))
        loss.backward()
        optimizer.step()
        print("step %d: loss %.4f" % (step, loss.item()))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--callables", action="store_true")
    parser.add_argument("--steps", type=int, default=4)
    arguments = parser.parse_args()
    (callables if arguments.callables else whole)(arguments.steps)


if __name__ == "__main__":
    main()

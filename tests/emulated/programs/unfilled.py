"""Creates and converts 16 GB of weights on the CPU and then moves them to the GPU. They use no host memory."""
import resource

import torch


def main():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model = torch.nn.Sequential(*[torch.nn.Linear(16384, 16384) for _ in range(16)])
    assert model.half()[0].weight.dtype is torch.float16
    model.to("cuda", torch.bfloat16)
    assert model[0].weight.is_cuda and model[0].weight.dtype is torch.bfloat16 and model[0].weight.requires_grad
    taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert taken < 1 << 20, taken
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        model(torch.randn(8, 16384, device="cuda", dtype=torch.bfloat16)).sum().backward()
        model.zero_grad()
        optimizer.step()


if __name__ == "__main__":
    main()

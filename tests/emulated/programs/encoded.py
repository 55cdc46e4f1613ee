"""Trains a head on the outputs of a frozen encoder; a module without parameters prepares the inputs."""
import torch


class Prepare(torch.nn.Module):
    def forward(self, x):
        return x / 2


class Encoder(torch.nn.Linear):
    pass


class Head(torch.nn.Linear):
    pass


def main():
    prepare, encoder, head = Prepare(), Encoder(256, 128).cuda().requires_grad_(False), Head(128, 8).cuda()
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    for _ in range(3):
        head(encoder(prepare(torch.randn(4, 256, device="cuda")))).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()

"""A stack of layers whose activations are saved in pinned host memory (torch.autograd.graph.save_on_cpu); and an LSTM."""
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width=1024, layers=8):
        super().__init__()
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)) for _ in range(layers)])
        self.recurrent = nn.LSTM(width, width // 2, batch_first=True)

    def forward(self, x):
        for layer in self.layers:
            with torch.autograd.graph.save_on_cpu(pin_memory=True):
                x = x + layer(x)
        return self.recurrent(x)[0]


def main():
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(3):
        loss = model(torch.randn(8, 256, 1024, device="cuda")).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print("step %d: %.3f" % (step, loss.item()))


if __name__ == "__main__":
    main()

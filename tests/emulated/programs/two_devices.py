"""A model split over two GPUs by hand, with an evaluation between steps."""
import torch
from torch import nn


class Split(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(*[nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)) for _ in range(3)]).to("cuda:0")
        self.second = nn.Sequential(*[nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)) for _ in range(3)]).to("cuda:1")

    def forward(self, x):
        return self.second(self.first(x.to("cuda:0")).to("cuda:1"))


def main():
    model = Split()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        target = torch.randn(256, 512).to("cuda:1")
        loss = nn.functional.mse_loss(model(torch.randn(256, 512)), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            for _ in range(2):
                model(torch.randn(64, 512))
        model.train()


if __name__ == "__main__":
    main()

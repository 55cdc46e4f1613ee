"""A typical beginner's script: prints, validates and stops early; saves a checkpoint each epoch, and
the best one separately; then loads the best one and continues from it."""
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.recurrent = nn.LSTM(256, 1024, num_layers=2, batch_first=True, dropout=0.2)
        self.head = nn.Linear(1024, 10)

    def forward(self, x):
        return self.head(self.recurrent(x)[0][:, -1])


def epoch(model, loader, loss_function, optimizer=None):
    model.train(optimizer is not None)
    total = correct = count = 0
    with torch.set_grad_enabled(optimizer is not None):
        for x, y in loader:
            x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
            out = model(x)
            loss = loss_function(out, y)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total += loss.item() * len(y)
            correct += (out.argmax(1) == y).sum().item()
            count += len(y)
    return total / count, correct / count


def main():
    folder = os.environ.get("CHECKPOINTS", "checkpoints")
    os.makedirs(folder, exist_ok=True)
    data = TensorDataset(torch.randn(96, 64, 256), torch.randint(0, 10, (96,)))
    train, test = DataLoader(data, 32, shuffle=True, pin_memory=True), DataLoader(data, 64)
    model, loss_function = Network().cuda(), nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    best, patience = float("inf"), 2
    for number in range(3):
        loss, _ = epoch(model, train, loss_function, optimizer)
        validation, accuracy = epoch(model, test, loss_function)
        schedule.step(validation)
        print("epoch %d: loss %.4f, validation %.4f, accuracy %.1f %%" % (number, loss, validation, 100 * accuracy))
        state = {"epoch": number, "model": model.state_dict(), "optimizer": optimizer.state_dict(), "loss": validation}
        torch.save(state, os.path.join(folder, "epoch%d.pt" % number))
        if validation < best:
            best, patience = validation, 2
            torch.save(state, os.path.join(folder, "best.pt"))
        else:
            patience -= 1
            if patience == 0:
                print("early stop")
                break
    if not os.path.exists(os.path.join(folder, "best.pt")):
        raise SystemExit("no best checkpoint")
    loaded = torch.load(os.path.join(folder, "best.pt"), map_location="cuda")
    model.load_state_dict(loaded["model"])
    optimizer.load_state_dict(loaded["optimizer"])
    for number in range(loaded["epoch"] + 1, loaded["epoch"] + 3):
        print("resumed, epoch %d: loss %.4f" % (number, epoch(model, train, loss_function, optimizer)[0]))


if __name__ == "__main__":
    main()

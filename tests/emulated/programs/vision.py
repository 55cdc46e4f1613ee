"""Trains torchvision's ResNet-50 (convolutions and batch norm) or ViT-L/16 with SGD with momentum and a GradScaler; prints, validates
and saves a checkpoint."""
import argparse

import torch
import torchvision


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=3)
    arguments = parser.parse_args()
    model = torchvision.models.get_model(arguments.model, weights=None).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scaler = torch.amp.GradScaler("cuda")
    loss_function = torch.nn.CrossEntropyLoss()
    best = 0.0
    for step in range(arguments.steps):
        model.train()
        images = torch.randn(arguments.batch, 3, 224, 224).cuda(non_blocking=True)
        labels = torch.randint(0, 1000, (arguments.batch,)).cuda(non_blocking=True)
        with torch.autocast("cuda", torch.float16):
            loss = loss_function(model(images), labels)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        if not torch.isfinite(loss).all():
            raise ValueError("the loss is no number")
        model.eval()
        with torch.no_grad():
            accuracy = (model(images[:4]).argmax(1) == labels[:4]).float().mean().item()
        print("step %d: loss %.3f, accuracy %.2f" % (step, loss.item(), accuracy))
        if accuracy >= best:
            best = accuracy
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "checkpoint.pt")


if __name__ == "__main__":
    main()

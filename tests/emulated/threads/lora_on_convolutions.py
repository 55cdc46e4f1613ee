"""peft#2196: LoRA on the convolutions of a ResNet-50 needs almost twice as much memory for
activations as full fine-tuning. Why?

Configuration: ResNet-50, batch of 16, an optimizer with two states for each weight. Measured in MiB
with MemTracker on the CPU (2024-11):

             parameters  buffers  gradients  activations  temporaries  optimizer
    full          89.68      0.2      89.68     1,310.95        12.25     179.37
    LoRA          90.9       0.2       1.21     2,618.32        12.25          -

    lora_on_convolutions.py full|lora [DROPOUT]

Follows from the printed counts of parameters (317,772 of 23,827,853 are trained): one output, and
LoRA of rank 4 on all 53 convolutions, but not on the classifier. The gradients of the step before
are live in the forward pass, because all of them are live at the peak. Assumed, because the thread
does not state it: images of 224 x 224, Adam, dropout of 0.1 in the adapters, ReLU in place as in
torchvision. Weights are random."""

import sys

import torch
from torch import nn


class Bottleneck(nn.Module):
    def __init__(self, before, width, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(before, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = (
            nn.Conv2d(width, width, 3, stride, 1, bias=False),
            nn.BatchNorm2d(width),
        )
        self.conv3, self.bn3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or before != 4 * width:
            self.downsample = nn.Sequential(
                nn.Conv2d(before, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width)
            )

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        y += x if self.downsample is None else self.downsample(x)
        return self.relu(y)


def resnet50(outputs):
    layers, before = (
        [
            nn.Conv2d(3, 64, 7, 2, 3, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, 1),
        ],
        64,
    )
    for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            layers.append(Bottleneck(before, width, 2 if block == 0 and width > 64 else 1))
            before = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, outputs))


model = resnet50(1)
dropout = float(sys.argv[2]) if len(sys.argv) > 2 else 0.1
if sys.argv[1] == "lora":
    from peft import LoraConfig, get_peft_model

    convolutions = [name for name, module in model.named_modules() if isinstance(module, nn.Conv2d)]
    model = get_peft_model(
        model, LoraConfig(r=4, lora_alpha=4, lora_dropout=dropout, target_modules=convolutions)
    )
print(
    "trained: %d of %d"
    % (
        sum(p.numel() for p in model.parameters() if p.requires_grad),
        sum(p.numel() for p in model.parameters()),
    )
)
model.cuda()
optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad])
for _ in range(2):
    loss = nn.functional.binary_cross_entropy_with_logits(
        model(torch.randn(16, 3, 224, 224, device="cuda")), torch.zeros(16, 1, device="cuda")
    )
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

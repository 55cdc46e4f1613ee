"""A loop that uses accelerate to prepare model, optimizer, data and schedule, accumulate gradients, and save the state."""
import tempfile

import torch
from accelerate import Accelerator
from torch import nn


def main():
    accelerator = Accelerator(gradient_accumulation_steps=2, mixed_precision="bf16")
    model = nn.Sequential(*[nn.TransformerEncoderLayer(768, 12, 3072, batch_first=True) for _ in range(6)], nn.Linear(768, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data = torch.utils.data.TensorDataset(torch.randn(64, 64, 768), torch.randint(0, 10, (64,)))
    loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer)
    model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = nn.functional.cross_entropy(model(x).mean(1), y)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
    with tempfile.TemporaryDirectory() as folder:
        accelerator.save_state(folder)


if __name__ == "__main__":
    main()

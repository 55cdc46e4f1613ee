"""Lightning's Trainer on a model of torch's own layers. --hand makes a toggle's change in the script."""
import argparse

import lightning
import torch
from torch import nn


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(8000, 256)
        self.blocks = nn.ModuleList([nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True) for _ in range(4)])
        self.head = nn.Linear(256, 8000)

    def forward(self, ids):
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x)
        return nn.functional.cross_entropy(self.head(x).flatten(0, 1), ids.flatten())

    def training_step(self, ids, index):
        return self(ids)

    def validation_step(self, ids, index):
        self(ids)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-4)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hand", default="", help="a toggle")
    parser.add_argument("--clip", action="store_true", help="clip the gradients")
    options = parser.parse_args()
    keywords = {}
    if options.hand == "fsdp":
        from lightning.pytorch.strategies import FSDPStrategy

        keywords["strategy"] = FSDPStrategy(auto_wrap_policy={nn.TransformerEncoderLayer})
    if options.hand == "zero=2":
        keywords["strategy"] = "deepspeed_stage_2"
    if options.clip:
        keywords["gradient_clip_val"] = 1.0
    trainer = lightning.Trainer(max_steps=3, logger=False, enable_checkpointing=False, **keywords)
    loader = torch.utils.data.DataLoader(torch.randint(0, 8000, (32, 128)), batch_size=4)
    trainer.fit(Model(), loader, loader)


if __name__ == "__main__":
    main()

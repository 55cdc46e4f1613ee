"""Lightning's Trainer on a model of torch's own layers. --hand makes a toggle's change in the script."""
import argparse

import lightning
import torch
from torch import nn


class Data(lightning.LightningDataModule):
    def __init__(self, batch, sampler):
        super().__init__()
        self.samples, self.batch, self.sampler = torch.randint(0, 8000, (32, 128)), batch, sampler

    def train_dataloader(self):
        if self.sampler:
            sampler = torch.utils.data.BatchSampler(torch.utils.data.SequentialSampler(self.samples), self.batch, False)
            return torch.utils.data.DataLoader(self.samples, batch_sampler=sampler)
        return torch.utils.data.DataLoader(self.samples, batch_size=self.batch, shuffle=True)

    def val_dataloader(self):
        return torch.utils.data.DataLoader(self.samples, batch_size=4)


class Model(lightning.LightningModule):
    def __init__(self, manual=False, data=None):
        super().__init__()
        self.automatic_optimization = not manual
        if data is not None:
            self.train_dataloader = data.train_dataloader
        self.embedding = nn.Embedding(8000, 256)
        self.blocks = nn.ModuleList([nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True) for _ in range(4)])
        self.head = nn.Linear(256, 8000)

    def forward(self, ids):
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x)
        return nn.functional.cross_entropy(self.head(x).flatten(0, 1), ids.flatten())

    def training_step(self, ids, index):
        loss = self(ids)
        if not self.automatic_optimization:
            optimizer = self.optimizers()
            optimizer.zero_grad()
            self.manual_backward(loss)
            optimizer.step()
        return loss

    def validation_step(self, ids, index):
        self(ids)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-4)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hand", default="", help="a toggle")
    parser.add_argument("--clip", action="store_true", help="clip the gradients")
    parser.add_argument("--loaders", default="", help="which object has the DataLoaders: passed, module, data")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--limit", action="store_true", help="train with a part of the batches")
    parser.add_argument("--manual", action="store_true", help="optimize manually")
    parser.add_argument("--schedule", action="store_true", help="accumulate more gradients later")
    parser.add_argument("--sampler", action="store_true", help="a batch sampler of the program")
    options = parser.parse_args()
    keywords, batch, micro_batches = {}, options.batch, 1
    if options.hand.startswith("micro-batch="):
        batch = int(options.hand.partition("=")[2])
        micro_batches = options.batch // batch
        keywords["accumulate_grad_batches"] = micro_batches
    if options.limit:
        keywords["limit_train_batches"] = 2 * micro_batches
    if options.schedule:
        keywords["callbacks"] = [lightning.pytorch.callbacks.GradientAccumulationScheduler({1: 2})]
    if options.hand == "fsdp":
        from lightning.pytorch.strategies import FSDPStrategy

        keywords["strategy"] = FSDPStrategy(auto_wrap_policy={nn.TransformerEncoderLayer})
    if options.hand == "zero=2":
        keywords["strategy"] = "deepspeed_stage_2"
    if options.clip:
        keywords["gradient_clip_val"] = 1.0
    trainer = lightning.Trainer(max_steps=3, logger=False, enable_checkpointing=False, **keywords)
    if options.loaders:
        data = Data(batch, options.sampler)
        if options.loaders == "passed":
            trainer.fit(Model(options.manual), data.train_dataloader(), data.val_dataloader())
        elif options.loaders == "module":
            trainer.fit(Model(options.manual, data))
        else:
            trainer.fit(Model(options.manual), datamodule=data)
        return
    loader = torch.utils.data.DataLoader(torch.randint(0, 8000, (32, 128)), batch_size=4)
    trainer.fit(Model(), loader, loader)


if __name__ == "__main__":
    main()

"""accelerate's Accelerator on a small Llama, or with --plain on a model of torch's own layers. --hand makes a toggle's change in the script."""
import argparse

import accelerate
import torch
from accelerate import Accelerator
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(8000, 256)
        self.blocks = nn.ModuleList([nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True) for _ in range(4)])
        self.head = nn.Linear(256, 8000)

    def forward(self, input_ids):
        x = self.embedding(input_ids)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Two(nn.Module):
    """Two models of transformers in one module."""

    def __init__(self, config):
        super().__init__()
        self.actor, self.critic = LlamaForCausalLM(config), LlamaForCausalLM(config)

    def forward(self, input_ids):
        output = self.actor(input_ids)
        output.logits = output.logits + self.critic(input_ids).logits
        return output


def accumulate(options, accelerator, model, optimizer, loader, evaluation):
    """A loop with Accelerator.accumulate(), or with --accumulate=CASE one that differs from it."""
    case = options.accumulate
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step / len(loader)))
    if case != "scheduler":
        scheduler = accelerator.prepare(scheduler)
    if case != "optimizer":
        optimizer = accelerator.prepare(optimizer)
    model, loader, evaluation = accelerator.prepare(model, loader, evaluation)

    def train(ids):
        with accelerator.accumulate(model):
            logits = model(input_ids=ids).logits
            accelerator.backward(nn.functional.cross_entropy(logits.flatten(0, 1).float(), ids.flatten()))

    if case == "before":
        next(iter(loader))
    if case == "function":
        for ids in loader:
            train(ids)
            optimizer.step()
            optimizer.zero_grad()
    elif case == "next":
        batches, steps = iter(loader), 0
        while steps < 2:
            ids = next(batches)
            with accelerator.accumulate(model):
                logits = model(input_ids=ids).logits
                accelerator.backward(nn.functional.cross_entropy(logits.flatten(0, 1).float(), ids.flatten()))
                optimizer.step()
                optimizer.zero_grad()
            steps += accelerator.sync_gradients
    elif case == "several":
        for ids, more in zip(loader, evaluation):
            with accelerator.accumulate(model):
                logits = model(input_ids=torch.cat([ids, more])).logits[:len(ids)]
                accelerator.backward(nn.functional.cross_entropy(logits.flatten(0, 1).float(), ids.flatten()))
                optimizer.step()
                optimizer.zero_grad()
    elif case == "loss":
        for ids in loader:
            with accelerator.accumulate(model):
                logits = model(input_ids=ids).logits
                nn.functional.cross_entropy(logits.flatten(0, 1).float(), ids.flatten()).backward()
                optimizer.step()
                optimizer.zero_grad()
    elif case == "cleared":
        for ids in loader:
            with accelerator.accumulate(model):
                optimizer.zero_grad()
                logits = model(input_ids=ids).logits
                accelerator.backward(nn.functional.cross_entropy(logits.flatten(0, 1).float(), ids.flatten()))
                optimizer.step()
    elif case == "all-cleared":
        for ids in loader:
            with accelerator.accumulate(model):
                logits = model(input_ids=ids).logits
                accelerator.backward(nn.functional.cross_entropy(logits.flatten(0, 1).float(), ids.flatten()))
                optimizer.step()
            model.zero_grad()
    elif case == "clip":
        for ids in loader:
            with accelerator.accumulate(model):
                logits = model(input_ids=ids).logits
                accelerator.backward(nn.functional.cross_entropy(logits.flatten(0, 1).float(), ids.flatten()))
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
    else:
        for epoch in range(2):
            for step, ids in enumerate(loader):
                with accelerator.accumulate(model):
                    logits = model(input_ids=ids).logits
                    accelerator.backward(nn.functional.cross_entropy(logits.flatten(0, 1).float(), ids.flatten()))
                    if accelerator.sync_gradients:
                        accelerator.clip_grad_norm_(model.parameters(), 1.0)
                    optimizer.step()
                    scheduler.step()
                    optimizer.zero_grad()
                if case == "set":
                    accelerator.gradient_accumulation_steps = 1
            with torch.no_grad():
                for ids in evaluation:
                    model(input_ids=ids)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hand", default="", help="a toggle")
    parser.add_argument("--plain", action="store_true", help="a model that names no blocks")
    parser.add_argument("--unprepared", action="store_true", help="do not prepare the model")
    parser.add_argument("--two", action="store_true", help="train two models in one module")
    parser.add_argument("--accumulate", default="", help="accumulate gradients in this kind of loop")
    parser.add_argument("--batch", type=int, default=4)
    options = parser.parse_args()
    keywords, batch, micro_batches = {}, options.batch, 2
    if options.hand.startswith("micro-batch="):
        batch = int(options.hand.partition("=")[2])
        micro_batches *= options.batch // batch
    if options.accumulate == "plugin":
        keywords["gradient_accumulation_plugin"] = accelerate.utils.GradientAccumulationPlugin(num_steps=micro_batches)
    elif options.accumulate:
        keywords["gradient_accumulation_steps"] = micro_batches
    if options.hand == "fsdp":
        blocks = {"transformer_cls_names_to_wrap": ["TransformerEncoderLayer"]} if options.plain else {}
        keywords["fsdp_plugin"] = accelerate.FullyShardedDataParallelPlugin(
            sharding_strategy="FULL_SHARD", auto_wrap_policy="transformer_based_wrap", use_orig_params=True, **blocks)
    if options.hand == "zero=2":
        keywords["deepspeed_plugin"] = accelerate.DeepSpeedPlugin(zero_stage=2, gradient_clipping=1.0)
    accelerator = Accelerator(mixed_precision="bf16", **keywords)
    if options.accumulate == "two":
        Accelerator(mixed_precision="bf16", **keywords)
    config = LlamaConfig(vocab_size=8000, hidden_size=256, intermediate_size=688, num_hidden_layers=4, num_attention_heads=4)
    model = Plain() if options.plain else Two(config) if options.two else LlamaForCausalLM(config)
    if options.hand == "checkpointing":
        for part in (model.actor, model.critic):
            part.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    model = model.to(accelerator.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data = torch.randint(0, 8000, (16, 128))
    loader = torch.utils.data.DataLoader(data, batch_size=batch)
    if options.accumulate:
        if options.accumulate == "sampler":
            sampler = torch.utils.data.BatchSampler(torch.utils.data.SequentialSampler(data), batch, False)
            loader = torch.utils.data.DataLoader(data, batch_sampler=sampler)
        accumulate(options, accelerator, model, optimizer, loader, torch.utils.data.DataLoader(data, batch_size=4))
        return
    if options.unprepared:
        loader = accelerator.prepare(loader)
    else:
        model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for ids in loader:
        logits = model(ids) if options.plain else model(input_ids=ids).logits
        accelerator.backward(nn.functional.cross_entropy(logits.flatten(0, 1).float(), ids.flatten()))
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()

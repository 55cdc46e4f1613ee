"""A handwritten loop like nanoGPT's, with blocks in a ModuleList, AdamW, and an evaluation. It clears gradients after the forward pass."""
import argparse
import functools
import json
import sys

import torch
from torch import nn
from torch.nn import functional as F

from toggled_changes import step_in_backward


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (part.view(b, t, 8, c // 8).transpose(1, 2) for part in self.qkv(self.norm1(x)).split(c, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.norm2(x))


class Wrapper(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids):
        return self.model(ids)


class Model(nn.Module):
    def __init__(self, width=256, layers=4, words=8192, halves=False):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        blocks = [Block(width) for _ in range(layers)]
        if halves:
            self.halves = nn.ModuleList([nn.ModuleList(blocks[:2]), nn.Sequential(*blocks[2:])])
        else:
            self.blocks = nn.ModuleList(blocks)
        self.head = nn.Linear(width, words)

    def all_blocks(self):
        return [*self.halves[0], *self.halves[1]] if hasattr(self, "halves") else self.blocks

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.all_blocks():
            x = block(x)
        return self.head(x)


def by_hand(name, model):
    """Changes the model as a user would do to get the effect of the toggle. Returns the arguments of the optimizer that the toggle changes."""
    if name == "bf16":
        model.forward = torch.autocast("cuda", dtype=torch.bfloat16)(model.forward)
    if name in ("checkpointing", "checkpointing=reentrant"):
        for block in model.all_blocks():
            block.forward = functools.partial(torch.utils.checkpoint.checkpoint, block.forward, use_reentrant=name.endswith("=reentrant"))
    if name in ("compile", "activation-budget"):
        if name == "activation-budget":
            from torch._functorch import config

            config.activation_memory_budget = 0.5
        for block in model.all_blocks():
            block.compile()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--hand", default="")
    parser.add_argument("--clip", action="store_true")
    parser.add_argument("--evaluate-first", action="store_true")
    parser.add_argument("--halves", action="store_true", help="the blocks are in two lists")
    parser.add_argument("--zero", action="store_true", help="zero_grad(set_to_none=False)")
    parser.add_argument("--teacher", action="store_true", help="another model, which is not trained")
    parser.add_argument("--math", action="store_true", help="the program chooses the kernels of attention itself")
    parser.add_argument("--wrapped", action="store_true", help="the model is wrapped after the optimizer is created")
    parser.add_argument("--unused", choices=("Accelerator", "TrainingArguments", "Trainer"), help="create an object of a library that does not train this model")
    arguments = parser.parse_args()
    hand = arguments.hand
    if arguments.unused == "Accelerator":
        from accelerate import Accelerator

        print(Accelerator().process_index)
    if arguments.unused in ("TrainingArguments", "Trainer"):
        from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

        settings = TrainingArguments(output_dir="out", max_steps=1, save_strategy="no", report_to=[], bf16=hand == "bf16" and arguments.unused == "Trainer")
    if arguments.unused == "Trainer":
        small = BertForSequenceClassification(BertConfig(vocab_size=64, hidden_size=64, num_hidden_layers=1, num_attention_heads=1, intermediate_size=64))
        samples = [{"input_ids": torch.ones(8, dtype=torch.int64), "labels": 0} for _ in range(8)]
        Trainer(model=small, args=settings, train_dataset=samples).train()
    model = Model(halves=arguments.halves).cuda()
    by_hand(hand, model)
    if arguments.teacher:
        teacher = Model(layers=1).cuda().eval()
        by_hand(hand, teacher)
    settings = {"optimizer-impl=fused": {"fused": True, "foreach": False}, "optimizer-impl=for-loop": {"fused": False, "foreach": False},
                "optimizer-impl=foreach": {"fused": False, "foreach": True}}.get(hand, {})
    if hand == "optimizer=adafactor":
        optimizer = torch.optim.Adafactor(model.parameters(), lr=1e-3, weight_decay=0.1)
    elif hand == "optimizer=sgd":
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, weight_decay=0.1)
    else:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1, **settings)
    if arguments.wrapped:
        model = Wrapper(model)
    if hand == "free-gradients":
        optimizer.register_step_post_hook(lambda optimizer, *_: optimizer.zero_grad())
    if hand == "step-in-backward":
        step_in_backward(optimizer)
    if hand.startswith("sdpa-backend"):
        wanted = hand.split("=")[1]
        torch.backends.cuda.enable_flash_sdp(wanted == "flash")
        torch.backends.cuda.enable_mem_efficient_sdp(wanted == "efficient")
        torch.backends.cuda.enable_cudnn_sdp(wanted == "cudnn")
        torch.backends.cuda.enable_math_sdp(wanted == "math")
    if arguments.evaluate_first:
        with torch.no_grad():
            model.eval()(torch.randint(0, 8192, (2 * arguments.batch, 256), device="cuda"))
        model.train()
    for iteration in range(3):
        ids = torch.randint(0, 8192, (arguments.batch, 256), device="cuda")
        if hand == "offload":
            with torch.autograd.graph.save_on_cpu(pin_memory=True):
                logits = model(ids)
        elif arguments.math:
            with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
                logits = model(ids)
        else:
            logits = model(ids)
        loss = F.cross_entropy(logits.flatten(0, 1), ids.flatten())
        if arguments.teacher:
            with torch.no_grad():
                target = teacher(ids)
            loss = loss + F.mse_loss(logits, target)
        optimizer.zero_grad(set_to_none=not arguments.zero or hand == "zero-grad-to-none")
        loss.backward()
        if arguments.clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if hand == "empty-cache":
            torch.cuda.empty_cache()
        model.eval()
        if hand == "eval-no-grad":
            with torch.no_grad():
                model(ids)
        else:
            model(ids)
        model.train()


main()

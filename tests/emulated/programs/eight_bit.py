"""A plain loop with bitsandbytes' 8-bit AdamW (with --paged: paged) on a GPT-2."""
import argparse

import bitsandbytes
import torch
from transformers import GPT2Config, GPT2LMHeadModel


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paged", action="store_true")
    arguments = parser.parse_args()
    model = GPT2LMHeadModel(GPT2Config()).cuda().train()
    optimizer = (bitsandbytes.optim.PagedAdamW8bit if arguments.paged else bitsandbytes.optim.AdamW8bit)(model.parameters(), lr=1e-4)
    for step in range(4):
        ids = torch.randint(0, 50257, (4, 512), device="cuda")
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        print(step, loss.item())


if __name__ == "__main__":
    main()

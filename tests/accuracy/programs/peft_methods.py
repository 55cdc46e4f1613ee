"""One method of PEFT's own comparison: Llama-3.2-3B in bf16, AdamW, batches of four, the cache emptied every ten steps.

    vramscope plan --device l40s --steps 0 -- python peft_methods.py LORA r=32 lora_alpha=64
The comparison publishes the maximum of reserved memory, including evaluations. Its batches are grouped in buckets of
twenty batches, the longest batch first. A step's results are kept until the next step has computed its own. Lengths
are not published, but are the same for all methods (same seed and order). So the longest length was fitted to one
result and is used for all methods: with 686, the planned peak of LoRA with rank 32 equals the published one to the byte.
"""

import argparse
import contextlib
import json

import peft
import torch
import transformers


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("method", help="a PeftType, or FULL")
    parser.add_argument("settings", nargs="*", help="KEY=VALUE of its configuration, JSON")
    parser.add_argument("--longest", type=int, default=686)
    parser.add_argument("--evaluate", type=int, metavar="LONGEST", help="not --longest, but ten batches, the first with LONGEST tokens, then an evaluation")
    arguments = parser.parse_args()
    torch.nn.Linear(1, 1).to("cuda")
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.max_memory_reserved()
    config = transformers.LlamaConfig(
        vocab_size=128256, hidden_size=3072, intermediate_size=8192, num_hidden_layers=28, num_attention_heads=24,
        num_key_value_heads=8, head_dim=128, max_position_embeddings=131072, tie_word_embeddings=True, rms_norm_eps=1e-5,
        bos_token_id=128000, eos_token_id=128001)
    model = transformers.LlamaForCausalLM._from_config(config, dtype=torch.bfloat16).to("cuda")
    if arguments.method != "FULL":
        settings = {}
        for text in arguments.settings:
            key, value = text.split("=", 1)
            try:
                settings[key] = json.loads(value)
            except ValueError:
                settings[key] = value
        kind = peft.mapping.PEFT_TYPE_TO_CONFIG_MAPPING[peft.PeftType(arguments.method)]
        model = peft.get_peft_model(model, kind(**settings))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.1)
    scheduler = transformers.get_cosine_schedule_with_warmup(optimizer, 100, 5000)
    model.eval()
    with contextlib.nullcontext() if arguments.method == "FULL" else model.disable_adapter():
        losses_of_text(model)
    model.train()
    outputs = None
    for step, length in enumerate(batches(arguments), start=1):
        ids, mask = tokens(4, length)
        batch = dict(input_ids=ids, attention_mask=mask, labels=ids.clone())
        for row in range(1, 4):
            batch["labels"][row, length - 4 * row + 1:] = -100
        count = mask.sum().item()
        optimizer.zero_grad()
        outputs = model(**batch, num_items_in_batch=count)
        outputs.loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        if arguments.method in ("ADALORA", "ADAMSS"):
            model.base_model.update_and_allocate(step)
        outputs.loss.item()
        if step % 10 == 0:
            if step > 20:
                evaluate(model)
            torch.cuda.empty_cache()
    print(json.dumps({"peak": torch.cuda.max_memory_reserved() - before}))


def batches(arguments):
    """Returns the sequence lengths of a typical bucket of batches, followed by the longest sequence of all. With --evaluate, returns the lengths of ten more batches instead, which precede an evaluation."""
    usual = [430, 400, 380, 360, 345, 330, 320, 310, 300, 290, 190, 185, 180, 175, 170, 165, 160, 150, 140, 120]
    return usual + ([arguments.evaluate, 400, *usual[2:10]] if arguments.evaluate else [arguments.longest])


def tokens(rows, length):
    """Returns the token ids and attention mask of a batch whose rows are sorted by length and padded to the longest row."""
    mask = torch.ones(rows, length, dtype=torch.long)
    for row in range(1, rows):
        mask[row, length - 4 * min(row, 20):] = 0
    return torch.randint(0, 128000, (rows, length)).to("cuda"), mask.to("cuda")


@torch.inference_mode()
def losses_of_text(model):
    """Evaluates the model before training."""
    for length in (768, 700, 768):
        ids, mask = tokens(4, length)
        logits = model(input_ids=ids, attention_mask=mask).logits
        for row, target in zip(logits, ids):
            torch.nn.functional.cross_entropy(row[:-1], target[1:], reduction="none")


@torch.inference_mode()
def evaluate(model):
    model.eval()
    ids, mask = tokens(50, 230)
    config = transformers.GenerationConfig(max_length=min(300 + ids.size(1), 800), pad_token_id=128001)
    model.generate(input_ids=ids, attention_mask=mask, generation_config=config)
    model.train()


main()

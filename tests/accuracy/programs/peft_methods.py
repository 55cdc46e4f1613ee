"""One method of PEFT's own comparison: Llama-3.2-3B in bf16, AdamW, batches of four, the cache emptied every ten steps.

    vramscope plan --device rtx-4090 --steps 0 -- python peft_methods.py LORA r=32 lora_alpha=64

The comparison publishes the most memory that was reserved after a step. It does not say how long its longest batch is; that length
is the same for all methods (one seed, one order), so it is found from one row (--length) and holds for the others.
"""

import argparse
import json

import peft
import torch
import transformers


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("method", help="a PeftType, or FULL")
    parser.add_argument("settings", nargs="*", help="KEY=VALUE of its configuration, JSON")
    parser.add_argument("--length", type=int, default=640)
    parser.add_argument("--second", type=int, default=0, help="length of the batch after the longest")
    parser.add_argument("--outputs-alive", action="store_true", help="until the next step has its own, as in the source")
    arguments = parser.parse_args()
    torch.nn.Linear(1, 1).to("cuda")
    before = torch.cuda.max_memory_reserved()
    config = transformers.LlamaConfig(
        vocab_size=128256, hidden_size=3072, intermediate_size=8192, num_hidden_layers=28, num_attention_heads=24,
        num_key_value_heads=8, head_dim=128, max_position_embeddings=131072, tie_word_embeddings=True, rms_norm_eps=1e-5)
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
    model.train()
    most = 0
    for step, length in enumerate([200] * 10 + [arguments.length, arguments.second or arguments.length - 40, 200], start=1):
        ids = torch.randint(0, 128000, (4, length))
        mask = torch.ones_like(ids)
        for row in range(1, 4):  # sorted by length, padded to the longest
            mask[row, length - 4 * row:] = 0
        batch = dict(input_ids=ids.to("cuda"), attention_mask=mask.to("cuda"))
        labels = batch["input_ids"].clone()
        for row in range(1, 4):
            labels[row, length - 4 * row + 1:] = -100
        batch["labels"] = labels
        count = batch["attention_mask"].sum().item()
        optimizer.zero_grad()
        outputs = model(**batch, num_items_in_batch=count)
        loss = outputs.loss
        if not arguments.outputs_alive:
            del outputs
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        if arguments.method in ("ADALORA", "ADAMSS"):
            model.base_model.update_and_allocate(step)
        loss.item()
        most = max(most, torch.cuda.memory_reserved() - before)
        if step % 10 == 0:
            torch.cuda.empty_cache()
            most = 0  # the source's first ten steps are short
    print(json.dumps({"peak": most}))


main()

"""transformers' Qwen2-0.5B with AdamW in a plain loop, for comparison with vramscope's own Qwen2-0.5B."""
import argparse

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

CONFIG = dict(vocab_size=151936, hidden_size=896, intermediate_size=4864, num_hidden_layers=24, num_attention_heads=14,
              num_key_value_heads=2, max_position_embeddings=32768, tie_word_embeddings=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--sequence", type=int, default=512)
    parser.add_argument("--layers", type=int, default=24)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--micro-batches", type=int, default=1)
    parser.add_argument("--attention", default="sdpa")
    parser.add_argument("--amp", choices=("bfloat16", "float16"))
    parser.add_argument("--checkpoint", action="store_true")
    parser.add_argument("--foreach", action="store_true")
    parser.add_argument("--clip", type=float, default=1.0, help="the gradients' norm; 0: not at all")
    arguments = parser.parse_args()
    config = Qwen2Config(**{**CONFIG, "num_hidden_layers": arguments.layers}, attn_implementation=arguments.attention, use_cache=False)
    with torch.device("cuda"):
        model = Qwen2ForCausalLM(config)
    if arguments.checkpoint:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), foreach=arguments.foreach)
    scaler = torch.amp.GradScaler("cuda", enabled=arguments.amp == "float16")
    for step in range(arguments.steps):
        for _ in range(arguments.micro_batches):
            ids = torch.randint(0, config.vocab_size, (arguments.batch, arguments.sequence)).to("cuda")
            with torch.autocast("cuda", getattr(torch, arguments.amp or "bfloat16"), enabled=bool(arguments.amp)):
                loss = model(input_ids=ids, labels=ids).loss
            scaler.scale(loss).backward()
        if arguments.clip:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), arguments.clip)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        print("step %d: loss %.4f" % (step, loss.item()))


if __name__ == "__main__":
    main()

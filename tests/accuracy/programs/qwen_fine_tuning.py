"""One optimizer step of Qwen3.5's language model in bfloat16 (text alone, linear attention by transformers' own PyTorch code),
full training or LoRA, as FakeGPU's documentation measures it. Prints the peaks of forward, backward and step, and resets the
counter between them.

    qwen_fine_tuning.py 0.8b|2b [--lora] [--checkpoint] [--accumulate 2] [--tokens 16]
"""
import argparse
import json
import os

os.environ["TRANSFORMERS_NO_TORCHVISION"] = "1"

import torch
import transformers

# (hidden_size, intermediate_size), chosen so that the models have the published numbers of parameters: 752,393,024 and 1,881,825,088.
WIDTHS = {"0.8b": (1024, 3584), "2b": (2048, 6144)}


def model_of(size, lora, checkpoint):
    hidden, intermediate = WIDTHS[size]
    config = transformers.Qwen3_5TextConfig(
        hidden_size=hidden, intermediate_size=intermediate, num_hidden_layers=24, num_attention_heads=8, num_key_value_heads=2,
        head_dim=256, vocab_size=248320, linear_num_key_heads=16, linear_num_value_heads=16, linear_key_head_dim=128,
        linear_value_head_dim=128, linear_conv_kernel_dim=4, tie_word_embeddings=True, use_cache=False)
    config._attn_implementation = "sdpa"
    torch.set_default_dtype(torch.bfloat16)
    model = transformers.Qwen3_5ForCausalLM(config)
    torch.set_default_dtype(torch.float32)
    if lora:
        import peft

        model = peft.get_peft_model(model, peft.LoraConfig(
            r=8, lora_alpha=16, lora_dropout=0.0, bias="none", task_type="CAUSAL_LM", target_modules="all-linear"))
    if checkpoint:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        if lora:
            model.enable_input_require_grads()
    model.train()
    return model.to("cuda:0")


def batches(count, tokens):
    for _ in range(count):
        ids = torch.randint(100, 248320, (1, tokens))
        labels = ids.clone()
        labels[:, : tokens // 2] = -100
        positions = torch.arange(tokens).view(1, 1, tokens).expand(3, 1, tokens).clone()
        yield {"input_ids": ids.to("cuda:0"), "labels": labels.to("cuda:0"), "position_ids": positions.to("cuda:0")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("size", choices=WIDTHS)
    parser.add_argument("--lora", action="store_true")
    parser.add_argument("--checkpoint", action="store_true")
    parser.add_argument("--accumulate", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=16)
    arguments = parser.parse_args()
    model = model_of(arguments.size, arguments.lora, arguments.checkpoint)
    inputs = list(batches(arguments.accumulate, arguments.tokens))
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-5, foreach=False)
    peaks = []

    def note():
        torch.cuda.synchronize()
        peaks.append(torch.cuda.max_memory_allocated())
        torch.cuda.reset_peak_memory_stats()

    torch.cuda.reset_peak_memory_stats()
    for index, batch in enumerate(inputs, 1):
        outputs = model(**batch, use_cache=False)
        loss = outputs.loss / arguments.accumulate
        note()
        loss.backward()
        note()
        if index < arguments.accumulate:
            del outputs, loss
    optimizer.step()
    note()
    print(json.dumps({"peak": max(peaks), "peaks": peaks, "trained": sum(parameter.numel() for parameter in trained)}), flush=True)


main()

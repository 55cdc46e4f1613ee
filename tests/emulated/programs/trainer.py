"""Hugging Face's unmodified Trainer on a small Llama: data-loader workers, gradient accumulation, clipping, evaluation, checkpoints;
with --lora, peft's LoRA."""
import argparse
import tempfile

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments


class Sentences(torch.utils.data.Dataset):
    def __init__(self, count, length):
        self.count, self.length = count, length

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        ids = torch.randint(0, 32000, (self.length,))
        return {"input_ids": ids, "labels": ids.clone(), "attention_mask": torch.ones_like(ids)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lora", action="store_true")
    parser.add_argument("--steps", type=int, default=4)
    arguments = parser.parse_args()
    model = LlamaForCausalLM(LlamaConfig(hidden_size=512, intermediate_size=1376, num_hidden_layers=8, num_attention_heads=8))
    if arguments.lora:
        from peft import LoraConfig, get_peft_model

        model = get_peft_model(model, LoraConfig(r=8, lora_alpha=16, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"))
    with tempfile.TemporaryDirectory() as folder:
        Trainer(
            model=model,
            args=TrainingArguments(output_dir=folder, per_device_train_batch_size=2, gradient_accumulation_steps=2, max_steps=arguments.steps,
                                   bf16=True, logging_steps=1, save_steps=2, eval_strategy="steps", eval_steps=2, report_to=[],
                                   dataloader_num_workers=2, max_grad_norm=1.0),
            train_dataset=Sentences(64, 256),
            eval_dataset=Sentences(4, 256),
        ).train()


if __name__ == "__main__":
    main()

"""QLoRA as in the documentation of peft and bitsandbytes: from_pretrained in 4 bits (NF4, double quantization), LoRA on
every linear layer, gradient checkpointing, paged AdamW. The model is a Llama's config.json without weights."""
import argparse
import os
import tempfile

import torch
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, LlamaConfig, Trainer, TrainingArguments

from trainer import Sentences


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--steps", type=int, default=4)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "llama")
        LlamaConfig(hidden_size=arguments.width, intermediate_size=11 * arguments.width // 4, num_hidden_layers=arguments.layers,
                    num_attention_heads=arguments.width // 64, architectures=["LlamaForCausalLM"]).save_pretrained(name)
        model = AutoModelForCausalLM.from_pretrained(
            name, device_map="auto", dtype=torch.bfloat16,
            quantization_config=BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True,
                                                   bnb_4bit_compute_dtype=torch.bfloat16))
        model.config.use_cache = False
        model = prepare_model_for_kbit_training(model)
        model = get_peft_model(model, LoraConfig(r=16, lora_alpha=32, lora_dropout=0.05, target_modules="all-linear", task_type="CAUSAL_LM"))
        model.print_trainable_parameters()
        Trainer(
            model=model,
            args=TrainingArguments(output_dir=os.path.join(folder, "out"), per_device_train_batch_size=4, max_steps=arguments.steps, bf16=True,
                                   optim="paged_adamw_32bit", logging_steps=1, report_to=[], save_strategy="no"),
            train_dataset=Sentences(64, 512),
        ).train()


if __name__ == "__main__":
    main()

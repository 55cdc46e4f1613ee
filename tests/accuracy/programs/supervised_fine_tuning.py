"""One row of a published benchmark as people write it: transformers, peft and trl's SFTTrainer on packed data.

    vramscope plan --device a100-80gb --steps 0 -- python supervised_fine_tuning.py mistral-7b --batch 4 --lora

The benchmark is that of foundation-model-stack/fms-acceleration: bf16 weights, gradient checkpointing, FlashAttention 2, AdamW
of the Trainer, LoRA of rank 16 on q, k, v and o. Prints the peak of Trainer.train() as a JSON object.
"""

import argparse
import json

import flash_attention_names

import torch

flash_attention_names.install()

import peft
import transformers
import trl

# config.json of the published models, as far as memory depends on it. `added`: rows by which the benchmark's script enlarges the
# embeddings (resize_token_embeddings(len(tokenizer)) after adding <pad>).
MODELS = {
    "mistral-7b": dict(
        added=1, model_type="mistral", vocab_size=32000, hidden_size=4096, intermediate_size=14336, num_hidden_layers=32,
        num_attention_heads=32, num_key_value_heads=8, max_position_embeddings=32768, sliding_window=4096,
        tie_word_embeddings=False),
    "powerlm-3b": dict(
        added=0, model_type="granite", vocab_size=49152, hidden_size=2304, intermediate_size=9216, num_hidden_layers=40,
        num_attention_heads=36, num_key_value_heads=36, max_position_embeddings=4096, tie_word_embeddings=True,
        attention_bias=True, mlp_bias=True, attention_multiplier=0.015625, residual_multiplier=0.22,
        embedding_multiplier=12.0, logits_scaling=9.0),
    "llama-3-8b": dict(
        added=2, model_type="llama", vocab_size=128256, hidden_size=4096, intermediate_size=14336, num_hidden_layers=32,
        num_attention_heads=32, num_key_value_heads=8, max_position_embeddings=8192, rope_theta=500000.0,
        tie_word_embeddings=False),
}


class PackedData(torch.utils.data.Dataset):
    def __init__(self, vocabulary, length):
        self.vocabulary, self.length = vocabulary, length

    def __len__(self):
        return 100000

    def __getitem__(self, index):
        ids = torch.randint(0, self.vocabulary, (self.length,))
        return dict(input_ids=ids, labels=ids.clone(), attention_mask=torch.ones_like(ids))


class ReadyTokenizer:
    """What SFTTrainer asks of a tokenizer when the data are tokens already."""

    padding_side, pad_token, eos_token, pad_token_id, eos_token_id = "right", "<pad>", "</s>", 0, 1
    model_input_names = ["input_ids", "attention_mask"]

    def __init__(self, length):
        self.model_max_length = length


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--sequence", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--lora", action="store_true")
    arguments = parser.parse_args()

    settings = dict(MODELS[arguments.model])
    settings["vocab_size"] += settings.pop("added")
    config = transformers.AutoConfig.for_model(settings.pop("model_type"), **settings)
    model = transformers.AutoModelForCausalLM.from_config(
        config, attn_implementation="flash_attention_2", torch_dtype=torch.bfloat16)
    lora = peft.LoraConfig(
        r=16, lora_alpha=16, lora_dropout=0.1, target_modules=["q_proj", "k_proj", "v_proj", "o_proj"], bias="none",
        task_type="CAUSAL_LM") if arguments.lora else None
    trainer = trl.SFTTrainer(
        model=model, peft_config=lora, tokenizer=ReadyTokenizer(arguments.sequence),
        train_dataset=PackedData(config.vocab_size, arguments.sequence),
        data_collator=transformers.default_data_collator,
        args=trl.SFTConfig(
            output_dir="out", max_seq_length=arguments.sequence, packing=False,
            dataset_kwargs=dict(skip_prepare_dataset=True), per_device_train_batch_size=arguments.batch,
            max_steps=arguments.steps, gradient_checkpointing=True, save_strategy="no", report_to=[], optim="adamw_torch",
            weight_decay=0.01, warmup_steps=10, adam_epsilon=1e-4, learning_rate=2e-4 if arguments.lora else 2e-5,
            logging_steps=10, include_tokens_per_second=True, skip_memory_metrics=False, disable_tqdm=True))
    metrics = trainer.train().metrics
    print(json.dumps({"peak": metrics["before_init_mem_gpu"] + metrics["init_mem_gpu_alloc_delta"]
                      + metrics["train_mem_gpu_alloc_delta"] + metrics["train_mem_gpu_peaked_delta"]}))


main()

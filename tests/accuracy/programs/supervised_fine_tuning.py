"""One row of a published benchmark, written as users write it: transformers, peft and trl's SFTTrainer on packed data.

    vramscope plan --device a100-80gb --steps 0 -- python supervised_fine_tuning.py mistral-7b --batch 4 --lora

The benchmark is that of foundation-model-stack/fms-acceleration: bf16 weights, gradient checkpointing,
FlashAttention 2, AdamW of the Trainer, LoRA of rank 16, the benchmark's own plugins in some rows, and FSDP with several
ranks. Prints the peak of Trainer.train(), the published figure, as a JSON object.
"""

import argparse
import json
import os
import tempfile

import flash_attention_names

FSDP = dict(  # environment variables that `accelerate launch` sets from the benchmark's accelerate.yaml
    ACCELERATE_USE_FSDP="true", FSDP_SHARDING_STRATEGY="FULL_SHARD", FSDP_AUTO_WRAP_POLICY="TRANSFORMER_BASED_WRAP",
    FSDP_BACKWARD_PREFETCH="BACKWARD_PRE", FSDP_STATE_DICT_TYPE="SHARDED_STATE_DICT", FSDP_OFFLOAD_PARAMS="false",
    FSDP_FORWARD_PREFETCH="false", FSDP_SYNC_MODULE_STATES="true", FSDP_CPU_RAM_EFFICIENT_LOADING="true",
    FSDP_USE_ORIG_PARAMS="true")
sharded = int(os.environ.get("WORLD_SIZE", "1")) > 1
if sharded:
    os.environ.update(FSDP)

import torch

flash_attention_names.install()

import peft
import transformers
import trl

# Fields of config.json of the published models that affect memory. `added` is the number of rows by which the benchmark's script enlarges the
# embeddings: it adds special tokens and calls resize_token_embeddings(len(tokenizer)). `saved_by` is the version of transformers that saved
# the model. The version determines how the weights are divided into files. This affects how the allocator splits blocks while it loads them.
MODELS = {
    "mistral-7b": dict(
        added=1, saved_by="4.34.0", model_type="mistral", vocab_size=32000, hidden_size=4096, intermediate_size=14336, num_hidden_layers=32,
        num_attention_heads=32, num_key_value_heads=8, max_position_embeddings=32768, sliding_window=4096,
        tie_word_embeddings=False),
    "mixtral-8x7b": dict(
        added=1, saved_by="4.36.0", model_type="mixtral", vocab_size=32000, hidden_size=4096, intermediate_size=14336, num_hidden_layers=32,
        num_attention_heads=32, num_key_value_heads=8, max_position_embeddings=32768, sliding_window=None, rope_theta=1e6,
        num_local_experts=8, num_experts_per_tok=2, tie_word_embeddings=False),
    "llama-2-70b": dict(
        added=0, saved_by="4.31.0", model_type="llama", vocab_size=32000, hidden_size=8192, intermediate_size=28672, num_hidden_layers=80,
        num_attention_heads=64, num_key_value_heads=8, max_position_embeddings=4096, tie_word_embeddings=False),
    "llama-3-8b": dict(
        added=2, saved_by="4.40.0", model_type="llama", vocab_size=128256, hidden_size=4096, intermediate_size=14336, num_hidden_layers=32,
        num_attention_heads=32, num_key_value_heads=8, max_position_embeddings=8192, rope_theta=500000.0,
        tie_word_embeddings=False),
    "powerlm-3b": dict(
        added=0, saved_by="4.45.0", model_type="granite", vocab_size=49152, hidden_size=2304, intermediate_size=9216, num_hidden_layers=40,
        num_attention_heads=36, num_key_value_heads=36, max_position_embeddings=4096, tie_word_embeddings=True,
        attention_bias=True, mlp_bias=True, attention_multiplier=0.015625, residual_multiplier=0.22,
        embedding_multiplier=12.0, logits_scaling=9.0),
    "santacoder": dict(
        added=-122, saved_by="4.28.0", model_type="gpt_bigcode", vocab_size=49280, n_embd=2048, n_layer=24, n_head=16, n_inner=8192, n_positions=2048,
        multi_query=True, attn_pdrop=0.1, embd_pdrop=0.1, resid_pdrop=0.1, activation_function="gelu_pytorch_tanh"),
}

KERNELS = {"foak": True, "foak-liger": "fused_ce_liger"}  # fast_loss of the plugin's sample configurations


class PackedData(torch.utils.data.Dataset):
    def __init__(self, vocabulary, length):
        self.vocabulary, self.length = vocabulary, length

    def __len__(self):
        return 100000

    def __getitem__(self, index):
        ids = torch.randint(0, self.vocabulary, (self.length,))
        return dict(input_ids=ids, labels=ids.clone(), attention_mask=torch.ones_like(ids))


class ReadyTokenizer:
    """Has only the members of a tokenizer that SFTTrainer uses if the data are already tokens."""

    padding_side, pad_token, eos_token, pad_token_id, eos_token_id = "right", "<pad>", "</s>", 0, 1
    model_input_names = ["input_ids", "attention_mask"]

    def __init__(self, length):
        self.model_max_length = length


def acceleration(arguments):
    """Returns the benchmark's plugins with the settings of its sample configurations, or None if the row uses no plugins."""
    plugins = {}
    kernels = KERNELS[arguments.kernels] and dict(
        fast_loss=KERNELS[arguments.kernels], fast_rms_layernorm=True, fast_rope_embeddings=True) if arguments.kernels else None
    if arguments.quantized:
        plugins["peft"] = dict(quantization=dict(
            bitsandbytes=dict(quant_type="nf4", no_peft_model=arguments.quantized == "baseline")))
        if kernels:
            plugins["peft"]["quantization"]["fused_ops_and_kernels"] = dict(
                base_layer="bitsandbytes", fused_lora=True, **kernels)
    elif kernels:
        plugins["training"] = dict(fused_ops_and_kernels=kernels)
    if not plugins:
        return None
    from fms_acceleration import AccelerationFramework
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        json.dump(dict(plugins=plugins), file)  # JSON is YAML
        file.flush()
        return AccelerationFramework(file.name, require_packages_check=False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--sequence", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--lora", action="store_true")
    parser.add_argument("--bf16", action="store_true", help="the Trainer's autocast")
    parser.add_argument("--quantized", choices=["baseline", "accelerated"], help="nf4 by bitsandbytes, prepared by peft or by the plugin")
    parser.add_argument("--kernels", choices=KERNELS)
    arguments = parser.parse_args()

    settings = dict(MODELS[arguments.model])
    added, saved_by = settings.pop("added"), settings.pop("saved_by")
    config = transformers.AutoConfig.for_model(settings.pop("model_type"), **settings)
    length = min(arguments.sequence, config.max_position_embeddings)
    lora = peft.LoraConfig(
        r=16, lora_alpha=16, lora_dropout=0.1, bias="none", task_type="CAUSAL_LM",
        target_modules=["c_attn"] if config.model_type == "gpt_bigcode" else ["q_proj", "k_proj", "v_proj", "o_proj"],
    ) if arguments.lora else None
    training = trl.SFTConfig(
        output_dir="out", max_seq_length=length, packing=False, dataset_kwargs=dict(skip_prepare_dataset=True),
        per_device_train_batch_size=arguments.batch, max_steps=arguments.steps, gradient_checkpointing=True,
        save_strategy="no", report_to=[], optim="adamw_torch", weight_decay=0.01, warmup_steps=10, adam_epsilon=1e-4,
        learning_rate=2e-4 if lora else 2e-5, logging_steps=10, include_tokens_per_second=True, skip_memory_metrics=False,
        disable_tqdm=True, bf16=arguments.bf16)
    framework = acceleration(arguments)
    load = transformers.AutoModelForCausalLM.from_pretrained
    if framework and framework.requires_custom_loading:
        load = framework.model_loader
    with tempfile.TemporaryDirectory() as folder:
        config.architectures = [transformers.AutoModelForCausalLM._model_mapping[type(config)].__name__]
        config.save_pretrained(folder)
        written = os.path.join(folder, "config.json")
        with open(written) as file:
            described = dict(json.load(file), transformers_version=saved_by)
        with open(written, "w") as file:
            json.dump(described, file)
        model = load(folder, torch_dtype=torch.bfloat16, attn_implementation="flash_attention_2")
    if added:
        model.resize_token_embeddings(config.vocab_size + added)
    if framework:
        model, (lora,) = framework.augmentation(model, training, modifiable_args=(lora,))
    trainer = trl.SFTTrainer(
        model=model, peft_config=lora, tokenizer=ReadyTokenizer(length), train_dataset=PackedData(config.vocab_size, length),
        data_collator=transformers.default_data_collator, args=training)
    if trainer.is_fsdp_enabled and arguments.lora:
        trainer.accelerator.state.fsdp_plugin.auto_wrap_policy = peft.utils.other.fsdp_auto_wrap_policy(model)
    if framework:
        for callback in framework.get_callbacks_and_ready_for_train(model, trainer.accelerator):
            trainer.add_callback(callback)
    metrics = trainer.train().metrics
    allocated = peak = 0
    for stage, difference in (("before_init_mem_gpu", ""), ("init_mem_gpu", "_alloc_delta"), ("train_mem_gpu", "_alloc_delta")):
        allocated += metrics[stage + difference]
        peak = max(peak, allocated + metrics.get(stage + "_peaked_delta", 0))
    print(json.dumps({"peak": peak, "reserved": torch.cuda.max_memory_reserved()}))


main()

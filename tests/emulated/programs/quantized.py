"""Loads QLoRA's model, a quantized Llama, from a folder without weights."""
import tempfile

import torch
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, LlamaConfig


def main():
    config = LlamaConfig(vocab_size=1000, hidden_size=1024, intermediate_size=4096, num_hidden_layers=6, num_attention_heads=8)
    with tempfile.TemporaryDirectory() as folder:
        config.save_pretrained(folder)
        model = AutoModelForCausalLM.from_pretrained(
            folder, torch_dtype=torch.bfloat16, device_map={"": 0},
            quantization_config=BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4"))
    layer = model.model.layers[0].mlp.up_proj
    assert model.name_or_path == folder
    print("layers: 4-bit" if layer.weight.dtype is torch.uint8 and layer.weight.is_cuda else layer)
    model(input_ids=torch.zeros(16, 512, dtype=torch.long, device="cuda"))  # activations need more memory than the weights


if __name__ == "__main__":
    main()

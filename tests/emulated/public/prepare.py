"""Creates models without weights and made-up data for the public programs in programs.json:

    python3 prepare.py FOLDER     needs datasets and Pillow, no torch

Models are the published configurations in the layout of huggingface_hub's cache; a plan needs no
weights. Tokenizers only know bytes. HF_HUB_CACHE must be FOLDER/hub; all other files are where the
programs search for them."""

import base64
import json
import pathlib
import random
import struct
import sys

WORDS = [
    "memory",
    "tensor",
    "the",
    "of",
    "gradient",
    "a",
    "step",
    "in",
    "kernel",
    "to",
    "batch",
    "is",
    "layer",
]
MODELS = {
    "Qwen/Qwen2-0.5B": (
        "gpt2",
        {
            "model_type": "qwen2",
            "architectures": ["Qwen2ForCausalLM"],
            "hidden_size": 896,
            "intermediate_size": 4864,
            "num_hidden_layers": 24,
            "num_attention_heads": 14,
            "num_key_value_heads": 2,
            "vocab_size": 151936,
            "max_position_embeddings": 131072,
            "rope_theta": 1e6,
            "rms_norm_eps": 1e-6,
            "tie_word_embeddings": True,
            "torch_dtype": "bfloat16",
            "bos_token_id": 151643,
            "eos_token_id": 151643,
        },
    ),
    "facebook/opt-125m": (
        "gpt2",
        {
            "model_type": "opt",
            "architectures": ["OPTForCausalLM"],
            "hidden_size": 768,
            "ffn_dim": 3072,
            "num_hidden_layers": 12,
            "num_attention_heads": 12,
            "vocab_size": 50272,
            "max_position_embeddings": 2048,
            "word_embed_proj_dim": 768,
            "torch_dtype": "float16",
            "bos_token_id": 2,
            "eos_token_id": 2,
            "pad_token_id": 1,
        },
    ),
    "TinyLlama/TinyLlama-1.1B": (
        "gpt2",
        {
            "model_type": "llama",
            "architectures": ["LlamaForCausalLM"],
            "hidden_size": 2048,
            "intermediate_size": 5632,
            "num_hidden_layers": 22,
            "num_attention_heads": 32,
            "num_key_value_heads": 4,
            "vocab_size": 32000,
            "max_position_embeddings": 2048,
            "torch_dtype": "float32",
            "bos_token_id": 1,
            "eos_token_id": 2,
        },
    ),
    "made-up/Llama-7B-4-layers": (
        "gpt2",
        {
            "model_type": "llama",
            "architectures": ["LlamaForCausalLM"],
            "hidden_size": 4096,
            "intermediate_size": 11008,
            "num_hidden_layers": 4,
            "num_attention_heads": 32,
            "vocab_size": 32000,
            "max_position_embeddings": 4096,
            "torch_dtype": "float16",
            "bos_token_id": 1,
            "eos_token_id": 2,
        },
    ),
    "Salesforce/codet5p-220m": (
        None,
        {
            "model_type": "t5",
            "architectures": ["T5ForConditionalGeneration"],
            "d_model": 768,
            "d_ff": 3072,
            "d_kv": 64,
            "num_layers": 12,
            "num_heads": 12,
            "vocab_size": 32100,
            "decoder_start_token_id": 0,
            "pad_token_id": 0,
            "eos_token_id": 2,
            "torch_dtype": "float32",
        },
    ),
    "bert-base-cased": (
        "bert",
        {
            "model_type": "bert",
            "architectures": ["BertForMaskedLM"],
            "hidden_size": 768,
            "intermediate_size": 3072,
            "num_hidden_layers": 12,
            "num_attention_heads": 12,
            "vocab_size": 28996,
            "max_position_embeddings": 512,
            "type_vocab_size": 2,
            "pad_token_id": 0,
        },
    ),
}
DIFFUSION = {  # Stable Diffusion 1.5
    "scheduler/scheduler_config.json": {
        "_class_name": "PNDMScheduler",
        "beta_end": 0.012,
        "beta_schedule": "scaled_linear",
        "beta_start": 0.00085,
        "num_train_timesteps": 1000,
        "set_alpha_to_one": False,
        "skip_prk_steps": True,
        "steps_offset": 1,
        "clip_sample": False,
    },
    "text_encoder/config.json": {
        "model_type": "clip_text_model",
        "architectures": ["CLIPTextModel"],
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "vocab_size": 49408,
        "max_position_embeddings": 77,
        "projection_dim": 768,
    },
    "vae/config.json": {
        "_class_name": "AutoencoderKL",
        "act_fn": "silu",
        "block_out_channels": [128, 256, 512, 512],
        "in_channels": 3,
        "latent_channels": 4,
        "down_block_types": ["DownEncoderBlock2D"] * 4,
        "up_block_types": ["UpDecoderBlock2D"] * 4,
        "layers_per_block": 2,
        "norm_num_groups": 32,
        "out_channels": 3,
        "sample_size": 512,
    },
    "unet/config.json": {
        "_class_name": "UNet2DConditionModel",
        "act_fn": "silu",
        "attention_head_dim": 8,
        "block_out_channels": [320, 640, 1280, 1280],
        "center_input_sample": False,
        "cross_attention_dim": 768,
        "down_block_types": ["CrossAttnDownBlock2D"] * 3 + ["DownBlock2D"],
        "up_block_types": ["UpBlock2D"] + ["CrossAttnUpBlock2D"] * 3,
        "downsample_padding": 1,
        "flip_sin_to_cos": True,
        "freq_shift": 0,
        "in_channels": 4,
        "layers_per_block": 2,
        "mid_block_scale_factor": 1,
        "norm_eps": 1e-5,
        "norm_num_groups": 32,
        "out_channels": 4,
        "sample_size": 64,
    },
}


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text))


def lines(path, rows):
    write(path, "".join(json.dumps(row) + "\n" for row in rows))


def sentence(rng, words):
    return " ".join(rng.choice(WORDS) for _ in range(words))


def byte_characters():
    """Returns GPT-2's table, which maps every byte to a visible character."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [byte for byte in range(256) if byte not in seen]
    return {
        **{byte: chr(byte) for byte in seen},
        **{byte: chr(256 + i) for i, byte in enumerate(rest)},
    }


def byte_tokenizer(folder, size, end, kind="GPT2Tokenizer", ends=""):
    letters = list(byte_characters().values())
    tokens = letters + [letter + ends for letter in letters if ends]
    vocabulary = {**{token: i for i, token in enumerate(tokens)}}
    for i in range(len(vocabulary), size):
        vocabulary[f"<unused{i}>"] = i
    for token in end:
        vocabulary.pop(f"<unused{size - 1 - end.index(token)}>")
        vocabulary[token] = size - 1 - end.index(token)
    write(folder / "vocab.json", vocabulary)
    write(folder / "merges.txt", "#version: 0.2\n")
    write(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": kind,
            "bos_token": end[0],
            "eos_token": end[-1],
            "unk_token": end[-1],
            "pad_token": end[-1],
            "model_max_length": 77 if ends else 2048,
        },
    )


def word_pieces(folder, size):
    letters = [chr(c) for c in range(33, 127)]
    tokens = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *letters,
        *("##" + letter for letter in letters),
    ]
    tokens += [f"[unused{i}]" for i in range(size - len(tokens))]
    write(folder / "vocab.txt", "\n".join(tokens) + "\n")
    write(
        folder / "tokenizer_config.json",
        {"tokenizer_class": "BertTokenizer", "do_lower_case": False, "model_max_length": 512},
    )


def hub(folder):
    for name, (tokenizer, config) in MODELS.items():
        kept = folder / ("models--" + name.replace("/", "--"))
        write(kept / "refs" / "main", "0" * 40)
        snapshot = kept / "snapshots" / ("0" * 40)
        write(snapshot / "config.json", config)
        if tokenizer == "gpt2":
            byte_tokenizer(snapshot, config["vocab_size"], ["<|endoftext|>"])
        elif tokenizer == "bert":
            word_pieces(snapshot, config["vocab_size"])
    kept = folder / "models--stable-diffusion-v1-5--stable-diffusion-v1-5"
    write(kept / "refs" / "main", "0" * 40)
    for path, config in DIFFUSION.items():
        write(kept / "snapshots" / ("0" * 40) / path, config)
    byte_tokenizer(
        kept / "snapshots" / ("0" * 40) / "tokenizer",
        49408,
        ["<|startoftext|>", "<|endoftext|>"],
        "CLIPTokenizer",
        "</w>",
    )


def texts(folder, rng):
    instructions = [
        {"instruction": sentence(rng, 12), "input": "", "output": sentence(rng, 40)}
        for _ in range(256)
    ]
    write(folder / "alpaca.json", instructions)
    lines(folder / "instructions" / "train.jsonl", instructions)
    for split in ("train", "test"):
        lines(
            folder / "guanaco" / f"{split}.jsonl", [{"text": sentence(rng, 90)} for _ in range(128)]
        )
        lines(
            folder / "completions" / f"{split}.jsonl",
            [{"prompt": sentence(rng, 30), "completion": sentence(rng, 90)} for _ in range(128)],
        )
        lines(
            folder / "preferences" / f"{split}.jsonl",
            [
                {
                    "prompt": sentence(rng, 30),
                    "chosen": sentence(rng, 60),
                    "rejected": sentence(rng, 60),
                }
                for _ in range(128)
            ],
        )
        lines(
            folder / "problems" / f"{split}.jsonl",
            [{"prompt": sentence(rng, 30), "solution": "1"} for _ in range(128)],
        )
    write(
        folder / "rewards.py",
        "def length(completions, **kwargs):\n    return [float(len(text)) for text in "
        "completions]\n",
    )
    glue = folder / "nyu-mll" / "glue"
    for split in ("train", "validation"):
        lines(
            glue / f"{split}.jsonl",
            [
                {
                    "sentence1": sentence(rng, 8),
                    "sentence2": sentence(rng, 8),
                    "label": i % 2,
                    "idx": i,
                }
                for i in range(256)
            ],
        )
    write(
        glue / "README.md",
        "---\nconfigs:\n- config_name: mrpc\n  data_files:\n  - split: train\n    path: "
        "train.jsonl\n"
        "  - split: validation\n    path: validation.jsonl\n---\n",
    )
    write(folder / "glue" / "glue.py", METRIC)
    write(
        folder / "data" / "wikitext-2.txt", "\n".join(sentence(rng, 70) for _ in range(4200)) + "\n"
    )


METRIC = """import datasets
import evaluate


class Glue(evaluate.Metric):
    def _info(self):
        return evaluate.MetricInfo(description="", citation="", features=datasets.Features(
            {"predictions": datasets.Value("int64"), "references": datasets.Value("int64")}))

    def _compute(self, predictions, references):
        return {"accuracy": 0.0}
"""


def tokens_of_nanogpt(folder, rng):
    """Writes token files in nanoGPT's format, made from a text."""
    for split in ("train", "val"):
        path = folder / f"{split}.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(struct.pack("<100000H", *(rng.randrange(50257) for _ in range(100000))))


def pairs_of_codet5(folder, rng):
    import datasets

    def row():
        return {
            "input_ids": [rng.randrange(3, 32100) for _ in range(320)],
            "attention_mask": [1] * 320,
            "labels": [rng.randrange(3, 32100) for _ in range(128)],
        }

    datasets.Dataset.from_list([row() for _ in range(256)]).save_to_disk(folder)


def images(folder, captions):
    from PIL import Image

    for split in ("train", "val"):
        for kind in ("cat", "dog"):
            for i in range(64):
                path = folder / split / kind / f"{i}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                Image.new("RGB", (512, 512), (i, 2 * i, 128)).save(path)
    for i in range(16):
        path = captions / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (512, 512), (i, 2 * i, 128)).save(path)
    lines(
        captions / "metadata.jsonl",
        [{"file_name": f"{i}.png", "text": "a picture"} for i in range(16)],
    )


def torchtune(folder):
    """Writes an empty checkpoint and the ranks of a tokenizer, like the files that torchtune needs
    for Llama 3.2 1B."""
    width, inner, heads, words = 2048, 8192, 512, 128256
    shapes = {"model.embed_tokens.weight": [words, width], "model.norm.weight": [width]}
    for i in range(16):
        at = f"model.layers.{i}."
        for name, shape in (
            ("self_attn.q_proj", [width, width]),
            ("self_attn.k_proj", [heads, width]),
            ("self_attn.v_proj", [heads, width]),
            ("self_attn.o_proj", [width, width]),
            ("mlp.gate_proj", [inner, width]),
            ("mlp.up_proj", [inner, width]),
            ("mlp.down_proj", [width, inner]),
            ("input_layernorm", [width]),
            ("post_attention_layernorm", [width]),
        ):
            shapes[at + name + ".weight"] = shape
    header, end = {}, 0
    for name, shape in shapes.items():
        size = 2
        for length in shape:
            size *= length
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + end)
    write(
        folder / "config.json",
        {
            "num_attention_heads": 32,
            "num_key_value_heads": 8,
            "hidden_size": width,
            "head_dim": 64,
            "vocab_size": words,
        },
    )
    ranks = [bytes([i]) for i in range(256)] + [
        b"\xff" + struct.pack(">I", i)[1:] for i in range(128000 - 256)
    ]
    write(
        folder / "original" / "tokenizer.model",
        "".join(f"{base64.b64encode(token).decode()} {i}\n" for i, token in enumerate(ranks)),
    )


def main():
    folder, rng = pathlib.Path(sys.argv[1]).resolve(), random.Random(1)
    hub(folder / "hub")
    texts(folder, rng)
    tokens_of_nanogpt(folder / "tokens", rng)
    pairs_of_codet5(folder / "pairs", rng)
    images(folder / "images", folder / "captions")
    torchtune(folder / "llama")


if __name__ == "__main__":
    main()

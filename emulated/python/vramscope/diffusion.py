"""Replaces from_pretrained() of diffusers' models that have no weights, as initialization.py does
for transformers: the model is built from its config.json."""

import functools
import os
import tempfile

from vramscope import imports, initialization

_NAME = "diffusion_pytorch_model"
_LOADING = (
    "ignore_mismatched_sizes",
    "output_loading_info",
    "torch_dtype",
    "dtype",
    "device_map",
    "max_memory",
    "offload_folder",
    "offload_state_dict",
    "low_cpu_mem_usage",
    "variant",
    "use_safetensors",
    "quantization_config",
    "disable_mmap",
    "parallel_config",
    # Arguments that are not in this list locate or change the configuration.
    "use_flashpack",
    "flashpack_kwargs",
    "dduf_entries",
)


def _has_weights(name, kwargs):
    subfolder = kwargs.get("subfolder") or ""
    if os.path.isdir(name):
        return any(
            file.endswith((".safetensors", ".bin"))
            for file in os.listdir(os.path.join(name, subfolder))
        )
    import huggingface_hub

    where = {key: kwargs[key] for key in ("cache_dir", "revision") if kwargs.get(key) is not None}
    return any(
        isinstance(
            huggingface_hub.try_to_load_from_cache(
                name, os.path.join(subfolder, _NAME + end), **where
            ),
            str,
        )
        for end in (
            ".safetensors",
            ".safetensors.index.json",
            ".bin",
            ".fp16.safetensors",
            ".fp16.bin",
        )
    )


def _installed(process, modeling):
    kind = modeling.ModelMixin
    load = kind.from_pretrained.__func__

    @functools.wraps(load)
    def from_pretrained(cls, name=None, **kwargs):
        try:
            folder = os.fspath(name)
            if kwargs.get("dduf_entries") or _has_weights(folder, kwargs):
                return load(cls, name, **kwargs)
            config, unused = cls.load_config(
                folder,
                return_unused_kwargs=True,
                **{key: arg for key, arg in kwargs.items() if key not in _LOADING},
            )
        except Exception:  # the library raises its own error for the same problem
            return load(cls, name, **kwargs)
        process.assume(
            "no weights were found: the model is built from its config.json",
            os.path.join(folder, kwargs["subfolder"]) if kwargs.get("subfolder") else folder,
        )
        torch = process.torch
        dtype = kwargs.get("dtype") or kwargs.get("torch_dtype") or torch.float32
        if not isinstance(dtype, torch.dtype):  # a dict by component, or a type's name
            dtype = (
                getattr(torch, dtype, torch.float32) if isinstance(dtype, str) else torch.float32
            )
        if process.settings.emulated and (
            kwargs.get("quantization_config") is not None or kwargs.get("device_map") is not None
        ):
            return _load_empty(
                process, functools.partial(load, cls), cls, config, unused, dtype, kwargs
            )
        model = cls.from_config(config, **unused).eval()
        # the library's own to() prints messages about what stays in 32 bits
        to = torch.nn.Module.to
        to(model, dtype)
        for name, part in model.named_modules():
            if any(
                kept in name.split(".")
                for kept in getattr(cls, "_keep_in_fp32_modules", None) or ()
            ):
                to(part, torch.float32)
        model.register_to_config(_name_or_path=folder)
        return (model, {}) if kwargs.get("output_loading_info") else model

    kind.from_pretrained = classmethod(from_pretrained)


def _load_empty(process, load, cls, config, unused, dtype, kwargs):
    """Lets the library's own loader read a checkpoint of sparse files, because the loader also
    places and quantizes parts of the model."""
    torch = process.torch
    os.makedirs(process.settings.scratch, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=process.settings.scratch) as empty:
        with torch.device("meta"):
            model = cls.from_config(config, **unused).to(dtype)
        initialization.write_sparse(torch, empty, model, 10_000_000_000, _NAME)
        model.save_config(empty)
        del model
        return load(
            empty,
            **{
                key: arg
                for key, arg in kwargs.items()
                if key not in ("subfolder", "variant", "revision", "cache_dir")
            },
        )


def install(process):
    imports.after(
        process, "diffusers.models.modeling_utils", functools.partial(_installed, process)
    )

"""Leaves parameters without initial values. The emulated GPU computes nothing with them, and
filling 8 billion of them on the CPU would take minutes and all of the host's memory. Initialization
on the GPU is unchanged, because its allocations count."""

import contextlib
import functools
import glob
import json
import os
import sys
import tempfile
import urllib.parse

from vramscope import imports, writes

SMALL = 1 << 16  # smaller tensors are filled

_INIT = (
    "uniform_",
    "normal_",
    "trunc_normal_",
    "constant_",
    "ones_",
    "zeros_",
    "eye_",
    "dirac_",
    "xavier_uniform_",
    "xavier_normal_",
    "kaiming_uniform_",
    "kaiming_normal_",
    "orthogonal_",
    "sparse_",
)


def _skip(function, process):
    @functools.wraps(function)
    def wrapper(tensor, *args, **kwargs):
        try:
            large = tensor.device.type == "cpu" and tensor.numel() > SMALL
        except (AttributeError, RuntimeError, TypeError):
            large = False
        if not large:
            return function(tensor, *args, **kwargs)
        process.about["skipped"] = True
        tensor._vramscope_unfilled = True
        return tensor

    return wrapper


def _converted(function, torch, dtype_of):
    """Wraps half(), to() and similar methods for tensors without initial values. Their pages stay
    unwritten, so that 400 GB of weights use no host memory."""

    @functools.wraps(function)
    def wrapper(tensor, *args, **kwargs):
        if (
            "_vramscope_unfilled" in getattr(tensor, "__dict__", {})
            and tensor.device.type == "cpu"
            and not torch.is_grad_enabled()
        ):
            dtype = dtype_of(*args, **kwargs)
            if dtype is not None and dtype is not tensor.dtype:
                tensor = torch.empty_like(tensor, dtype=dtype, device="cpu")
                tensor._vramscope_unfilled = True
        return function(tensor, *args, **kwargs)

    return wrapper


def _converting(torch):
    kind = torch.Tensor
    for name, dtype in (
        ("half", "float16"),
        ("bfloat16", "bfloat16"),
        ("float", "float32"),
        ("double", "float64"),
    ):
        if hasattr(kind, name):
            setattr(
                kind,
                name,
                _converted(
                    getattr(kind, name),
                    torch,
                    lambda *args, dtype=dtype, **kwargs: getattr(torch, dtype),
                ),
            )

    def asked(*args, **kwargs):
        if args and isinstance(args[0], kind):
            return args[0].dtype
        return torch._C._nn._parse_to(
            *args, **{key: value for key, value in kwargs.items() if key != "copy"}
        )[1]

    kind.to = _converted(kind.to, torch, asked)


def install(process):
    torch = process.torch
    process.assume(
        "parameters on the CPU are not filled with initial values, so results that depend on "
        "their values may differ",
        "--skip-init",
    )
    for name in _INIT:
        if hasattr(torch.nn.init, name):
            setattr(torch.nn.init, name, _skip(getattr(torch.nn.init, name), process))
    for name in ("normal_", "uniform_"):
        setattr(torch.Tensor, name, _skip(getattr(torch.Tensor, name), process))
    _converting(torch)
    imports.after(
        process, "transformers.modeling_utils", functools.partial(_without_checkpoint, process)
    )
    _without_downloads(process)
    imports.after(process, "timm.models._builder", functools.partial(_without_timms, process))


class Absent(dict):
    """A state dict that was not downloaded. Every value that a program reads from it is an Absent,
    too."""

    def __missing__(self, key):
        return Absent()

    def __delitem__(self, key):
        pass

    def pop(self, key, *default):
        return default[0] if default else Absent()


def _without_downloads(process):
    """Skips weights that torch.hub would download, for example for torchvision. Parameters keep
    their initial values."""
    hub, module = process.torch.hub, process.torch.nn.Module
    fetch, load = hub.load_state_dict_from_url, module.load_state_dict
    absent = []

    @functools.wraps(fetch)
    def load_state_dict_from_url(url, model_dir=None, *args, **kwargs):
        name = kwargs.get("file_name") or os.path.basename(urllib.parse.urlparse(url).path)
        if os.path.exists(
            os.path.join(model_dir or os.path.join(hub.get_dir(), "checkpoints"), name)
        ):
            return fetch(url, model_dir, *args, **kwargs)
        process.assume("weights are not downloaded: parameters keep their initial values", url)
        absent.append(url)
        return Absent()

    @functools.wraps(load)
    def load_state_dict(self, state_dict, *args, **kwargs):
        if absent and isinstance(state_dict, dict) and not state_dict:
            return process.torch.nn.modules.module._IncompatibleKeys([], [])
        return load(self, state_dict, *args, **kwargs)

    hub.load_state_dict_from_url, module.load_state_dict = load_state_dict_from_url, load_state_dict


def _without_timms(process, builder):
    load = builder.load_pretrained

    @functools.wraps(load)
    def load_pretrained(model, pretrained_cfg=None, *args, **kwargs):
        process.assume(
            "weights are not downloaded: parameters keep their initial values",
            "timm: %s" % type(model).__name__,
        )

    builder.load_pretrained = load_pretrained


_WEIGHTS = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)


def _at_the_hub(cls, name, kwargs):
    """Returns the configuration of a model whose weights would be downloaded from the Hub, or None
    if the weights are on this computer or if the Hub does not know the name."""
    if os.path.exists(name) or any(
        kwargs.get(key) for key in ("gguf_file", "from_tf", "from_flax", "state_dict", "variant")
    ):
        return None
    try:
        import huggingface_hub

        where = {
            key: kwargs[key] for key in ("cache_dir", "revision") if kwargs.get(key) is not None
        }
        subfolder = kwargs.get("subfolder") or ""
        if any(
            isinstance(
                huggingface_hub.try_to_load_from_cache(
                    name, os.path.join(subfolder, file), **where
                ),
                str,
            )
            for file in _WEIGHTS
        ):
            return None
        config = kwargs.get("config")
        if not hasattr(config, "model_type"):
            more = {
                key: kwargs[key]
                for key in ("token", "subfolder", "local_files_only")
                if kwargs.get(key) is not None
            }
            config = _with_attributes(
                cls.config_class.from_pretrained(config or name, **where, **more), kwargs
            )
    except Exception:  # the library raises its own error for the same problem
        return None
    return None if getattr(config, "quantization_config", None) is not None else config


# With these arguments, transformers' own loader must build the model. It then reads a checkpoint of
# sparse files.
_LOADERS = (
    "quantization_config",
    "device_map",
    "max_memory",
    "offload_folder",
    "tp_plan",
    "tp_size",
    "device_mesh",
    "distributed_config",
)
_NO_ATTRIBUTES = ("config", "dtype", "torch_dtype", "name_or_path", *_LOADERS)


def _with_attributes(config, kwargs):
    """Sets attributes of the configuration from arguments of from_pretrained() such as num_labels=5
    or use_cache=False."""
    for key, arg in kwargs.items():
        if key not in _NO_ATTRIBUTES and hasattr(config, key):
            setattr(config, key, arg)
    return config


def _without_checkpoint(process, modeling):
    """Replaces from_pretrained() for a folder with a config.json and no weights, and for a name
    whose weights are not on this computer. The model is then built from its configuration."""
    model_class = modeling.PreTrainedModel
    load = model_class.from_pretrained.__func__
    torch = process.torch

    def transformers_version():
        import transformers

        return transformers.__version__

    def from_pretrained(cls, name=None, *args, **kwargs):
        folder = os.fspath(name) if name is not None else ""
        if folder and os.path.isdir(folder) and kwargs.get("subfolder"):
            folder = os.path.join(folder, kwargs["subfolder"])
        weights = any(
            glob.glob(os.path.join(glob.escape(folder), pattern))
            for pattern in ("*.safetensors", "*.bin", "*.index.json")
        )
        if folder and not args and (found := _at_the_hub(cls, folder, kwargs)) is not None:
            kwargs["config"] = found
            process.assume(
                "weights are not downloaded from the Hub: the model is built from its config.json",
                folder,
            )
        elif not os.path.isfile(os.path.join(folder, "config.json")) or weights or args:
            return load(cls, name, *args, **kwargs)
        else:
            process.assume(
                "no weights were found: the model is built from its config.json",
                os.path.join(folder, "config.json"),
            )
        config = kwargs.get("config") or folder
        if not hasattr(config, "model_type"):
            config = _with_attributes(cls.config_class.from_pretrained(config), kwargs)
        dtype = kwargs.get("dtype", kwargs.get("torch_dtype"))
        if dtype == "auto" or dtype is None and int(transformers_version().split(".")[0]) >= 5:
            dtype = getattr(config, "dtype", None) or getattr(config, "torch_dtype", None)
        if isinstance(dtype, str):
            dtype = getattr(torch, dtype)
        if process.settings.emulated and any(kwargs.get(name) is not None for name in _LOADERS):
            return _load_empty(
                process, functools.partial(load, cls), cls, config, folder, dtype, kwargs
            )
        more = {"torch_dtype": dtype or torch.float32}
        if kwargs.get("attn_implementation"):
            more["attn_implementation"] = kwargs["attn_implementation"]
        if kwargs.get("experts_implementation"):
            config._experts_implementation = kwargs["experts_implementation"]
        # from_pretrained() initializes no weights. DeepSpeed's ZeRO-3 has already divided them, so
        # their rows do not exist.
        zero3 = getattr(modeling, "is_deepspeed_zero3_enabled", lambda: False)() and hasattr(
            modeling, "no_init_weights"
        )
        with modeling.no_init_weights() if zero3 else contextlib.nullcontext():
            model = cls._from_config(config, **more)
        if zero3:
            model.tie_weights()
        model.eval()
        # a trainer creates another model from that name
        model.name_or_path = model.config._name_or_path = folder
        return (model, {}) if kwargs.get("output_loading_info") else model

    model_class.from_pretrained = classmethod(from_pretrained)


def _load_empty(process, load, model_class, config, folder, dtype, kwargs):
    """Lets transformers' own loader read a checkpoint of sparse files, so that the loader decides
    how to quantize the model, or how to split it between GPUs."""
    torch = process.torch
    os.makedirs(process.settings.scratch, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=process.settings.scratch) as empty:
        with torch.device("meta"):
            model = model_class._from_config(config, torch_dtype=dtype or torch.float32)
        write_sparse(torch, empty, model, _shard_size(config))
        del model
        config.save_pretrained(empty)
        model = load(empty, **{key: arg for key, arg in kwargs.items() if key != "subfolder"})
    loaded = model[0] if isinstance(model, tuple) else model
    loaded.name_or_path = loaded.config._name_or_path = folder
    return model


def _shard_size(config):
    """Returns the maximum size of each of a checkpoint's files: the default of the transformers
    version that saved it. How tensors are distributed over files determines the order in which they
    are loaded, and thus which free blocks they get. The size is at most half of the computer's
    memory, because a loader maps whole files."""
    try:
        version = tuple(int(part) for part in str(config.transformers_version).split(".")[:2])
    except (AttributeError, ValueError):
        version = (4, 35)
    size = (
        10_000_000_000
        if version < (4, 35)
        else 5_000_000_000
        if version < (5, 0)
        else 50_000_000_000
    )
    return min(size, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)


def _as_published(model, tensors):
    """Converts tensors to the layout of a checkpoint. For example, transformers 5 keeps experts in
    one tensor, but checkpoints do not."""
    core = sys.modules.get("transformers.core_model_loading")
    revert = getattr(core, "revert_weight_conversion", None)
    return tensors if revert is None else revert(model, tensors)


def write_sparse(torch, folder, model, shard_size, name="model"):
    shards, size, seen = [[]], 0, set()
    shared = {
        id(parameter): key
        for key, parameter in reversed(list(model.named_parameters(remove_duplicate=False)))
    }
    tensors = {}
    for key, tensor in model.state_dict(keep_vars=True).items():
        if shared.get(id(tensor), key) in seen:
            continue  # tied weights are saved once
        seen.add(key)
        tensors[key] = tensor
    for key, tensor in _as_published(model, tensors).items():
        more = tensor.numel() * tensor.element_size()
        if size and size + more > shard_size:
            shards.append([])
            size = 0
        shards[-1].append(
            (
                key,
                writes.SAFETENSORS[str(tensor.dtype)[len("torch.") :]],
                list(tensor.shape),
                more,
                None,
            )
        )
        size += more
    files = [
        "%s-%05d-of-%05d.safetensors" % (name, number, len(shards))
        for number in range(1, len(shards) + 1)
    ]
    for file_name, shard in zip(files, shards):
        writes.sparse_safetensors(os.path.join(folder, file_name), shard, {"format": "pt"})
    with open(os.path.join(folder, name + ".safetensors.index.json"), "w") as file:
        json.dump(
            {
                "metadata": {},
                "weight_map": {
                    key: file_name for file_name, shard in zip(files, shards) for key, *_ in shard
                },
            },
            file,
        )

"""Parameters without their initial values: on a computer that computes nothing with them, filling 8B of them on the processor
would take minutes and all of its memory. What happens on the GPU is left as it is: its requests count."""
import functools
import glob
import os

from vramscope import imports

SMALL = 1 << 16  # elements that are filled all the same

_INIT = ("uniform_", "normal_", "trunc_normal_", "constant_", "ones_", "zeros_", "eye_", "dirac_", "xavier_uniform_",
         "xavier_normal_", "kaiming_uniform_", "kaiming_normal_", "orthogonal_", "sparse_")


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
        return tensor

    return wrapper


def install(process):
    torch = process.torch
    process.assume("parameters are not filled on the processor; what depends on their values does not", "--skip-init")
    for name in _INIT:
        if hasattr(torch.nn.init, name):
            setattr(torch.nn.init, name, _skip(getattr(torch.nn.init, name), process))
    for name in ("normal_", "uniform_"):
        setattr(torch.Tensor, name, _skip(getattr(torch.Tensor, name), process))
    imports.after("transformers.modeling_utils", functools.partial(_without_checkpoint, process))


def _without_checkpoint(process, modeling):
    """from_pretrained of a folder that has a config.json and no weights: the model as its configuration says."""
    model_class = modeling.PreTrainedModel
    load = model_class.from_pretrained.__func__
    torch = process.torch

    def from_pretrained(cls, name=None, *args, **kwargs):
        folder = os.fspath(name) if name is not None else ""
        weights = any(glob.glob(os.path.join(glob.escape(folder), pattern)) for pattern in ("*.safetensors", "*.bin", "*.index.json"))
        if not os.path.isfile(os.path.join(folder, "config.json")) or weights or args:
            return load(cls, name, *args, **kwargs)
        process.assume("no weights are there: the model is made from its config.json", os.path.join(folder, "config.json"))
        config = kwargs.get("config") or cls.config_class.from_pretrained(folder)
        if not hasattr(config, "model_type"):
            config = cls.config_class.from_pretrained(config)
        dtype = kwargs.get("dtype", kwargs.get("torch_dtype"))
        if dtype == "auto":
            dtype = getattr(config, "dtype", None) or getattr(config, "torch_dtype", None)
        if isinstance(dtype, str):
            dtype = getattr(torch, dtype)
        more = {"torch_dtype": dtype or torch.float32}
        if kwargs.get("attn_implementation"):
            more["attn_implementation"] = kwargs["attn_implementation"]
        where = kwargs.get("device_map")
        if isinstance(where, dict):
            where = next(iter(where.values()))
        if where in ("auto", "balanced", "sequential"):
            where = "cuda"
        if where is not None:
            where = torch.device("cuda", where) if isinstance(where, int) else torch.device(where)
            with where:
                model = cls._from_config(config, **more)
        else:
            model = cls._from_config(config, **more)
        model.eval()
        return (model, {}) if kwargs.get("output_loading_info") else model

    model_class.from_pretrained = classmethod(from_pretrained)

"""Techniques for which neither transformers, PEFT nor torch.optim has a switch, as users write them for a model."""
import contextlib
import functools
import tempfile
import weakref

import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils.checkpoint import checkpoint

IGNORED = -100


def quantize(model, how, kept=("lm_head", "classifier")):
    """Replaces linear layers with bitsandbytes' layers, as bitsandbytes' documentation does. Like transformers,
    leaves out the last module. The layers are quantized when they are moved to the GPU. (from_pretrained has
    the same result, but other allocations before training: it loads weights in the order of the files.)"""
    import bitsandbytes
    for name, module in list(model.named_modules()):
        if not isinstance(module, nn.Linear) or set(name.split(".")) & set(kept):
            continue
        bias, weight = module.bias is not None, module.weight.data
        if how == "nf4":
            made = bitsandbytes.nn.Linear4bit(module.in_features, module.out_features, bias, weight.dtype, quant_type="nf4")
            made.weight = bitsandbytes.nn.Params4bit(weight, requires_grad=False, quant_type="nf4", module=made)
        else:
            made = bitsandbytes.nn.Linear8bitLt(module.in_features, module.out_features, bias, has_fp16_weights=False, threshold=6.0)
            made.weight = bitsandbytes.nn.Int8Params(weight, requires_grad=False, has_fp16_weights=False)
        made.bias = module.bias
        model.set_submodule(name, made)
    model.requires_grad_(False)
    setattr(model, "is_loaded_in_4bit" if how == "nf4" else "is_loaded_in_8bit", True)  # attributes that PEFT reads


class Packed:
    """Stands in for a saved storage in all autograd nodes that save views of it."""

    def __init__(self, storage, version, kept):
        self.storage, self.version, self.kept = storage, version, kept


class ActivationHooks(torch.autograd.graph.saved_tensors_hooks):
    """Stores the tensors that autograd saves in another form, each only once. Leaves parameters and buffers as they are."""

    def __init__(self, model):
        self.stays = {tensor.untyped_storage().data_ptr() for tensor in [*model.parameters(), *model.buffers()]}
        self.known = {}
        super().__init__(self.pack, self.unpack)

    def pack(self, tensor):
        if tensor.untyped_storage().data_ptr() in self.stays or not self.takes(tensor):
            return tensor
        dense = torch.ops.aten.is_non_overlapping_and_dense(tensor)
        key = (tensor.data_ptr(), tensor.numel(), () if dense else (tensor.shape, tensor.stride()))
        reference = self.known.get(key)
        packed = reference() if reference else None
        if packed is None or packed.storage.expired() or packed.version != tensor._version:
            flat = tensor.as_strided((tensor.numel(),), (1,)) if dense else tensor.contiguous().view(-1)
            packed = Packed(StorageWeakRef(tensor.untyped_storage()), tensor._version, self.packed(flat))
            self.known[key] = weakref.ref(packed)
        return packed, tensor.shape, tensor.stride() if dense else None

    def unpack(self, kept):
        if isinstance(kept, torch.Tensor):
            return kept
        packed, shape, stride = kept
        flat = self.unpacked(*packed.kept)
        return flat.as_strided(shape, stride, 0) if stride else flat.view(shape)


class OnHost(ActivationHooks):
    """Stores saved tensors in pinned host memory."""

    def takes(self, tensor):
        return tensor.nbytes >= 1024

    def packed(self, tensor):
        host = torch.empty_like(tensor, device="cpu", pin_memory=True)
        host.copy_(tensor, non_blocking=True)
        return tensor.device, host

    def unpacked(self, device, host):
        return host.to(device, non_blocking=True)


class InBytes(ActivationHooks):
    """Stores saved tensors with one byte for each element and one scale for every 256 elements."""

    def takes(self, tensor):
        return tensor.is_floating_point() and tensor.numel() >= 4096 and tensor.numel() % 256 == 0

    def packed(self, tensor):
        groups = tensor.reshape(-1, 256).float()
        scale = groups.abs().amax(1, keepdim=True).div_(127).clamp_min_(1e-12)
        quotient = groups / scale
        del groups
        return tensor.dtype, quotient.round_().to(torch.int8), scale

    def unpacked(self, dtype, kept, scale):
        return kept.float().mul_(scale).to(dtype).view(-1)


def saved_activations(model, settings):
    if settings["offload.activations"] == "cpu":
        return OnHost(model)
    if settings["activation_compression"] == "int8":
        return InBytes(model)
    return contextlib.nullcontext()


def chunk_loss_in_forward(model, chunks, reentrant):
    """Makes forward return the loss, so that wrappers (DistributedDataParallel, FSDP2) see one
    call. Kernels that fuse the output layer and the loss are installed in the same way."""
    model.forward = lambda **batch: chunked_loss(model, batch, chunks, reentrant)


def output_of(model, rows):
    """Returns the logits as the model's forward computes them: Gemma 2 passes them through tanh."""
    logits = model.lm_head(rows)
    cap = getattr(model.config, "final_logit_softcapping", None)
    if cap is not None:
        logits = logits / cap
        logits = torch.tanh(logits)
        logits = logits * cap
    return logits


def chunked_loss(model, batch, chunks, reentrant):
    """Computes the output layer and the loss for one chunk of the tokens after the other. The backward pass recomputes the chunks."""
    model = model.get_base_model() if hasattr(model, "get_base_model") else model  # PEFT's
    stack = model.transformer if hasattr(model, "transformer") else model.model
    hidden = stack(input_ids=batch["input_ids"])[0]
    labels = nn.functional.pad(batch["labels"], (0, 1), value=IGNORED)[:, 1:].reshape(-1)
    counted = (labels != IGNORED).sum()

    def loss_of(rows, its_labels):
        logits = output_of(model, rows).float()
        return nn.functional.cross_entropy(logits, its_labels, ignore_index=IGNORED, reduction="sum")

    total = 0
    for rows, its_labels in zip(hidden.view(-1, hidden.size(-1)).chunk(chunks), labels.chunk(chunks)):
        total = total + checkpoint(loss_of, rows, its_labels, use_reentrant=reentrant)
    return total / counted


@functools.cache
def compiled_cross_entropy():
    def of_chunk(logits, labels):
        return nn.functional.cross_entropy(logits.float(), labels, ignore_index=IGNORED, reduction="sum")
    return torch.compile(of_chunk)


def loss_of_kept_logits(model, batch, chunks):
    """Does what torchtune's CEWithChunkedOutputLoss does: first computes the logits of all chunks, then the compiled loss of each chunk."""
    model = model.get_base_model() if hasattr(model, "get_base_model") else model  # PEFT's
    stack = model.transformer if hasattr(model, "transformer") else model.model
    hidden = stack(input_ids=batch["input_ids"])[0]
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor):
        logits = [output_of(model, part) for part in hidden.chunk(chunks, dim=1)]
        del hidden
        labels = nn.functional.pad(batch["labels"], (0, 1), value=IGNORED)[:, 1:]
        counted = (labels != IGNORED).sum()
        total = 0.0
        for part, its_labels in zip(logits, labels.chunk(chunks, dim=1)):
            total = total + compiled_cross_entropy()(part.reshape(-1, part.size(-1)), its_labels.reshape(-1))
        return total / counted


class OnHostOptimizer:
    """Runs the optimizer step on the host, with weights and gradients in pinned memory."""

    def __init__(self, model, parameters, make):
        self.model, self.parameters = model, list(parameters)
        self.host = [torch.empty_like(p, device="cpu", pin_memory=True).copy_(p.detach()).requires_grad_() for p in self.parameters]
        self.inner = make(self.host)

    @torch.no_grad()
    def step(self):
        for parameter, host in zip(self.parameters, self.host):
            if parameter.grad is not None:
                host.grad = torch.empty_like(parameter.grad, device="cpu", pin_memory=True)
                host.grad.copy_(parameter.grad, non_blocking=True)
        torch.cuda.synchronize()
        self.inner.step()
        self.inner.zero_grad()
        for parameter, host in zip(self.parameters, self.host):
            parameter.copy_(host, non_blocking=True)

    def zero_grad(self, set_to_none=True):
        self.model.zero_grad(set_to_none)


class InBackward:
    """Has one optimizer for each parameter, which steps as soon as the gradient is complete, as in PyTorch's tutorial."""

    def __init__(self, parameters, make):
        optimizers = {parameter: make([parameter]) for parameter in parameters}

        def step(parameter):
            optimizers[parameter].step()
            optimizers[parameter].zero_grad()

        for parameter in optimizers:
            parameter.register_post_accumulate_grad_hook(step)

    def step(self):
        pass

    def zero_grad(self, set_to_none=True):
        pass


class MuonAndAdamW:
    """Uses torch.optim.Muon for matrices and AdamW for all other parameters, as scripts usually do."""

    def __init__(self, parameters, lr, weight_decay):
        parameters = list(parameters)
        self.each = [torch.optim.Muon([p for p in parameters if p.ndim == 2], lr=lr, weight_decay=weight_decay)]
        others = [p for p in parameters if p.ndim != 2]
        if others:
            self.each.append(torch.optim.AdamW(others, lr=lr, weight_decay=weight_decay))
        self.param_groups = [group for optimizer in self.each for group in optimizer.param_groups]

    def step(self):
        for optimizer in self.each:
            optimizer.step()

    def state_dict(self):
        return {"each": [optimizer.state_dict() for optimizer in self.each]}

    def zero_grad(self, set_to_none=True):
        for optimizer in self.each:
            optimizer.zero_grad(set_to_none)


def galore_of_trainer(model, settings):
    """Returns the optimizer from galore_torch that transformers' Trainer creates for optim="galore_adamw". The variant "_layerwise" steps during the backward pass."""
    from transformers import Trainer, TrainingArguments
    layerwise = settings["optimizer.in_backward"] == "true"
    targets = "attn,mlp" if settings["galore.targets"] == "layers" else settings["galore.targets"]
    arguments = TrainingArguments(
        output_dir=tempfile.mkdtemp(), report_to="none", optim="galore_adamw_layerwise" if layerwise else "galore_adamw",
        optim_target_modules=targets if targets == "all-linear" else targets.split(","),
        optim_args="rank=%s, update_proj_gap=%s, scale=0.25" % (settings["galore.rank"], settings["galore.gap"]),
        learning_rate=float(settings["optimizer.lr"]), weight_decay=float(settings["optimizer.weight_decay"]))
    return Trainer(model=model, args=arguments).create_optimizer()


def keep_embeddings_in_32_bits(model):
    """Keeps the 8-bit optimizer's state of embeddings in 32 bits. transformers' Trainer.create_optimizer does this from version 4.52 on. (In 4.51, a check of the optimizer's name prevents this.)"""
    import bitsandbytes
    manager = bitsandbytes.optim.GlobalOptimManager.get_instance()
    for module in model.modules():
        if isinstance(module, nn.Embedding):
            manager.register_module_override(module, "weight", {"optim_bits": 32})


def loss_of_older_versions(model, upcasts):
    """Returns the loss as older versions of transformers compute it: before 4.49, they copy the logits without the last token, and before 4.46, the model itself converts the logits to fp32."""
    def cut(logits, labels, vocab_size, **_):
        logits = logits.float()
        shift_logits = logits[..., :-1, :].contiguous()
        shift_labels = labels[..., 1:].contiguous()
        shift_logits = shift_logits.view(-1, vocab_size)
        shift_labels = shift_labels.view(-1)
        shift_labels = shift_labels.to(shift_logits.device)
        return nn.functional.cross_entropy(shift_logits, shift_labels)

    model.loss_function = cut
    if upcasts:
        model.lm_head.register_forward_hook(lambda module, inputs, logits: logits.float())


def fuse_kernels(model):
    """Uses PyTorch's norm as one operator, and Liger's SwiGLU product."""
    from liger_kernel.ops.swiglu import LigerSiLUMulFunction
    for module in model.modules():
        if type(module).__name__.endswith("RMSNorm"):
            module.forward = functools.partial(norm_in_one, module)
        elif hasattr(module, "gate_proj"):
            module.forward = functools.partial(product_in_one, module, LigerSiLUMulFunction)


def norm_in_one(norm, hidden):
    return nn.functional.rms_norm(hidden, (hidden.size(-1),), norm.weight, norm.variance_epsilon)


def product_in_one(feed, function, hidden):
    return feed.down_proj(function.apply(feed.gate_proj(hidden), feed.up_proj(hidden)))


class AnyPrecisionAdamW(torch.optim.Optimizer):
    """Keeps both moments in bfloat16, as in llama-recipes."""

    def __init__(self, parameters, lr, weight_decay):
        super().__init__(parameters, {"lr": lr, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        beta1, beta2 = 0.9, 0.999
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["step"] = torch.tensor(0.0)
                    state["exp_avg"] = torch.zeros_like(p, dtype=torch.bfloat16)
                    state["exp_avg_sq"] = torch.zeros_like(p, dtype=torch.bfloat16)
                state["step"] += 1
                step, exp_avg, exp_avg_sq, grad = state["step"], state["exp_avg"], state["exp_avg_sq"], p.grad
                if group["weight_decay"]:
                    p.data.mul_(1 - group["lr"] * group["weight_decay"])
                exp_avg.mul_(beta1).add_(grad, alpha=1 - beta1)
                exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                step_size = group["lr"] / (1 - beta1**step)
                denom_correction = (1 - beta2**step) ** 0.5
                centered_variance = (exp_avg_sq.sqrt() / denom_correction).add_(1e-8, alpha=1)
                p.data.addcdiv_(exp_avg, centered_variance, value=-step_size)


def adam_mini(parameters, lr, weight_decay):
    """Uses the adam-mini package. Passes parameter names without queries and keys, so that each row
    of a matrix and each whole vector is one block."""
    from adam_mini import Adam_mini
    named = [(("mlp.%d" if p.ndim == 2 else "norm.%d") % i, p) for i, p in enumerate(parameters)]
    return Adam_mini(named, lr=lr, weight_decay=weight_decay, dim=64, n_heads=1, verbose=False)


class LayerAdapter(nn.Module):
    """Projects to a few dimensions and back, without bias."""

    def __init__(self, width, rank, scale):
        super().__init__()
        self.down, self.up, self.scale = nn.Linear(width, rank, bias=False), nn.Linear(rank, width, bias=False), scale
        nn.init.zeros_(self.up.weight)

    def forward(self, hidden):
        return self.up(self.down(hidden)) * self.scale


def adapters_beside_layers(model, layers, settings):
    """Adds an adapter to each layer, or a tower that reads the layers' outputs. Only what was added is trained."""
    model.requires_grad_(False)
    rank, tower = int(settings["lora.rank"]), settings["lora.placement"] == "tower"
    weight = next(layers[0].parameters())
    adapters = nn.ModuleList(LayerAdapter(model.config.hidden_size, rank, float(settings["lora.alpha"]) / rank) for _ in layers).to(weight.dtype)
    model.adapters = adapters
    for i, layer in enumerate(layers):
        layer.forward = functools.partial(with_adapter, layer, layer.forward, model, i, tower, i + 1 == len(layers))


def with_adapter(layer, forward, model, i, tower, last, hidden, *rest, **named):
    adapter = model.adapters[i]
    if not tower:
        beside = adapter(hidden)
        output = forward(hidden, *rest, **named)
        return (beside + output[0], *output[1:])
    output = forward(hidden, *rest, **named)
    model.tower = adapter(output[0] if i == 0 else output[0] + model.tower)
    if not last:
        return output
    return (output[0] + model.__dict__.pop("tower"), *output[1:])


class GradientsInFp32:
    """Implements Megatron's main_grad: adds each gradient to a persistent fp32 tensor and then frees the gradient."""

    def __init__(self, parameters):
        self.sums = {p: torch.zeros_like(p, dtype=torch.float32) for p in parameters if p.dtype != torch.float32}
        for p in self.sums:
            p.register_post_accumulate_grad_hook(self.add)

    @torch.no_grad()
    def add(self, p):
        self.sums[p].add_(p.grad)
        p.grad = None

    @torch.no_grad()
    def before_step(self):
        for p, total in self.sums.items():
            p.grad = total.to(p.dtype)

    def after_step(self):
        for total in self.sums.values():
            total.zero_()

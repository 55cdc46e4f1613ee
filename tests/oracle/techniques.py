"""Techniques for which neither transformers, PEFT nor torch.optim has a switch, written as people write them beside a model."""
import contextlib
import weakref

import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils.checkpoint import checkpoint

IGNORED = -100


def quantize(model, how, kept=("lm_head",)):
    """bitsandbytes' layers in place of the linear ones, as its documentation has it; they are quantized when they are moved to the
    card. (from_pretrained does the same with other requests before training: it reads files in their order.)"""
    import bitsandbytes
    for name, module in list(model.named_modules()):
        if not isinstance(module, nn.Linear) or name.rpartition(".")[2] in kept:
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
    setattr(model, "is_loaded_in_4bit" if how == "nf4" else "is_loaded_in_8bit", True)  # what PEFT asks


class Packed:
    """What is kept of a tensor, for all nodes that save it in views of their own."""

    def __init__(self, storage, version, kept):
        self.storage, self.version, self.kept = storage, version, kept


class ActivationHooks(torch.autograd.graph.saved_tensors_hooks):
    """What autograd saves is kept in another way, once; parameters and buffers stay."""

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
    """In pinned memory of the host."""

    def takes(self, tensor):
        return tensor.nbytes >= 1024

    def packed(self, tensor):
        host = torch.empty_like(tensor, device="cpu", pin_memory=True)
        host.copy_(tensor, non_blocking=True)
        return tensor.device, host

    def unpacked(self, device, host):
        return host.to(device, non_blocking=True)


class InBytes(ActivationHooks):
    """A byte an element, and a scale for each 256."""

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
    """As kernels that fuse output layer and loss are put into a model: forward returns the loss, so that what is around it
    (DistributedDataParallel, FSDP2) sees one call."""
    model.forward = lambda **batch: chunked_loss(model, batch, chunks, reentrant)


def chunked_loss(model, batch, chunks, reentrant):
    """The output layer and the loss for a part of the tokens at a time, computed again in backward."""
    model = model.get_base_model() if hasattr(model, "get_base_model") else model  # of PEFT's
    stack = model.transformer if hasattr(model, "transformer") else model.model
    hidden = stack(input_ids=batch["input_ids"])[0]
    labels = nn.functional.pad(batch["labels"], (0, 1), value=IGNORED)[:, 1:].reshape(-1)
    counted = (labels != IGNORED).sum()

    def loss_of(rows, its_labels):
        logits = model.lm_head(rows).float()
        return nn.functional.cross_entropy(logits, its_labels, ignore_index=IGNORED, reduction="sum")

    total = 0
    for rows, its_labels in zip(hidden.view(-1, hidden.size(-1)).chunk(chunks), labels.chunk(chunks)):
        total = total + checkpoint(loss_of, rows, its_labels, use_reentrant=reentrant)
    return total / counted


class OnHostOptimizer:
    """Steps on the host, on weights and gradients in pinned memory there."""

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
    """An optimizer for each parameter, whose step is taken when its gradient is there (PyTorch's tutorial)."""

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
    """Matrices by torch.optim.Muon, what is none by AdamW, as scripts do."""

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

    def zero_grad(self, set_to_none=True):
        for optimizer in self.each:
            optimizer.zero_grad(set_to_none)


def galore(parameters, rank, gap, lr, weight_decay):
    """galore_torch's AdamW: matrices that are larger than the rank are projected."""
    from galore_torch import GaLoreAdamW
    parameters = list(parameters)
    large = [p for p in parameters if p.ndim == 2 and min(p.shape) > rank]
    chosen = set(map(id, large))
    groups = [{"params": [p]} if id(p) not in chosen else {"params": [p], "rank": rank, "update_proj_gap": gap, "scale": 0.25, "proj_type": "std"}
              for p in parameters]
    return GaLoreAdamW(groups, lr=lr, weight_decay=weight_decay, no_deprecation_warning=True)

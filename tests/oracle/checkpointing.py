"""Recomputation of activations in backward, as users write it: by transformers' switch or
torch.utils.checkpoint."""
import functools

import torch
from torch import nn
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

DEFAULTS = {"checkpointing.mode": "none", "checkpointing.budget": "0.5", "checkpointing.k": "2", "checkpointing.reentrant": "true"}
ATEN = torch.ops.aten
PRODUCTS = {ATEN.mm.default, ATEN.addmm.default}
BATCHED = {ATEN.bmm.default}  # used by attention without a fused kernel
ATTENTION = {ATEN._scaled_dot_product_flash_attention.default, ATEN._scaled_dot_product_efficient_attention.default}


def products_and_attention():
    """Implements torchtitan's policy, which keeps the outputs of fused attention and of every other matrix product."""
    counts = {True: 0, False: 0}

    def policy(context, op, *_, **__):
        if op in PRODUCTS:
            counts[context.is_recompute] += 1
        kept = op in ATTENTION or op in PRODUCTS and counts[context.is_recompute] % 2
        return CheckpointPolicy.MUST_SAVE if kept else CheckpointPolicy.PREFER_RECOMPUTE
    return create_selective_checkpoint_contexts(policy)


class Budget:
    """Keeps the outputs of matrix products and attention that are most expensive to recompute, up to a given share of their bytes. PyTorch's own solver chooses
    these outputs from the sizes in the first layer, in which none are kept. As in torch.compile's memory budget, outputs of batched products may be kept, too."""

    def __init__(self, share, layers):
        self.share, self.layers, self.begun, self.calls, self.kept = share, layers, 0, [], None

    def contexts(self):
        first, learns = self.begun % self.layers == 0, self.kept is None
        self.begun += 1
        if not first and learns:
            self.solve()
        places = {True: 0, False: 0}

        def policy(context, op, *arguments, **_):
            if op not in PRODUCTS | BATCHED | ATTENTION:
                return CheckpointPolicy.PREFER_RECOMPUTE
            if first and learns and not context.is_recompute:
                self.calls.append(bytes_and_operations(op, arguments))
            place, places[context.is_recompute] = places[context.is_recompute], places[context.is_recompute] + 1
            return CheckpointPolicy.MUST_SAVE if not first and place in self.kept else CheckpointPolicy.PREFER_RECOMPUTE
        return create_selective_checkpoint_contexts(policy)

    def solve(self):
        from torch._functorch._activation_checkpointing.knapsack import dp_knapsack
        sizes, costs = zip(*self.calls)
        self.kept = set(dp_knapsack([size / sum(sizes) for size in sizes], list(costs), self.share)[1])


def bytes_and_operations(op, arguments):
    if op in ATTENTION:
        query, key = arguments[:2]
        return query.nbytes, 4 * query.numel() * key.shape[-2]
    left, right = arguments[-2:]
    width = right.shape[-1]
    return left.numel() // left.shape[-1] * width * left.itemsize, 2 * left.numel() * width


class Segment(nn.Module):
    """Contains layers that are checkpointed together during training. The model calls this module like a layer."""

    def __init__(self, layers, form):
        super().__init__()
        self.layers, self.form = nn.ModuleList(layers), form

    def run(self, hidden, *rest, **named):
        for layer in self.layers:
            hidden = layer(hidden, *rest, **named)
            self.in_tuples = isinstance(hidden, tuple)
            hidden = hidden[0] if self.in_tuples else hidden
        return hidden

    def forward(self, hidden, *rest, **named):
        if self.training:
            hidden = checkpoint(lambda x: self.run(x, *rest, **named), hidden, **self.form)
        else:
            hidden = self.run(hidden, *rest, **named)
        return (hidden,) if self.in_tuples else hidden


def segments(layers, mode, together, form):
    """Changes the model's ModuleList `layers` in place: puts each `together` layers, or every other layer, into a Segment."""
    if mode == "every-k":
        made = [Segment(layers[i:i + together], form) for i in range(0, len(layers), together)]
        del layers[:]
        layers.extend(made)
    else:  # alternate
        for i in range(0, len(layers), 2):
            layers[i] = Segment([layers[i]], form)


def of_module(module, forward, form, *inputs, **named):
    """As in transformers, checkpoints only during training. Binds keyword arguments in advance, because a re-entrant checkpoint does
    not accept them. Without an input that requires a gradient, a re-entrant checkpoint would pass no gradients, so no checkpoint is used then."""
    leads_on = not form["use_reentrant"] or any(torch.is_tensor(given) and given.requires_grad for given in inputs)
    if not module.training or not leads_on:
        return forward(*inputs, **named)
    return checkpoint(functools.partial(forward, **named), *inputs, **form)


def is_reentrant(settings):
    return settings["checkpointing.reentrant"] == "true" and settings["checkpointing.mode"] not in ("selective", "budget")


def apply(model, program, settings):
    mode = settings["checkpointing.mode"]
    if mode == "none":
        return
    reentrant = is_reentrant(settings)
    form = {"use_reentrant": reentrant}
    if mode == "selective":
        form["context_fn"] = products_and_attention
    if mode == "budget":
        form["context_fn"] = Budget(float(settings["checkpointing.budget"]), len(program.layers())).contexts
    if mode in ("every-k", "alternate"):
        segments(program.layers(), mode, int(settings["checkpointing.k"]), form)
    elif mode in ("ffn", "attention"):
        for layer in program.layers():
            part = layer.mlp if mode == "ffn" else layer.self_attn if hasattr(layer, "self_attn") else layer.attn
            part.forward = functools.partial(of_module, part, part.forward, form)
    elif hasattr(program.model, "gradient_checkpointing_enable"):
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=form)
    else:
        for layer in program.layers():
            layer.forward = functools.partial(of_module, layer, layer.forward, form)
    if reentrant and hasattr(model, "get_input_embeddings") and not model.get_input_embeddings().weight.requires_grad:
        model.enable_input_require_grads()

"""Provides the names of the package flash_attn on computers on which flash-attn cannot be
compiled. PyTorch's own copy of FlashAttention 2 has the same host code: outputs, log-sum-exp,
padded accumulators. There is one difference: the package keeps the state of its random numbers on
the GPU (512 bytes from forward to backward, with and without dropout). PyTorch keeps it on the
CPU."""

import importlib.machinery
import importlib.metadata
import sys
import types

import torch


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, lengths, dropout, causal, scale):
        out, logsumexp, seed, offset, _ = torch.ops.aten._flash_attention_forward(q, k, v, *lengths, dropout, causal, False, scale=scale)
        random_state = torch.empty(2, dtype=torch.int64, device=q.device)
        ctx.save_for_backward(q, k, v, out, logsumexp, random_state)
        ctx.settings = lengths, dropout, causal, seed, offset
        ctx.scale = scale
        return out

    @staticmethod
    def backward(ctx, gradient):
        q, k, v, out, logsumexp, _ = ctx.saved_tensors
        lengths, dropout, causal, seed, offset = ctx.settings
        gradients = torch.ops.aten._flash_attention_backward(
            gradient, q, k, v, out, logsumexp, *lengths, dropout, causal, seed, offset, scale=ctx.scale)
        return *gradients, None, None, None, None


def _attention(q, k, v, cumulative_q, cumulative_k, longest_q, longest_k, dropout, causal, scale):
    return _Attention.apply(q, k, v, (cumulative_q, cumulative_k, longest_q, longest_k), dropout, causal, scale)


def flash_attn_func(q, k, v, dropout_p=0.0, softmax_scale=None, causal=False, **_):
    return _attention(q, k, v, None, None, q.size(1), k.size(1), dropout_p, causal, softmax_scale)


def flash_attn_varlen_func(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, dropout_p=0.0,
                           softmax_scale=None, causal=False, **_):
    return _attention(
        q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, dropout_p, causal, softmax_scale)


def _only_packed(*_):
    raise NotImplementedError("packed data has no padding")


def _only_attention(*_, **__):
    raise NotImplementedError("the package's other layers are not there")


def install(version="2.6.3"):
    def module(name, **names):
        made = types.ModuleType(name)
        made.__spec__ = importlib.machinery.ModuleSpec(name, None)
        made.__dict__.update(names)
        sys.modules[name] = made
        return made

    module("flash_attn", flash_attn_func=flash_attn_func, flash_attn_varlen_func=flash_attn_varlen_func,
           __version__=version).__path__ = []
    module("flash_attn.bert_padding", index_first_axis=_only_packed, unpad_input=_only_packed, pad_input=_only_packed)
    module("flash_attn.layers").__path__ = []
    module("flash_attn.layers.rotary", apply_rotary_emb=_only_attention)  # from 4.51 on, transformers imports this name
    # transformers asks importlib for the installed version of a package and for the distribution that provides the package.
    installed, distributions = importlib.metadata.version, importlib.metadata.packages_distributions
    importlib.metadata.version = (
        lambda name: version if name.replace("-", "_") == "flash_attn" else installed(name))
    importlib.metadata.packages_distributions = lambda: {**distributions(), "flash_attn": ["flash-attn"]}

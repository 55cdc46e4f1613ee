"""The recorded model kk_lm (../shared/reference/basics_lm.md: width 2,560, 32 layers) as a plain PyTorch program. As in
the recorded process, forward passes at three lengths precede full steps.

    python kk.py --snapshot kk --full         # kk_128_forward.pickle ... kk_128_full.pickle

Recorded with PyTorch 2.6 (CUDA 12.4) on an H100."""
import argparse
import contextlib
import math

import torch
from torch import einsum, nn

WIDTH, INNER, LAYERS, HEADS, VOCABULARY, BATCH = 2560, 10240, 32, 32, 10_000, 4


class Linear(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs))

    def forward(self, x):
        return einsum("oi,bsi->bso", self.weight, x)


class Embedding(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocabulary, width, device="cuda"))

    def forward(self, ids):
        return self.weight[ids]


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.weight = nn.Parameter(torch.ones(width, device="cuda"))

    def forward(self, x):
        kind = x.dtype
        x = x.to(torch.float32)
        rms = torch.sqrt(torch.linalg.vector_norm(x, dim=-1, keepdim=True).pow(2) / self.width + 1e-5)
        return einsum("d,bsd->bsd", self.weight, x / rms).to(kind)


class RotaryEmbedding(nn.Module):
    def __init__(self, width, context, theta=10_000.0):
        super().__init__()
        positions = torch.arange(context, device="cuda")
        frequencies = 1.0 / theta ** (torch.arange(0, width, 2, device="cuda") / width)
        angles = torch.outer(positions, frequencies)
        self.register_buffer("table", torch.stack((torch.cos(angles), torch.sin(angles)), dim=-1), persistent=False)

    def forward(self, x, positions):
        shape = x.shape
        x = x.reshape(*shape[:-1], -1, 2)
        cos = self.table[positions, :, 0]
        sin = self.table[positions, :, 1]
        cos = cos.unsqueeze(1)
        sin = sin.unsqueeze(1)
        rotated = torch.zeros_like(x)
        rotated[..., 0] = cos * x[..., 0] - sin * x[..., 1]
        rotated[..., 1] = sin * x[..., 0] + cos * x[..., 1]
        return rotated.reshape(shape)


def softmax(x, dim):
    largest = torch.max(x, dim=dim, keepdim=True)[0]
    exponentials = torch.exp(x - largest)
    return exponentials / torch.sum(exponentials, dim=dim, keepdim=True)


def scaled_dot_product_attention(query, key, value, mask):
    scores = einsum("bhqd,bhkd->bhqk", query, key) / math.sqrt(query.shape[-1])
    scores = scores.masked_fill(mask == False, -1e9)  # noqa: E712
    weights = softmax(scores, -1)
    return einsum("bhqk,bhkd->bhqd", weights, value)


class Attention(nn.Module):
    def __init__(self, width, heads, context):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (Linear(width, width) for _ in range(4))
        self.rotary = RotaryEmbedding(width // heads, context)

    def forward(self, x):
        batch, context, width = x.shape
        rotated_query = rotated_key = None  # locals are destroyed in the order of their first assignment
        query = self.q(x)
        key = self.k(x)
        value = self.v(x)
        query = query.reshape(batch, context, self.heads, -1).permute(0, 2, 1, 3)
        key = key.reshape(batch, context, self.heads, -1).permute(0, 2, 1, 3)
        value = value.reshape(batch, context, self.heads, -1).permute(0, 2, 1, 3)
        positions = torch.arange(context, device=x.device).expand(batch, context)
        rotated_query = self.rotary(query, positions)
        rotated_key = self.rotary(key, positions)
        mask = ~torch.triu(torch.ones(context, context, device=x.device), diagonal=1).bool()
        mask = mask[None, None].expand(batch, self.heads, context, context)
        attended = scaled_dot_product_attention(rotated_query, rotated_key, value, mask)
        attended = attended.permute(0, 2, 1, 3).reshape(batch, context, width)
        return self.o(attended)


class SwiGLU(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.w1, self.w2, self.w3 = Linear(width, inner), Linear(inner, width), Linear(width, inner)

    def forward(self, x):
        first = self.w1(x)
        third = self.w3(x)
        gate = torch.sigmoid(first) * first
        return self.w2(gate * third)


class Block(nn.Module):
    def __init__(self, context):
        super().__init__()
        self.n1 = RMSNorm(WIDTH)
        self.attn = Attention(WIDTH, HEADS, context)
        self.n2 = RMSNorm(WIDTH)
        self.ffn = SwiGLU(WIDTH, INNER)

    def forward(self, x):
        h = self.n1(x)
        h = self.attn(h)
        x = x + h
        h = self.n2(x)
        h = self.ffn(h)
        x = x + h
        return x


class LanguageModel(nn.Module):
    def __init__(self, context):
        super().__init__()
        self.embedding = Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList([Block(context) for _ in range(LAYERS)])
        self.norm = RMSNorm(WIDTH)
        self.head = Linear(WIDTH, VOCABULARY)

    def forward(self, ids):
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        return self.head(x)


def cross_entropy(logits, targets):
    logits = logits.reshape(-1, logits.shape[-1])
    targets = targets.reshape(-1)
    largest = torch.max(logits, dim=-1, keepdim=True)[0]
    logits = logits - largest
    sums = torch.sum(torch.exp(logits), dim=-1)
    picked = logits[torch.arange(logits.shape[0]), targets]
    losses = torch.log(sums) - picked
    return torch.mean(losses)


class AdamW(torch.optim.Optimizer):
    def __init__(self, parameters, lr=1e-4, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.01):
        super().__init__(parameters, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    def step(self):
        for group in self.param_groups:
            lr, (beta1, beta2), eps, decay = group["lr"], group["betas"], group["eps"], group["weight_decay"]
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                gradient = parameter.grad.data
                state = self.state[parameter]
                if not state:
                    state["t"], state["m"] = 0, torch.zeros_like(parameter.data)
                    state["v"] = torch.zeros_like(parameter.data)
                m, v = state["m"], state["v"]
                state["t"] += 1
                t = state["t"]
                m.mul_(beta1).add_(gradient, alpha=1 - beta1)
                v.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
                denominator = (v.sqrt() / math.sqrt(1 - beta2**t)).add_(eps)
                parameter.data.addcdiv_(m, denominator, value=-lr / (1 - beta1**t))
                parameter.data.add_(parameter.data, alpha=-lr * decay)


def run(context, kind, arguments):
    model = LanguageModel(context).to("cuda")
    optimizer = AdamW(model.parameters())
    ids = torch.randint(0, VOCABULARY, (BATCH, context)).to("cuda")
    with torch.autocast("cuda", torch.bfloat16) if arguments.amp else contextlib.nullcontext():
        if arguments.snapshot:
            torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python")
        torch.cuda.reset_peak_memory_stats()
        torch.cuda.empty_cache()
        torch.cuda.synchronize()
        if kind == "forward":
            logits = model(ids)
        else:
            optimizer.zero_grad()
            logits = model(ids)
            loss = cross_entropy(logits, ids)
            loss.backward()
            optimizer.step()
        torch.cuda.synchronize()
        if arguments.snapshot:
            torch.cuda.memory._dump_snapshot("%s_%d_%s.pickle" % (arguments.snapshot, context, kind))
            torch.cuda.memory._record_memory_history(enabled=None)
    print(context, kind, "peak %d allocated, %d reserved" % (torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--contexts", default="128,256,512")
    parser.add_argument("--full", action="store_true", help="full steps after the forward passes")
    parser.add_argument("--full-contexts", default="128")
    parser.add_argument("--amp", action="store_true", help="autocast to bfloat16")
    parser.add_argument("--snapshot", default="", help="start of the names of the snapshots")
    arguments = parser.parse_args()
    for context in arguments.contexts.split(","):
        run(int(context), "forward", arguments)
    for context in arguments.full_contexts.split(",") if arguments.full else ():
        run(int(context), "full", arguments)


if __name__ == "__main__":
    main()

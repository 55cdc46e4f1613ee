"""The recorded models "small" to "2.7B" (../shared/reference/basics_lm.md, section 1) as a plain PyTorch program. As in
the recordings in ../shared/snapshots, five warm-up steps precede the step whose memory history --snapshot writes.

    python basics.py --context 128 --snapshot step.pickle

Names of temporaries, and how long they exist, affect the recording, because a name keeps its tensor alive."""
import argparse
import contextlib
import math

import torch
from torch import nn

SIZES = {"small": (768, 3072, 12, 12), "medium": (1024, 4096, 24, 16), "large": (1280, 5120, 36, 20),
         "xl": (1600, 6400, 48, 25), "2.7B": (2560, 10240, 32, 32)}  # width, inner width, layers, heads
VOCABULARY, BATCH, WARM_UP = 10_000, 4, 5


class Linear(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs))
        nn.init.trunc_normal_(self.weight, std=math.sqrt(2 / (inputs + outputs)))

    def forward(self, x):
        return torch.einsum("...i,oi->...o", x, self.weight)


class Embedding(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocabulary, width))
        nn.init.trunc_normal_(self.weight)

    def forward(self, ids):
        return self.weight[ids, :]


class RMSNorm(nn.Module):
    def __init__(self, width, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x):
        kind = x.dtype
        x = x.to(torch.float32)
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
        x = x * scale
        return (self.weight * x).to(kind)


class RotaryEmbedding(nn.Module):
    def __init__(self, context, width, theta=10_000.0):
        super().__init__()
        angles = torch.outer(torch.arange(context).float(), theta ** -(torch.arange(0, width, 2) / width))
        self.register_buffer("table", torch.stack((angles.cos(), angles.sin())), persistent=False)

    def forward(self, x):
        *outer, context, width = x.shape
        even, odd = x.reshape(*outer, context, width // 2, 2).movedim(-1, 0).unbind(0)
        cos, sin = self.table[:, :context].unbind(0)
        first = cos * even - sin * odd
        second = sin * even + cos * odd
        return torch.cat((first, second), dim=-1)


def softmax(x, dim):
    shifted = x - torch.max(x, dim=dim, keepdim=True)[0]
    exponentials = torch.exp(shifted)
    return exponentials / torch.sum(exponentials, dim=dim, keepdim=True)


def log_softmax(x, dim):
    largest = torch.max(x, dim=dim, keepdim=True)[0]
    x = x - largest
    return x - torch.log(torch.sum(torch.exp(x), dim=dim, keepdim=True))


def cross_entropy(logits, targets):
    negative = -log_softmax(logits, -1)
    return torch.mean(torch.gather(negative, -1, targets.unsqueeze(-1)))


def scaled_dot_product_attention(query, key, value, mask):
    scores = torch.einsum("...qd,...kd->...qk", query, key) / math.sqrt(key.shape[-1])
    scores = torch.where(mask, scores, float("-inf"))
    weights = softmax(scores, dim=-1)
    return torch.einsum("...qk,...kd->...qd", weights, value)


class Attention(nn.Module):
    def __init__(self, width, heads, rotary):
        super().__init__()
        self.heads = heads
        self.q_proj = Linear(width, width)
        self.k_proj = Linear(width, width)
        self.v_proj = Linear(width, width)
        self.output_proj = Linear(width, width)
        self.rotary = rotary

    def forward(self, x):
        batch, context, width = x.shape
        query = self.q_proj(x)
        key = self.k_proj(x)
        value = self.v_proj(x)
        query, key, value = (part.reshape(batch, context, self.heads, -1).permute(0, 2, 1, 3)
                             for part in (query, key, value))
        query = self.rotary(query)
        key = self.rotary(key)
        positions = torch.arange(context, device=x.device)
        mask = (positions[:, None] >= positions[None, :])[None]
        attended = scaled_dot_product_attention(query, key, value, mask)
        attended = attended.permute(0, 2, 1, 3).reshape(batch, context, width).contiguous()
        projected = self.output_proj(attended)
        return projected


def silu(x):
    return x * torch.sigmoid(x)


class SwiGLU(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.w1, self.w2, self.w3 = Linear(width, inner), Linear(inner, width), Linear(width, inner)

    def forward(self, x):
        return self.w2(silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self, width, inner, heads, rotary):
        super().__init__()
        self.attn = Attention(width, heads, rotary)
        self.ffn = SwiGLU(width, inner)
        self.ln1, self.ln2 = RMSNorm(width), RMSNorm(width)

    def forward(self, x):
        attended = self.attn(self.ln1(x))
        middle = x + attended
        transformed = self.ffn(self.ln2(middle))
        result = middle + transformed
        return result


class LanguageModel(nn.Module):
    def __init__(self, context, size):
        super().__init__()
        width, inner, layers, heads = SIZES[size]
        self.token_embeddings = Embedding(VOCABULARY, width)
        self.rotary = RotaryEmbedding(context, width // heads)
        self.layers = nn.ModuleList([Block(width, inner, heads, self.rotary) for _ in range(layers)])
        self.ln_final = RMSNorm(width)
        self.lm_head = Linear(width, VOCABULARY)

    def forward(self, x):
        x = self.token_embeddings(x)
        embedded = x  # noqa: F841: the name keeps the tensor until the end; it is freed after x
        for layer in self.layers:
            x = layer(x)
        x = self.ln_final(x)
        return self.lm_head(x)


class AdamW(torch.optim.Optimizer):
    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(parameters, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    def step(self):
        for group in self.param_groups:
            lr, (beta1, beta2), eps, decay = group["lr"], group["betas"], group["eps"], group["weight_decay"]
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                gradient = parameter.grad.data
                t = state.get("t", 1)
                parameter.data -= (lr * decay) * parameter.data
                first = state.get("m", torch.zeros_like(gradient))
                second = state.get("v", torch.zeros_like(gradient))
                m = beta1 * first + (1 - beta1) * gradient
                v = beta2 * second + (1 - beta2) * torch.square(gradient)
                rate = lr * math.sqrt(1 - beta2**t) / (1 - beta1**t)
                parameter.data -= rate * m / (torch.sqrt(v) + eps)
                state["t"], state["m"], state["v"] = t + 1, m, v


@contextlib.contextmanager
def recorded(path):
    if not path:
        yield
        return
    torch.cuda.memory._record_memory_history(max_entries=1_000_000)
    yield
    torch.cuda.memory._dump_snapshot(path)
    torch.cuda.memory._record_memory_history(enabled=None)


def training(arguments, model, precision):
    optimizer = AdamW(model.parameters())
    shape = (arguments.steps, BATCH, arguments.context)
    warm_inputs = torch.randint(0, VOCABULARY, shape, device="cuda")
    inputs = torch.randint(0, VOCABULARY, (1, *shape[1:]), device="cuda")
    warm_targets = torch.randint(0, VOCABULARY, shape, device="cuda")
    targets = torch.randint(0, VOCABULARY, (1, *shape[1:]), device="cuda")
    model.train()
    for i in range(arguments.steps):
        with precision:
            logits = model(warm_inputs[i])
            loss = cross_entropy(logits, warm_targets[i])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.cuda.synchronize()
    del logits, loss
    optimizer.zero_grad(set_to_none=True)
    with recorded(arguments.snapshot):
        with precision:
            logits = model(inputs[0])
            loss = cross_entropy(logits, targets[0])
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()


def inference(arguments, model, precision):
    inputs = torch.randint(0, VOCABULARY, (arguments.steps + 1, BATCH, arguments.context), device="cuda")
    model.eval()
    with torch.inference_mode(), precision:
        for i in range(arguments.steps):
            logits = model(inputs[i])
        del logits
        torch.cuda.synchronize()
        with recorded(arguments.snapshot):
            model(inputs[-1])
            torch.cuda.synchronize()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=SIZES, default="medium")
    parser.add_argument("--context", type=int, default=128)
    parser.add_argument("--mode", choices=("training", "inference"), default="training")
    parser.add_argument("--amp", action="store_true", help="autocast to bfloat16")
    parser.add_argument("--steps", type=int, default=WARM_UP, help="before the recorded one")
    parser.add_argument("--snapshot", default="", help="file for the recorded step")
    arguments = parser.parse_args()
    model = LanguageModel(arguments.context, arguments.size).to("cuda")
    precision = torch.autocast("cuda", torch.bfloat16, enabled=arguments.amp)
    (training if arguments.mode == "training" else inference)(arguments, model, precision)
    print("peak %d allocated, %d reserved" % (torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()))


if __name__ == "__main__":
    main()

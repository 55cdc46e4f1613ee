"""Training loops with one mistake in their use of memory each (`findings.py CASE`), and the same loops without
the mistake (`findings.py CASE --right`). A case has the name of the finding of `vramscope explain` that it shows."""
import argparse
import contextlib

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

parser = argparse.ArgumentParser()
parser.add_argument("case")
parser.add_argument("--right", action="store_true")
parser.add_argument("--call-without-cache", action="store_true")
parser.add_argument("--recompute", choices=("reentrant", "non-reentrant"), help="checkpoint every block")
parser.add_argument("--steps", type=int, default=4)
arguments = parser.parse_args()
CASE, WRONG = arguments.case, not arguments.right
WIDTH, DEPTH, BATCH, CLASSES = 512, 8, 2048, 16
# These cases use wide weights and a small batch, so that the weights dominate the peak.
OF_WEIGHTS = ("optimizer-temporaries", "gradient-copies", "old-gradients", "second-weights", "load-peak")
features = []  # features that the last forward pass computed


def wrong(case):
    return CASE == case and WRONG


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = torch.nn.Linear(width, 2 * width), torch.nn.Linear(2 * width, width)

    def forward(self, x):
        y = F.relu(self.up(x))
        if wrong("dtype-copies"):
            y = (y.float() * y.float()).to(x.dtype)
        return x + self.down(y)


class Attention(torch.nn.Module):
    HEADS = 8

    def __init__(self, width):
        super().__init__()
        self.into, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)

    def forward(self, x):
        q, k, v = (part.reshape(1, x.shape[0], self.HEADS, -1).transpose(1, 2) for part in self.into(x).chunk(3, -1))
        if WRONG:
            y = F.softmax(q @ k.transpose(-1, -2) * 0.1, dim=-1) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(x.shape[0], -1))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        width = 1024 if CASE in OF_WEIGHTS or CASE in ("autocast-weights", "frozen-32-bits") else WIDTH
        self.width = width
        blocks = [Block(width) for _ in range(DEPTH)]
        if CASE == "attention-scores":
            self.attention = Attention(width)
        self.blocks = torch.nn.ModuleList(blocks)
        self.head = torch.nn.Linear(width, 8192 if CASE in ("logits-copies", "outputs-held") else CLASSES)
        if wrong("large-buffers"):
            self.register_buffer("mask", torch.ones(4096, 4096))

    def forward(self, x):
        if CASE == "attention-scores":
            x = self.attention(x)
        for i, block in enumerate(self.blocks):
            if wrong("no-gradient") and i < DEPTH // 2:
                with torch.no_grad():
                    x = block(x)
            elif CASE == "checkpointing-without-effect":
                x = checkpoint(block, x, use_reentrant=WRONG)
            elif arguments.recompute:
                x = checkpoint(block, x, use_reentrant=arguments.recompute == "reentrant")
            else:
                x = block(x)
            if CASE == "kept-from-before":
                features.append(x.detach())
        return self.head(x)


def loss_of(model, x, y):
    if CASE == "logits-copies" and not WRONG:
        total = 0.0
        for part, target in zip(x.chunk(32), y.chunk(32)):
            total = total + checkpoint(lambda a, b: F.cross_entropy(model(a), b, reduction="sum"), part, target, use_reentrant=False)
        return total / len(y)
    out = model(x)
    if CASE == "outputs-held" and WRONG:
        loss_of.out = out
    return F.cross_entropy(out, y)


def main():
    torch.manual_seed(0)
    if CASE == "kv-cache":
        return keys_and_values()
    model = Model().cuda()
    width = model.width
    weights16 = CASE == "dtype-copies" or CASE == "autocast-weights" and not WRONG or CASE == "frozen-32-bits" and not WRONG
    if CASE == "load-peak":
        torch.save(model.state_dict(), "/tmp/findings.pt")
        states = [torch.load("/tmp/findings.pt", map_location="cuda" if WRONG else "cpu") for _ in range(3)]
        model.load_state_dict(states[0])
        del states
    if weights16:
        model = model.to(torch.bfloat16)
    if CASE == "frozen-32-bits":
        for block in model.blocks:
            block.requires_grad_(False)
    trained = [p for p in model.parameters() if p.requires_grad]
    options = {"fused": True} if CASE == "optimizer-temporaries" and not WRONG else {}
    optimizer = torch.optim.Adam(trained, lr=1e-3, **options) if CASE == "optimizer-temporaries" else torch.optim.SGD(trained, lr=1e-3)
    held, streams = [], [torch.cuda.Stream() for _ in range(12)]
    if wrong("second-weights"):
        held.append({name: value.detach().clone() for name, value in model.state_dict().items()})
    if wrong("held-since-setup"):
        held.append(torch.randn(4096, 4096, device="cuda"))
    batch = 16 if CASE in OF_WEIGHTS else BATCH
    whole = torch.randn(16 * batch, width, device="cuda") if wrong("resident-inputs") else None
    previous = None
    for step in range(arguments.steps if CASE != "uneven-steps" else 6):
        size = batch * 2 if wrong("uneven-steps") and step == 3 else batch
        x = whole[step * size:(step + 1) * size] if whole is not None else torch.randn(size, width).cuda()
        if weights16:
            x = x.to(torch.bfloat16)
        y = torch.randint(0, CLASSES, (size,)).cuda()
        if CASE == "other-streams":
            side = streams[0]
            late = torch.empty(32 << 20, device="cuda")
            with torch.cuda.stream(side):
                side.wait_stream(torch.cuda.current_stream())
                for _ in range(200):
                    late.mul_(2.0)
            if WRONG:
                late.record_stream(side)
            else:
                torch.cuda.current_stream().wait_stream(side)
            del late
        if wrong("workspaces"):
            for stream in streams:
                with torch.cuda.stream(stream):
                    x[:16] @ x[:16].t()
        autocast = torch.autocast("cuda", torch.bfloat16) if CASE == "autocast-weights" and WRONG else contextlib.nullcontext()
        with autocast:
            loss = loss_of(model, x, y)
        loss.backward(retain_graph=wrong("retained-graph"))
        if wrong("leak"):
            held.append(model(x[:256]).detach().expand(512, -1, -1).clone())
        if wrong("made-in-first-step") and step == 0:
            held.append(model.blocks[0](x).detach().repeat(4, 1))
        if CASE == "gradient-copies":
            copies = [p.grad.clone() for p in trained] if WRONG else []
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            del copies
        optimizer.step()
        optimizer.zero_grad(set_to_none=not wrong("old-gradients"))
        if wrong("kept-from-before"):
            previous = list(features)
        features.clear()
        if not wrong("retained-graph"):
            del loss
        if CASE in ("eval-graph", "eval-peak"):
            evaluate(model, x)
    del previous


def evaluate(model, x):
    model.eval()
    with contextlib.nullcontext() if wrong("eval-graph") else torch.no_grad():
        out = model(torch.cat([x] * (16 if wrong("eval-peak") else 1)))
        out.mean().item()
    model.train()


def keys_and_values():
    from transformers import LlamaConfig, LlamaForCausalLM
    shape = {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 4, "num_attention_heads": 4, "vocab_size": 256}
    model = LlamaForCausalLM(LlamaConfig(**shape, use_cache=WRONG)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(arguments.steps):
        tokens = torch.randint(0, 256, (8, 512)).cuda()
        more = {"use_cache": False} if arguments.call_without_cache else {}
        model(input_ids=tokens, labels=tokens, **more).loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def forward_only():
    model = Model().cuda()
    kept = []
    with contextlib.nullcontext() if WRONG else torch.no_grad():
        for _ in range(3):
            kept.append(model(torch.randn(BATCH, WIDTH).cuda()))


if __name__ == "__main__":
    forward_only() if CASE == "no-grad" else main()

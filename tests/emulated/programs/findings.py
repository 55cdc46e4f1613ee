"""Training loops with one thing wrong with their memory each, and the same without: `findings.py CASE` and `findings.py CASE --right`.
findings_test.py says which finding of `vramscope explain` each one shows."""
import argparse
import contextlib

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

parser = argparse.ArgumentParser()
parser.add_argument("case")
parser.add_argument("--right", action="store_true")
parser.add_argument("--steps", type=int, default=4)
arguments = parser.parse_args()
CASE, WRONG = arguments.case, not arguments.right
WIDTH, DEPTH, BATCH, CLASSES = 512, 8, 2048, 16


def wrong(case):
    return CASE == case and WRONG


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = torch.nn.Linear(width, 2 * width), torch.nn.Linear(2 * width, width)

    def forward(self, x):
        if wrong("layout-copies"):
            x = x.t().contiguous().t().contiguous()
        if wrong("casts"):
            x = x.double().float()
            return x + self.down(F.relu(self.up(x)).double().mul(1.5).float())
        return x + self.down(F.relu(self.up(x)))


class Attention(torch.nn.Module):
    HEADS = 8

    def __init__(self, width):
        super().__init__()
        self.into, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)

    def forward(self, x):
        q, k, v = (part.reshape(1, x.shape[0], self.HEADS, -1).transpose(1, 2) for part in self.into(x).chunk(3, -1))
        if WRONG:
            y = (q @ k.transpose(-1, -2) * 0.1).softmax(-1) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(x.shape[0], -1))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        width = {"optimizer-temporaries": 1024, "old-gradients": 1024, "autocast-weights": 1024, "gradient-copies": 1024, "second-weights": 1024,
                 "frozen-32-bits": 1024}.get(CASE, WIDTH)
        self.width = width
        blocks = [Block(width) for _ in range(DEPTH)]
        if CASE == "attention-scores":
            blocks[1] = Attention(width)
        self.blocks = torch.nn.ModuleList(blocks)
        self.head = torch.nn.Linear(width, 8192 if CASE in ("logits-copies", "outputs-held") else CLASSES)
        if wrong("large-buffers"):
            self.register_buffer("mask", torch.ones(4096, 4096))

    def forward(self, x):
        for block in self.blocks:
            if CASE == "checkpointing-without-effect":
                x = checkpoint(block, x, use_reentrant=WRONG)
            else:
                x = block(x)
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
    if CASE == "first-step":
        return convolve()
    model = Model().cuda()
    weights16 = CASE in ("autocast-weights",) and not WRONG or CASE == "frozen-32-bits" and not WRONG
    if weights16:
        model = model.to(torch.bfloat16)
    if CASE == "frozen-32-bits":
        for block in model.blocks:
            block.requires_grad_(False)
    trained = [p for p in model.parameters() if p.requires_grad]
    options = {"fused": True} if CASE == "optimizer-temporaries" and not WRONG else {}
    optimizer = torch.optim.Adam(trained, lr=1e-3, **options) if CASE == "optimizer-temporaries" else torch.optim.SGD(trained, lr=1e-3)
    held = []
    if wrong("second-weights"):
        held.append({name: value.detach().clone() for name, value in model.state_dict().items()})
    if wrong("held-since-setup"):
        held.append(torch.randn(4096, 4096, device="cuda"))
    batch = 16 if CASE in ("optimizer-temporaries", "gradient-copies", "old-gradients", "second-weights") else BATCH
    whole = torch.randn(16 * batch, model.width, device="cuda") if wrong("resident-inputs") else None
    previous = None
    for step in range(arguments.steps if CASE != "uneven-steps" else 6):
        size = batch * 2 if wrong("uneven-steps") and step == 3 else batch
        x = whole[step * size:(step + 1) * size] if whole is not None else torch.randn(size, model.width).cuda()
        if weights16:
            x = x.to(torch.bfloat16)
        y = torch.randint(0, CLASSES, (size,)).cuda()
        autocast = torch.autocast("cuda", torch.bfloat16) if CASE == "autocast-weights" and WRONG else contextlib.nullcontext()
        with autocast:
            loss = loss_of(model, x, y)
        loss.backward(retain_graph=wrong("retained-graph"))
        if wrong("leak"):
            held.append(model(x[:256]).detach().expand(64, -1, -1).clone())
        if CASE == "gradient-copies":
            copies = [p.grad.clone() for p in trained] if WRONG else []
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            del copies
        optimizer.step()
        optimizer.zero_grad(set_to_none=not wrong("old-gradients"))
        if wrong("kept-from-before"):
            with torch.no_grad():
                previous = model.blocks[0].up(x)
        if not wrong("retained-graph"):
            del loss
        if CASE in ("eval-graph", "eval-peak"):
            evaluate(model, x)
        if CASE == "save-peak":
            state = {name: value.clone() if WRONG else value.cpu() for name, value in model.state_dict().items()}
            if WRONG:
                state.update({"again" + name: value.clone() for name, value in state.items()})
            torch.save(state, "/tmp/findings.pt")
            del state
    del previous


def evaluate(model, x):
    model.eval()
    with contextlib.nullcontext() if wrong("eval-graph") else torch.no_grad():
        out = model(torch.cat([x] * (4 if wrong("eval-peak") else 1)))
        out.mean().item()
    model.train()


def convolve():
    torch.backends.cudnn.benchmark = WRONG
    model = torch.nn.Sequential(torch.nn.Conv2d(16, 64, 3), torch.nn.ReLU(), torch.nn.Conv2d(64, 64, 3)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(arguments.steps):
        model(torch.randn(8, 16, 64, 64).cuda()).mean().backward()
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

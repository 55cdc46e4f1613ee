"""Handwritten loops with one or two models, in which a toggle has to look at more than one forward and one backward pass per step."""
import argparse
import dataclasses
import functools

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from toggled_changes import step_in_backward

WIDTH = 256


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.mlp = nn.LayerNorm(WIDTH), nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        return x + self.mlp(self.norm(x))


class Model(nn.Module):
    def __init__(self, layers=4, out=WIDTH, checkpointed=0):
        super().__init__()
        self.blocks, self.head = nn.ModuleList(Block() for _ in range(layers)), nn.Linear(WIDTH, out)
        self.checkpointed = checkpointed

    def forward(self, x):
        for index, block in enumerate(self.blocks):
            x = checkpoint(block, x, use_reentrant=False) if index < self.checkpointed else block(x)
        return self.head(x)


class Own(torch.optim.Optimizer):
    """An optimizer whose class has a required argument."""

    def __init__(self, parameters, steps, lr=1e-3):
        self.steps = steps
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.sub_(p.grad, alpha=group["lr"])


class Scheduled(torch.optim.SGD):
    """Checks that each step uses the momentum that the schedule has set."""

    momentum = 0.9

    def step(self, closure=None):
        assert all(group["momentum"] == self.momentum for group in self.param_groups)
        return super().step(closure)


@dataclasses.dataclass
class Output:
    values: torch.Tensor


class Backbone(nn.Module):
    """Returns its output as a field of an object, or only stores it."""

    def __init__(self, stores):
        super().__init__()
        self.model, self.stores = Model(), stores

    def forward(self, x):
        self.output = self.model(x)
        return None if self.stores else Output(self.output)


class State:
    __slots__ = ("net", "unset")


class Private:
    def __init__(self):
        self._net = Model().cuda()

    @property
    def net(self):
        return self._net


def by_hand(name, models, optimizers):
    if name == "checkpointing":
        for model in models:
            for block in model.blocks:
                block.forward = functools.partial(checkpoint, block.forward, use_reentrant=False)
    for optimizer in optimizers:
        if name == "step-in-backward":
            step_in_backward(optimizer)
        if name == "empty-cache":
            optimizer.register_step_post_hook(lambda *_: torch.cuda.empty_cache())
        if name == "free-gradients":
            optimizer.register_step_post_hook(lambda optimizer, *_: optimizer.zero_grad())


def batch(rows=1024):
    return torch.randn(rows, WIDTH, device="cuda")


def one_model(case, hand):
    model = Model(checkpointed={"one-checkpointed": 1, "all-checkpointed": 4}.get(case, 0)).cuda()
    if case == "own-optimizer":
        optimizer = Own(model.parameters(), 100)
    elif case == "closure":
        optimizer = torch.optim.LBFGS(model.parameters(), lr=1e-2, max_iter=1)
    elif case == "adafactor":
        optimizer = torch.optim.Adafactor(model.parameters())
    elif case == "momentum":
        optimizer = Scheduled(model.parameters(), lr=1e-3, momentum=0.9)
    else:
        optimizer = torch.optim.AdamW(model.parameters())
    if case == "two-groups":
        optimizer = torch.optim.AdamW(model.blocks.parameters())
        optimizer.add_param_group({"params": list(model.head.parameters()), "weight_decay": 0.0})
    if case == "resumed":
        states = {index: {"step": torch.tensor(1.0), "exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.zeros_like(p)} for index, p in enumerate(model.parameters())}
        optimizer.load_state_dict({**optimizer.state_dict(), "state": states})
    by_hand(hand, [model], [optimizer])
    scaler = torch.amp.GradScaler("cuda", enabled=False)
    for index in range(3):
        x = batch()
        if case == "momentum":
            Scheduled.momentum = optimizer.param_groups[0]["momentum"] = 0.9 - 0.1 * index

        def closure():
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), x)
            loss.backward()
            return loss

        if case == "closure":
            optimizer.step(closure)
            continue
        y = model(x)
        loss = F.mse_loss(y, x)
        optimizer.zero_grad()
        if case == "two-losses":
            y.abs().mean().backward(retain_graph=True)
        if case == "assigned":
            for p, gradient in zip(model.parameters(), torch.autograd.grad(loss, list(model.parameters()))):
                p.grad = gradient
        else:
            scaler.scale(loss).backward()
        if case == "accumulate":
            F.mse_loss(model(x), x).backward()
        if case == "clip-by-hand":
            for p in model.parameters():
                if p.grad is not None:
                    p.grad.clamp_(-1, 1)
        if case == "clip-with-norm":
            gradients = [p.grad for p in model.parameters() if p.grad is not None]
            torch.nn.utils.clip_grads_with_norm_(model.parameters(), 1.0, torch.nn.utils.get_total_norm(gradients))
        scaler.step(optimizer)
        if case == "logged":
            print(sum(float(p.grad.norm()) for p in model.parameters() if p.grad is not None))
        if case == "filled-with-zeros":
            for p in model.parameters():
                if p.grad is not None:
                    p.grad.zero_()
        if case == "set-to-none":
            for p in model.parameters():
                p.grad = None
        if case == "evaluate":
            model.eval()
            with torch.no_grad():
                model(batch(8192))
            model.train()


def in_a_dictionary(hand):
    nets = {"main": Model().cuda()}
    optimizer = torch.optim.AdamW(nets["main"].parameters())
    by_hand(hand, nets.values(), [optimizer])
    for _ in range(3):
        x = batch()
        F.mse_loss(nets["main"](x), x).backward()
        optimizer.step()
        optimizer.zero_grad()


def step_of(state, optimizer):
    x = batch()
    F.mse_loss(state.net(x), x).backward()
    optimizer.step()
    optimizer.zero_grad()


def in_an_object(case, hand):
    if case == "slots":
        state = State()
        state.net = Model().cuda()
    else:
        state = Private()
    optimizer = torch.optim.AdamW(state.net.parameters())
    by_hand(hand, [state.net], [optimizer])
    for _ in range(3):
        step_of(state, optimizer)


def in_a_global_variable(hand):
    global net
    net = Model().cuda()
    optimizer = torch.optim.AdamW(net.parameters())
    by_hand(hand, [net], [optimizer])
    for _ in range(3):
        x = batch()
        F.mse_loss(net(x), x).backward()
        optimizer.step()
        optimizer.zero_grad()


def one_after_another(hand):
    for layers in (3, 4):
        model = Model(layers=layers).cuda()
        optimizer = torch.optim.AdamW(model.parameters())
        by_hand(hand, [model], [optimizer])
        for _ in range(2):
            x = batch()
            F.mse_loss(model(x), x).backward()
            optimizer.step()
            optimizer.zero_grad()


def encoder_and_decoder(case, hand):
    encoder, decoder = Model().cuda(), Model(layers=6).cuda()
    if case == "comprehension":
        first, second = [torch.optim.AdamW(each.parameters()) for each in (encoder, decoder)]
    else:
        first = torch.optim.AdamW(encoder.parameters())
        second = torch.optim.AdamW(decoder.parameters())
    by_hand(hand, [encoder, decoder], [first, second])
    for _ in range(3):
        x = batch()
        loss = F.mse_loss(decoder(encoder(x)), x)
        first.zero_grad()
        second.zero_grad()
        loss.backward()
        first.step()
        second.step()


def adversarial(hand):
    generator, critic = Model(layers=6).cuda(), Model(layers=6, out=1).cuda()
    first = torch.optim.Adam(generator.parameters())
    second = torch.optim.Adam(critic.parameters())
    by_hand(hand, [generator, critic], [first, second])
    for _ in range(3):
        critic.zero_grad()
        critic(batch()).mean().backward()
        fake = generator(batch())
        critic(fake.detach()).mean().backward()
        second.step()
        generator.zero_grad()
        critic(fake).mean().backward()
        first.step()


def in_evaluation_mode(case):
    """Gradients flow through a model in evaluation mode: it is trained, or its input is ("perceptual", "keyword")."""
    if case in ("object", "stored"):
        first, second = Backbone(case == "stored").cuda().eval(), Model(layers=2).cuda()
        optimizer = torch.optim.AdamW([*first.parameters(), *second.parameters()])
        for _ in range(3):
            x = batch()
            first(x)
            loss = F.mse_loss(second(first.output), x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return
    first, second = Model().cuda(), Model(layers=2).cuda()
    (first if case == "frozen-norm" else second).eval()
    optimizer = torch.optim.AdamW([*first.parameters(), *(second.parameters() if case == "frozen-norm" else ())])
    for _ in range(3):
        x = batch()
        made = first(x)
        loss = F.mse_loss(second(x=made) if case == "keyword" else second(made), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def on_two_gpus():
    model = torch.nn.DataParallel(Model().cuda())
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        x = batch()
        F.mse_loss(model(x), x).backward()
        optimizer.step()
        optimizer.zero_grad()


def distributed():
    import os

    import torch.distributed

    torch.distributed.init_process_group("nccl")
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    model = torch.nn.parallel.DistributedDataParallel(Model().cuda(), device_ids=[rank])
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        x = batch()
        F.mse_loss(model(x), x).backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.distributed.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", default="")
    parser.add_argument("--hand", default="")
    arguments = parser.parse_args()
    case, hand = arguments.case, arguments.hand
    if case in ("encoder-decoder", "comprehension"):
        encoder_and_decoder(case, hand)
    elif case in ("slots", "private"):
        in_an_object(case, hand)
    elif case == "global":
        in_a_global_variable(hand)
    elif case == "one-after-another":
        one_after_another(hand)
    elif case == "dictionary":
        in_a_dictionary(hand)
    elif case == "adversarial":
        adversarial(hand)
    elif case in ("frozen-norm", "perceptual", "keyword", "object", "stored"):
        in_evaluation_mode(case)
    elif case == "two-gpus":
        on_two_gpus()
    elif case == "distributed":
        distributed()
    else:
        one_model(case, hand)


main()

"""Loops in which optimizer.step() does not mark the end of a step: without an optimizer or its step(), with a closure, with two optimizers.

    vramscope plan -- python by_hand.py modules | tensors | functional | accumulate | closure | two | within"""

import itertools
import sys

import torch
from torch import nn

KIND = sys.argv[1] if len(sys.argv) > 1 else "modules"


def network():
    return nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)).cuda()


def modules(micro_batches=1):
    model = network()
    for i in itertools.count():
        data = torch.randn(64, 512, device="cuda")
        (model(data) - data).pow(2).mean().backward()
        if (i + 1) % micro_batches == 0:
            for parameter in model.parameters():
                parameter.data.add_(parameter.grad, alpha=-1e-3)
            model.zero_grad()


def tensors():
    first = torch.randn(512, 2048, device="cuda", requires_grad=True)
    second = torch.randn(2048, 512, device="cuda", requires_grad=True)
    data = torch.randn(4096, 512, device="cuda")
    while True:
        batch = data[torch.randint(0, len(data), (64,), device="cuda")]
        loss = (torch.tanh(batch @ first) @ second - batch).pow(2).mean()
        for weight in (first, second):
            weight.grad = None
        loss.backward()
        for weight in (first, second):
            weight.data -= 1e-3 * weight.grad


def functional():
    from torch.func import functional_call, grad, vmap

    model = network()
    weights = {name: parameter.detach() for name, parameter in model.named_parameters()}

    def loss(weights, sample):
        return (functional_call(model, weights, (sample,)) - sample).pow(2).mean()

    while True:
        data = torch.randn(64, 512, device="cuda")
        each = vmap(grad(loss), in_dims=(None, 0))(weights, data)
        weights = {name: weight - 1e-3 * each[name].mean(0) for name, weight in weights.items()}


class Within(torch.optim.Optimizer):
    """Like LOMO, updates each weight during the backward pass, as soon as its gradient is complete. step() is not called."""

    def __init__(self, parameters):
        super().__init__(parameters, {})
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.register_post_accumulate_grad_hook(self.update)

    @torch.no_grad()
    def update(self, parameter):
        parameter.add_(parameter.grad, alpha=-1e-3)
        parameter.grad = None


def within():
    model = network()
    Within(model.parameters())
    while True:
        data = torch.randn(64, 512, device="cuda")
        (model(data) - data).pow(2).mean().backward()


def closure():
    model = network()
    data = torch.randn(64, 512, device="cuda")
    optimizer = torch.optim.LBFGS(model.parameters())

    def evaluate():
        optimizer.zero_grad()
        loss = (model(data) - data).pow(2).mean()
        loss.backward()
        return loss

    while True:
        optimizer.step(evaluate)


def two():
    generator, critic = network(), network()
    of_generator = torch.optim.Adam(generator.parameters())
    of_critic = torch.optim.Adam(critic.parameters())
    while True:
        for _ in range(2):
            noise = torch.randn(64, 512, device="cuda")
            critic.zero_grad()
            (critic(noise).mean() - critic(generator(noise).detach()).mean()).backward()
            of_critic.step()
        generator.zero_grad()
        (-critic(generator(noise)).mean()).backward()
        of_generator.step()


{"modules": modules, "tensors": tensors, "functional": functional, "accumulate": lambda: modules(3), "closure": closure, "two": two, "within": within}[KIND]()

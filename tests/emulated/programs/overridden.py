"""Uses classes, modes, torch.fx, torch.compile, fake copies and pickle, all of which look for torch's functions by identity. Prints what
they did not find."""
import copy
import pickle

import torch
from torch._subclasses.fake_tensor import FakeCopyMode, FakeTensor, FakeTensorMode
from torch.overrides import TorchFunctionMode

FUNCTIONS = {
    "cat": lambda x: torch.cat([x, x]), "stack": lambda x: torch.stack(tensors=[x, x]), "where": lambda x: torch.where(x > 0, x, x),
    "ones_like": torch.ones_like, "masked_fill": lambda x: torch.masked_fill(x, x > 0, 1.0), "sort": torch.sort,
    "split": lambda x: torch.split(x, 2), "topk": lambda x: torch.topk(x, 2), "sum": torch.sum, "cumsum": lambda x: torch.cumsum(x, dim=0),
    "argmax": torch.argmax, "nonzero": torch.nonzero, "any": torch.any, "equal": lambda x: torch.equal(x, x), "isnan": lambda x: torch.isnan(input=x),
    "max": torch.max, "unique": torch.unique, "add": lambda x: torch.add(x, 1),
}
METHODS = {
    "clone": lambda x: x.clone(), "view": lambda x: x.view(2, 2), "__getitem__": lambda x: x[0], "item": lambda x: x[0].item(), "mul": lambda x: x.mul(2),
    "to": lambda x: x.to("cpu"), "sum": lambda x: x.sum(), "nonzero": lambda x: x.nonzero(),
}
found = set()


def note(function):
    for owner, names in ((torch, FUNCTIONS), (torch.Tensor, METHODS)):
        found.update((owner.__name__, name) for name in names if function is getattr(owner, name))


class Noted(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        note(func)
        return super().__torch_function__(func, types, args, kwargs or {})


class Mode(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        note(func)
        return func(*args, **(kwargs or {}))


class Block(torch.nn.Module):
    def forward(self, x):
        return torch.where(torch.cat([x, x]) > 0, torch.ones_like(torch.cat([x, x])), torch.sum(x))


def pickles(function):
    try:
        return pickle.loads(pickle.dumps(function)) == function
    except pickle.PicklingError:
        return False


def report(what, x):
    found.clear()
    for call in (*FUNCTIONS.values(), *METHODS.values()):
        call(x)
    wanted = {("torch", name) for name in FUNCTIONS} | {("Tensor", name) for name in METHODS}
    print(what, "missed", sorted(wanted - found))


x = torch.arange(4.0, device="cuda")
report("class", x.as_subclass(Noted))
with Mode():
    report("mode", x)
traced = torch.fx.symbolic_trace(Block().cuda())
print("traced", sorted(node.target.__name__ for node in traced.graph.nodes if node.op == "call_function"), traced(x).shape[0])
with FakeCopyMode(FakeTensorMode()):
    print("fake", isinstance(copy.deepcopy(torch.nn.Embedding(10, 4).cuda()).weight, FakeTensor))
with torch.device("cuda"):
    print("devices", {make().device.type for make in (lambda: torch.ones(2), lambda: torch.arange(3), lambda: torch.tensor([1.0]), lambda: torch.rand(2))})
print("not pickled", [name for owner, names in ((torch, set(FUNCTIONS) - {"unique"}), (torch.Tensor, (*METHODS, "normal_", "half", "__add__"))) for name in names
                     if not pickles(getattr(owner, name))])

lazy = torch.nn.Sequential(torch.nn.LazyLinear(4), torch.nn.LazyBatchNorm1d()).to("cuda").cuda().float()
lazy(torch.ones(2, 3, device="cuda")).sum().backward()
print("lazy", [type(module).__name__ for module in lazy], list(lazy[0].weight.shape), lazy[1].running_mean.device.type)


class Own(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


METHODS_OF_OWN = {"view": lambda w: w.view(2, 2), "t": lambda w: w.view(2, 2).t(), "to": lambda w: w.to(torch.float16), "clone": lambda w: w.clone()}
failed = []
for name, call in METHODS_OF_OWN.items():
    try:
        torch.compile(call, backend="eager", fullgraph=True)(x.as_subclass(Own))
    except Exception as error:
        failed.append((name, str(error).splitlines()[0]))
print("not compiled", failed)

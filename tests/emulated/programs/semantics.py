"""Programs that depend on details of PyTorch's functions, tensors and autograd, which replaced functions must keep. Prints a line per case."""
import enum
import inspect
import io
import pickle
import traceback
import types
import warnings

import torch
import torch.nn.functional as F
from torch.fx.experimental.proxy_tensor import make_fx
from torch.overrides import TorchFunctionMode

dev = torch.device("cuda")


def case(function):
    try:
        result = function()
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        result = "%s: %s (%s:%d)" % (type(error).__name__, str(error).splitlines()[0], at.filename, at.lineno)
    print("case", function.__name__, "as on a GPU" if result in (None, True) else result, flush=True)


class Plain(torch.Tensor):
    """A subclass that overrides no operator."""


def unknown(*shape):
    return torch.randn(*shape, device=dev) * 2


# --- functions ---

def class_attribute():
    class Pool(torch.nn.Module):
        reduce = torch.sum

        def forward(self, x):
            return self.reduce(x, dim=0)

    return Pool()(torch.ones(3, 2, device=dev)).shape == (2,)


def member_of_enum():
    class Reduce(enum.Enum):
        SUM = torch.sum
        MAX = torch.max

    return len(Reduce) == 2 and Reduce.SUM.value is torch.sum


def builtin():
    return inspect.isbuiltin(torch.cat) and isinstance(torch.cat, types.BuiltinFunctionType) and not isinstance(torch.save, types.BuiltinFunctionType)


def identity_of_others():
    seen = []

    class Noted(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    x = torch.eye(3, device=dev).as_subclass(Noted)
    torch.linalg.svd(x), torch.linalg.inv(x), torch.linalg.eig(x), F.one_hot(torch.tensor([1, 2], device=dev).as_subclass(Noted), 4)
    return all(any(func is one for func in seen) for one in (torch.linalg.svd, torch.linalg.inv, torch.linalg.eig, F.one_hot))


def pickled():
    return all(pickle.loads(pickle.dumps(one)) == one for one in (torch.linalg.svd, torch.linalg.eig, F.one_hot, torch.save, torch.load, torch.isin))


def calls_seen_by_modes():
    seen = []

    class Mode(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    layer, x, y = torch.nn.Linear(4, 4, device=dev), unknown(2, 4), torch.arange(3, device=dev)
    with Mode():
        (y == 1).sum(), y.data, (y + 1).max().to("cpu"), layer(x)
    return seen == ["__eq__", "sum", "__get__", "add", "max", "to", "linear"] or seen


def recorded_by_make_fx():
    graph = make_fx(lambda x: (x == 2).cumsum(0).clamp(max=1) + x)(torch.arange(4, device=dev)).graph
    return len(graph.nodes) == 6 or str(graph)


def compiled():
    def f(x, y):
        chosen = torch.where(torch.cat([x, x]) > 0, torch.sum(x * y.data[0]), 1.0)
        return chosen.sum() + torch.linalg.inv(torch.eye(3, device=dev)).sum() + F.one_hot(y.long(), 9).sum()

    torch.compile(f, backend="aot_eager", fullgraph=True)(unknown(4).requires_grad_(), torch.ones(3, device=dev)).backward()


# --- values of tensors ---

def written_through_data():
    x = torch.zeros(5, dtype=torch.int64, device=dev)
    x.data += 3
    x.data.random_(7, 8)  # unknown
    once = torch.zeros(3, dtype=torch.int64, device=dev)
    once.data[1] = 4
    other = torch.arange(2, device=dev)
    other.data = torch.arange(4, device=dev)
    return (once.tolist(), len(other.tolist())) == ([0, 4, 0], 4) and x.tolist() != [3] * 5


def written_through_views():
    x = torch.zeros(2, 3, dtype=torch.int64, device=dev)
    row = x[1]
    row.fill_(2)
    x.view(-1)[0] = 5
    x[0], x[1] = x[1].clone(), x[0].clone()
    y = torch.arange(3, device=dev) + 0
    y[1:].random_(7, 8)  # unknown
    return x.tolist() == [[2, 2, 2], [5, 0, 0]] and y.tolist() != [0, 1, 2]


def saved_without_values():
    def size(tensor):
        stream = io.BytesIO()
        torch.save({"a": tensor}, stream)
        return len(stream.getvalue())

    return size(torch.arange(5, device=dev)) == size(torch.empty(5, dtype=torch.int64, device=dev))


def subclasses():
    x = torch.arange(6, device=dev).as_subclass(Plain)
    counts = [len(torch.unique(x % 3)), int(x.sum()), F.one_hot(x).shape[1], torch.bincount(x).numel(), x[x > 3].numel()]
    return counts == [3, 15, 6, 6, 2] and type(x[x > 3]) is Plain or counts


def closes_files():
    stream = "/tmp/semantics.pt"
    torch.save({"a": torch.ones(3, device=dev)}, stream)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        torch.load(stream)
    return not [one for one in found if one.category is ResourceWarning]


# --- counts and conditions that PyTorch's C++ code reads from the GPU ---

def counted_elements():
    x = torch.arange(5, device=dev)
    mask = (torch.arange(10) % 2 == 0).to(dev)
    sizes = [len(torch.combinations(x)), len(torch.combinations(unknown(6), 3, True)), len(torch.combinations(unknown(1))),
             len(torch.masked_select(unknown(4, 10), mask)), len(unknown(10).masked_select(torch.tensor([[True], [False]], device=dev))),
             torch.eye(4, device=dev).to_sparse()._nnz(), torch.eye(4, device=dev).to_sparse_csr()._nnz(), torch.nonzero(unknown(1)[0]).shape[1],
             len(torch.nonzero(unknown(1)[0], as_tuple=True))]
    return sizes == [10, 56, 0, 20, 10, 4, 4, 0, 1] or sizes


def large_isin():
    shapes = [torch.isin(torch.randint(0, 9, (1000,), device=dev), torch.arange(300, device=dev)).shape, torch.isin(unknown(50, 2), unknown(300)).shape]
    return shapes == [(1000,), (50, 2)] or shapes


def checked_arguments():
    torch.cov(unknown(2, 3), fweights=torch.tensor([1, 2, 1], device=dev))
    torch.segment_reduce(unknown(6, 3), "sum", lengths=torch.tensor([2, 4], device=dev) + 0, axis=0)
    torch.linalg.eig(unknown(4, 4)), torch.linalg.eigvals(unknown(4, 4))
    torch.matrix_exp(unknown(5, 3, 3).requires_grad_()).sum().backward()


# --- autograd ---

def saved_leaf():
    got = []

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return x * w

        @staticmethod
        def backward(ctx, grad):
            x, w = ctx.saved_tensors
            got.append((w is weight, getattr(w, "main_grad", None)))
            return grad * w, grad * x

    weight = torch.nn.Parameter(torch.ones(3, device=dev))
    weight.main_grad = "kept"
    Scale.apply(torch.ones(3, device=dev, requires_grad=True) * 1, weight).sum().backward()
    return got == [(True, "kept")] or got


def changed_in_place():
    x, w = torch.ones(3, device=dev, requires_grad=True), torch.ones(3, device=dev)
    y, z = x.exp(), x * w
    y.add_(1)
    w.add_(1)
    errors = []
    for one in (y, z):
        try:
            one.sum().backward()
        except RuntimeError as error:
            errors.append("modified by an inplace operation" in str(error))
    return errors == [True, True] or errors


def hooks_of_a_saved_tensor():
    y = torch.ones(3, device=dev, requires_grad=True).pow(2)
    y.grad_fn._raw_saved_self.register_hooks(lambda tensor: tensor.cpu(), lambda tensor: tensor.to(dev))
    y.sum().backward()


for one in (class_attribute, member_of_enum, builtin, identity_of_others, pickled, calls_seen_by_modes, recorded_by_make_fx, compiled, written_through_data,
            written_through_views, saved_without_values, subclasses, closes_files, counted_elements, large_isin, checked_arguments, saved_leaf,
            changed_in_place, hooks_of_a_saved_tensor):
    case(one)
print("lists", torch.randn(3, device=dev).mul(2).tolist(), (torch.randn(2, device=dev) * 2 > 1e9).tolist())

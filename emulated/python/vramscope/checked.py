"""Handles functions of PyTorch whose C++ code reads conditions or counts back from the GPU: checks
of arguments, which are assumed to pass, and numbers of elements, which follow from sizes or from
known values."""

import functools
import math

from vramscope import overrides
from vramscope.known import MANY


def install(process, values):
    torch, stand_in = process.torch, values.stand_in
    for owner, names in (
        (torch, ("cov", "segment_reduce", "_segment_reduce", "bernoulli", "binomial", "poisson")),
        (torch.Tensor, ("cov",)),
    ):
        stand_in(owner, [name for name in names if hasattr(owner, name)], values.sound)
    linalg = getattr(torch, "linalg", None)
    for name, wrap, *more in (
        ("eig", values.sound, 2),
        ("eigvals", values.sound, 2),
        ("matrix_exp", _exponentials, values),
    ):
        if hasattr(linalg, name):
            overrides.replace(torch, linalg, name, wrap(getattr(linalg, name), *more))
    fft = getattr(torch, "fft", None)
    for name, wrap in (
        ("fftfreq", values.made),
        ("rfftfreq", values.made),
        ("fftshift", values.derived),
        ("ifftshift", values.derived),
    ):
        if hasattr(fft, name):
            overrides.replace(torch, fft, name, wrap(getattr(fft, name)))
    shown = getattr(torch, "_tensor_str", None)
    if hasattr(shown, "_tensor_str"):
        shown._tensor_str = _shown(shown._tensor_str, values)
    stand_in(torch.Tensor, ("to_sparse", "to_sparse_csr"), _sparse, values)
    stand_in(torch, ("combinations",), _combinations, values)
    stand_in(torch, ("isin",), _isin, values)
    for owner in (torch, torch.Tensor):
        stand_in(owner, ("masked_select",), _selected, values)
        stand_in(owner, ("matrix_exp",), _exponentials, values)


def _shown(function, values):
    """Wraps the formatting of a tensor for printing. PyTorch would compute the width of the numbers
    on the GPU."""
    torch = values.torch

    @functools.wraps(function)
    def wrapper(self, indent):
        text = function(self, indent)  # allocates as on a GPU
        if (
            not values.counted_on_gpu(self)
            or self.numel() > MANY
            or self.layout is not torch.strided
            or self.is_nested
        ):
            return text
        value = values.peek(self)
        if value is None:
            value = torch.zeros(self.shape, dtype=self.dtype, device="cpu")
        return function(value, indent)

    return wrapper


def _combinations(function, values):
    """Wraps combinations(). PyTorch counts a mask on the GPU to get the number of combinations, but
    the tensor's length also determines it."""

    @functools.wraps(function)
    def wrapper(input, r=2, with_replacement=False):
        if values.counted_on_gpu(input) and input.dim() == 1 and type(r) is int and r > 0:
            length = input.numel()
            values.count_true(
                0, length**r, math.comb(length + r - 1 if with_replacement else length, r)
            )
        return function(input, r, with_replacement)

    return wrapper


def _sparse(function, values):
    """Wraps to_sparse() and to_sparse_csr(), which read the number of nonzero elements from the
    GPU."""

    @functools.wraps(function)
    def wrapper(tensor, *args, **kwargs):
        if values.small(tensor):
            known = values.value(tensor)
            if known is not None and not tensor.is_contiguous():
                tensor = tensor.contiguous()
            if known is not None:
                values.tell(tensor, int(known.count_nonzero()))
                # PyTorch may count a mask instead of the tensor
                values.count_true(0, tensor.numel(), int(known.count_nonzero()))
            elif values.unknown(tensor):
                values.assume(
                    "a tensor computed on the GPU is assumed to contain no zeros when the "
                    "program converts it to a sparse tensor"
                )
        return function(tensor, *args, **kwargs)

    return wrapper


def _selected(function, values):
    """Wraps masked_select(). PyTorch expands a mask that has fewer dimensions or other sizes than
    the tensor, and then counts the expanded mask. The wrapper expands the mask beforehand."""

    @functools.wraps(function)
    def wrapper(input, mask, **more):
        if (
            values.counted_on_gpu(input)
            and values.plain(mask)
            and mask.is_cuda
            and mask.dtype is values.torch.bool
            and mask.shape != input.shape
        ):
            mask = mask.expand(values.torch.broadcast_shapes(input.shape, mask.shape))
        return function(input, mask, **more)

    return wrapper


def _isin(function, values):
    """Wraps isin(). To look for many elements, PyTorch sorts the distinct elements, and its C++
    code reads their number from the GPU."""
    torch = values.torch

    def sorts(elements, wanted):
        return (
            isinstance(wanted, torch.Tensor)
            and values.counted_on_gpu(elements)
            and values.counted_on_gpu(wanted)
            and wanted.numel() >= int(10 * elements.numel() ** 0.145)
        )

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        names = dict(zip(("elements", "test_elements"), args), **kwargs)
        elements, wanted = names.get("elements"), names.get("test_elements")
        if (
            not sorts(elements, wanted)
            or names.get("assume_unique")
            or names.get("out") is not None
        ):
            return function(*args, **kwargs)
        out = torch.empty(elements.shape, dtype=torch.bool, device=elements.device)
        parts = [
            torch._unique2(elements, sorted=False, return_inverse=True),
            torch._unique2(wanted, sorted=False),
        ]
        order = parts[0][1]
        everything = torch.cat([part[0] for part in parts])
        parts = None
        numbers, places = torch.sort(everything, stable=True, dim=0)
        doubled = torch.empty_like(numbers, dtype=torch.bool)
        doubled[:-1].copy_(
            numbers[1:].ne(numbers[:-1]) if names.get("invert") else numbers[1:].eq(numbers[:-1])
        )
        doubled[-1] = bool(names.get("invert"))
        mask = torch.empty_like(doubled)
        mask.index_copy_(0, places, doubled)
        return out.copy_(mask[order])

    return wrapper


def _exponentials(function, values):
    """Wraps matrix_exp(). For a batch, PyTorch groups the matrices by the number of steps that they
    need, and reads the groups from the GPU."""
    torch = values.torch

    @functools.wraps(function)
    def wrapper(input):
        if not values.counted_on_gpu(input) or input.dim() < 3 or math.prod(input.shape[:-2]) < 2:
            return function(input)
        values.assume(
            "the matrix exponentials of a batch are assumed to be computed one at a time, which "
            "needs less memory than computing several together"
        )
        return torch.stack(
            [function(matrix) for matrix in input.reshape(-1, *input.shape[-2:])]
        ).view(input.shape)

    return wrapper

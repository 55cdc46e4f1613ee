"""Determines what a program reads back from the emulated GPU. Bytes written by the host are known.
Values that kernels would have computed are assumed: numbers to be 0, masks to be true everywhere,
results of `isnan` and `isinf` to be false. Each guess is reported as an assumption, with the line
of the program that led to it.

This module replaces PyTorch's Python functions instead of using a dispatch mode, because autograd
uses other formulas under a dispatch mode."""

import ctypes
import functools
import operator
import os

from vramscope import (
    aliases,
    branches,
    checked,
    collectives,
    comparisons,
    detection,
    indexing,
    overrides,
    routing,
)
from vramscope.counted_masks import CountedMasks, first, spread
from vramscope.followed import (
    ARITHMETIC,
    CHANGED,
    DERIVED,
    DERIVED_BY_TENSOR,
    DERIVED_WITHIN,
    MADE,
    MADE_BY_TENSOR,
    OF_TORCH,
    PARTS,
    RANDOM,
    SHAPED,
    VIEWED,
    VIEWED_BY_TORCH,
    WRITTEN,
)
from vramscope.known import caller, place, version


class Values(CountedMasks):
    def __init__(self, process, library):
        super().__init__(process, library)
        self.count_true = library.vramscope_emulated_count_true
        self.count_true.argtypes, self.count_true.restype = [ctypes.c_uint64] * 3, None
        self.count_distinct = library.vramscope_emulated_count_distinct
        self.count_distinct.argtypes, self.count_distinct.restype = [ctypes.c_uint64], None
        self.truths = library.vramscope_emulated_unknown_truth
        self.truths.argtypes, self.truths.restype = [ctypes.c_int], None
        self.routing = routing.Routing(self)
        self.asked = True  # False while this package itself reads values

    def copied(self, function):
        """Wraps to(), cuda() and cpu(). Known values are stored with the tensor, because a launch
        that uses the tensor makes them unknown in GPU memory. The stored values are returned when
        the tensor is copied back."""

        @functools.wraps(function)
        def wrapper(tensor, *args, **kwargs):
            result = function(tensor, *args, **kwargs)
            torch = self.torch
            if type(result) is str:  # the result of type() without arguments
                return result
            if result is not tensor and self.small(result):
                if tensor.is_cuda:
                    value = self.kept(tensor)
                    if value is not None:
                        self.keep(result, value.to(result.dtype))
                elif tensor.device.type == "cpu":
                    self.keep(result, tensor.detach().to(result.dtype, copy=True))
            elif self.compiling() or not self.plain(result):
                return result
            elif (
                result.is_cuda
                and result.dtype is torch.bool
                and tensor.device.type == "cpu"
                and result.layout is torch.strided
            ):
                self.tell(result, int(tensor.count_nonzero()))
            elif tensor.is_cuda and result.device.type == "cpu" and result.shape == tensor.shape:
                value = self.fetched(tensor)
                if value is not None:
                    result.detach().copy_(value)
            return result

        return wrapper

    def fetched(self, tensor):
        """What a copy of the tensor to the host contains; None if these are the bytes of emulated
        memory."""
        value = self.kept(tensor)
        if (
            value is None
            and tensor.dtype is self.torch.bool
            and self.unknown(tensor)
            and self.said(tensor) is not False
        ):
            self.process.assume(
                "a mask computed on the GPU is assumed to be true everywhere", place()
            )
            return self.torch.ones(tensor.shape, dtype=tensor.dtype, device="cpu")
        if value is None and self.small(tensor) and self.unknown(tensor):
            self.process.assume("numbers computed on the GPU are read back as 0", place())
        return value

    def received(self, function):
        """Wraps copy_() and x[...] = y for a tensor on the host and a source on the GPU."""

        @functools.wraps(function)
        def wrapper(tensor, *args, **kwargs):
            source = (
                (*args, *kwargs.values())[-1 if function.__name__ == "__setitem__" else 0]
                if args or kwargs
                else None
            )
            result = function(tensor, *args, **kwargs)
            if (
                isinstance(source, self.torch.Tensor)
                and source.is_cuda
                and self.plain(tensor)
                and tensor.device.type == "cpu"
                and not self.compiling()
                and self.plain(source)
                and source.numel()
            ):
                value = self.fetched(source)
                if value is not None:
                    with self.torch.no_grad():
                        function(
                            tensor, *args[:-1], value
                        ) if function.__name__ == "__setitem__" else function(tensor, value)
            return result

        return wrapper

    def compared(self, function):
        """Wraps ==, < and similar operators. The result is known if both operands are known."""

        @functools.wraps(function)
        def wrapper(input, other, **more):  # these are the names of PyTorch's parameters
            tensor = input
            if more.get("out") is not None:
                return self.into(function, (tensor, other), more)
            if self.compiling():
                return function(tensor, other, **more)
            parts = [part for part in (tensor, other) if self.small(part)]
            for part in parts:
                self.value(part)  # stores the value before the kernel makes it unknown
            result = function(tensor, other, **more)
            if not self.plain(result) or not result.is_cuda:
                return result
            left = self.value(tensor)
            right = other
            if left is not None and isinstance(other, self.torch.Tensor):
                right = self.value(other) if other.is_cuda else other
            if left is not None and right is not None:
                for part in parts:
                    self.restore(part, self.value(part))
                if result.numel() == 1 and getattr(tensor, "_vramscope_guess", False):
                    # only an assumption: the branch that reads the result may choose the other
                    # value
                    self.say(result, bool(function(left, right)))
                else:
                    self.keep(result, function(left, right))
            elif (
                left is None
                and result.numel() == 1
                and not isinstance(other, self.torch.Tensor)
                and self.unknown(tensor)
            ):
                # A computed number is assumed to be 0.
                self.say(
                    result,
                    bool(function(self.torch.zeros((), dtype=tensor.dtype, device="cpu"), other)),
                )
            elif (
                tensor.is_floating_point()
                and type(other) in (int, float)
                and function.__name__ in ("eq", "__eq__")
            ):
                result._vramscope_equals = version(result)
            return result

        return wrapper

    def guess(self, mask):
        """Returns the values to assume for `mask` when it is summed or read as a list, or None if
        it is not a computed mask."""
        if mask.dtype is not self.torch.bool or not self.unknown(mask):
            return None
        share = self.routing.share(mask)
        if share is not None:
            guess = self.torch.zeros(mask.shape, dtype=mask.dtype, device="cpu")
            guess.view(-1)[spread(self.torch, share, mask.numel())] = True
            return guess
        self.process.assume("a mask computed on the GPU is assumed to be true everywhere", place())
        return self.torch.full(mask.shape, self.said(mask) is not False, device="cpu")

    def summed(self, function):
        """Wraps sums. The sum of a computed mask equals the number of elements that the mask is
        assumed to select."""

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            mask = args[0] if args else kwargs.get("input")
            compared = getattr(mask, "_vramscope_equals", None)
            if (
                compared is not None
                and compared == version(mask)
                and (len(args) > 1 or "dim" in kwargs)
                and kwargs.get("out") is None
            ):
                return self.equals_nothing(function, args, kwargs)
            guess = (
                self.guess(mask)
                if self.small(mask) and mask.dtype is self.torch.bool and self.value(mask) is None
                else None
            )
            result = function(*args, **kwargs)
            if guess is not None and kwargs.get("out") is None:
                self.restore(
                    result,
                    function(
                        guess,
                        *args[1:],
                        **{key: arg for key, arg in kwargs.items() if key != "input"},
                    ),
                )
                result._vramscope_guess = True
            return result

        return wrapper

    def equals_nothing(self, function, args, kwargs):
        """Handles sums over rows that count how many computed numbers equal a given number, and
        assumes that none does. For example, (pixels == 0).sum(-1) == pixels.size(-1) searches for
        rows of padding."""
        result = function(*args, **kwargs)
        self.assume(
            "the program counts how often a given value occurs in each row of a tensor that was "
            "computed on the GPU; all these counts are assumed to be 0"
        )
        if self.small(result):
            self.restore(result, self.torch.zeros(result.shape, dtype=result.dtype, device="cpu"))
        return result

    def combined(self, function, truth_of):
        """Wraps `&`, `|`, `^`, `~` and their named forms. Combines the assumed values of the
        operands. If all operands are known, the result is known."""

        @functools.wraps(function)
        def wrapper(*parts, **kwargs):
            torch = self.torch
            parts += tuple([kwargs.pop(name) for name in ("input", "other") if name in kwargs])
            if kwargs.get("out") is not None:
                return self.into(function, parts, kwargs)
            if self.compiling() or not all(isinstance(part, (torch.Tensor, int)) for part in parts):
                return function(*parts, **kwargs)
            values = [
                (self.value(part) if self.small(part) else None)
                if isinstance(part, torch.Tensor) and part.is_cuda
                else part
                for part in parts
            ]
            result = function(*parts, **kwargs)
            if not self.plain(result) or not result.is_cuda:
                return result
            if all(value is not None for value in values):
                if self.small(result):
                    self.keep(result, function(*values))
                return result
            if result.dtype is not torch.bool or not all(
                isinstance(part, (torch.Tensor, bool)) for part in parts
            ):
                return result
            truths = []
            for part, value in zip(parts, values):
                if not isinstance(part, torch.Tensor):
                    truths.append(part)
                elif value is not None and value.numel() == 1:
                    truths.append(bool(value))
                else:
                    truths.append(self.said(part) is not False)
            self.say(result, bool(truth_of(*truths)))
            return result

        return wrapper

    def contains(self, function):
        """Wraps `number in tensor`. A tensor with unknown values is assumed not to contain the
        number."""

        @functools.wraps(function)
        def wrapper(tensor, element):
            if self.value(tensor) is None and self.unknown(tensor):
                self.process.assume(
                    "a tensor computed on the GPU is assumed not to contain the number that the "
                    "program looks for",
                    place(),
                )
                self.asked = False
                try:
                    function(tensor, element)
                finally:
                    self.asked = True
                return False
            return function(tensor, element)

        return wrapper

    def truth(self, function):
        """Wraps item(), bool(), int() and float(). A computed condition is assumed to be true and a
        computed number to be 0, unless the program's code needs another value (branches.py,
        comparisons.py)."""

        @functools.wraps(function)
        def wrapper(tensor):
            if self.compiling() or not tensor.is_cuda:
                return function(tensor)
            known = self.kept(tensor)
            if (
                known is not None
                and getattr(tensor, "_vramscope_guess", False)
                and branches.way(caller()) is False
            ):
                # The program needs false here, for example to end a loop.
                known = self.torch.zeros_like(known)
            if known is not None:
                function(tensor)  # synchronizes with the GPU
                return function(known)
            if tensor.dtype is self.torch.bool and self.asked and self.unknown(tensor):
                value = branches.way(caller())
                if value is None:
                    value = self.said(tensor) is not False
                self.process.assume(
                    "a condition computed on the GPU is assumed to be %s" % str(value).lower(),
                    place(),
                )
                return type(function(tensor))(value)  # synchronizes with the GPU
            number = function(tensor)  # synchronizes with the GPU
            if self.asked and self.unknown(tensor):
                if type(number) in (int, float):
                    value, why = comparisons.number(caller())
                    if value:
                        self.process.assume(
                            "a number computed on the GPU is assumed to be %g, %s" % (value, why),
                            place(),
                        )
                        return type(number)(value)
                self.process.assume("a number computed on the GPU is assumed to be 0", place())
            return number

        return wrapper

    def iterates(self, step):
        """Wraps L-BFGS's step(). Because all gradients are zero, it would end immediately and keep
        no history."""

        @functools.wraps(step)
        def wrapper(optimizer, closure):
            for group in optimizer.param_groups:
                group["tolerance_grad"] = group["tolerance_change"] = -1
            self.process.assume(
                "L-BFGS is assumed to run all of its iterations and to keep the history of each "
                "iteration"
            )
            return step(optimizer, closure)

        return wrapper

    def sound(self, function, truth=1):
        """Wraps functions whose C++ code reads conditions back from the GPU. Unknown conditions are
        read as true, so that checks of arguments pass and a zero-dimensional mask selects its
        element. With truth=2, only the first unknown condition is read as true. The later ones
        signal errors, so they are read as false."""

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            self.truths(truth)
            try:
                return function(*args, **kwargs)
            finally:
                self.truths(0)

        return wrapper

    def listed(self, function):
        @functools.wraps(function)
        def wrapper(tensor):
            known = None if self.compiling() else self.kept(tensor)
            if known is None and self.unknown(tensor):
                known = self.guess(tensor)
                if known is None:
                    self.assume("numbers computed on the GPU are read back as 0")
            copied = function(tensor)
            return copied if known is None else function(known)

        return wrapper

    def alike(self, function):
        """Wraps equal() and allclose(), whose C++ code reads the result from the GPU. Computed
        values are assumed to be equal, unless that makes the program fail or repeat a loop.
        Parameters are also assumed to be equal, because transformers compares weights that a
        checkpoint contains twice, and ties them if they are equal."""

        @functools.wraps(function)
        def wrapper(input, other, *args, **kwargs):
            tensor, other = (
                part.data if type(part) is self.torch.nn.Parameter else part
                for part in (input, other)
            )
            # Reads known values before the call, because the kernel makes them unknown.
            values = [self.value(part) if self.small(part) else None for part in (tensor, other)]
            result = function(tensor, other, *args, **kwargs)
            if (
                result
                or tensor.shape != other.shape
                or not (self.small(tensor, 1 << 40) and self.small(other, 1 << 40))
            ):
                return result
            if values[0] is not None and values[1] is not None:
                return function(*values, *args, **kwargs)
            if not self.unknown(tensor) and not self.unknown(other):
                return result
            value = branches.way(caller()) is not False
            self.process.assume(
                "a condition computed on the GPU is assumed to be %s" % str(value).lower(), place()
            )
            return value

        return wrapper

    def repeated(self, function):
        """Wraps repeat_interleave, whose output size is read from the GPU."""

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            repeats = kwargs.get("repeats", args[1] if len(args) > 1 else args[0] if args else None)
            dim = kwargs.get("dim", args[2] if len(args) > 2 else None)
            if kwargs.get("output_size") is None and self.small(repeats):
                value = self.value(repeats)
                if value is None and self.unknown(repeats):
                    self.assume("a repeat count computed on the GPU is assumed to be 1")
                    value = self.torch.ones(repeats.shape, dtype=repeats.dtype, device="cpu")
                if value is not None:
                    length = int(value.sum())
                    # One number: each element is repeated that number of times.
                    if value.numel() == 1 and args and args[0] is not repeats:
                        length *= args[0].numel() if dim is None else args[0].size(dim)
                    kwargs = dict(kwargs, output_size=length)
            return function(*args, **kwargs)

        return wrapper

    def false(self, function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            tensor = first(args, kwargs)
            known = self.value(tensor) if self.small(tensor) else None
            result = function(*args, **kwargs)
            if not self.compiling() and getattr(result, "is_cuda", False):
                if known is not None and self.small(result):
                    self.keep(result, function(known))
                else:
                    self.say(result, False)
            return result

        return wrapper

    def same(self, function):
        """Wraps any() and all(). Computed numbers, such as a solver's error codes, are assumed to
        be 0, so the result is assumed to be false."""

        @functools.wraps(function)
        def wrapper(input, *args, **kwargs):
            tensor = input
            if kwargs.get("out") is not None:
                return self.into(function, (tensor, *args), kwargs)
            result = function(tensor, *args, **kwargs)
            if (
                self.compiling()
                or not getattr(result, "is_cuda", False)
                or not getattr(tensor, "is_cuda", False)
            ):
                return result
            truth = self.said(tensor)
            value = self.kept(tensor)
            if (
                truth is None
                and value is None
                and tensor.dtype not in (self.torch.bool, self.torch.uint8)
                and self.unknown(tensor)
            ):
                truth = False
            if truth is not None:
                self.say(result, truth)
            if value is not None:
                self.keep(result, function(value, *args, **kwargs))
            return result

        return wrapper


def install(process):
    torch = process.torch
    try:
        library = ctypes.CDLL(os.path.join(process.settings.emulated, "libvramscope-emulated.so"))
        values = Values(process, library)
    except (OSError, AttributeError) as error:
        process.assume(
            "the Python hooks and the emulated platform have different versions, so values that "
            "the program reads from the GPU are 0, "
            "and masks computed on the GPU are empty",
            str(error),
        )
        return

    overrides.constructors(torch)  # before functions are replaced
    originals = [
        (owner, name, getattr(owner, name))
        for owner, names in ((torch, OF_TORCH), *_within(torch))
        for name in names
        if hasattr(owner, name)
    ]
    try:
        _stand_in(process, values)
    finally:
        overrides.install(
            process, {name: original for owner, name, original in originals if owner is torch}
        )
        # torch.jit.script must still find operators under these names. Otherwise it would try to
        # compile the replacements, which are Python functions.
        for owner, name, original in originals:
            known = torch.jit._builtins._find_builtin(original)
            if known:
                torch.jit._builtins._register_builtin(getattr(owner, name), known)


def _within(torch):
    return [(operator.attrgetter(owner)(torch), names) for owner, names in DERIVED_WITHIN]


def _stand_in(process, values):
    torch, stand_in = process.torch, values.stand_in
    tensor = torch.Tensor

    def condition(args, kwargs):
        return (*args, *kwargs.values())[0] if len(args) + len(kwargs) == 1 else None

    values.routing.install()
    stand_in(tensor, ("item", "__bool__", "__int__", "__float__", "__index__"), values.truth)
    stand_in(tensor, ("tolist",), values.listed)
    for owner in (torch, tensor):
        stand_in(owner, ("isnan", "isinf"), values.false)
        stand_in(owner, ("any", "all"), values.same)
        stand_in(owner, ("nonzero", "argwhere"), values.count, first)
        stand_in(owner, ("multinomial",), values.sound)
        stand_in(owner, ("allclose", "equal"), values.alike)
        stand_in(owner, ("repeat_interleave",), values.repeated)
        stand_in(owner, ("sum", "prod", "max", "min", "amax", "amin", "cumsum"), values.follows)
        stand_in(owner, ("sum",), values.summed)
        stand_in(owner, ("masked_select",), values.selected)
        stand_in(owner, ("masked_scatter",), values.scattered)
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        stand_in(tensor, ("__%s__" % name, name), values.compared)
        stand_in(torch, (name,), values.compared)
    for names, truth_of in (
        (("__and__", "__rand__", "logical_and", "bitwise_and"), operator.and_),
        (("__or__", "__ror__", "logical_or", "bitwise_or"), operator.or_),
        (("__xor__", "__rxor__", "logical_xor", "bitwise_xor"), operator.xor),
        (("__invert__", "logical_not", "bitwise_not"), operator.not_),
    ):
        for name in names:
            for owner in (tensor,) if name.startswith("__") else (tensor, torch):
                if hasattr(owner, name):
                    stand_in(owner, (name,), values.combined, truth_of)
    stand_in(tensor, ("add_", "__iadd__"), values.counted)
    if hasattr(torch, "_foreach_add_"):
        stand_in(torch, ("_foreach_add_",), values.counted)
    process.loaded = values.loaded
    collectives.install(process, values)
    detection.install(process, values)
    checked.install(process, values)
    aliases.install(process, values)
    stand_in(torch.optim.LBFGS, ("step",), values.iterates)
    stand_in(tensor, ("to", "cuda", "cpu", "half", "bfloat16", "type", "type_as"), values.copied)
    stand_in(tensor, ("copy_",), values.received)
    stand_in(tensor, ("__contains__",), values.contains)
    indexing.replace(torch, values.viewed(values.indexed(tensor.__getitem__)))
    stand_in(tensor, ("__setitem__",), values.indexed)
    stand_in(tensor, ("__setitem__",), values.received)
    for owner, names, wrap in (
        (tensor, ARITHMETIC, values.arithmetic),
        (tensor, VIEWED, values.viewed),
        (torch, MADE, values.made),
        (tensor, MADE_BY_TENSOR, values.made),
        (torch, WRITTEN, values.written),
        (torch, (*DERIVED, *VIEWED_BY_TORCH), values.derived),
        (tensor, DERIVED, values.derived),
        (tensor, DERIVED_BY_TENSOR, values.derived),
        (tensor, CHANGED, values.changed),
        (torch, PARTS, values.parts),
        (tensor, PARTS, values.parts),
    ):
        stand_in(owner, [name for name in names if hasattr(owner, name)], wrap)
    for owner, names in _within(torch):
        stand_in(owner, [name for name in names if hasattr(owner, name)], values.derived)
    for name, shape in SHAPED.items():
        stand_in(tensor, (name,), values.shaped, shape)
    for name, most in RANDOM.items():
        stand_in(torch, (name,), values.drawn, most)
    stand_in(torch, ("where",), values.count, condition)
    stand_in(torch, ("normal",), values.sound)
    stand_in(torch.nn.utils.rnn, ("invert_permutation",), values.derived)
    stand_in(torch, ("_unique2",), values.unique)
    stand_in(torch._VF, ("unique_consecutive",), values.unique)
    stand_in(torch._VF, ("unique_dim",), values.unique_along)
    stand_in(tensor, ("coalesce",), values.coalesced)
    stand_in(torch, ("_amp_update_scale_",), values.scaled)

"""Propagates known values of small integer and boolean tensors. Lengths, message sizes, offsets,
padded batches and their masks are also computed on the CPU, alongside the emulated GPU. Functions
whose results depend on unknown values are not handled here; values.py makes the guesses."""

import functools
import math

from vramscope import aliases
from vramscope.known import FEW, MANY, SMALL, Known, version

# maximum number of elements of an integer tensor in arithmetic, such as a tensor of all pairs or
# triplets of a batch's labels
PRODUCTS = 1 << 20


def _some(arguments):
    """Returns the first argument or, if that is a list, its first element."""
    first = arguments[0] if arguments else None
    return first[0] if type(first) in (list, tuple) and first else first


class Following(Known):
    generator = None

    def small(self, tensor, most=None):
        """Returns whether the tensor is on the GPU and small enough for its values to be
        tracked."""
        torch = self.torch
        if (
            self.compiling()
            or not self.plain(tensor)
            or not tensor.is_cuda
            or tensor.layout is not torch.strided
        ):
            return False
        if most is None:
            most = (
                MANY
                if tensor.is_floating_point() or tensor.is_complex()
                else SMALL // tensor.element_size()
            )
        return (
            0 < tensor.numel() <= most
            and self.transforms() is None
            and not torch.cuda.is_current_stream_capturing()
        )

    def values_of(self, arguments):
        """Returns the arguments with each tensor replaced by its known values, or None if the
        values of any tensor are unknown."""
        values = []
        for argument in arguments:
            if isinstance(argument, self.torch.Tensor):
                value = self.value(argument) if argument.is_cuda else argument
            elif type(argument) in (list, tuple):
                value = self.values_of(argument)
                value = value if value is None else type(argument)(value)
            else:
                value = argument
            if value is None and argument is not None:
                return None
            values.append(value)
        return values

    def whole(self, tensor):
        """Returns (whole tensor, its value) if `tensor` is a part of another tensor. Returns None
        if it is not, or if the whole tensor's values are unknown or too many. Call before `tensor`
        changes."""
        part = tensor._base
        if part is None:
            part = aliases.source(tensor, getattr(tensor, "__dict__", {}))
        if part is None or not self.small(part, PRODUCTS) or not part.is_contiguous():
            return None
        value = self.kept(part)
        self.expose(part)
        return None if value is None else (part, value)

    def changed_part(self, whole, tensor, value):
        """Call after known values were written into `tensor`. `whole` is what whole() returned
        before that write."""
        if whole is None:
            return
        base, before = whole
        if aliases.same_place(base, tensor):
            after = value.clone()
        else:
            after = before.clone(memory_format=self.torch.contiguous_format)
            after.as_strided(
                tensor.shape, tensor.stride(), tensor.storage_offset() - base.storage_offset()
            ).copy_(value)
        self.settle(base, after)

    def into(self, function, args, kwargs, **more):
        """Calls a function that writes its result into the tensors `out`. `more` are additional
        arguments for the computation on the CPU."""
        out = kwargs["out"]
        parts = out if isinstance(out, (tuple, list)) else (out,)
        rest = {key: value for key, value in kwargs.items() if key != "out"}
        values, before = None, []
        if not self.compiling() and all(self.plain(part) and part.is_cuda for part in parts):
            values = self.values_of((*args, *rest.values()))
            before = [
                (version(part), self.whole(part) if values is not None else None) for part in parts
            ]
        result = function(*args, **kwargs)
        known = None
        if values is not None:
            known = self.computed(
                function, *values[: len(args)], **dict(zip(rest, values[len(args) :]), **more)
            )
        if known is not None:
            for part, value, last in zip(
                parts, known if isinstance(out, (tuple, list)) else (known,), before
            ):
                if self.small(part) and part.shape == value.shape:
                    self.settle(part, value.to(part.dtype))
                    self.wrote(part, last[0])
                    self.changed_part(last[1], part, value)
        for part in parts if before else ():
            if "_vramscope_stays" in part.__dict__ and self.kept(part) is None:
                self.release(part)
        return result

    def made(self, function):
        """Wraps a function that creates a tensor filled with one value or with a range."""

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            if kwargs.get("out") is not None:
                return self.into(
                    function,
                    args,
                    {key: value for key, value in kwargs.items() if key != "device"},
                    device="cpu",
                )
            result = function(*args, **kwargs)
            if self.small(result):
                self.keep(result, function(*args, **dict(kwargs, dtype=result.dtype, device="cpu")))
            return result

        return wrapper

    def drawn(self, function, most):
        """Wraps a function that creates a random tensor. The program's own generators are not
        changed."""

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            result = function(*args, **kwargs)
            if self.small(result, most) and kwargs.get("out") is None:
                if self.generator is None:
                    self.generator = self.torch.Generator(device="cpu")
                kwargs = dict(kwargs, dtype=result.dtype, device="cpu", generator=self.generator)
                self.keep(result, function(*args, **kwargs).detach())
            return result

        return wrapper

    def on_gpu(self, data):
        return (
            isinstance(data, self.torch.Tensor)
            and data.is_cuda
            or isinstance(data, (list, tuple))
            and any(map(self.on_gpu, data[:FEW]))
        )

    def written(self, function):
        """Wraps a function that copies host data to the GPU. The values are kept on the CPU,
        because a kernel that accesses the memory makes its bytes unknown."""

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            result = function(*args, **kwargs)
            data = args[0] if args else kwargs.get("data", kwargs.get("obj"))
            if result is not data and self.small(result) and not self.on_gpu(data):
                value = function(*args, **dict(kwargs, dtype=result.dtype, device="cpu")).detach()
                self.keep(result, value.clone())  # value may share the caller's memory
            return result

        return wrapper

    def computed(self, function, *args, **kwargs):
        """Returns the function's result on the CPU, or None if the function fails, for example
        because of an unsupported type or an index out of range."""
        try:
            return function(*args, **kwargs)
        except (RuntimeError, IndexError, NotImplementedError):
            return None

    def settle(self, tensor, value):
        """Stores a computed value for the tensor. Floating-point values are not written to emulated
        memory, because a later write by a kernel could go unnoticed there. So only reads in Python
        find them."""
        if not value.is_floating_point():
            self.restore(tensor, value)
        elif self.plain(tensor) and tensor.dtype is value.dtype:
            self.keep(tensor, value)

    def derived(self, function):
        sorts = function.__name__ in ("sort", "argsort")

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            if kwargs.get("out") is not None:
                return self.into(function, args, kwargs)
            values = None
            if not self.compiling() and self.small(_some(args or tuple(kwargs.values()))):
                values = self.values_of((*args, *kwargs.values()))
            result = function(*args, **kwargs)
            if values is not None:
                known = self.computed(
                    function, *values[: len(args)], **dict(zip(kwargs, values[len(args) :]))
                )
                several = isinstance(result, (tuple, list))
                for part, value in zip(result, known or ()) if several else ((result, known),):
                    if value is not None and self.small(part) and part.shape == value.shape:
                        self.settle(part, value)
            elif sorts:
                self.in_order(result if function.__name__ == "argsort" else result[1], args, kwargs)
            return result

        return wrapper

    def in_order(self, places, args, kwargs):
        """Sets the indices that sorting unknown numbers returns to 0, 1, 2, ..., because a program
        may need all indices to be different."""
        if not self.small(places, MANY) or not places.dim() or not self.unknown(places):
            return
        dim = kwargs.get("dim", next((arg for arg in args[1:] if type(arg) is int), -1))
        if type(dim) is not int:
            return
        self.assume(
            "numbers that the program computes on the GPU and sorts are assumed to be in order "
            "already"
        )
        order = self.torch.arange(places.size(dim), device="cpu").view(
            [-1 if d == dim % places.dim() else 1 for d in range(places.dim())]
        )
        self.settle(places, order.expand(places.shape).clone())

    def changed(self, function):
        """Wraps a method that writes into a tensor. The new values are known if the written values
        are known and the old ones are either known or all overwritten."""
        overwrites = function.__name__ in ("copy_", "fill_")

        @functools.wraps(function)
        def wrapper(tensor, *args, **kwargs):
            values = whole = None
            if self.small(tensor):
                if overwrites and not tensor.is_floating_point():
                    values = self.values_of((*args, *kwargs.values()))
                    values = values and [
                        self.torch.zeros(tensor.shape, dtype=tensor.dtype, device="cpu"),
                        *values,
                    ]
                else:
                    values = self.values_of((tensor, *args, *kwargs.values()))
                if values is not None:
                    whole = self.whole(tensor)
                before = version(tensor)
            result = function(tensor, *args, **kwargs)
            if values is not None:
                value, more, named = (
                    values[0].clone(),
                    values[1 : len(args) + 1],
                    dict(zip(kwargs, values[len(args) + 1 :])),
                )
                if self.computed(lambda: (function(value, *more, **named),)):
                    self.settle(tensor, value)
                    self.wrote(tensor, before)
                    self.changed_part(whole, tensor, value)
            if "_vramscope_stays" in getattr(tensor, "__dict__", ()) and self.kept(tensor) is None:
                self.release(tensor)
            return result

        return wrapper

    def viewed(self, function):
        """Wraps a view, slice or reshape. For example, labels[:, 1:] is known if labels is
        known."""

        @functools.wraps(function)
        def wrapper(tensor, *args, **kwargs):
            result = function(tensor, *args, **kwargs)
            if result is tensor or not self.plain(tensor) or not self.small(result):
                return result
            value = self.kept(tensor)
            known = None if value is None else self.values_of(args)
            if function.__name__ == "detach":
                aliases.detached(result, tensor)
            if known is not None:
                self.keep_part(result, function(value, *known, **kwargs))
            return result

        return wrapper

    def shaped(self, function, name):
        """Wraps expand_as(), view_as() and reshape_as()."""

        @functools.wraps(function)
        def wrapper(tensor, other):
            result = function(tensor, other)
            value = self.kept(tensor) if result is not tensor and self.small(result) else None
            if value is not None:
                self.keep(result, getattr(value, name)(other.shape))
            return result

        return wrapper

    def keep_part(self, part, value):
        """Stores the value of a part. A single integer is also written to emulated memory, because
        PyTorch's C++ code may read it there, for example for arange(height) in `for height, width
        in sizes`."""
        self.keep(part, value)
        if part.dim() == 0 and not part.is_floating_point() and part.dtype is value.dtype:
            self.put(part, value.contiguous())

    def parts(self, function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            result = function(*args, **kwargs)
            tensor = args[0] if args else kwargs.pop("input", kwargs.pop("tensor", None))
            args = args[1:]
            value = self.kept(tensor) if self.small(tensor) else None
            if value is not None:
                keep = self.keep_part if len(result) <= FEW else self.keep
                for part, known in zip(result, function(value, *args, **kwargs)):
                    keep(part, known)
            return result

        return wrapper

    def follows(self, function):
        """Wraps reductions and scans (sum, max, cumsum, ...) of small integer tensors, such as
        lengths, message sizes and offsets. Also handles floating-point tensors of few elements
        whose values are known, and empty tensors (sum 0, product 1)."""
        binary = self.derived(function)  # max(a, b)

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            if kwargs.get("out") is not None:
                return self.into(function, args, kwargs)
            tensor = args[0] if args else kwargs.get("input")
            if not self.plain(tensor) or not tensor.is_cuda or tensor.is_complex():
                return function(*args, **kwargs)
            if any(isinstance(arg, self.torch.Tensor) for arg in (*args[1:], kwargs.get("other"))):
                return binary(*args, **kwargs)
            value = None
            if not tensor.numel() and not self.compiling():
                value = self.torch.empty(tensor.shape, dtype=tensor.dtype, device="cpu")
            elif self.small(tensor, FEW if tensor.is_floating_point() else None):
                value = self.value(tensor)
            result = function(*args, **kwargs)
            if value is not None:
                computed = function(
                    value, *args[1:], **{key: arg for key, arg in kwargs.items() if key != "input"}
                )
                for part, number in (
                    ((result, computed),)
                    if isinstance(result, self.torch.Tensor)
                    else zip(result, computed)
                ):
                    if self.small(part):
                        self.restore(part, number)
                if value.numel():
                    self.restore(tensor, value)
            return result

        return wrapper

    def arithmetic(self, function):
        """Wraps binary operators of small integer tensors, and of other tensors whose values are
        known."""
        divides = "div" in function.__name__ or "mod" in function.__name__

        @functools.wraps(function)
        def wrapper(tensor, other):
            torch = self.torch
            if (
                not self.plain(tensor)
                or not tensor.is_cuda
                or not isinstance(other, (int, float, torch.Tensor))
            ):
                return function(tensor, other)
            real = tensor.is_floating_point() or tensor.is_complex()
            if (
                real
                and self.kept(tensor) is None
                or not self.small(tensor, MANY if real else PRODUCTS)
            ):
                return function(tensor, other)
            left = self.value(tensor)
            right = other
            if isinstance(other, torch.Tensor) and other.is_cuda:
                right = self.value(other) if self.small(other, PRODUCTS) else None
            if left is None and right is not None and tensor.numel() == 1 and self.unknown(tensor):
                # an unknown scalar is assumed to be 0
                left = torch.zeros(tensor.shape, dtype=tensor.dtype, device="cpu")
            elif (
                not real
                and left is not None
                and right is None
                and other.numel() == 1
                and not other.is_floating_point()
                and self.unknown(other)
            ):
                right = torch.full(other.shape, int(divides), dtype=other.dtype, device="cpu")
            result = function(tensor, other)
            known = None
            if (
                left is not None
                and right is not None
                and self.plain(result)
                and self.small(result, PRODUCTS)
            ):
                known = self.computed(function, left, right)
            if known is not None:
                self.settle(tensor, left)
                if isinstance(other, torch.Tensor):
                    self.settle(other, right)
                self.settle(result, known)
            return result

        return wrapper

    def kinds(self, tensor):
        """Returns the maximum number of distinct values of a tensor whose values are unknown."""
        of_type = (
            2
            if tensor.dtype is self.torch.bool
            else 1 << 62
            if tensor.is_floating_point()
            else 1 << (8 * tensor.element_size() - 1)
        )
        return min(of_type, getattr(tensor, "_vramscope_classes", of_type))

    def unique(self, function):
        """Wraps torch.unique, whose output size comes from the GPU."""

        @functools.wraps(function)
        def wrapper(tensor, *args, **kwargs):
            torch = self.torch
            if not self.counted_on_gpu(tensor):
                return function(tensor, *args, **kwargs)
            if kwargs.get("dim") is not None:
                return self.unique_along(function)(tensor, *args, **kwargs)
            value = self.peek(tensor)
            output, inverse, counts = function(tensor, *args, **kwargs)
            # for booleans PyTorch computes the output differently
            if len(output) and tensor.dtype is not torch.bool:
                return output, inverse, counts
            if value is None:
                self.assume(
                    "numbers computed on the GPU are assumed to be distinct, as far as their "
                    "data type has enough values"
                )
                value = (
                    (torch.arange(tensor.numel(), device="cpu") % self.kinds(tensor))
                    .to(tensor.dtype)
                    .reshape(tensor.shape)
                )
            expected = function(value, *args, **kwargs)
            output = tensor.new_empty(len(expected[0]))
            if counts is not None and len(expected[2]):
                counts = torch.empty(len(expected[2]), dtype=torch.int64, device=tensor.device)
            for part, number in zip((output, inverse, counts), expected):
                if part is not None and part.shape == number.shape and part.numel():
                    self.put(part, number.contiguous())
            return output, inverse, counts

        return wrapper

    def counted_on_gpu(self, tensor):
        return (
            self.plain(tensor)
            and tensor.is_cuda
            and bool(tensor.numel())
            and not self.compiling()
            and not self.torch.cuda.is_current_stream_capturing()
        )

    def distinct(self, most, function, *args, **kwargs):
        """Calls the function. During the call, the emulated GPU reports at most `most` distinct
        keys."""
        self.count_distinct(most)
        try:
            return function(*args, **kwargs)
        finally:
            self.count_distinct(0)

    def unique_along(self, function):
        """Wraps torch.unique(dim=...). Always requests counts, because PyTorch then uses kernels
        for which the platform can count the distinct keys."""

        @functools.wraps(function)
        def wrapper(tensor, *args, **kwargs):
            if not self.counted_on_gpu(tensor):
                return function(tensor, *args, **kwargs)
            value, counts = self.peek(tensor), dict(kwargs, return_counts=True)
            if value is None:
                self.assume("numbers computed on the GPU are assumed to be distinct")
                result = function(tensor, *args, **counts)
            else:
                expected = function(value, *args, **counts)
                most = expected[0].size(kwargs["dim"] if "dim" in kwargs else args[0])
                result = self.distinct(most, function, tensor, *args, **counts)
                for part, number in zip(result, expected):
                    if part.shape == number.shape and self.small(part):
                        self.settle(part, number)
            return result if kwargs.get("return_counts") else (*result[:2], result[2].new_empty(0))

        return wrapper

    def coalesced(self, function):
        """Wraps coalesce() of a sparse tensor, such as the gradient of an embedding or a graph."""

        @functools.wraps(function)
        def wrapper(tensor):
            if (
                not self.plain(tensor)
                or not tensor.is_cuda
                or tensor.layout is not self.torch.sparse_coo
                or self.compiling()
                or tensor.is_coalesced()
                or not tensor._nnz()
            ):
                return function(tensor)
            places = self.peek(tensor._indices())
            if places is not None:
                numbers = places[0]  # unique numbers are found far faster than unique columns
                for size, row in zip(tensor.shape[1:], places[1:]):
                    numbers = numbers * size + row
                most = numbers.unique().numel()
            else:
                self.assume(
                    "positions in a sparse tensor that are not known are assumed to be distinct"
                )
                most = min(tensor._nnz(), math.prod(tensor.shape[: tensor.sparse_dim()]))
            return self.distinct(most, function, tensor)

        return wrapper

    def scaled(self, function):
        """Wraps GradScaler's update. Gradients are assumed not to overflow, so the scale grows
        after each interval and never shrinks."""

        @functools.wraps(function)
        def wrapper(scale, tracker, found, growth, backoff, interval):
            before, steps = self.peek(scale), self.peek(tracker)
            result = function(scale, tracker, found, growth, backoff, interval)
            if before is not None and steps is not None:
                grows = int(steps) + 1 == interval
                self.restore(scale, before * growth if grows else before)
                self.restore(tracker, steps * 0 if grows else steps + 1)
            return result

        return wrapper

    def sum_in_place(self, function, tensor, other):
        values = self.values_of((tensor, other)) if tensor.numel() <= MANY else None
        before = version(tensor)
        whole = self.whole(tensor) if values is not None else None
        result = function(tensor, other)
        if values is None:
            self.release(tensor)
        else:
            value = function(values[0].clone(), values[1])
            self.restore(tensor, value)
            self.wrote(tensor, before)
            self.changed_part(whole, tensor, value)
        return result

    def counted(self, function):
        """Wraps add_, += and _foreach_add_."""
        changed = self.changed(function)

        @functools.wraps(function)
        def wrapper(tensors, other, *args, **kwargs):
            if (
                isinstance(other, self.torch.Tensor)
                and not args
                and not kwargs
                and self.small(tensors)
            ):
                return self.sum_in_place(function, tensors, other)
            if isinstance(tensors, self.torch.Tensor) and (tensors.numel() > 1 or args or kwargs):
                return changed(tensors, other, *args, **kwargs)
            known = []
            if type(other) in (int, float) and not args and not kwargs:
                for tensor in tensors if isinstance(tensors, (list, tuple)) else (tensors,):
                    number = self.number(tensor)
                    if number is None and self.small(tensor) and tensor.numel() == 1:
                        number = self.kept(tensor)
                    if number is not None:
                        known.append((tensor, number, version(tensor), self.whole(tensor)))
            result = function(tensors, other, *args, **kwargs)
            for tensor, number, before, whole in known:
                self.put(tensor, number + other)
                self.wrote(tensor, before)
                tensor.__dict__.pop("_vramscope_value", None)
                self.changed_part(whole, tensor, number + other)
            return result

        return wrapper

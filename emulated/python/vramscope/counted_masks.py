"""Counts the true elements of masks, on which the sizes of selected tensors depend. A mask that the
GPU would have computed is assumed to be true everywhere, or in the share that routing.py knows."""

import functools

from vramscope import routing
from vramscope.following import Following
from vramscope.known import MANY, place, version


def spread(torch, count, size):
    """Returns `count` evenly spaced positions among `size` positions."""
    return torch.arange(count, device="cpu") * (size // max(1, count))


def first(args, kwargs):
    return args[0] if args else kwargs.get("input")


def second(args, kwargs):
    return args[1] if len(args) > 1 else kwargs.get("mask")


class CountedMasks(Following):
    def counted_mask(self, mask):
        """Returns (mask, count) for a function that will read the number of the mask's true
        elements from the GPU. The count is -1 if the platform itself counts the mask's bytes."""
        known = self.value(mask)
        if known is not None:
            if not mask.is_contiguous():
                mask = mask.contiguous()  # PyTorch would count a copy
            count = int(known.count_nonzero())
            self.tell(mask, count)
            return mask, count
        count = self.told(mask)
        if count is not None:
            return mask, count
        if not self.unknown(mask):
            self.remember(mask, -1)
            return mask, -1
        count = self.routing.share(mask)
        if count is None:
            count = mask.numel()
            self.process.assume(
                "a mask computed on the GPU is assumed to be true everywhere", place()
            )
        else:
            self.assume(routing.EVENLY)
            if not mask.is_contiguous():
                mask = mask.contiguous()
        self.tell(mask, count)
        return mask, count

    def count(self, function, mask_of):
        """Wraps functions that read the number of true elements of a mask from the GPU."""

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            mask = None if self.compiling() else mask_of(args, kwargs)
            if mask is None:
                return function(*args, **kwargs)
            counted, count = self.counted_mask(mask)
            if counted is not mask:
                args = tuple([counted if arg is mask else arg for arg in args])
                kwargs = {key: counted if arg is mask else arg for key, arg in kwargs.items()}
            known = self.value(mask) if count >= 0 and counted is mask else None
            result = function(*args, **kwargs)
            if count >= 0 and counted is mask:
                self.places(result, mask, count, known)
            return result

        return wrapper

    def selected(self, function):
        """Wraps masked_select. The result has as many numbers as the mask selects. They are known
        if the input and the mask are known."""
        counted = self.count(function, second)

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            parts = first(args, kwargs), second(args, kwargs)
            values = [self.value(part) if self.small(part) else None for part in parts]
            result = counted(*args, **kwargs)
            if values[0] is not None and values[1] is not None and kwargs.get("out") is None:
                known = self.computed(function, *values)
                if known is not None and self.small(result) and known.shape == result.shape:
                    self.settle(result, known)
            return result

        return wrapper

    def indexed(self, function):
        """Wraps x[...] and x[...] = y with masks among the indices."""

        @functools.wraps(function)
        def wrapper(tensor, index, *value):
            # PyTorch does not count the mask if a single number is assigned.
            if not self.compiling() and (
                not value or isinstance(value[0], self.torch.Tensor) and value[0].numel() > 1
            ):
                if self.is_mask(index):
                    index = self.counted_mask(index)[0]
                elif type(index) is tuple:
                    index = tuple(
                        [
                            self.counted_mask(part)[0] if self.is_mask(part) else part
                            for part in index
                        ]
                    )
                if self.truth_of_index(index):
                    return self.sound(function)(tensor, index, *value)
            return function(tensor, index, *value)

        return wrapper

    def scattered(self, function):
        """Wraps masked_scatter. Its backward pass selects gradients with the same mask, but at most
        as many gradients as masked_scatter was given values."""

        @functools.wraps(function)
        def wrapper(input, mask, source):
            tensor = input
            if (
                not self.compiling()
                and self.is_mask(mask)
                and isinstance(source, self.torch.Tensor)
            ):
                value = self.value(mask)
                if value is not None:
                    count = int(value.count_nonzero()) * tensor.numel() // mask.numel()
                else:
                    self.assume(
                        "a mask computed on the GPU is assumed to select as many elements as "
                        "there are values to scatter"
                    )
                    count = min(tensor.numel(), source.numel())
                self.count_true(
                    mask.data_ptr() if mask.is_contiguous() and mask.shape == tensor.shape else 0,
                    tensor.numel(),
                    count,
                )
            return function(tensor, mask, source)

        return wrapper

    def truth_of_index(self, index):
        """Returns the value to assume for all zero-dimensional masks among the indices. PyTorch
        reads these back, for example in x[~isnan(x)] if x has no dimensions. Returns None if there
        are no such masks, or if the bytes of one of them are known."""
        truths = [
            part
            for part in (index if type(index) is tuple else (index,))
            if self.plain(part)
            and part.is_cuda
            and part.dtype is self.torch.bool
            and part.dim() == 0
        ]
        if not truths or not all(self.unknown(part) for part in truths):
            return None
        values = [
            bool(value) if (value := self.value(part)) is not None else self.said(part) is not False
            for part in truths
        ]
        self.process.assume(
            "a condition computed on the GPU is assumed to be %s" % str(all(values)).lower(),
            place(),
        )
        return all(values)

    def is_mask(self, index):
        return (
            self.plain(index)
            and index.is_cuda
            and index.dtype in (self.torch.bool, self.torch.uint8)
            and index.dim() > 0
        )

    def tell(self, mask, count):
        """Sets the number of true elements that the platform reports for the mask, now and in a
        backward pass."""
        # If the mask is not contiguous, PyTorch counts a copy, whose address is unknown.
        self.count_true(mask.data_ptr() if mask.is_contiguous() else 0, mask.numel(), count)
        self.remember(mask, count)

    def remember(self, mask, count):
        mask._vramscope_count, mask._vramscope_counted = count, version(mask)

    def told(self, mask):
        """Returns the stored count, or None if there is none or if the mask was written to after
        the count was stored."""
        said = getattr(mask, "__dict__", {})
        return said["_vramscope_count"] if said.get("_vramscope_counted") == version(mask) else None

    def places(self, result, mask, count, known=None):
        """Sets the result of nonzero() and similar functions to the positions at which the mask is
        true. If only their number is assumed, uses evenly spaced positions."""
        torch = self.torch
        parts = result if isinstance(result, tuple) else (result,)
        if (
            count > MANY
            or not parts
            or not all(
                self.plain(part) and part.dtype is torch.int64 and part.is_cuda for part in parts
            )
        ):
            return
        if known is None:
            flat = spread(torch, count, mask.numel())
        else:
            flat = known.flatten().nonzero().flatten()
            if len(flat) != count:
                return
        places = []
        for size in reversed(mask.shape):
            places.insert(0, flat % size)
            flat = flat // size
        if isinstance(result, tuple) and len(parts) == len(places):
            for part, place in zip(parts, places):
                if part.shape == place.shape and part.is_contiguous():
                    self.put(part, self.keep(part, place))
        elif (
            parts is not result
            and places
            and result.shape == (count, len(places))
            and result.t().is_contiguous()
        ):
            self.put(result, torch.stack(places))
            # the result is a transposed view, so its memory, written above, has the positions by
            # dimension
            self.keep(result, torch.stack(places, 1))

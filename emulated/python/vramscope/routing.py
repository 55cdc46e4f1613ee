"""Handles mixtures of experts. A real GPU would compute which token is sent to which expert. A plan
cannot know this, and assumes that the tokens are distributed evenly. A mask of the tokens of one
expert (from one_hot, or from comparing the result of topk or a similar function by ==) is true in
1/n of its places if there are n experts. Where the program counts tokens per expert, all counts are
equal."""

import functools

from vramscope import indexing, overrides


CLASSES = 512  # more classes than this are assumed to be words, not experts
EVENLY = (
    "where the GPU computes classes, such as the expert of each token, all classes are "
    "assumed to occur equally often"
)


class Routing:
    def __init__(self, values):
        self.values = values
        self.torch = values.torch
        self.seen = False

    def share(self, mask):
        """Returns the number of true elements in the mask of one expert, or None for other
        masks."""
        experts = getattr(mask, "_vramscope_experts", None) if self.seen else None
        return max(1, (mask.numel() + experts // 2) // experts) if experts else None

    def chosen(self, function):
        """Wraps one_hot."""

        @functools.wraps(function)
        def wrapper(tensor, num_classes=-1):
            value = self.values.value(tensor) if self.values.small(tensor) else None
            if value is not None:
                result = function(tensor, num_classes if num_classes >= 0 else int(value.max()) + 1)
                if self.values.small(result):
                    self.values.settle(result, function(value, num_classes))
                return result
            result = function(tensor, num_classes)
            if num_classes > 1 and self.values.unknown(tensor):
                # There may be one more class than experts, for places without an expert. That class
                # is assumed to have no tokens.
                result._vramscope_experts = min(
                    num_classes, getattr(tensor, "_vramscope_classes", num_classes)
                )
                self.seen = True
            return result

        return wrapper

    def same(self, function):
        """Wraps functions that return a part or a view of a mask or of chosen experts."""

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            result = function(*args, **kwargs)
            if self.seen:
                tensor = args[0] if args else kwargs.get("input")
                # sort() also returns indices
                part = result[0] if isinstance(result, tuple) and result else result
                for name in ("_vramscope_experts", "_vramscope_classes"):
                    number = getattr(tensor, name, None)
                    if number and type(part) is self.torch.Tensor:
                        setattr(part, name, number)
            return result

        return wrapper

    def picked(self, function, default):
        """Wraps topk() and similar functions, which choose a few places along a dimension."""

        @functools.wraps(function)
        def wrapper(input, *args, **kwargs):
            tensor, result = input, function(input, *args, **kwargs)
            dimension = kwargs.get(
                "dim", args[default] if len(args) > default else -1 if default else None
            )
            if (
                type(dimension) is int
                and self.values.unknown(tensor)
                and tensor.dim()
                and 1 < tensor.size(dimension) <= CLASSES
            ):
                picks = result[1] if isinstance(result, tuple) else result
                if type(picks) is self.torch.Tensor:
                    picks._vramscope_classes = tensor.size(dimension)
                    self.seen = True
            return result

        return wrapper

    def equal(self, function):
        """Wraps `picks == number`, which is the mask of one expert."""

        @functools.wraps(function)
        def wrapper(input, other, **more):
            tensor, result = input, function(input, other, **more)
            if (
                self.seen
                and type(other) is int
                and type(result) is self.torch.Tensor
                and result.numel() > 1
            ):
                classes = getattr(tensor, "_vramscope_classes", None)
                if classes:
                    result._vramscope_experts = classes
            return result

        return wrapper

    def counted(self, function, bins_of):
        """Wraps bincount and histc."""

        @functools.wraps(function)
        def wrapper(input, *args, **kwargs):
            tensor, values, torch = input, self.values, self.torch
            bins = bins_of(args, kwargs)
            value = values.value(tensor) if values.small(tensor) else None
            # bincount adds bins up to the largest value if it was asked for fewer
            if value is not None and type(bins) is int and function.__name__ == "bincount":
                more = {key: arg for key, arg in kwargs.items() if key != "minlength"}
                result = function(
                    tensor, *args[:1], minlength=max(bins, int(value.max()) + 1), **more
                )
                if values.small(result):
                    known = values.values_of((args[:1] or (more.get("weights"),)))
                    if known is not None:
                        values.settle(result, function(value, *known, minlength=bins))
                return result
            result = function(tensor, *args, **kwargs)
            if value is not None and function.__name__ == "histc" and values.small(result):
                values.settle(result, function(value, *args, **kwargs))
                return result
            if (
                type(bins) is int
                and bins > 1
                and values.unknown(tensor)
                and type(result) is torch.Tensor
                and result.shape == (bins,)
                and result.is_contiguous()
            ):
                classes = getattr(tensor, "_vramscope_classes", None)
                count, rest = divmod(tensor.numel(), classes or bins)
                each = torch.zeros(bins, dtype=result.dtype, device="cpu")
                each[:classes] = count
                each[:rest] += 1
                values.put(result, each)
                values.assume(
                    EVENLY
                    if classes
                    else "elements counted by %s() on the GPU are assumed to be spread evenly "
                    "over its bins" % function.__name__
                )
            return result

        return wrapper

    def added(self, function):
        """Wraps scatter_add_ and index_add_, with which a program counts the tokens of each expert
        by adding ones."""

        @functools.wraps(function)
        def wrapper(tensor, *args, **kwargs):
            values, torch = self.values, self.torch
            index = kwargs.get("index", args[1] if len(args) > 1 else None)
            source = kwargs.get("src", kwargs.get("source", args[2] if len(args) > 2 else None))
            before = None
            if (
                values.small(tensor, CLASSES)
                and tensor.dim() == 1
                and len(tensor) > 1
                and values.small(source)
                and source.dim() == 1
                and values.unknown(index)
            ):
                before, ones = values.value(tensor), values.value(source)
            result = function(tensor, *args, **kwargs)
            if before is None or ones is None or not bool((ones == 1).all()):
                return result
            classes = min(getattr(index, "_vramscope_classes", len(before)), len(before))
            each = torch.zeros_like(before)
            each[:classes] = len(ones) // classes
            each[: len(ones) % classes] += 1
            values.restore(tensor, before + each)
            values.assume(EVENLY)
            return result

        return wrapper

    def install(self):
        torch, tensor, stand_in = self.torch, self.torch.Tensor, self.values.stand_in
        overrides.replace(
            torch, torch.nn.functional, "one_hot", self.chosen(torch.nn.functional.one_hot)
        )
        stand_in(
            tensor,
            (
                "permute",
                "transpose",
                "squeeze",
                "to",
                "bool",
                "int",
                "long",
                "view",
                "reshape",
                "flatten",
                "unsqueeze",
                "contiguous",
                "t",
                "sort",
            ),
            self.same,
        )
        stand_in(torch, ("sort",), self.same)
        stand_in(tensor, ("scatter_add_", "index_add_"), self.added)
        indexing.replace(torch, self.same(tensor.__getitem__))
        stand_in(torch, ("eq",), self.equal)
        stand_in(tensor, ("eq", "__eq__"), self.equal)
        for owner in (torch, tensor):
            stand_in(owner, ("topk",), self.picked, 1)
            stand_in(owner, ("argmax", "argmin"), self.picked, 0)
            stand_in(
                owner,
                ("bincount",),
                self.counted,
                lambda args, kwargs: kwargs.get("minlength", args[1] if len(args) > 1 else 0),
            )
            stand_in(
                owner,
                ("histc",),
                self.counted,
                lambda args, kwargs: kwargs.get("bins", args[0] if args else 100),
            )

"""What follows from small integers and truths that are known: lengths, sizes of messages, offsets, padded batches and their masks are
worked out beside the card. Of functions whose results depend on other values nothing is said here; what is guessed is in values.py."""
import functools

from vramscope.known import FEW, MANY, SMALL, Known

PRODUCTS = 1 << 20  # elements of integers that are calculated with: pairs and triplets of a batch's labels

# What makes numbers of nothing: functions of torch, methods of a tensor.
MADE = ("ones", "zeros", "full", "arange", "ones_like", "zeros_like", "full_like")
WRITTEN = ("tensor", "as_tensor", "asarray")  # of what the host has, that is
MADE_BY_TENSOR = ("new_ones", "new_zeros", "new_full")
# What draws numbers: of so many elements at most they are drawn beside the card, any are as good as others.
RANDOM = {"rand": 1 << 20, "randint": 1 << 18, "randperm": 1 << 20}
# What makes integers of integers: functions of torch, most of them methods, too.
DERIVED = ("cat", "concat", "concatenate", "stack", "hstack", "vstack", "masked_fill", "roll", "flip", "gather", "index_select", "tril", "triu",
           "where")
# What gives the same numbers in another shape or type, or some of them.
VIEWED = ("contiguous", "view", "reshape", "flatten", "unsqueeze", "squeeze", "transpose", "permute", "expand", "repeat", "clone", "detach",
          "narrow", "select", "clamp", "long", "int", "bool", "byte", "short", "char")
PARTS = ("unbind", "split", "chunk", "tensor_split")  # many of them: a loop over labels, too
# Methods that write into their tensor.
CHANGED = ("__setitem__", "fill_", "fill_diagonal_", "zero_", "masked_fill_", "scatter_", "scatter_add_", "index_add_")


def _some(arguments):
    """One of the tensors: the first, or the first of a list."""
    first = arguments[0] if arguments else None
    return first[0] if type(first) in (list, tuple) and first else first


class Following(Known):
    generator = None

    def small(self, tensor, most=None):
        """Whether it is a tensor on the card of which something can be known."""
        torch = self.torch
        if self.compiling() or type(tensor) is not torch.Tensor or not tensor.is_cuda or tensor.layout is not torch.strided:
            return False
        if most is None:
            most = MANY if tensor.is_floating_point() or tensor.is_complex() else SMALL // tensor.element_size()
        return 0 < tensor.numel() <= most and self.transforms() is None and not torch.cuda.is_current_stream_capturing()

    def values_of(self, arguments):
        """The arguments with what is known of each tensor in its place; None: of one nothing is."""
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

    def made(self, function):
        """Of what fills a tensor with one number, or counts."""
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            result = function(*args, **kwargs)
            if self.small(result) and kwargs.get("out") is None:
                self.keep(result, function(*args, **dict(kwargs, dtype=result.dtype, device="cpu")))
            return result

        return wrapper

    def drawn(self, function, most):
        """Of random numbers; the program's own generators are left as they are."""
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

    def on_card(self, data):
        return isinstance(data, self.torch.Tensor) and data.is_cuda or isinstance(data, (list, tuple)) and any(map(self.on_card, data[:FEW]))

    def written(self, function):
        """Of what brings the host's numbers onto the card: a launch that reads them, or others beside them, would make them unknown."""
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            result = function(*args, **kwargs)
            data = args[0] if args else kwargs.get("data", kwargs.get("obj"))
            if result is not data and self.small(result) and not self.on_card(data):
                value = function(*args, **dict(kwargs, dtype=result.dtype, device="cpu")).detach()
                self.keep(result, value.clone())  # it may be the host's own memory
            return result

        return wrapper

    def derived(self, function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            values = None
            if not self.compiling() and self.small(_some(args or tuple(kwargs.values()))) and kwargs.get("out") is None:
                values = self.values_of((*args, *kwargs.values()))
            result = function(*args, **kwargs)
            if values is not None and self.small(result):
                self.restore(result, function(*values[:len(args)], **dict(zip(kwargs, values[len(args):]))))
            return result

        return wrapper

    def changed(self, function):
        """Of what writes known numbers into a known tensor."""
        @functools.wraps(function)
        def wrapper(tensor, *args, **kwargs):
            values = self.values_of((tensor, *args, *kwargs.values())) if self.small(tensor) else None
            result = function(tensor, *args, **kwargs)
            if values is not None:
                value = values[0].clone()
                function(value, *values[1:len(args) + 1], **dict(zip(kwargs, values[len(args) + 1:])))
                self.restore(tensor, value)
            return result

        return wrapper

    def viewed(self, function):
        """Of what gives the same numbers in another shape, or some of them: labels without their first column are known as labels are."""
        @functools.wraps(function)
        def wrapper(tensor, *args, **kwargs):
            result = function(tensor, *args, **kwargs)
            kind = self.torch.Tensor
            if result is tensor or type(tensor) is not kind or not self.small(result):
                return result
            value = self.kept(tensor)
            known = None if value is None else self.values_of(args)
            if known is not None:
                self.keep(result, function(value, *known, **kwargs))
            return result

        return wrapper

    def parts(self, function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            result = function(*args, **kwargs)
            tensor = args[0] if args else kwargs.pop("input", kwargs.pop("tensor", None))
            args = args[1:]
            value = self.kept(tensor) if self.small(tensor) else None
            if value is not None:
                for part, known in zip(result, function(value, *args, **kwargs)):
                    self.keep(part, known)
            return result

        return wrapper

    def follows(self, function):
        """Of what makes small integers of small integers (sum, max, cumsum, ...): lengths, sizes of messages, offsets. A few numbers of
        other types that are known do, too, and of nothing the sum is 0 and the product 1."""
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            tensor = args[0] if args else kwargs.get("input")
            if (type(tensor) is not self.torch.Tensor or not tensor.is_cuda or tensor.is_complex() or kwargs.get("out") is not None or
                    any(isinstance(arg, self.torch.Tensor) for arg in args[1:])):
                return function(*args, **kwargs)
            value = None
            if not tensor.numel() and not self.compiling():
                value = self.torch.empty(tensor.shape, dtype=tensor.dtype, device="cpu")
            elif self.small(tensor, FEW if tensor.is_floating_point() else None):
                value = self.value(tensor)
            result = function(*args, **kwargs)
            if value is not None:
                computed = function(value, *args[1:], **{key: arg for key, arg in kwargs.items() if key != "input"})
                for part, number in ((result, computed),) if isinstance(result, self.torch.Tensor) else zip(result, computed):
                    if self.small(part):
                        self.restore(part, number)
                if value.numel():
                    self.restore(tensor, value)
            return result

        return wrapper

    def arithmetic(self, function):
        """+, - and the like of small integers."""
        @functools.wraps(function)
        def wrapper(tensor, other):
            if (type(tensor) is not self.torch.Tensor or tensor.is_floating_point() or not tensor.is_cuda or tensor.is_complex() or
                    not isinstance(other, (int, self.torch.Tensor)) or not self.small(tensor, PRODUCTS)):
                return function(tensor, other)
            left = self.value(tensor)
            right = other
            if isinstance(other, self.torch.Tensor) and other.is_cuda:
                right = self.value(other) if self.small(other, PRODUCTS) else None
            if left is None and right is not None and tensor.numel() == 1 and self.unknown(tensor):
                left = self.torch.zeros(tensor.shape, dtype=tensor.dtype, device="cpu")  # a computed number is 0
            elif left is not None and right is None and other.numel() == 1 and not other.is_floating_point() and self.unknown(other):
                right = self.torch.zeros(other.shape, dtype=other.dtype, device="cpu")
            result = function(tensor, other)
            if left is not None and right is not None and result is not NotImplemented and self.small(result, PRODUCTS):
                self.restore(tensor, left)
                if isinstance(other, self.torch.Tensor):
                    self.restore(other, right)
                self.restore(result, function(left, right))
            return result

        return wrapper

    def unique(self, function):
        """Of torch.unique, whose results are as long as the card says."""
        @functools.wraps(function)
        def wrapper(tensor, *args, **kwargs):
            torch = self.torch
            if (type(tensor) is not torch.Tensor or not tensor.is_cuda or not tensor.numel() or self.compiling() or
                    torch.cuda.is_current_stream_capturing()):
                return function(tensor, *args, **kwargs)
            value = self.peek(tensor)
            output, inverse, counts = function(tensor, *args, **kwargs)
            if len(output):
                return output, inverse, counts
            if value is None:
                self.assume("numbers that are computed are taken to be all different")
                value = torch.arange(tensor.numel(), dtype=tensor.dtype, device="cpu").reshape(tensor.shape)
            expected = function(value, *args, **kwargs)
            output = tensor.new_empty(len(expected[0]))
            if len(expected[2]):
                counts = torch.empty(len(expected[2]), dtype=torch.int64, device=tensor.device)
            for part, number in zip((output, inverse, counts), expected):
                if part.shape == number.shape and part.numel():
                    self.put(part, number.contiguous())
            return output, inverse, counts

        return wrapper

    def sum_in_place(self, function, tensor, other):
        values = self.values_of((tensor, other)) if tensor.numel() <= MANY else None
        result = function(tensor, other)
        if values is None:
            self.release(tensor)
        else:
            self.restore(tensor, function(values[0].clone(), values[1]))
        return result

    def counted(self, function):
        """Of add_ and +=, and of their kind for lists."""
        @functools.wraps(function)
        def wrapper(tensors, other, *args, **kwargs):
            if isinstance(other, self.torch.Tensor) and not args and not kwargs and self.small(tensors):
                return self.sum_in_place(function, tensors, other)
            known = []
            if type(other) in (int, float) and not args and not kwargs:
                for tensor in tensors if isinstance(tensors, (list, tuple)) else (tensors,):
                    number = self.number(tensor)
                    if number is not None:
                        known.append((tensor, number))
            result = function(tensors, other, *args, **kwargs)
            for tensor, number in known:
                self.put(tensor, number + other)
                tensor.__dict__.pop("_vramscope_value", None)
            return result

        return wrapper

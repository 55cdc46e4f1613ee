"""What a program reads back from a card that computes nothing. Bytes that the host has written are known; of what kernels would
have computed, numbers are 0, masks are true everywhere, `isnan` and `isinf` false. Each guess is an assumption, with its place.

Works at PyTorch's Python functions and not by a dispatch mode, under which autograd takes other formulas."""
import ctypes
import functools
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def place():
    """file:line of the program, not of PyTorch or of this package."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_HERE) and os.sep + "torch" + os.sep not in name and not name.startswith("<"):
            return "%s:%d" % (name, frame.f_lineno)
        frame = frame.f_back
    return ""


class Values:
    def __init__(self, process, library):
        self.process = process
        self.torch = process.torch
        self.answer = library.vramscope_emulated_answer
        self.answer.argtypes, self.answer.restype = [ctypes.c_int64], None
        self.known = library.vramscope_emulated_is_known
        self.known.argtypes, self.known.restype = [ctypes.c_uint64, ctypes.c_uint64], ctypes.c_int
        compiler = getattr(self.torch, "compiler", None)
        self.compiling = getattr(compiler, "is_compiling", None) or (lambda: False)

    def unknown(self, tensor):
        """Whether it is on the card and was not copied there."""
        torch = self.torch
        if self.compiling() or type(tensor) is not torch.Tensor or not tensor.is_cuda or not tensor.numel():
            return False
        if torch.cuda.is_current_stream_capturing():
            return False
        return not self.known(tensor.data_ptr(), tensor.numel() * tensor.element_size())

    def truth(self, function):
        """Of item() and bool(): a computed truth is true."""
        @functools.wraps(function)
        def wrapper(tensor):
            if not self.compiling() and tensor.dtype is self.torch.bool and self.unknown(tensor):
                value = tensor.__dict__.get("_vramscope_truth", True)
                self.process.assume("a computed condition is taken to be %s" % str(value).lower(), place())
                function(tensor)  # it waits for the card
                return value
            return function(tensor)

        return wrapper

    def false(self, function):
        @functools.wraps(function)
        def wrapper(tensor, *args, **kwargs):
            result = function(tensor, *args, **kwargs)
            if not self.compiling() and getattr(result, "is_cuda", False):
                result._vramscope_truth = False
            return result

        return wrapper

    def same(self, function):
        """A truth about truths: any(), all()."""
        @functools.wraps(function)
        def wrapper(tensor, *args, **kwargs):
            result = function(tensor, *args, **kwargs)
            if not self.compiling():
                truth = getattr(tensor, "__dict__", {}).get("_vramscope_truth")
                if truth is not None and getattr(result, "is_cuda", False):
                    result._vramscope_truth = truth
            return result

        return wrapper

    def count(self, function, mask_of):
        """Of what asks the card how many elements of a mask are true."""
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            mask = None if self.compiling() else mask_of(args, kwargs)
            if mask is not None and self.unknown(mask):
                self.process.assume("a computed mask is taken to be true everywhere", place(), mask.numel())
                self.answer(mask.numel())
            return function(*args, **kwargs)

        return wrapper


def _first(args, kwargs):
    return args[0] if args else kwargs.get("input")


def _second(args, kwargs):
    return args[1] if len(args) > 1 else kwargs.get("mask")


def install(process):
    torch = process.torch
    try:
        library = ctypes.CDLL(os.path.join(process.settings.emulated, "libvramscope-emulated.so"))
        values = Values(process, library)
    except (OSError, AttributeError):
        return

    def index(args, kwargs):
        mask = args[1] if len(args) > 1 else None
        if isinstance(mask, tuple) and len(mask) == 1:
            mask = mask[0]
        return mask if isinstance(mask, torch.Tensor) and mask.dtype in (torch.bool, torch.uint8) else None

    def condition(args, kwargs):
        return args[0] if len(args) == 1 and not kwargs else None

    tensor = torch.Tensor
    tensor.item = values.truth(tensor.item)
    tensor.__bool__ = values.truth(tensor.__bool__)
    for owner in (torch, tensor):
        for name in ("isnan", "isinf"):
            setattr(owner, name, values.false(getattr(owner, name)))
        for name in ("any", "all"):
            setattr(owner, name, values.same(getattr(owner, name)))
        owner.nonzero = values.count(owner.nonzero, _first)
        owner.argwhere = values.count(owner.argwhere, _first)
        owner.masked_select = values.count(owner.masked_select, _second)
    tensor.__getitem__ = values.count(tensor.__getitem__, index)
    torch.where = values.count(torch.where, condition)

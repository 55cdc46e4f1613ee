"""Runs the most frequent operations on marks and tags as native functions of the library that is
loaded into this process anyway (cupti/python_marks.cpp). The functions are created from the
library's function table, without Python wrappers."""

import ctypes
import os


class _Method(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    ]


def _quiet(torch, call):
    """Makes the call with TorchFunctionModes disabled. The program's own modes must not see that
    the hooks read attributes of tensors."""
    watched, without = (
        getattr(torch._C, "_is_torch_function_mode_enabled", None),
        getattr(torch._C, "DisableTorchFunction", None),
    )
    if watched is None or without is None:
        return call

    def quiet(first, second):
        if not watched():
            return call(first, second)
        with without():
            return call(first, second)

    return quiet


class Native:
    """The library's functions as attributes: mark, mark_at, text, requests, enter, leave, pack,
    unpack, tag, tag_gradients, tag_module. Raises OSError or AttributeError if there is no such
    library."""

    def __init__(self, path=""):
        # PyDLL, because the library's functions use Python objects and need the interpreter's
        # lock.
        self.library = ctypes.PyDLL(path or os.environ.get("VRAMSCOPE_PROGRAM_TAIL", ""))
        methods = self._function("methods", ctypes.c_void_p)
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p] * 3
        at = methods()
        while _Method.from_address(at).name:
            setattr(self, _Method.from_address(at).name.decode(), make(at, None, None))
            at += ctypes.sizeof(_Method)
        self.end = self._function("end", None)
        self.failed = self._function("failed", ctypes.c_int)

    def _function(self, name, result, *arguments):
        function = getattr(self.library, "vramscope_marks_" + name)
        function.restype, function.argtypes = result, list(arguments)
        return function

    def begin(self, path, clock, torch, count, address):
        """`clock` is the clock function for the library, or None for the host's clock. `count` is a
        function that returns a device's number of allocations and frees, or None if the allocator
        reports them to the library."""
        address_of = None if clock is None else ctypes.cast(clock, ctypes.c_void_p)
        pieces = [ctypes.py_object] * 3 + [
            ctypes.c_void_p,
            ctypes.py_object,
            ctypes.c_int,
            ctypes.c_size_t,
        ]
        prepare = self._function("prepare", ctypes.c_int, *pieces)
        self.count = count  # keeps the object alive
        for name in ("tag", "tag_module"):
            setattr(self, name, _quiet(torch, getattr(self, name)))
        if not prepare(
            torch.Tensor,
            torch.nn.Parameter,
            torch._C._cuda_getDevice,
            None if count is None else id(count),
            address,
            torch.cuda.device_count(),
            object.__basicsize__,
        ):
            raise OSError("this Python lacks required functions")
        if not self._function("begin", ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(
            os.fsencode(path), address_of
        ):
            raise OSError("no space to write %s" % path)

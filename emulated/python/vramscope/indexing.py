"""Replaces torch.Tensor.__getitem__.

In C code, a class whose __getitem__ is written in Python counts as a sequence. PyTorch's
torch.Tensor does not. If it did, torch.tensor([a, b]) would query the length of zero-dimensional
tensors. So after the replacement, the slot that makes the class a sequence is cleared, also in
subclasses."""

import ctypes
import sys
import sysconfig

_POINTER = ctypes.sizeof(ctypes.c_void_p)
_replacement = None
_is_sequence = ctypes.pythonapi.PySequence_Check
_is_sequence.argtypes, _is_sequence.restype = [ctypes.py_object], ctypes.c_int


def _item_slot(kind):
    # PyTypeObject's tp_as_sequence
    methods = ctypes.c_void_p.from_address(id(kind) + 13 * _POINTER).value
    return ctypes.c_void_p.from_address(methods + 3 * _POINTER)  # its sq_item


def _kinds(kind):
    yield kind
    for part in kind.__subclasses__():
        yield from _kinds(part)


def replace(torch, getitem):
    """Replaces Tensor.__getitem__, but only if the interpreter's types have the memory layout that
    CPython has had since 3.8."""
    tensor = torch.Tensor
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return
    if _is_sequence(tensor.__new__(tensor)) or _item_slot(tensor).value:
        return
    global _replacement
    first = _replacement is None
    _replacement = tensor.__getitem__ = getitem
    if not _item_slot(tensor).value:
        _replacement = None
        del tensor.__getitem__
        raise RuntimeError("this Python's types have an unknown memory layout")
    for kind in _kinds(tensor):
        _clear(kind)
    if not first:
        return

    def __init_subclass__(cls, **kwargs):
        super(tensor, cls).__init_subclass__(**kwargs)
        _clear(cls)

    tensor.__init_subclass__ = classmethod(__init_subclass__)


def _clear(kind):
    if kind.__getitem__ is _replacement:
        _item_slot(kind).value = None

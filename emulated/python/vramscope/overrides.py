"""Lets programs override and pickle replaced functions. PyTorch passes a function to the __torch_function__ of a class or mode
of the program, which finds it by identity: `func is torch.cat`. PyTorch's C++ code would pass the original function, and
torch.cat is a replacement."""
import functools
import inspect
import os

from vramscope import imports

_HERE = os.path.dirname(os.path.abspath(__file__))


def _overridable(torch, function):
    """Wraps a replacement of a function of torch: classes and modes get the wrapper itself, which is torch's attribute."""
    handle = torch.overrides.handle_torch_function
    overridden = torch._C._has_torch_function_variadic

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        values = (*args, *kwargs.values()) if kwargs else args
        if overridden(*values):
            return handle(wrapper, _each(values), *args, **kwargs)
        for value in values:
            if type(value) in (list, tuple) and overridden(*value):
                return handle(wrapper, _each(values), *args, **kwargs)
        return function(*args, **kwargs)

    return wrapper


def _each(values):
    """The values, with the elements of lists."""
    return [part for value in values for part in (value if type(value) in (list, tuple) else (value,))]


def _rename(function, name):
    """Names the place in torch where pickle finds the function again."""
    function.__module__, function.__qualname__ = "torch", name


def constructors(torch):
    """PyTorch's cached set of functions that take their device from `with torch.device()`. The first call fills it."""
    try:
        from torch.utils import _device
        return _device._device_constructors()
    except (ImportError, AttributeError):  # before PyTorch 2.0
        return set()


def install(process, originals):
    """After functions of torch were replaced. originals: {name: function}, also of functions that stayed."""
    torch, with_device = process.torch, constructors(process.torch)
    for name, original in originals.items():
        function = getattr(torch, name)
        if function is original:
            continue
        function = _overridable(torch, function)
        setattr(torch, name, function)
        _rename(function, name)
        if original in with_device:
            with_device.add(function)
    for name, function in vars(torch.Tensor).items():
        if inspect.isfunction(function) and function.__code__.co_filename.startswith(_HERE):
            _rename(function, "Tensor." + name)
    imports.after(process, "torch._subclasses.fake_tensor", _copies)


def _copies(module):
    """FakeCopyMode compares with the method of the base class, which is not replaced."""
    mode, torch = module.FakeCopyMode, module.torch
    handle = mode.__torch_function__

    @functools.wraps(handle)
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return handle(self, torch._C.TensorBase.clone if func is torch.Tensor.clone else func, types, args, kwargs)

    mode.__torch_function__ = __torch_function__

"""Lets programs override and pickle replaced functions. PyTorch passes a function to the
__torch_function__ of a class or mode of the program. This __torch_function__ may compare the
function by identity: `func is torch.cat`. PyTorch's C++ code would pass the original function, but
torch.cat is now a replacement, so the comparison would be false."""

import functools
import inspect
import operator
import os
import sys
import types

from vramscope import imports, indexing

_HERE = os.path.dirname(os.path.abspath(__file__))
# Collections of functions that `import torch` fills. PyTorch looks up in them the function that a
# __torch_function__ gets or that a traced
# program calls.
_TABLES = {
    "torch.nn.parameter": ("UninitializedTensorMixin._allowed_methods",),
    "torch._prims_common": ("torch_function_passthrough",),
    "torch._library.utils": ("_RANDOM_FUNCTIONS",),
    "torch.fx.operator_schemas": ("_manual_overrides",),
    "torch.ao.quantization.utils": ("func_list", "method_list"),
    "torch.ao.quantization.qconfig_mapping": ("_FIXED_QPARAMS_OP_TO_OBSERVER",),
    "torch.masked.maskedtensor.reductions": (
        "TORCH_REDUCE_MAP",
        "TENSOR_REDUCE_MAP",
        "TORCH_REDUCE_FNS",
        "TENSOR_REDUCE_FNS",
    ),
}


class Builtin:
    """A replacement of a builtin function. Unlike a Python function, it does not turn into a method
    when it is an attribute of a class, and it can be a member of an Enum. The __torch_function__ of
    a class or mode gets this replacement as `func`, because the replacement is torch's
    attribute."""

    __text_signature__ = None

    def __init__(self, torch, function, original):
        functools.update_wrapper(self, original)
        self._function, self._torch = function, torch
        self._overridden = torch._C._has_torch_function_variadic

    def __call__(self, *args, **kwargs):
        values = (*args, *kwargs.values()) if kwargs else args
        if _is_overridden(self._overridden, values):
            return self._torch.overrides.handle_torch_function(self, _each(values), *args, **kwargs)
        return self._function(*args, **kwargs)

    @property
    def __class__(self):
        return types.BuiltinFunctionType

    def __getattr__(self, name):
        if name == "__wrapped__":
            raise AttributeError(name)
        return getattr(self.__wrapped__, name)

    def __repr__(self):
        return repr(self.__wrapped__)

    def __reduce__(self):
        return self.__qualname__


def _overridable(torch, function):
    """Wraps a replacement of a Python function, as Builtin does for a builtin function."""
    overridden = torch._C._has_torch_function_variadic

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        values = (*args, *kwargs.values()) if kwargs else args
        if _is_overridden(overridden, values):
            return torch.overrides.handle_torch_function(wrapper, _each(values), *args, **kwargs)
        return function(*args, **kwargs)

    return wrapper


def _method(torch, function, original):
    """Wraps a replacement of a method. If an argument has a __torch_function__, PyTorch's own
    method runs. It looks the method up in torch.Tensor, finds this wrapper, and passes the wrapper
    to __torch_function__. The replacement runs only when __torch_function__ calls the wrapper. So
    __torch_function__ does not see the calls that the replacement makes."""
    overridden = torch._C._has_torch_function_variadic

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return (
            original
            if _is_overridden(overridden, (*args, *kwargs.values()) if kwargs else args)
            else function
        )(*args, **kwargs)

    return wrapper


def _is_overridden(overridden, values):
    if overridden(*values):
        return not any(isinstance(value, type) for value in values) or overridden(
            *[value for value in values if not isinstance(value, type)]
        )
    for value in values:
        if type(value) in (list, tuple) and overridden(*value):
            return True
    return False


def _original(function):
    """Returns the function of torch that this package has wrapped."""
    while inspect.isfunction(function) and function.__code__.co_filename.startswith(_HERE):
        function = function.__wrapped__
    return function


def _each(values):
    """Returns the values, with each list replaced by its elements."""
    return [
        part for value in values for part in (value if type(value) in (list, tuple) else (value,))
    ]


def _rename(function, name):
    """Sets the function's module and name so that pickle finds the function in torch again."""
    function.__module__, function.__qualname__ = "torch", name


def constructors(torch):
    """Returns PyTorch's cached set of functions that take their device from `with torch.device()`.
    The first call fills the cache."""
    try:
        from torch.utils import _device

        return _device._device_constructors()
    except (ImportError, AttributeError):  # before PyTorch 2.0
        return set()


def replace(torch, owner, name, function):
    """Replaces a function of torch or of one of its modules. A builtin of such a module is also
    replaced in the module of torch._C that defines it."""
    original = getattr(owner, name)
    if inspect.isbuiltin(original):
        function = Builtin(torch, function, original)
        if owner is torch:
            _rename(function, name)
        else:
            setattr(
                operator.attrgetter(original.__module__.partition(".")[2])(torch),
                original.__name__,
                function,
            )
    else:
        function = _overridable(torch, function)
        _rename(function, name)
    setattr(owner, name, function)
    known = torch.jit._builtins._find_builtin(original)
    if known:  # for torch.jit.script, which would compile a Python function
        torch.jit._builtins._register_builtin(function, known)
    return function


def install(process, originals):
    """Call after functions of torch were replaced. `originals` is {name: function}. It also
    contains functions that were not replaced."""
    torch, with_device = process.torch, constructors(process.torch)
    replaced, methods = [], {}
    for name, original in originals.items():
        function = getattr(torch, name)
        if function is original:
            continue
        setattr(torch, name, original)
        function = replace(torch, torch, name, function)
        replaced.append((original, function))
        if original in with_device:
            with_device.add(function)
    for name, function in list(vars(torch.Tensor).items()):
        if inspect.isfunction(function) and function.__code__.co_filename.startswith(_HERE):
            original = _original(function)
            function = _method(torch, function, original)
            replaced.append((original, function))
            if name == "__getitem__":
                indexing.replace(torch, function)
            else:
                setattr(torch.Tensor, name, function)
            if inspect.ismethoddescriptor(original):
                methods[name] = getattr(torch.Tensor, name)
            _rename(function, "Tensor." + name)
    for module, names in _TABLES.items():
        for name in names:
            _add_to_table(module, name, replaced)
    imports.after(process, "torch._subclasses.fake_tensor", _copies)
    for module, call in (
        ("torch._dynamo.trace_rules", _traces_methods),
        ("torch._dynamo.variables.torch_function", _traces_methods_of_subclasses),
    ):
        imports.after(process, module, functools.partial(call, methods))


def _add_to_table(module, name, replaced):
    """Adds replacements to a collection that contains the original functions, if this version of
    torch has it."""
    try:
        table = operator.attrgetter(name)(sys.modules[module])
    except (KeyError, AttributeError):
        return
    for original, function in replaced:
        if original not in table:
            continue
        if isinstance(table, dict):
            table[function] = table[original]
        elif isinstance(table, list):
            table.append(function)
        elif isinstance(table, set):
            table.add(function)


def _traces_methods(methods, module):
    """Adds replaced methods to those that torch.compile puts into its graph. It collects the
    methods that torch.Tensor defines in C++."""
    collect = module.get_tensor_method

    @functools.wraps(collect)
    @functools.cache
    def get_tensor_method():
        return collect() | frozenset(methods.values())

    module.get_tensor_method = get_tensor_method


def _traces_methods_of_subclasses(methods, module):
    """Makes torch.compile trace calls like weight.view(-1) of a tensor subclass that has a
    __torch_function__. It takes Python functions for attributes there."""
    kind = module.TensorWithTFOverrideVariable
    attribute = kind.var_getattr

    @functools.wraps(attribute)
    def var_getattr(self, tx, name):
        if name in methods and inspect.getattr_static(self.python_type(), name) is methods[name]:
            return super(kind, self).var_getattr(tx, name)
        return attribute(self, tx, name)

    kind.var_getattr = var_getattr


def _copies(module):
    """Makes FakeCopyMode recognise the replaced clone(). It compares `func` with
    torch._C.TensorBase.clone, but only torch.Tensor.clone was replaced, so the comparison would be
    false."""
    mode, torch = module.FakeCopyMode, module.torch
    handle = mode.__torch_function__

    @functools.wraps(handle)
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return handle(
            self,
            torch._C.TensorBase.clone if func is torch.Tensor.clone else func,
            types,
            args,
            kwargs,
        )

    mode.__torch_function__ = __torch_function__

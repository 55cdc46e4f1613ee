"""Keeps known values correct for tensors that share memory, and removes them from tensors that are
saved. x.data shares the memory of x but not its version counter, so both counters are checked for
writes. Known values are attributes of tensors, so pickle would save them, too."""

import functools
import weakref

# maximum number of tracked tensors that share one memory; if there are more, the value is forgotten
MOST = 8
# The name of an attribute of tensors. The attribute is a list with an entry for each tensor that
# shares the memory: a detached tensor with the same version counter, the last version seen, and a
# weak reference to the tensor.
_NAME = "_vramscope_shared"


def changed(tensor):
    """Returns whether a tensor that shares this tensor's memory was written to since the last
    call."""
    found = False
    shared = tensor.__dict__[_NAME]
    for number, (other, before, itself) in enumerate(shared):
        now = other._version
        if now != before:
            shared[number], found = (other, now, itself), True
    return found


def tell(tensor, value):
    """Stores this value for the tensor, and for all tensors that share its memory."""
    changed(tensor)  # earlier writes no longer matter
    for *_, itself in tensor.__dict__[_NAME]:
        other = itself()
        if (
            other is not None
            and other.shape == tensor.shape
            and other.dtype is tensor.dtype
            and other.data_ptr() == tensor.data_ptr()
        ):
            changed(other)
            other._vramscope_value, other._vramscope_version = value.clone(), other._version


def detached(tensor, source):
    """Stores that `tensor` was detached from `source`. Both have the same memory and version
    counter, but `tensor` has no `_base` that refers to `source`."""
    if not tensor.is_nested:
        tensor._vramscope_source = weakref.ref(source)


def source(tensor, said):
    """Returns the tensor from which `tensor` was detached, or None if the two no longer share
    memory."""
    other = said.get("_vramscope_source")
    other = other and other()
    return (
        other
        if other is not None and other._version == tensor._version and same_place(other, tensor)
        else None
    )


def same_place(tensor, other):
    return (
        tensor.shape == other.shape
        and tensor.dtype is other.dtype
        and tensor.stride() == other.stride()
        and tensor.data_ptr() == other.data_ptr()
    )


def _share(values, tensor, other):
    shared = tensor.__dict__.setdefault(_NAME, [])
    if len(shared) == MOST:
        values.forget(tensor)
        values.release(tensor)
        shared.clear()
    shared.append((other.detach(), other._version, weakref.ref(other)))


def install(process, values):
    torch = process.torch
    data = torch.Tensor.data
    dispatched = getattr(torch._C, "_len_torch_dispatch_stack", lambda: 0)
    watched = (
        torch._C._is_torch_function_mode_enabled
        if hasattr(torch._C, "_is_torch_function_mode_enabled")
        else lambda: False
    )

    def get(tensor):
        result = data.__get__(tensor)
        if (
            not watched()
            and not dispatched()
            and values.small(tensor)
            and not tensor.is_inference()
        ):
            _share(values, tensor, result)
            _share(values, result, tensor)
            value = values.kept(tensor)
            if value is not None:
                values.keep(result, value.clone())
        return result

    def put(tensor, value):
        data.__set__(tensor, value)
        if values.plain(tensor):
            values.forget(tensor)
            values.release(tensor)
            tensor.__dict__.pop(_NAME, None)
            if (
                values.small(tensor)
                and values.plain(value)
                and not tensor.is_inference()
                and not value.is_inference()
            ):
                _share(values, tensor, value)
                _share(values, value, tensor)
                known = values.kept(value)
                if known is not None:
                    values.keep(tensor, known.clone())

    as_subclass = torch.Tensor.as_subclass

    @functools.wraps(as_subclass)
    def same(tensor, *args, **kwargs):
        result = as_subclass(tensor, *args, **kwargs)
        value = values.kept(tensor) if values.small(tensor) else None
        if value is not None:
            values.keep(result, value)
        return result

    torch.Tensor.as_subclass = same
    deepcopy = torch.Tensor.__deepcopy__

    @functools.wraps(deepcopy)
    def __deepcopy__(tensor, memo):
        """Copies a tensor without the attributes that contain versions, because the copy has
        another version counter."""
        said = getattr(tensor, "__dict__", {})
        value = values.value(tensor) if values.small(tensor) else None
        ours = {name: said.pop(name) for name in list(said) if name.startswith("_vramscope_")}
        try:
            result = deepcopy(tensor, memo)
        finally:
            said.update(ours)
        if value is not None and result is not tensor and values.small(result):
            values.settle(result, value.clone())
        return result

    torch.Tensor.__deepcopy__ = __deepcopy__
    reduce_ex = torch.Tensor.__reduce_ex__

    @functools.wraps(reduce_ex)
    def __reduce_ex__(tensor, protocol):
        """First writes known values into the memory, because pickle saves the bytes of the
        storage."""
        if values.small(tensor) and not tensor.is_floating_point() and tensor.is_contiguous():
            value = values.kept(tensor)
            if value is not None:
                values.put(tensor, value.contiguous())
        return reduce_ex(tensor, protocol)

    torch.Tensor.__reduce_ex__ = __reduce_ex__
    torch.Tensor.data = property(get, put, doc=data.__doc__)
    process.part(
        "writes to shared tensors by other processes are not detected; the plan uses the old "
        "values of these tensors",
        _sent,
        torch,
        values,
    )
    state_of = torch._utils._get_obj_state

    @functools.wraps(state_of)
    def _get_obj_state(obj):
        state = state_of(obj)
        if isinstance(state, tuple) and isinstance(state[0], dict):
            return _without(state[0]), *state[1:]
        return _without(state) if isinstance(state, dict) else state

    torch._utils._get_obj_state = _get_obj_state


def _sent(torch, values):
    """Forgets the known values of a tensor that is sent to another process (torch.multiprocessing),
    because that process may write into it."""
    reductions = torch.multiprocessing.reductions
    reduce = reductions.reduce_tensor

    @functools.wraps(reduce)
    def reduce_tensor(tensor):
        if values.plain(tensor) and tensor.is_cuda:
            values.forget(tensor)
            values.release(tensor)
        return reduce(tensor)

    reductions.reduce_tensor = reduce_tensor
    reductions.init_reductions()


def _without(state):
    return {name: value for name, value in state.items() if not name.startswith("_vramscope_")}

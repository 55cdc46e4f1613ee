"""Stores the values of small integer and boolean tensors on the emulated GPU: those that the host
wrote, those that were also computed on the CPU, and the assumed results of conditions. Bytes are
read in place, because a copy to the host would wait for the GPU."""

import ctypes
import os
import sys
import weakref

from vramscope import aliases

# size limit in bytes of integer and boolean tensors with known values: batches, masks of weights
SMALL = 1 << 24
# maximum number of elements of other tensors with known values, and of tensors that kernels have
# read
MANY = 1 << 14
# maximum number of elements of tensors whose values are also written to emulated memory: sizes,
# lengths, offsets
FEW = 64

_HERE = os.path.dirname(os.path.abspath(__file__))
_LIBRARIES = (os.sep + "torch" + os.sep, os.sep + "triton" + os.sep)


def place():
    """Returns file:line of the innermost frame of the program (not of PyTorch, Triton or this
    package)."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if (
            not name.startswith(_HERE)
            and not any(part in name for part in _LIBRARIES)
            and not name.startswith("<")
        ):
            return "%s:%d" % (name, frame.f_lineno)
        frame = frame.f_back
    return ""


def version(tensor):
    """Returns a number that changes when the tensor is written to. It is constant for inference
    tensors, which have no version counter."""
    return -1 if tensor.is_inference() else tensor._version


def caller():
    """Returns the innermost frame outside of this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return frame


def compiles(torch):
    """Returns a function that tells whether the program is currently not executed but compiled or
    traced (torch.jit.trace, make_fx)."""
    compiling = getattr(getattr(torch, "compiler", None), "is_compiling", None) or (lambda: False)
    traced, proxied = traces(torch), proxies(torch)
    return lambda: compiling() or traced() or proxied()


def traces(torch):
    """Returns a function that tells whether torch.jit.trace is active. While it is, sizes are
    tensors."""
    state = getattr(torch._C, "_get_tracing_state", None) or (lambda: None)
    return lambda: state() is not None


def proxies(torch):
    """Returns a function that tells whether make_fx records every operator."""
    keys = getattr(torch._C, "_TorchDispatchModeKey", None)
    depth, mode = (
        getattr(torch._C, "_len_torch_dispatch_stack", None),
        getattr(torch._C, "_get_dispatch_mode", None),
    )
    if keys is None or depth is None or mode is None:
        return lambda: False
    return lambda: depth() and mode(keys.PROXY) is not None


class Known:
    def __init__(self, process, library):
        self.process = process
        self.torch = process.torch
        # {address of a storage: {(address, bytes) of known values in it: number of tensors with
        # these values}}
        self.holds = {}
        # {address of a storage: {version before a write of known values: version after that
        # write}}
        self.sure = {}
        self.kinds_of_tensors = {self.torch.Tensor: True}
        lazy = getattr(getattr(self.torch.nn, "parameter", None), "UninitializedTensorMixin", None)
        self.uninitialized = () if lazy is None else (lazy,)
        self.known = library.vramscope_emulated_is_known
        self.known.argtypes, self.known.restype = [ctypes.c_uint64, ctypes.c_uint64], ctypes.c_int
        self.stay = library.vramscope_emulated_keep
        self.stay.argtypes, self.stay.restype = (
            [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int],
            None,
        )
        self.compiling = compiles(self.torch)
        functorch = getattr(self.torch._C, "_functorch", None)
        # Returns None outside of vmap and similar transformations.
        self.transforms = getattr(functorch, "peek_interpreter_stack", None) or (lambda: None)

    def plain(self, tensor):
        """Returns whether values of this tensor can be known. The tensor's operators must be
        PyTorch's own, so a subclass of torch.Tensor must have no __torch_dispatch__. Parameters are
        excluded, and also buffers of lazy modules, because they have no size yet."""
        kind = type(tensor)
        known = self.kinds_of_tensors.get(kind)
        if known is None:
            torch = self.torch
            known = self.kinds_of_tensors[kind] = (
                issubclass(kind, torch.Tensor)
                and not issubclass(kind, (torch.nn.Parameter, *self.uninitialized))
                and kind.__torch_dispatch__ is torch._C._disabled_torch_dispatch_impl
            )
        return known

    def assume(self, what):
        self.process.assume(what, place())

    def stand_in(self, owner, names, wrap, *more):
        """Replaces functions of `owner` by the results of `wrap`. Skips and reports a function that
        this version of torch lacks."""
        for name in names:
            function = getattr(owner, name, None)
            if function is None:
                self.process.lacks(
                    "values that the program reads back through this function may be 0",
                    "%s.%s" % (owner.__name__, name),
                )
            else:
                setattr(owner, name, wrap(function, *more))

    def unknown(self, tensor):
        """Returns whether the tensor is on the GPU and its bytes are not known."""
        torch = self.torch
        if self.compiling() or not self.plain(tensor) or not tensor.is_cuda or not tensor.numel():
            return False
        if torch.cuda.is_current_stream_capturing():
            return False
        try:
            return not self.known(tensor.data_ptr(), tensor.numel() * tensor.element_size())
        except RuntimeError:
            return False  # no memory: a functorch or fake tensor

    def readable(self, tensor, size):
        try:
            return self.known(tensor.data_ptr(), size)
        except RuntimeError:
            return False

    def value(self, tensor):
        """Returns the values of a small integer or boolean tensor on the GPU as a CPU tensor, or
        None if they are unknown. Reads them in place, because a copy to the host would wait for the
        GPU."""
        torch = self.torch
        if not self.plain(tensor) or not tensor.is_cuda:
            return None
        kept = self.kept(tensor)
        if kept is not None:
            return kept
        if tensor.is_floating_point() or tensor.is_complex() or not tensor.is_contiguous():
            return None
        size = tensor.numel() * tensor.element_size()
        if not 0 < size <= SMALL or not self.readable(tensor, size):
            return None
        data = bytearray(ctypes.string_at(tensor.data_ptr(), size))
        return self.keep(tensor, torch.frombuffer(data, dtype=tensor.dtype).reshape(tensor.shape))

    def keep(self, tensor, value):
        """Sets the value of the tensor. It is valid until the tensor is written to."""
        tensor._vramscope_value = value
        tensor._vramscope_version = version(tensor)
        if "_vramscope_shared" in tensor.__dict__:
            aliases.tell(tensor, value)
        return value

    def kept(self, tensor):
        said = getattr(tensor, "__dict__", {})
        self.check(tensor, said)
        value = said.get("_vramscope_value")
        if (
            value is not None
            and said["_vramscope_version"] == version(tensor)
            and value.shape == tensor.shape
        ):
            return value
        return self.kept_elsewhere(tensor, said)

    def kept_elsewhere(self, tensor, said):
        """Looks for the values of `tensor` in another tensor: the one from which it was detached,
        or of which it is a view. That tensor may have been written to later."""
        source = aliases.source(tensor, said)
        if source is not None:
            return self.kept(source)
        base = getattr(tensor, "_base", None)
        if (
            base is None
            or "_vramscope_value" not in getattr(base, "__dict__", ())
            or not tensor.is_cuda
        ):
            return None
        whole = self.kept(base)
        if (
            whole is None
            or base.dtype is not tensor.dtype
            or base.is_complex()
            or not base.is_contiguous()
            or not tensor.numel()
        ):
            return None
        offset = tensor.storage_offset() - base.storage_offset()
        return self.keep(
            tensor, whole.contiguous().as_strided(tensor.shape, tensor.stride(), offset).clone()
        )

    def check(self, tensor, said):
        """Drops attributes that are no longer true of the tensor."""
        if "_vramscope_shared" in said and aliases.changed(tensor):
            self.forget(tensor)
            self.release(tensor)
        elif "_vramscope_stays" in said and said["_vramscope_stayed"] != version(tensor):
            now, last = version(tensor), said["_vramscope_stayed"]
            known = self.sure.get(tensor.untyped_storage().data_ptr(), {})
            while last != now and last in known:
                last = known[last]
            if last == now:
                tensor._vramscope_stayed = now
            else:
                self.release(tensor)

    def expose(self, tensor):
        """Writes the known values of a tensor into emulated memory. Call before a part of the
        tensor changes."""
        if (
            tensor is not None
            and self.plain(tensor)
            and 0 < tensor.numel() <= FEW
            and tensor.is_contiguous()
            and not tensor.is_floating_point()
        ):
            value = self.kept(tensor)
            if value is not None:
                self.put(tensor, value.contiguous())

    def wrote(self, tensor, before):
        """Call after known values were written into the tensor. `before` is its version before the
        write."""
        now = version(tensor)
        if before != now and getattr(tensor, "_vramscope_stayed", None) == now:
            self.sure.setdefault(tensor.untyped_storage().data_ptr(), {})[before] = now

    def release(self, tensor):
        """Call when the bytes that put() stored are no longer the tensor's values."""
        place = tensor.__dict__.pop("_vramscope_stays", None)
        places = self.holds.get(tensor.untyped_storage().data_ptr(), {})
        if place in places:  # a copy of the tensor has a copy of its attributes
            places.pop(place)
            self.stay(*place, 0)

    def forget(self, tensor):
        """Call when the tensor was written to although its version did not change. Drops the values
        stored for it, but not its bytes in emulated memory."""
        for part in (tensor, tensor._base):
            said = getattr(part, "__dict__", {})
            for name in ("value", "truth", "counted", "experts", "classes"):
                said.pop("_vramscope_" + name, None)
            if "_vramscope_stays" in said:
                said["_vramscope_stayed"] = version(part)

    def peek(self, tensor):
        """Returns the values of a small tensor of any type and strides as a CPU tensor, or None if
        they are unknown."""
        torch = self.torch
        value = self.kept(tensor)
        if value is not None or tensor.layout is not torch.strided:
            return value
        span = (
            sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride())) + 1
        ) * tensor.element_size()
        if not 0 < span <= SMALL or not self.readable(tensor, span):
            return None
        data = bytearray(ctypes.string_at(tensor.data_ptr(), span))
        return torch.frombuffer(data, dtype=tensor.dtype).as_strided(tensor.shape, tensor.stride())

    def restore(self, tensor, value):
        """Sets the value. Call after a kernel has read the tensor, or has written `value` into
        it."""
        if self.plain(tensor) and tensor.is_cuda and tensor.dtype is value.dtype:
            self.keep(tensor, value)
            if tensor.is_contiguous() and 0 < tensor.numel() <= FEW:
                self.put(tensor, value.contiguous())

    def say(self, tensor, truth):
        """Sets the result that is assumed if the program branches on the tensor. It is valid until
        the tensor is written to."""
        tensor._vramscope_truth = truth
        tensor._vramscope_said = version(tensor)

    def said(self, tensor):
        """Returns the assumed result (True or False), or None if nothing was assumed."""
        said = getattr(tensor, "__dict__", {})
        truth = said.get("_vramscope_truth")
        return truth if truth is not None and said["_vramscope_said"] == version(tensor) else None

    # --- counters on the GPU: an optimizer whose state was loaded onto the GPU counts its steps
    # there, and divides by values that it computes from the counts ---

    def number(self, tensor):
        """Returns the value of a one-element tensor on the GPU as a CPU tensor. Returns None if the
        value is unknown, and for other tensors."""
        torch = self.torch
        if self.compiling() or not self.plain(tensor) or not tensor.is_cuda or tensor.numel() != 1:
            return None
        size = tensor.element_size()
        self.check(tensor, tensor.__dict__)
        if torch.cuda.is_current_stream_capturing() or not self.readable(tensor, size):
            return None
        return torch.frombuffer(
            bytearray(ctypes.string_at(tensor.data_ptr(), size)), dtype=tensor.dtype
        ).reshape(tensor.shape)

    def put(self, tensor, number):
        """Writes the value into emulated memory. While the tensor exists, kernels do not make the
        value unknown. After that, other tensors may use the memory."""
        size = tensor.numel() * tensor.element_size()
        try:
            self.stay(tensor.data_ptr(), size, 1)
        except RuntimeError:
            return  # no memory: a tensor of functorch
        ctypes.memmove(tensor.data_ptr(), number.data_ptr(), size)
        tensor._vramscope_stayed = version(tensor)
        place = tensor.data_ptr(), size
        if getattr(tensor, "_vramscope_stays", None) != place:
            tensor._vramscope_stays = place
            storage = tensor.untyped_storage().data_ptr()
            places = self.holds.setdefault(storage, {})
            places[place] = places.get(place, 0) + 1
            weakref.finalize(tensor, self.leave, storage, place).atexit = False

    def leave(self, storage, place):
        """Called when a tensor that was passed to put() has been freed. Other tensors may still be
        views of its memory."""
        places = self.holds.get(storage, {})
        count = places.pop(place, 0)
        if count > 1:
            places[place] = count - 1
        elif count:
            self.stay(*place, 0)
            for other in list(places):
                if other[0] < place[0] + place[1] and place[0] < other[0] + other[1]:
                    self.stay(*other, 1)
        if not places:
            self.holds.pop(storage, None)
            self.sure.pop(storage, None)

    def loaded(self, value, depth=0):
        """Keeps the values of tensors that a checkpoint has loaded onto the GPU: single numbers,
        and small integer and boolean tensors, such as the state of a random generator."""
        if isinstance(value, self.torch.Tensor):
            number = self.number(value)
            if number is not None:
                self.put(value, number)
            elif not self.compiling():
                self.value(value)
        elif depth < 8 and isinstance(value, dict):
            for part in value.values():
                self.loaded(part, depth + 1)
        elif depth < 8 and isinstance(value, (list, tuple)):
            for part in value:
                self.loaded(part, depth + 1)

"""Records what autograd saves for backward and when it is released, through default saved-tensor
hooks that return every tensor unchanged.

For each tensor, the hooks return an object (cupti/python_marks.cpp), which Python's garbage
collector does not count. The object is destroyed when the graph releases the tensor. When backward
unpacks the object, the object shows which module saved the tensor, and therefore which module's
backward is running."""

import functools
import weakref

from vramscope.known import place


class SavedTensors:
    def __init__(self, hooks):
        self.recorder = hooks.recorder
        self.autograd = hooks.torch._C._autograd
        self.active = False
        self.process = hooks.process
        self.plain = hooks.torch.Tensor
        self.function = hooks.torch.autograd.function
        hooks.process.part(
            "in a torch.autograd.Function, backward receives other tensor objects than the leaf "
            "tensors that forward saved",
            self.leaves,
        )
        part = getattr(self.autograd, "SavedTensor", None)
        if part is not None:
            part.register_hooks = self.registers(part.register_hooks)
        jit = getattr(hooks.torch, "jit", None)
        for name in ("trace", "trace_module"):
            if hasattr(jit, name):
                setattr(jit, name, self.without(getattr(jit, name)))

    def begin(self):
        """Called on the thread that first uses CUDA. In each backward pass, autograd's threads
        inherit the hooks from it."""
        push, pop = (
            self.autograd._push_saved_tensors_default_hooks,
            self.autograd._pop_saved_tensors_default_hooks,
        )
        push = functools.partial(push, self.recorder.native.pack, self.recorder.native.unpack)
        self.push, self.pop = push, pop
        push()
        self.active = True
        disable, enable = self.disable, self.enable = (
            self.autograd._saved_tensors_hooks_disable,
            self.autograd._saved_tensors_hooks_enable,
        )

        def _saved_tensors_hooks_disable(*args, **kwargs):
            if self.active:  # regions without hooks (torch.func) raise an error if hooks are active
                self.active = False
                pop()
            return disable(*args, **kwargs)

        def _saved_tensors_hooks_enable():
            result = enable()
            if not self.active:
                self.active = True
                push()
            return result

        self.autograd._saved_tensors_hooks_disable = _saved_tensors_hooks_disable
        self.autograd._saved_tensors_hooks_enable = _saved_tensors_hooks_enable

    def registers(self, register_hooks):
        @functools.wraps(register_hooks)
        def wrapper(saved, *hooks):
            try:
                return register_hooks(saved, *hooks)
            except RuntimeError as error:
                if not self.active or "already been set" not in str(error):
                    raise
                self.process.assume(
                    "hooks that the program registers on one saved tensor are not called, so "
                    "this tensor is kept unchanged",
                    place(),
                )

        return wrapper

    def leaves(self):
        """Makes `saved_tensors` of custom functions return a leaf that was an input as the same
        object, with its attributes and its gradient, as autograd does without hooks. Only objects
        that still exist can be returned."""
        context, backward = self.function.FunctionCtx, self.function.BackwardCFunction
        save, saved = context.save_for_backward, backward.saved_tensors

        @functools.wraps(save)
        def save_for_backward(ctx, *tensors):
            leaves = [
                isinstance(one, self.plain) and one.is_leaf and one.requires_grad for one in tensors
            ]
            if self.active and any(leaves):
                ctx._vramscope_leaves = [
                    weakref.ref(one) if leaf else None for one, leaf in zip(tensors, leaves)
                ]
            return save(ctx, *tensors)

        def saved_tensors(ctx):
            found = saved.__get__(ctx)
            leaves = ctx.__dict__.get("_vramscope_leaves", ())
            if len(leaves) != len(found):
                return found
            return tuple(
                [
                    one if leaf is None else self.same(one, leaf())
                    for one, leaf in zip(found, leaves)
                ]
            )

        context.save_for_backward = save_for_backward
        backward.saved_tensors = property(saved_tensors)

    @staticmethod
    def same(tensor, leaf):
        """Returns the leaf if it has the same memory as the tensor. Otherwise returns the tensor:
        for example, the program's own hooks may have moved it to other memory."""
        if (
            leaf is None
            or tensor is None
            or tensor.shape != leaf.shape
            or tensor.device != leaf.device
        ):
            return tensor
        try:
            return leaf if tensor.data_ptr() == leaf.data_ptr() else tensor
        except (RuntimeError, NotImplementedError):
            return tensor  # the tensor has no memory of its own

    def end(self):
        """Removes the hooks if the recording ends and the program continues."""
        if self.active:
            self.active = False
            self.pop()
        self.autograd._saved_tensors_hooks_disable, self.autograd._saved_tensors_hooks_enable = (
            self.disable,
            self.enable,
        )

    def without(self, traces):
        """Wraps torch.jit.trace so that it runs without hooks. With hooks, it would trace the
        hooks' tensors and report that two traces differ."""

        @functools.wraps(traces)
        def wrapper(*args, **kwargs):
            if not self.active:
                return traces(*args, **kwargs)
            self.active = False
            self.pop()
            try:
                return traces(*args, **kwargs)
            finally:
                if not self.active:
                    self.push()
                    self.active = True

        return wrapper

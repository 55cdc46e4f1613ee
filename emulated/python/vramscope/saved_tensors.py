"""What autograd saves for backward, and when it lets go: default saved-tensor hooks that hand every tensor back as it was.

Autograd gets an object for each tensor (cupti/python_marks.cpp), which is none that Python's collector counts: its death is the moment
at which the graph lets go of the tensor. Which module saved it tells, when it is asked for, whose backward runs."""

import functools


class SavedTensors:
    def __init__(self, hooks):
        self.recorder = hooks.recorder
        self.autograd = hooks.torch._C._autograd
        self.active = False
        jit = getattr(hooks.torch, "jit", None)
        for name in ("trace", "trace_module"):
            if hasattr(jit, name):
                setattr(jit, name, self.without(getattr(jit, name)))

    def begin(self):
        """On the thread that uses CUDA first; autograd's threads inherit it with every backward."""
        push, pop = self.autograd._push_saved_tensors_default_hooks, self.autograd._pop_saved_tensors_default_hooks
        push = functools.partial(push, self.recorder.native.pack, self.recorder.native.unpack)
        self.push, self.pop = push, pop
        push()
        self.active = True
        disable, enable = self.disable, self.enable = self.autograd._saved_tensors_hooks_disable, self.autograd._saved_tensors_hooks_enable

        def _saved_tensors_hooks_disable(*args, **kwargs):
            if self.active:  # such regions (torch.func) refuse to begin under any hooks
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

    def end(self):
        """Of a recording that ends before the program does."""
        if self.active:
            self.active = False
            self.pop()
        self.autograd._saved_tensors_hooks_disable, self.autograd._saved_tensors_hooks_enable = self.disable, self.enable

    def without(self, traces):
        """Of torch.jit.trace, which would write down what hooks are handed, and find that it has not done the same twice."""
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

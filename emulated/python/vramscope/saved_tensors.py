"""Records what autograd saves for backward and when it is released, through default saved-tensor hooks that return
every tensor unchanged.

For each tensor, the hooks return an object (cupti/python_marks.cpp), which Python's garbage collector does not count.
The object is destroyed when the graph releases the tensor. When backward unpacks the object, it names the module that
saved the tensor; that module's backward is running."""

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
        """Called on the thread that first uses CUDA; autograd's threads inherit the hooks with every backward."""
        push, pop = self.autograd._push_saved_tensors_default_hooks, self.autograd._pop_saved_tensors_default_hooks
        push = functools.partial(push, self.recorder.native.pack, self.recorder.native.unpack)
        self.push, self.pop = push, pop
        push()
        self.active = True
        disable, enable = self.disable, self.enable = self.autograd._saved_tensors_hooks_disable, self.autograd._saved_tensors_hooks_enable

        def _saved_tensors_hooks_disable(*args, **kwargs):
            if self.active:  # such regions (torch.func) raise an error if hooks are active
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
        """For a recording that ends before the program does."""
        if self.active:
            self.active = False
            self.pop()
        self.autograd._saved_tensors_hooks_disable, self.autograd._saved_tensors_hooks_enable = self.disable, self.enable

    def without(self, traces):
        """Wraps torch.jit.trace, which would trace the hooks' tensors and find that two traces differ."""
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

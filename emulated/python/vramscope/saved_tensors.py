"""What autograd saves for backward, and when it lets go: default saved-tensor hooks that hand every tensor back as it was.

A tensor is kept in a table, and autograd gets its number there, an int that is no tracked object of Python's collector: its death
is the moment at which the graph lets go of the tensor. Which module saved it tells, when it is asked for, whose backward runs."""
import gc


class SavedTensors:
    def __init__(self, hooks):
        self.hooks = hooks
        self.recorder = hooks.recorder
        self.autograd = hooks.torch._C._autograd
        self.tensors = {}
        self.modules = {}
        self.addresses = {}
        self.count = 0
        self.active = False
        self.in_module = -1  # that the running backward is in
        table, modules, addresses, recorder = self.tensors, self.modules, self.addresses, self.recorder

        class Key(int):
            __slots__ = ()

            def __del__(self):
                number = int(self)  # the tables must not keep the key itself
                address = addresses.pop(number, 0)
                modules.pop(number, None)
                if address and recorder.recording:
                    recorder.mark("r", address)
                table.pop(number, None)

        self.Key = Key

    def begin(self):
        """On the thread that uses CUDA first; autograd's threads inherit it with every backward."""
        self.autograd._push_saved_tensors_default_hooks(self.pack, self.unpack)
        self.active = True
        disable, enable = self.autograd._saved_tensors_hooks_disable, self.autograd._saved_tensors_hooks_enable

        def _saved_tensors_hooks_disable(*args, **kwargs):
            if self.active:  # such regions (torch.func) refuse to begin under any hooks
                self.active = False
                self.autograd._pop_saved_tensors_default_hooks()
            return disable(*args, **kwargs)

        def _saved_tensors_hooks_enable():
            result = enable()
            if not self.active:
                self.active = True
                self.autograd._push_saved_tensors_default_hooks(self.pack, self.unpack)
            return result

        self.autograd._saved_tensors_hooks_disable = _saved_tensors_hooks_disable
        self.autograd._saved_tensors_hooks_enable = _saved_tensors_hooks_enable

    def pack(self, tensor):
        number = self.count = self.count + 1
        self.tensors[number] = tensor
        try:
            address = tensor.untyped_storage().data_ptr() if tensor.is_cuda else 0
        except (RuntimeError, NotImplementedError):
            address = 0
        self.addresses[number] = address
        names = self.hooks.calls.names
        self.modules[number] = names[-1] if names and names[-1] is not None else -1
        if address and self.recorder.recording:
            self.recorder.mark("s", address)
        return self.Key(number)

    def unpack(self, key):
        if self.hooks.backward_depth and self.recorder.recording:
            module = self.modules.get(int(key), -1)
            if module != self.in_module:
                self.in_module = module
                self.recorder.mark("G", module)
        return self.tensors[int(key)]

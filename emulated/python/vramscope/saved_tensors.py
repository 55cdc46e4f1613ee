"""What autograd saves for backward, and when it lets go: default saved-tensor hooks that hand every tensor back as it was.

A tensor is kept in a table, and autograd gets its number there, an int that is no tracked object of Python's collector: its death
is the moment at which the graph lets go of the tensor. Which module saved it tells, when it is asked for, whose backward runs."""

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
        self.saved = []  # numbers that no mark tells of yet
        self.released = []
        table, modules, addresses, released = self.tensors, self.modules, self.addresses, self.released

        class Key(int):
            __slots__ = ()

            def __del__(self):
                number = int(self)  # the tables must not keep the key itself
                modules.pop(number, None)
                if addresses.pop(number, 0):
                    released.append(number)
                table.pop(number, None)

        self.Key = Key

    def begin(self):
        """On the thread that uses CUDA first; autograd's threads inherit it with every backward."""
        self.autograd._push_saved_tensors_default_hooks(self.pack, self.unpack)
        self.active = True
        self.recorder.before_marks = self.tell
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
        self.tensors[number] = tensor.detach()
        try:
            address = tensor.untyped_storage().data_ptr() if tensor.is_cuda else 0
        except (RuntimeError, NotImplementedError):
            address = 0
        self.addresses[number] = address
        names = self.hooks.calls.names
        self.modules[number] = names[-1] if names and names[-1] is not None else -1
        if address:
            self.saved.append(number)
        return self.Key(number)

    def tell(self, device, requests):
        """What was saved and released since the last mark, at the place of the next: a place costs more than a tensor."""
        saved, released = self.saved, self.released
        if saved:
            rows = []
            for number in saved:
                address = self.addresses.get(number, 0)
                if address:  # else it is gone again
                    rows.append(",%d,%d" % (address, number))
            self.recorder.put_each("s", device, requests, rows)
            saved.clear()
        if released:
            self.recorder.put_each("r", device, requests, [",%d" % number for number in released])
            released.clear()

    def unpack(self, key):
        if self.hooks.backward_depth and self.recorder.recording:
            module = self.modules.get(int(key), -1)
            if module != self.in_module:
                self.in_module = module
                self.recorder.mark("G", module)
        # Autograd gives what it unpacks its node again: another tensor each time, or the table would keep the node that keeps the key.
        return self.tensors[int(key)].detach()

"""What the host does, told to the platform: it measures nothing of it, and lets as much time pass as the same took where it was recorded
(emulated/core/host_work.h). On a card time passes by itself, and nobody is told."""
import ctypes
import os

ENGINE, PYTHON, OPTIMIZER = 0, 1, 2  # HostThread of the platform


class Nobody:
    """Of a program on a card."""

    def runs(self, what):
        return ENGINE

    def module_called(self):
        pass

    def optimizer_step(self, optimizer, first):
        pass

    def gradients_cleared(self, optimizer):
        pass

    def ends(self):
        pass


class Platform:
    """OSError, AttributeError: there is none, or one of another version."""

    def __init__(self, folder):
        # The interpreter stays locked: another thread must not get its turn because a hook was here.
        library = ctypes.PyDLL(os.path.join(folder, "libvramscope-emulated.so"))

        def function(name, result, *arguments):
            found = getattr(library, "vramscope_emulated_" + name)
            found.restype, found.argtypes = result, list(arguments)
            return found

        self.runs = function("host_runs", ctypes.c_int, ctypes.c_int)
        self.module_called = function("module_called", None)
        self.step = function("optimizer_step", None, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int)
        self.cleared = function("gradients_cleared", None, ctypes.c_uint64)
        self.ends = function("flush", None)  # what the platform says of a process, which it writes at exit() alone
        self.first_step = function("first_optimizer_step", None)

    def optimizer_step(self, optimizer, first):
        self.step(trained(optimizer), sum(len(state) for state in optimizer.state.values() if isinstance(state, dict)), first)

    def gradients_cleared(self, optimizer):
        self.cleared(trained(optimizer))


class Loop(Platform):
    """As long as the embedded loop takes, which is not in Python: to hold the one against the other (tests/oracle)."""

    def __init__(self, folder):
        super().__init__(folder)
        self.runs = lambda what: ENGINE
        self.module_called = lambda: None

    def optimizer_step(self, optimizer, first):
        if first:
            self.first_step()

    def gradients_cleared(self, optimizer):
        pass


def trained(optimizer):
    """So many parameters. Their gradients are not looked at, which would make objects of Python's."""
    return sum(parameter.requires_grad for group in optimizer.param_groups for parameter in group["params"])


def install(process):
    host = Loop if os.environ.get("VRAMSCOPE_HOST") == "loop" else Platform
    process.host = host(process.settings.emulated)
    process.host.runs(PYTHON)


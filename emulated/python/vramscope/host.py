"""Reports to the platform which kind of code the host runs. The platform does not measure the
host's time. It adds the time that code of this kind took in a recording
(emulated/core/host_work.h). On a real GPU nothing is reported."""

import ctypes
import os

ENGINE, PYTHON, OPTIMIZER = 0, 1, 2  # HostThread of the platform


class Nobody:
    """Reports nothing, for a program on a real GPU."""

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
    """Raises OSError or AttributeError if there is no platform, or if the platform has another
    version."""

    def __init__(self, folder):
        # PyDLL keeps the interpreter's lock during calls, so no other thread runs during a hook.
        library = ctypes.PyDLL(os.path.join(folder, "libvramscope-emulated.so"))

        def function(name, result, *arguments):
            found = getattr(library, "vramscope_emulated_" + name)
            found.restype, found.argtypes = result, list(arguments)
            return found

        self.runs = function("host_runs", ctypes.c_int, ctypes.c_int)
        self.module_called = function("module_called", None)
        self.step = function("optimizer_step", None, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int)
        self.cleared = function("gradients_cleared", None, ctypes.c_uint64)
        # Writes the platform's report of this process. Without this call, only exit() writes it.
        self.ends = function("flush", None)
        self.first_step = function("first_optimizer_step", None)

    def optimizer_step(self, optimizer, first):
        self.step(
            trained(optimizer),
            sum(len(state) for state in optimizer.state.values() if isinstance(state, dict)),
            first,
        )

    def gradients_cleared(self, optimizer):
        self.cleared(trained(optimizer))


class Loop(Platform):
    """Uses the host times of the embedded loop, which does not run Python, so that tests/oracle can
    compare the loop with a program."""

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
    """Returns the number of trained parameters. Does not read their gradients, because reading them
    creates Python objects."""
    return sum(
        parameter.requires_grad for group in optimizer.param_groups for parameter in group["params"]
    )


def install(process):
    host = Loop if os.environ.get("VRAMSCOPE_HOST") == "loop" else Platform
    process.host = host(process.settings.emulated)
    process.host.runs(PYTHON)

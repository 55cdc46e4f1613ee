"""Begins to watch a process that has imported torch: installs the hooks in their order, and handles
the process's end."""

import atexit
import functools
import os
import sys

from vramscope import (
    activities,
    allocators,
    compiling,
    counters,
    decompositions,
    devices,
    diffusion,
    extensions,
    generation,
    hooks,
    host,
    initialization,
    ranks,
    recorder,
    toggles,
    uploads,
    values,
    writes,
)
from vramscope.process import Process, Settings


def _watch_the_end(process):
    atexit.register(process.end, "end")
    excepthook = sys.excepthook

    def on_exception(kind, value, traceback):
        process.failed(kind, value)
        excepthook(kind, value, traceback)

    sys.excepthook = on_exception
    _watch_multiprocessing(process)

    exit_at_once = os._exit

    @functools.wraps(exit_at_once)
    def _exit(status):
        if process.mine():
            process.end("exit")
        cuda = getattr(process.torch, "cuda", None)
        # Reports the platform only if this process itself has initialized CUDA. A forked child has
        # only a copy of its parent's platform.
        if cuda is not None and getattr(cuda, "is_initialized", lambda: False)():
            process.host.ends()
        exit_at_once(status)

    os._exit = _exit
    _watch_exec(process)


def _watch_exec(process):
    """Handles os.exec*, with which a process becomes another program. The process keeps its id, but
    does not run Python's exit functions, so its data is written before. Its files are then renamed,
    because the new program writes files with the same names."""

    def ending(function):
        @functools.wraps(function)
        def wrapper(path, *rest):
            if process.mine() and _runs(path):
                process.end("exec")
                cuda = getattr(process.torch, "cuda", None)
                if cuda is not None and getattr(cuda, "is_initialized", lambda: False)():
                    process.host.ends()
                    process.move_aside()
            return function(path, *rest)

        return wrapper

    # All other functions of os.exec* call these two functions.
    os.execv, os.execve = ending(os.execv), ending(os.execve)


def _runs(path):
    """Returns whether an exec of this path can succeed. os.execvp tries every folder of PATH, so
    most of its calls fail."""
    if isinstance(path, int):
        return True
    try:
        return os.path.isfile(path) and os.access(path, os.X_OK)
    except (TypeError, ValueError):
        return False


def _watch_multiprocessing(process):
    """Handles child processes of multiprocessing. If the child's function raises an exception,
    multiprocessing catches and prints it, and runs its finalizers while the exception is being
    handled."""

    def registers(_):
        util.Finalize(None, functools.partial(_finalized, process), exitpriority=0)

    try:
        from multiprocessing import util

        # a spawned child clears its finalizers before it begins
        util.register_after_fork(process, registers)
        registers(None)
    except (ImportError, AttributeError):
        pass


def _finalized(process):
    kind, value, _ = sys.exc_info()
    if kind is not None and not issubclass(kind, (SystemExit, KeyboardInterrupt)):
        process.failed(kind, value)


current = None  # the Process of this process if a plan or a recording watches all of it


def start(torch):
    global current
    settings = Settings()
    process = current = Process(torch, settings)
    uploads.record.attach(process)
    _watch_the_end(process)
    if int(str(torch.__version__).split(".")[0]) < 2:
        process.about["ended"] = "unsupported"
        process.write()
        return
    if not torch.version.cuda:
        return  # built without CUDA: the command line reports it
    if os.environ.get("VRAMSCOPE_PROGRAM_ALLOCATOR"):
        allocators.said(process, os.environ["VRAMSCOPE_PROGRAM_ALLOCATOR"])
    process.recorder = recorder.Recorder(process)
    process.recorder.wrap_the_programs_own()
    process.part("kernels and copies are not recorded", activities.install, process)
    installed = (
        process.part("phases, modules and steps are not recorded", hooks.install, process)
        if settings.hooks == "all"
        else None
    )
    if settings.hooks == "all":
        process.part(
            "the program's readings of PyTorch's memory counters are not recorded",
            counters.install,
            process,
        )
    if settings.emulated:
        process.part("CUDA_VISIBLE_DEVICES has to name the plan's GPUs", devices.install, torch)
        process.part("the host's work takes no time", host.install, process)
        if settings.skip_init:
            process.part(
                "parameters are filled with initial values", initialization.install, process
            )
            process.part("decompositions of weights are computed", decompositions.install, process)
            process.part(
                "weights of diffusers models are read from their files", diffusion.install, process
            )
        process.part(
            "the program's own allocator replaces PyTorch's allocator",
            allocators.install,
            process,
            torch,
        )
        process.part("library kernels are compiled", extensions.install, process)
        process.part("results of earlier compilations are reused", compiling.install, process)
        process.part("large checkpoints take up their full size on disk", writes.install, process)
        process.part("some values that the program reads back are 0", values.install, process)
        process.part("generated texts may end early", generation.install, process)
        if settings.as_rank:
            ranks.install(process)
    process.part("toggles are not applied", toggles.install, process)
    if installed:
        process.part("saving and loading are not recorded", hooks.checkpoints, process, installed)
    # Begins only when CUDA is initialized, because the program may fork before that.
    torch.cuda._lazy_call(process.recorder.begin)

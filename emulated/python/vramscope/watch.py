"""Begins to watch a process that has imported torch: what is hooked, in which order, and its end."""

import atexit
import functools
import os
import sys

from vramscope import activities, compiling, decompositions, diffusion, extensions, generation, hooks, initialization, ranks, recorder, values, writes
from vramscope.process import Process, Settings


def _watch_the_end(process):
    atexit.register(process.end, "end")
    excepthook = sys.excepthook

    def on_exception(kind, value, traceback):
        if process.mine():
            process.ends("exception")
            process.about["exception"] = "%s: %s" % (kind.__name__, str(value)[:2000])
        excepthook(kind, value, traceback)

    sys.excepthook = on_exception

    exit_at_once = os._exit

    @functools.wraps(exit_at_once)
    def _exit(status):
        if process.mine():
            process.end("exit")
        exit_at_once(status)

    os._exit = _exit


def _part(process, what, install, *args):
    """A torch that lacks what some hook stands in for is watched without it, and that is said: the program runs."""
    try:
        return install(process, *args)
    except Exception as error:
        process.assume("hooks are missing with this torch: " + what, "%s: %s" % (type(error).__name__, str(error)[:500]))
        return None


def _part(process, what, install, *args):
    """A torch that lacks what a hook stands in for is watched without that hook, and this is said: the program runs."""
    try:
        return install(process, *args)
    except Exception as error:
        process.assume("hooks are missing with this torch: " + what, "%s: %s" % (type(error).__name__, str(error)[:500]))
        return None


def start(torch):
    settings = Settings()
    process = Process(torch, settings)
    _watch_the_end(process)
    if int(str(torch.__version__).split(".")[0]) < 2:
        process.about["ended"] = "unsupported"
        process.write()
        return
    if not torch.version.cuda:
        return  # built without CUDA: the command line says so
    process.recorder = recorder.Recorder(process)
    process.recorder.wrap_the_programs_own()
    _part(process, "kernels and copies are not told", activities.install)
    installed = _part(process, "phases, modules and steps are not told", hooks.install) if settings.hooks == "all" else None
    if settings.emulated:
        if settings.skip_init:
            _part(process, "parameters are filled", initialization.install)
            _part(process, "factors of weights are computed", decompositions.install)
            _part(process, "weights of diffusers are read", diffusion.install)
        _part(process, "kernels of libraries are compiled", extensions.install)
        _part(process, "what was compiled before counts", compiling.install)
        _part(process, "what the program writes stays where it writes it", writes.install)
        _part(process, "of what the program reads back some is 0", values.install)
        _part(process, "generated texts end where zeros end them", generation.install)
        if settings.as_rank:
            ranks.install(process)
    if installed:
        _part(process, "recomputation is not told", hooks.checkpoints, installed)
    # Not now: a program may fork before it uses CUDA.
    torch.cuda._lazy_call(process.recorder.begin)

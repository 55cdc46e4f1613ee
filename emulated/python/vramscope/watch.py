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
    activities.install(process)
    installed = hooks.install(process) if settings.hooks == "all" else None
    if settings.emulated:
        if settings.skip_init:
            initialization.install(process)
            decompositions.install(process)
            diffusion.install(process)
        extensions.install(process)
        compiling.install(process)
        writes.install(process)
        values.install(process)
        generation.install(process)
        if settings.as_rank:
            ranks.install(process)
    if installed:
        hooks.checkpoints(process, installed)
    # Not now: a program may fork before it uses CUDA.
    torch.cuda._lazy_call(process.recorder.begin)

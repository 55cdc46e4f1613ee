"""Kernels, copies and calls beside the history, and what the card has used: a library that listens to CUPTI and asks NVML, loaded
into this process (cupti/injection.cpp).
The driver has loaded it by itself where CUDA_INJECTION64_PATH reached it; here it is told when to write and when to let go."""
import ctypes
import functools
import os


def install(process):
    path = os.environ.get("VRAMSCOPE_PROGRAM_ACTIVITIES", "")
    if not path:
        return
    try:
        library = ctypes.CDLL(path)
        start, flush, stop, sample = (getattr(library, "vramscope_activities_" + name)
                                      for name in ("start", "flush", "stop", "sample"))
    except (OSError, AttributeError):
        return  # the history is what matters
    for function in (start, flush, stop, sample):
        function.restype, function.argtypes = None, []
    sample.restype = ctypes.c_int
    recorder = process.recorder
    recorder.sample = sample
    recorder.on_begin.append(start)
    recorder.on_flush.append(flush)
    recorder.on_finish.append(stop)
    _let_go_for_the_programs_own(process, start, stop)


def _let_go_for_the_programs_own(process, start, stop):
    """CUPTI has one listener: a program that profiles itself has it meanwhile."""
    profiler = getattr(getattr(process.torch, "autograd", None), "profiler", None)

    def around(name, before, after):
        call = getattr(profiler, name, None)
        if call is None:
            return

        @functools.wraps(call)
        def wrapper(*args, **kwargs):
            before()
            try:
                return call(*args, **kwargs)
            finally:
                after()

        setattr(profiler, name, wrapper)

    def let_go():
        if process.recorder.recording:
            process.assume("kernels and copies are not shown while the program's own profiler runs")
            stop()

    def go_on():
        if process.recorder.recording:
            start()

    around("_prepare_profiler", let_go, lambda: None)
    around("_enable_profiler", let_go, lambda: None)
    around("_disable_profiler", lambda: None, go_on)

"""Records kernels, memcpys, API calls and the GPU memory in use, in addition to the allocator's
history. A library in this process (cupti/injection.cpp) receives them from CUPTI and NVML. The
driver has already loaded this library if the driver got CUDA_INJECTION64_PATH. This module tells
the library when to write and when to release CUPTI."""

import ctypes
import functools
import os
import threading


def install(process):
    path = os.environ.get("VRAMSCOPE_PROGRAM_ACTIVITIES", "")
    if not path:
        return
    try:
        library = ctypes.CDLL(path)
        start, flush, stop, sample = (
            getattr(library, "vramscope_activities_" + name)
            for name in ("start", "flush", "stop", "sample")
        )
    except (OSError, AttributeError):
        return  # the allocator's history is recorded nevertheless
    for function in (start, flush, stop, sample):
        function.restype, function.argtypes = None, []
    sample.restype = ctypes.c_int
    recorder = process.recorder
    recorder.sample = sample
    if hasattr(library, "vramscope_activities_stream"):
        recorder.on_snapshot.append(_Streams(process, library.vramscope_activities_stream))
    operators = _Operators(process)

    def begin():
        start()
        operators.tell()

    def end():
        operators.be_silent()
        stop()

    recorder.on_begin.append(begin)
    recorder.on_flush.append(flush)
    recorder.on_finish.append(end)
    _let_go_for_the_programs_own(process, begin, end)


class _Streams:
    """Maps the allocator's stream handles to CUPTI's stream numbers. Each stream that has memory is
    looked up once."""

    def __init__(self, process, ask):
        self.torch, self.ask, self.known = process.torch, ask, set()
        ask.restype, ask.argtypes = ctypes.c_int, [ctypes.c_int, ctypes.c_uint64]

    def __call__(self, streams):
        current = self.torch._C._cuda_getDevice()
        for device, stream in sorted(set(streams) - self.known):
            for name in {(device, 0), (device, stream)} - self.known:
                if device == current:
                    told = self.ask(*name)
                else:
                    with self.torch.cuda.device(device):
                        told = self.ask(*name)
                if told:
                    self.known.add(name)


class _AtTheEnd:
    """Calls a function when the thread that owns this object ends, on that thread."""

    def __init__(self, call):
        self.call = call

    def __del__(self):
        self.call()


class _Operators:
    """Makes PyTorch's profiler report the begin and the end of each operator to an NVTX tool. The
    tool is the library that also records activities (cupti/operators.cpp). The profiler gets the
    state that torch.autograd.profiler.emit_nvtx sets. Autograd's threads inherit that state from
    the thread that calls backward."""

    def __init__(self, process):
        self.telling = None  # the thread whose operators are reported
        self.thread = threading.local()
        bindings = getattr(process.torch, "_C", None)
        self.autograd, self.profiler = (
            getattr(bindings, "_autograd", None),
            getattr(bindings, "_profiler", None),
        )

    def tell(self):
        try:
            if (
                os.environ.get("VRAMSCOPE_PROGRAM_OPERATORS") != "1"
                or self.telling is not None
                or self.autograd._profiler_enabled()
            ):
                return
            profiler = self.profiler
            config = profiler.ProfilerConfig(
                profiler.ProfilerState.NVTX,
                False,
                False,
                False,
                False,
                False,
                profiler._ExperimentalConfig(),
            )
            scope = profiler.RecordScope
            self.autograd._enable_profiler(config, set(), {scope.FUNCTION, scope.BACKWARD_FUNCTION})
        except (AttributeError, RuntimeError, TypeError):
            return  # kernels then have no operator
        self.telling = threading.get_ident()
        # PyTorch warns if a thread ends while its operators are reported
        self.thread.end = _AtTheEnd(self.be_silent)

    def be_silent(self):
        if self.telling != threading.get_ident():
            return
        self.telling = None
        self.autograd._disable_profiler()


def _let_go_for_the_programs_own(process, start, stop):
    """Stops using CUPTI while the program profiles itself, because CUPTI has only one
    subscriber."""
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
            process.assume(
                "kernels and copies are not recorded while the program's own profiler runs"
            )
            stop()

    def go_on():
        if process.recorder.recording:
            start()

    around("_prepare_profiler", let_go, lambda: None)
    around("_enable_profiler", let_go, lambda: None)
    around("_disable_profiler", lambda: None, go_on)

"""What the allocator did since the last chunk of the history, in a file that the death of the process leaves: the library that
listens to CUPTI is told by PyTorch's allocator of every request when it is made (cupti/allocations.cpp).

Where that cannot be reached (cupti/README.md) nobody is told: of a process that is killed there is what the last chunk has."""
import ctypes
import os

_METHOD = "_ZN5torch4cuda22CUDAPluggableAllocator22CUDAPluggableAllocator27attachAllocatorTraceTrackerESt8functionIFvRKN3c10%s10TraceEntryEEE"
_METHODS = [_METHOD % "22CachingDeviceAllocator", _METHOD % "4cuda20CUDACachingAllocator"]
_TABLE = "_ZTVN5torch4cuda22CUDAPluggableAllocator22CUDAPluggableAllocatorE"
_ALLOCATOR = "_ZN3c104cuda20CUDACachingAllocator9allocatorE"


class Tail:
    def __init__(self, torch):
        self.torch = torch
        self.library = None
        self.requests = None  # of a device, so far: as the history has them
        self.path = ""

    def attach(self):
        """When CUDA has been initialized."""
        path = os.environ.get("VRAMSCOPE_PROGRAM_TAIL", "")
        if not path or getattr(self.torch.cuda, "get_allocator_backend", lambda: "native")() != "native":
            return
        try:
            library = ctypes.CDLL(path)
            attach, begin, end, requests = (getattr(library, "vramscope_history_" + name)
                                            for name in ("attach", "begin", "end", "requests"))
        except (OSError, AttributeError):
            return
        attach.restype, attach.argtypes = ctypes.c_int, [ctypes.c_void_p] * 3
        begin.restype, begin.argtypes = ctypes.c_int, [ctypes.c_char_p]
        end.restype, end.argtypes = None, []
        requests.restype, requests.argtypes = ctypes.c_uint64, [ctypes.c_int]
        allocator, table = self._address([_ALLOCATOR]), self._address([_TABLE])
        method = self._address(_METHODS)
        if allocator and table and method and attach(allocator, table, method):
            self.library, self.requests = library, requests

    def _address(self, names):
        folder = os.path.join(os.path.dirname(self.torch.__file__), "lib")
        for file in ("libc10_cuda.so", "libtorch_cuda.so", "libtorch_python.so"):
            try:
                library = ctypes.CDLL(os.path.join(folder, file), mode=os.RTLD_NOLOAD | os.RTLD_NOW)
            except OSError:
                continue
            for name in names:
                try:
                    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
                except AttributeError:
                    pass
        return None

    def begin(self, path):
        """Another file. The one before, or "": it goes when the chunk is there that has what it says."""
        before = self.path
        if self.library is None or before == path:
            return ""
        self.path = path if self.library.vramscope_history_begin(path.encode()) else ""
        return before

    def end(self, written):
        if self.library is not None:
            self.library.vramscope_history_end()
            if written:
                remove(self.path)
            self.library, self.path = None, ""


def remove(path):
    if path:
        try:
            os.unlink(path)
        except OSError:
            pass

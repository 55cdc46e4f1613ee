"""Writes the allocator's history to a file that survives if the process is killed. PyTorch's
allocator reports every allocation and free to the library that listens to CUPTI
(cupti/allocations.cpp).

A history consists of chunks, each of which is a file. If that library can also read the stacks that
PyTorch captured (`stacks`), it writes the chunks itself, and no Python objects are created for
them. Otherwise its file contains only the entries since the last chunk. If the allocator's tracker
is not found (cupti/README.md), a killed process leaves only the chunks."""

import ctypes
import os
import sys

_METHOD = (
    "_ZN5torch4cuda22CUDAPluggableAllocator22CUDAPluggableAllocator"
    "27attachAllocatorTraceTrackerESt8functionIFvRKN3c10%s10TraceEntryEEE"
)
_METHODS = [_METHOD % "22CachingDeviceAllocator", _METHOD % "4cuda20CUDACachingAllocator"]
_TABLE = "_ZTVN5torch4cuda22CUDAPluggableAllocator22CUDAPluggableAllocatorE"
_ALLOCATOR = "_ZN3c104cuda20CUDACachingAllocator9allocatorE"


class Tail:
    def __init__(self, torch):
        self.torch = torch
        self.library = None
        # function that counts a device's allocations and frees so far, as in the history
        self.requests = None
        self.path = ""
        self.stacks = False  # whether the rows of the file have stacks
        self.stacks_file = None

    def attach(self):
        """Called after CUDA has been initialized."""
        path = os.environ.get("VRAMSCOPE_PROGRAM_TAIL", "")
        if (
            not path
            or getattr(self.torch.cuda, "get_allocator_backend", lambda: "native")() != "native"
        ):
            return
        try:
            library = ctypes.CDLL(path)
            # keeps the interpreter's lock, because its functions call Python
            locked = ctypes.PyDLL(path)
            attach, begin, end, requests = (
                getattr(library, "vramscope_history_" + name)
                for name in ("attach", "begin", "end", "requests")
            )
        except (OSError, AttributeError):
            return
        attach.restype, attach.argtypes = ctypes.c_int, [ctypes.c_void_p] * 3
        begin.restype, begin.argtypes = ctypes.c_int, [ctypes.c_char_p, ctypes.c_int]
        end.restype, end.argtypes = None, []
        requests.restype, requests.argtypes = ctypes.c_uint64, [ctypes.c_int]
        allocator, table = self._address([_ALLOCATOR]), self._address([_TABLE])
        method = self._address(_METHODS)
        if allocator and table and method and attach(allocator, table, method):
            self.library, self.locked, self.requests = library, locked, requests

    def read_stacks(self, path):
        """Returns whether rows have stacks from now on. These stacks are written to the file at
        `path`."""
        try:
            captured = self.torch._C._profiler.gather_traceback(
                python=True, script=False, cpp=False
            )
            object_of = ctypes.c_void_p.from_address(id(captured) + object.__basicsize__).value
            fits = self.locked.vramscope_history_stacks
            fits.restype, fits.argtypes = ctypes.c_int, [ctypes.c_void_p] * 2
            if (
                self.library is None
                or not object_of
                or not fits(object_of, id(sys._getframe().f_code))
            ):
                return False
        except (AttributeError, TypeError, RuntimeError):
            return False
        self.stacks_file = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666
        )
        self.write_stacks = self.locked.vramscope_history_write_stacks
        self.stacks = True
        return True

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

    def begin(self, path, keep=False):
        """Starts another file. Returns the path of the previous file, or "". With `keep`, the
        previous file becomes a chunk of the history. Otherwise the caller must write its contents
        as a chunk and then remove it."""
        before = self.path
        if self.library is None or before == path:
            return ""
        self.path = path if self.library.vramscope_history_begin(path.encode(), int(keep)) else ""
        return before

    def chunk_ends(self, path):
        """Makes a chunk of the rows since the last chunk, and continues in a new file at `path`.
        Returns whether there were any rows."""
        rows = self.library.vramscope_history_rows
        rows.restype, rows.argtypes = ctypes.c_uint64, []
        if not rows():
            return False
        if not self.write_stacks(self.stacks_file):
            raise OSError("no space to write stacks")
        self.begin(path, keep=True)
        return True

    def streams(self):
        """Returns (device, handle) of each stream with allocations."""
        stream, handle, found = self.library.vramscope_history_stream, ctypes.c_uint64(), []
        stream.restype, stream.argtypes = (
            ctypes.c_int,
            [ctypes.c_int, ctypes.POINTER(ctypes.c_uint64)],
        )
        while True:
            device = stream(len(found), ctypes.byref(handle))
            if device < 0:
                return found
            found.append((device, handle.value))

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

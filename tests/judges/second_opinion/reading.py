"""A recorded snapshot as plain Python values, from the file itself; nothing in it is executed."""
import ctypes
import ctypes.util
import gzip
import io
import json
import pickle
import shutil
import subprocess


class Unreadable(Exception):
    """The file is not a snapshot that Python can read."""


class Skip(Exception):
    """Something that is needed to read the file is missing on this computer."""


class _Values(pickle.Unpickler):
    def find_class(self, module, name):
        raise Unreadable(f"wants to import {module}.{name}")


class _Salvage(pickle._Unpickler):  # the Python implementation, whose stack can be read
    def find_class(self, module, name):
        raise Unreadable(f"wants to import {module}.{name}")

    def whole_part(self):
        """The objects that have been built when the file ends: containers are filled with the
        waiting objects."""
        try:
            return self.load(), False
        except UnicodeDecodeError as error:  # continues, but not for Python
            raise Unreadable(f"text that is none: {error}")
        except (EOFError, IndexError, pickle.UnpicklingError, ValueError):
            pass
        while self.metastack:
            items, self.stack = self.stack, self.metastack.pop()
            if not self.stack:
                raise Unreadable("ends before anything has begun")
            target = self.stack[-1]
            if isinstance(target, list):
                target.extend(items)
            elif isinstance(target, dict):
                self._fill(target, items)
        if not self.stack:
            raise Unreadable("ends before anything has begun")
        return self.stack[0], True


    @staticmethod
    def _fill(target, items):
        """Keys and values; a placeholder for a key waits for the list before it."""
        last = None
        waiting = iter(items)
        for item in waiting:
            if isinstance(item, str):
                last = target[item] = next(waiting, None)
            elif isinstance(last, list):
                last.append(item)


def _zstd(data):
    if shutil.which("zstd"):
        done = subprocess.run(["zstd", "-dcq"], input=data, capture_output=True)
        return done.stdout  # the existing part of a truncated one
    name = ctypes.util.find_library("zstd")
    if name is None:
        raise Skip("neither the zstd program nor libzstd is here")
    lib = ctypes.CDLL(name)
    lib.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    lib.ZSTD_getFrameContentSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    lib.ZSTD_decompress.restype = ctypes.c_size_t
    lib.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t] * 2
    size = lib.ZSTD_getFrameContentSize(data, len(data))
    if size > 1 << 34:
        raise Skip("libzstd alone needs a file that says its size")
    out = ctypes.create_string_buffer(size)
    if lib.ZSTD_decompress(out, size, data, len(data)) != size:
        raise Unreadable("damaged zstd data")
    return out.raw


def bytes_of(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:4] == b"\x28\xb5\x2f\xfd":
        return _zstd(data)
    if data[:2] == b"\x1f\x8b":
        return gzip.decompress(data)
    return data


def load(path):
    """(contents of the file, whether it ends too early)"""
    data = bytes_of(path)
    if data[:1] in b"[{" and data[:1]:
        try:
            return json.loads(data), False
        except ValueError as error:
            raise Unreadable(f"no JSON: {error}")
    try:
        return _Values(io.BytesIO(data)).load(), False
    except Unreadable:
        raise
    except Exception:
        pass
    try:
        value, cut = _Salvage(io.BytesIO(data)).whole_part()
    except Unreadable:
        raise
    except Exception as error:
        raise Unreadable(f"no pickle: {error}")
    if not cut or not isinstance(value, (dict, list)):
        raise Unreadable("a pickle of something else")
    return value, True

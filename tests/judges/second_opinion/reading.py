"""Reads a recorded snapshot as plain Python values, without executing anything in the file."""

import ctypes
import ctypes.util
import gzip
import io
import json
import pickle
import shutil
import subprocess


class Unreadable(Exception):
    """Raised if Python cannot read the file as a snapshot."""


class Skip(Exception):
    """Raised if this computer lacks a program or library that is needed to read the file."""


class _Values(pickle.Unpickler):
    def find_class(self, module, name):
        raise Unreadable(f"wants to import {module}.{name}")


class _Salvage(pickle._Unpickler):  # unlike the C implementation, this one has an accessible stack
    def find_class(self, module, name):
        raise Unreadable(f"wants to import {module}.{name}")

    def whole_part(self):
        """Returns the objects that were built before the file ended. Adds the objects that are
        still on the stack to their containers."""
        try:
            return self.load(), False
        except UnicodeDecodeError as error:  # the file is not at its end, but Python cannot read on
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
        """Adds keys and values to a dictionary. An item where a key should be belongs to the last
        list."""
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
        return done.stdout  # zstd writes the readable part of a truncated file
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
    """Returns the contents of the file, and whether the file ends too early."""
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

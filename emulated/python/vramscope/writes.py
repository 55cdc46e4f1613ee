"""Makes torch.save and safetensors use little disk space for large values. A plan's tensors contain
zeros, which are not worth gigabytes of disk space. A file gets its library's format with holes in
place of large storages (a sparse file), so that every reader supports it, and no special format is
ever unpickled. A stream in memory cannot have holes: it gets only the shapes, as JSON (shapes.py).

Holes and shapes are used only if the program's files are isolated from the user's; otherwise all
values are written as usual."""

import contextlib
import ctypes
import functools
import io
import json
import math
import os
import stat
import struct
import threading
import weakref
import zipfile
import zlib

from vramscope import imports, known, shapes

LARGE = 1 << 26  # a file gets holes if its tensors have this total size or more
# from this size on, streams in memory get only shapes; ranks send such streams to each other
LARGE_IN_MEMORY = 1 << 20
HOLE = 1 << 20  # size of storages that become holes
SAFETENSORS = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "bfloat16": "BF16",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint8": "U8",
    "bool": "BOOL",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
}


def bytes_of(value, torch, depth=0):
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    if depth < 8 and isinstance(value, dict):
        return sum(bytes_of(part, torch, depth + 1) for part in value.values())
    if depth < 8 and isinstance(value, (list, tuple)):
        return sum(bytes_of(part, torch, depth + 1) for part in value)
    return 0


# --- zip files with holes ---


def _times(matrix, vector):
    result = 0
    for column in matrix:
        if vector & 1:
            result ^= column
        vector >>= 1
    return result


@functools.lru_cache(maxsize=None)
def crc_of_zeros(count):
    """Returns zlib.crc32(bytes(count)) in logarithmic time. A zero byte applies a linear map to the
    CRC register. The powers of the map's matrix are computed by repeated squaring."""

    def one_byte(state):
        for _ in range(8):
            state = state >> 1 ^ (0xEDB88320 if state & 1 else 0)
        return state

    step, state = [one_byte(1 << bit) for bit in range(32)], 0xFFFFFFFF
    while count:
        if count & 1:
            state = _times(step, state)
        step = [_times(step, column) for column in step]
        count >>= 1
    return state ^ 0xFFFFFFFF


class _FromHere:
    """A file whose offsets are counted from its position when this object is created. Offsets in an
    archive are counted from the beginning of the archive."""

    def __init__(self, file):
        self.file, self.base = file, file.tell()
        self.write, self.flush = file.write, file.flush

    def tell(self):
        return self.file.tell() - self.base

    def seek(self, offset, whence=os.SEEK_SET):
        return (
            self.file.seek(offset + (self.base if whence == os.SEEK_SET else 0), whence) - self.base
        )


class SparseWriter:
    """Replaces the part of torch._C.PyTorchFileWriter that torch.save uses. Records are aligned to
    64 bytes, as in PyTorch."""

    def __init__(self, file):
        self.zip = zipfile.ZipFile(_FromHere(file), "w", allowZip64=True)

    def write_record(self, name, data, size):
        if name == ".format_version":
            return  # this record would promise PyTorch's own alignment of storages
        if size >= HOLE:
            self._begin(name, size, crc_of_zeros(size))
            self.zip.fp.seek(size, os.SEEK_CUR)
            return
        data = _content(data, size)
        self._begin(name, size, zlib.crc32(data))
        self.zip.fp.write(data)

    def _begin(self, name, size, crc):
        info = zipfile.ZipInfo("archive/" + name, (1980, 1, 1, 0, 0, 0))
        info.file_size = info.compress_size = size
        info.CRC, info.header_offset = crc, self.zip.fp.tell()
        bare = info.header_offset + len(info.FileHeader(zip64=True))
        padding = -(bare + 4) % 64
        info.extra = struct.pack("<2sH", b"FB", padding) + bytes(padding)
        self.zip.fp.write(info.FileHeader(zip64=True))
        self.zip.filelist.append(info)
        self.zip.NameToInfo[info.filename] = info

    def write_end_of_file(self):
        self.write_record("version", b"3\n", 2)
        self.zip.start_dir = self.zip.fp.tell()
        self.zip._didModify = True
        self.zip.close()


def _content(data, size):
    """Returns the bytes of `data`, which is bytes, text, an address (torch 2.0) or a storage."""
    if isinstance(data, str):
        return data.encode()
    if isinstance(data, (bytes, bytearray)):
        return bytes(data)
    return (
        ctypes.string_at(data if isinstance(data, int) else data.data_ptr(), size) if size else b""
    )


class _Opened:
    """Replaces the class with which torch.serialization opens a writer."""

    def __init__(self, target):
        self.own = isinstance(target, (str, os.PathLike))
        try:
            self.file = open(target, "wb") if self.own else target
        except FileNotFoundError as error:
            raise RuntimeError(
                "Parent directory %s does not exist." % os.path.dirname(os.fspath(target))
            ) from error

    def __enter__(self):
        self.writer = SparseWriter(self.file)
        return self.writer

    def __exit__(self, *args):
        try:
            self.writer.write_end_of_file()
            self.file.flush()
        finally:
            if self.own:
                self.file.close()


def reader_of(torch):
    """Returns a torch._C.PyTorchFileReader that skips holes in the file: it neither reads them nor
    writes to the memory for them."""
    base = torch._C.PyTorchFileReader

    class PyTorchFileReader(base):
        def __init__(self, source, *args):
            self._vramscope_file = None
            with contextlib.suppress(OSError, AttributeError, ValueError, TypeError):  # not a file
                begin = 0 if isinstance(source, (str, os.PathLike)) else source.tell()
                path = (
                    source
                    if isinstance(source, (str, os.PathLike))
                    else "/proc/self/fd/%d" % source.fileno()
                )
                if stat.S_ISREG(os.stat(path).st_mode):
                    file = open(path, "rb", buffering=0)
                    weakref.finalize(self, file.close)
                    self._vramscope_file = file, begin
            super().__init__(source, *args)

        def get_storage_from_record(self, name, count, kind):
            if (
                kind is torch.UntypedStorage
                and count >= shapes.UNTOUCHED
                and self._vramscope_hole(self.get_record_offset(name), count)
            ):
                return shapes.blank(torch, count)
            return super().get_storage_from_record(name, count, kind)

        def _vramscope_hole(self, offset, count):
            if self._vramscope_file is None:
                return False
            file, begin = self._vramscope_file
            # A file system can end a hole only at a block boundary, so up to a page at each end may
            # be data.
            page = 1 << 16
            first, last = begin + offset + page, begin + offset + count - page
            try:
                return (
                    last <= os.fstat(file.fileno()).st_size
                    and os.lseek(file.fileno(), first, os.SEEK_DATA) >= last
                )
            except OSError:  # no data after this position: only a hole until the end
                return True

    return PyTorchFileReader


# --- safetensors ---


class _Zeros:
    """Stands for the bytes of a tensor that is written as a hole."""

    def __init__(self, size):
        self.size = size


def write_safetensors(flattened, path, metadata):
    """Replaces safetensors.serialize_file. Large tensors become holes. Raises KeyError for an
    unknown type."""
    rows = []
    for name, spec in flattened.items():
        if isinstance(spec, dict):
            dtype, shape, data = spec["dtype"], spec["shape"], spec["data"]
            size = data.size if isinstance(data, _Zeros) else len(data)
        else:
            dtype, shape, data, size = spec.dtype, spec.shape, spec.data_ptr, spec.data_len
        rows.append(
            (
                name,
                SAFETENSORS.get(dtype) or _known(dtype),
                [int(length) for length in shape],
                size,
                data,
            )
        )
    # Types with larger elements come first, so that each tensor is aligned.
    rows.sort(key=lambda row: (-row[3] // max(1, math.prod(row[2])), row[0]))
    sparse_safetensors(path, rows, metadata)


def sparse_safetensors(path, rows, metadata=None):
    """Writes a safetensors file. Each of `rows` has name, type, shape, bytes, and the data to write
    (None for a hole)."""
    header, end = {"__metadata__": dict(metadata)} if metadata else {}, 0
    for name, dtype, shape, size, _ in rows:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for *_, size, data in rows:
            if data is None or isinstance(data, _Zeros) or size >= HOLE:
                file.seek(size, os.SEEK_CUR)
            else:
                file.write(_content(data, size))
        file.truncate(8 + len(text) + end)


def _known(dtype):
    if dtype not in SAFETENSORS.values():
        raise KeyError(dtype)
    return dtype


# --- hooks ---


class Writes:
    def __init__(self, process):
        self.process = process
        self.large = threading.local()  # .file: a large value is being saved to a file

    def save(self, function, what, names):
        """Wraps a function that saves. `names` are the names of its first two parameters: the value
        and its destination."""

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            args = list(args) + [kwargs.pop(name) for name in names[len(args) :] if name in kwargs]
            if len(args) < 2:
                return function(*args, **kwargs)
            value, target = args[:2]
            size = bytes_of(value, self.process.torch)
            path = _path_of(target)
            if path is None:
                if (
                    hasattr(target, "write")
                    and size > (LARGE_IN_MEMORY if isinstance(target, io.BytesIO) else LARGE)
                    and self.describes()
                ):
                    return self.describe(function, what, value, target, size, args, kwargs)
                return function(*args, **kwargs)
            if self.process.settings.writes_to_disk(path):
                self.process.assume_of(
                    "%s writes a real file with the plan's values. Values that the GPU would "
                    "compute are 0" % what,
                    path,
                    size,
                )
                return function(*args, **kwargs)
            if size <= LARGE:
                return function(*args, **kwargs)
            self.process.assume_of(
                "%s writes large tensors as zeros, which take no disk space (a sparse file)" % what,
                path,
                size,
            )
            self.large.file = True
            try:
                return function(*args, **kwargs)
            finally:
                self.large.file = False

        return wrapper

    def describes(self):
        """Returns whether only shapes may be written to a stream in memory. Without isolation, the
        program might write the stream to a real file, so this is allowed only for streams that
        PyTorch sends to other ranks."""
        return self.process.settings.isolation != "none" or known.caller().f_globals.get(
            "__name__", ""
        ).startswith("torch.distributed.")

    def describe(self, function, what, value, stream, size, args, kwargs):
        try:
            described = shapes.describe(value, self.process.torch)
        except shapes.Unsupported:
            return function(*args, **kwargs)
        self.process.assume(
            "%s writes only the shapes of tensors to a stream, not their values" % what,
            str(getattr(stream, "name", "")),
            size,
        )
        stream.write(described)
        return None

    def load(self, function):
        """Wraps torch.load."""

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            source = args[0] if args else kwargs.get("f")
            location = args[1] if len(args) > 1 else kwargs.get("map_location")
            text = shapes.described(source)
            value = (
                function(*args, **kwargs)
                if text is None
                else shapes.read(text, self.process.torch, location)
            )
            self.process.loaded(value)
            return value

        return wrapper

    def loaded(self, function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            value = function(*args, **kwargs)
            self.process.loaded(value)
            return value

        return wrapper

    def pytorch(self, torch):
        serialization = torch.serialization
        opener = serialization._open_zipfile_writer

        @functools.wraps(opener)
        def _open_zipfile_writer(target):
            return _Opened(target) if getattr(self.large, "file", False) else opener(target)

        serialization._open_zipfile_writer = _open_zipfile_writer
        torch._C.PyTorchFileReader = reader_of(torch)

    def safetensors(self, module):
        module.save_file, module.load_file = (
            self.save(module.save_file, "safetensors", ("tensors", "filename")),
            self.loaded(module.load_file),
        )
        serialize_file, to_bytes = module.serialize_file, getattr(module, "_tobytes", None)

        @functools.wraps(serialize_file)
        def sparse(flattened, filename, metadata=None, **kwargs):
            if not getattr(self.large, "file", False):
                return serialize_file(flattened, filename, metadata=metadata, **kwargs)
            return write_safetensors(flattened, filename, metadata)

        def _tobytes(tensor, name):
            size = tensor.numel() * tensor.element_size()
            return (
                _Zeros(size)
                if getattr(self.large, "file", False) and size >= HOLE
                else to_bytes(tensor, name)
            )

        module.serialize_file = sparse
        if to_bytes is not None:  # safetensors before 0.8
            module._tobytes = _tobytes


def _path_of(target):
    """Returns the path of `target`, which is a path or a stream, or None if the stream is not a
    file."""
    if isinstance(target, (str, os.PathLike)):
        return os.fspath(target)
    try:
        if (
            isinstance(target, (io.BufferedIOBase, io.RawIOBase))
            and target.seekable()
            and stat.S_ISREG(os.fstat(target.fileno()).st_mode)
        ):
            return str(target.name)
    except (OSError, ValueError, AttributeError):
        pass
    return None


def install(process):
    if not process.settings.emulated:
        return
    torch, writes = process.torch, Writes(process)
    torch.save = torch.serialization.save = writes.save(torch.save, "torch.save", ("obj", "f"))
    torch.load = torch.serialization.load = writes.load(torch.load)
    writes.pytorch(torch)
    imports.after(process, "safetensors.torch", writes.safetensors)

"""Encodes a saved value without the numbers in its tensors, for streams in memory that ranks send
each other. The format is JSON: containers, numbers, text and tensors; reading it creates nothing
else, whatever its source.

    b"vramscope: shapes as JSON\\n"
    {"storages": [{"bytes", "device", "data"?}], "value": ...,
     "tensors": [{"storage", "dtype", "shape", "stride", "offset", "requires_grad"?, "parameter"?}]}

In `value`, null, numbers, text and lists are as in JSON; other values are {"KIND": ...} (see
encode()). Tensors that share a storage also share it after reading."""

import base64
import collections
import json
import math
import os

MAGIC = b"vramscope: shapes as JSON\n"
SMALL = 1 << 10  # maximum size of storages whose contents are also written
DEEPEST = 64  # nesting limit of containers
MOST_TEXT, MOST_TENSORS, MOST_BYTES = 1 << 27, 1 << 20, 1 << 44  # limits for reading
# from this size on, the C library maps fresh pages, which are zero and use no memory until written
UNTOUCHED = 1 << 25


def blank(torch, size):
    """Returns memory that reads as zeros. Large memory is not written to, so it takes no space."""
    return (torch.empty if size >= UNTOUCHED else torch.zeros)(
        size, dtype=torch.uint8, device="cpu"
    )


class Unsupported(Exception):
    """Raised for a value that cannot be described."""


class Malformed(RuntimeError):
    def __init__(self, what):
        super().__init__(
            "this stream contains shapes written by vramscope, but is damaged: " + what
        )


class _Encoder:
    def __init__(self, torch):
        self.torch = torch
        self.tensors, self.storages = [], []
        self.numbers = {}  # id of a tensor, _cdata of a storage: its number

    def encode(self, value, depth=0):
        torch, kind = self.torch, type(value)
        if depth > DEEPEST:
            raise Unsupported("nested deeper than %d" % DEEPEST)
        if value is None or kind in (bool, int, float, str):
            return value
        if kind is list:
            return [self.encode(part, depth + 1) for part in value]
        if kind in (dict, collections.OrderedDict):
            pairs = [
                [self.encode(key, depth + 1), self.encode(part, depth + 1)]
                for key, part in value.items()
            ]
            return {"dict" if kind is dict else "ordered": pairs}
        if kind in (tuple, set, frozenset, torch.Size):
            return {kind.__name__: [self.encode(part, depth + 1) for part in value]}
        if kind is bytes:
            return {"bytes": base64.b64encode(value).decode()}
        if kind in (torch.dtype, torch.device):
            return {kind.__name__: str(value)}
        if isinstance(value, torch.Tensor):
            return {"tensor": self.tensor(value)}
        raise Unsupported(kind.__name__)

    def tensor(self, tensor):
        torch = self.torch
        if id(tensor) in self.numbers:
            return self.numbers[id(tensor)]
        local = getattr(tensor, "_local_tensor", tensor)  # this rank's part of a DTensor
        if (
            type(local) not in (torch.Tensor, torch.nn.Parameter)
            or local.layout is not torch.strided
            or local.is_conj()
            or local.is_neg()
        ):
            raise Unsupported(type(tensor).__name__)
        row = {
            "storage": self.storage(local),
            "dtype": str(local.dtype),
            "shape": list(local.shape),
            "stride": list(local.stride()),
            "offset": local.storage_offset(),
        }
        if local.requires_grad:
            row["requires_grad"] = True
        if isinstance(local, torch.nn.Parameter):
            row["parameter"] = True
        self.tensors.append(row)
        self.numbers[id(tensor)] = len(self.tensors) - 1
        return len(self.tensors) - 1

    def storage(self, tensor):
        storage = tensor.untyped_storage()
        key = -storage._cdata  # differs from all ids of tensors
        if key not in self.numbers:
            row = {"bytes": storage.nbytes(), "device": str(storage.device)}
            whole = (
                tensor.numel() * tensor.element_size() == row["bytes"] and tensor.is_contiguous()
            )
            if whole and 0 < row["bytes"] <= SMALL and storage.device.type != "meta":
                row["data"] = base64.b64encode(
                    bytes(tensor.detach().cpu().clone().untyped_storage())
                ).decode()
            self.storages.append(row)
            self.numbers[key] = len(self.storages) - 1
        return self.numbers[key]


def describe(value, torch):
    encoder = _Encoder(torch)
    encoded = encoder.encode(value)
    return (
        MAGIC
        + json.dumps(
            {"storages": encoder.storages, "tensors": encoder.tensors, "value": encoded},
            separators=(",", ":"),
        ).encode()
    )


def described(source):
    """Returns the JSON text after the magic bytes. For other data, returns None, and a stream keeps
    its position."""
    if isinstance(source, (str, os.PathLike)):
        try:
            with open(source, "rb") as file:
                return _text(file) if file.read(len(MAGIC)) == MAGIC else None
        except (OSError, ValueError):
            return None  # the loader raises a better error
    try:
        begin = source.tell()
        if source.read(len(MAGIC)) == MAGIC:
            return _text(source)
        source.seek(begin)
    except (AttributeError, OSError, ValueError, TypeError):
        pass  # not seekable, so not written by this module
    return None


def _text(file):
    text = file.read(MOST_TEXT + 1)
    if len(text) > MOST_TEXT:
        raise Malformed("more than %d MiB" % (MOST_TEXT >> 20))
    return text


def _whole(row, key, most):
    """Returns row[key], which must be an integer from 0 to `most`."""
    number = row.get(key) if isinstance(row, dict) else None
    if type(number) is not int or not 0 <= number <= most:
        raise Malformed("'%s' is %.40r" % (key, number))
    return number


def _sizes(row, key):
    sizes = row.get(key)
    if (
        not isinstance(sizes, list)
        or len(sizes) > 64
        or not all(type(size) is int and 0 <= size <= MOST_BYTES for size in sizes)
    ):
        raise Malformed("'%s' is %.40r" % (key, sizes))
    return sizes


class _Reader:
    def __init__(self, document, torch, location):
        self.torch = torch
        self.restore = torch.serialization._get_restore_location(location)
        storages, tensors = document.get("storages"), document.get("tensors")
        if (
            not isinstance(storages, list)
            or not isinstance(tensors, list)
            or max(len(storages), len(tensors)) > MOST_TENSORS
        ):
            raise Malformed("lists of storages and tensors are missing")
        if sum(_whole(row, "bytes", MOST_BYTES) for row in storages) > MOST_BYTES:
            raise Malformed("more than %d TiB of storages" % (MOST_BYTES >> 40))
        self.storages = [self.storage(row) for row in storages]
        self.tensors = [self.tensor(row) for row in tensors]

    def storage(self, row):
        torch, size, data = self.torch, row["bytes"], row.get("data")
        if data is None:
            storage = blank(torch, size).untyped_storage()
        else:
            content = _bytes(data)
            if len(content) != size:
                raise Malformed("%d bytes of a storage of %d" % (len(content), size))
            storage = torch.tensor(list(content), dtype=torch.uint8, device="cpu").untyped_storage()
        return self.restore(storage, str(row.get("device", "cpu")))

    def tensor(self, row):
        torch = self.torch
        storage = self.storages[_whole(row, "storage", len(self.storages) - 1)]
        dtype = _dtype(row.get("dtype"), torch)
        shape, stride, offset = (
            _sizes(row, "shape"),
            _sizes(row, "stride"),
            _whole(row, "offset", MOST_BYTES),
        )
        if len(shape) != len(stride):
            raise Malformed("%d sizes, %d strides" % (len(shape), len(stride)))
        end = (
            offset + 1 + sum((size - 1) * step for size, step in zip(shape, stride))
            if math.prod(shape)
            else offset
        )
        tensor = torch.empty(0, dtype=dtype, device=storage.device)
        if end * tensor.element_size() > storage.nbytes():
            raise Malformed("a tensor that is larger than its storage")
        tensor.set_(storage, offset, shape, stride)
        grad = row.get("requires_grad") is True
        if grad and not (dtype.is_floating_point or dtype.is_complex):
            raise Malformed("a gradient of %s" % dtype)
        return (
            torch.nn.Parameter(tensor, grad)
            if row.get("parameter") is True
            else tensor.requires_grad_(grad)
        )

    def decode(self, value):
        torch = self.torch
        if isinstance(value, list):
            return [self.decode(part) for part in value]
        if not isinstance(value, dict):
            return value
        if len(value) != 1:
            raise Malformed("an object of %d keys" % len(value))
        ((kind, content),) = value.items()
        if (
            kind in ("dict", "ordered")
            and isinstance(content, list)
            and all(isinstance(pair, list) and len(pair) == 2 for pair in content)
        ):
            try:
                return (dict if kind == "dict" else collections.OrderedDict)(
                    (self.decode(key), self.decode(part)) for key, part in content
                )
            except TypeError as error:
                raise Malformed(str(error)) from None
        makers = {"tuple": tuple, "set": set, "frozenset": frozenset, "Size": torch.Size}
        if kind in makers and isinstance(content, list):
            try:
                return makers[kind](self.decode(part) for part in content)
            except TypeError as error:
                raise Malformed(str(error)) from None
        if kind == "bytes":
            return _bytes(content)
        if kind == "dtype":
            return _dtype(content, torch)
        if kind == "device" and isinstance(content, str):
            return torch.device(content)
        if kind == "tensor":
            return self.tensors[_whole(value, "tensor", len(self.tensors) - 1)]
        raise Malformed("a value of unknown kind %.40r" % kind)


def _bytes(text):
    try:
        return base64.b64decode(text, validate=True)
    except (TypeError, ValueError):
        raise Malformed("invalid base64") from None


def _dtype(name, torch):
    dtype = (
        getattr(torch, name[len("torch.") :], None)
        if isinstance(name, str) and name.startswith("torch.")
        else None
    )
    if not isinstance(dtype, torch.dtype):
        raise Malformed("an unknown type '%.40s'" % name)
    return dtype


def read(text, torch, location=None):
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Malformed(str(error)[:200]) from None
    if not isinstance(document, dict):
        raise Malformed("not an object")
    try:
        return _Reader(document, torch, location).decode(document.get("value"))
    except RecursionError:
        raise Malformed("nested too deep") from None

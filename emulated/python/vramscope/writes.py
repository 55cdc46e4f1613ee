"""What a planned program saves goes to a scratch folder: zeros are no checkpoint. The same program, and other ranks of it, find it again
under the name that they gave it: they may ask whether it is there, load it, rename it and remove it.

A file lies in the scratch folder under its whole path, so that renaming a folder of checkpoints is renaming a folder there, too."""
import builtins
import functools
import io
import os
import pickle
import shutil
import stat

from vramscope import imports

LARGE = 1 << 28  # bytes of tensors beyond which their shapes are written alone
LARGE_IN_MEMORY = 1 << 20  # into a stream that is no file: ranks send each other such, and a card keeps no more
SMALL = 1 << 10  # bytes of a tensor whose values are written there, too
DESCRIBED = b"vramscope: shapes alone\n"
CHECKPOINTS = (".pt", ".pth", ".ckpt", ".safetensors", ".distcp", ".metadata", ".metadata.tmp")  # ends of files that hold nothing else

_location = None  # map_location of the load that is going on


def _made(torch, parameter, shape, stride, dtype, device, requires_grad, data):
    where = _location
    if isinstance(where, dict):
        where = where.get(device, device)
    elif callable(where):
        where = "cpu"
    if data is None:
        tensor = torch.empty_strided(shape, stride, dtype=dtype, device=where or device)
    else:
        tensor = torch.frombuffer(bytearray(data), dtype=dtype).reshape(shape).to(where or device)
    if parameter:
        return torch.nn.Parameter(tensor, requires_grad)
    return tensor.requires_grad_(requires_grad) if requires_grad else tensor


class _Torch:
    """Stands for the module, which cannot be pickled."""

    def __reduce__(self):
        return __import__, ("torch",)


class _Describe(pickle.Pickler):
    def __init__(self, file, torch):
        super().__init__(file, protocol=4)
        self.torch = torch

    def reducer_override(self, value):
        torch = self.torch
        if not isinstance(value, torch.Tensor):
            return NotImplemented
        value = getattr(value, "_local_tensor", value)
        data = None
        if 0 < value.numel() * value.element_size() <= SMALL and value.layout is torch.strided:
            data = bytes(value.detach().cpu().contiguous().clone().untyped_storage())
        return _made, (_Torch(), isinstance(value, torch.nn.Parameter), tuple(value.shape), value.stride(), value.dtype, str(value.device),
                       value.requires_grad, data)


def _bytes_of(value, torch, depth=0):
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    if depth < 8 and isinstance(value, dict):
        return sum(_bytes_of(part, torch, depth + 1) for part in value.values())
    if depth < 8 and isinstance(value, (list, tuple)):
        return sum(_bytes_of(part, torch, depth + 1) for part in value)
    return 0


class Scratch:
    def __init__(self, process):
        self.process = process
        self.folder = process.settings.scratch
        self.lstat, self.rename = os.lstat, os.rename  # as they were
        self.opened_to_write = set()  # whatever they held, it is of this run

    def place(self, path):
        """Where the file lies, if it is saved, that the program calls so."""
        return self.folder + os.path.abspath(os.fsdecode(path))

    def find(self, path):
        """`path` itself, or where it lies; and whether it was saved."""
        if not isinstance(path, (str, bytes, os.PathLike)):
            return path, False
        place = self.place(path)
        return (place, True) if self.mode(place) else (path, False)

    def mode(self, path):
        """What is there; 0: nothing."""
        try:
            return self.lstat(path).st_mode
        except (OSError, ValueError):
            return 0

    # --- what saves and loads ---

    def save(self, function, what, names):
        """Of a function whose first two parameters have these names: a value and a path."""
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            args = list(args) + [kwargs.pop(name) for name in names[len(args):] if name in kwargs]
            stream = len(args) > 1 and hasattr(args[1], "write")
            if len(args) < 2 or not stream and not isinstance(args[1], (str, os.PathLike)):
                return function(*args, **kwargs)
            value, path = args[:2]
            size = _bytes_of(value, self.process.torch)
            if stream:
                if size <= (LARGE_IN_MEMORY if isinstance(path, io.BytesIO) else LARGE):
                    return function(value, path, *args[2:], **kwargs)
                self.process.assume("%s writes shapes alone" % what, str(getattr(path, "name", "")), size)
                return self.describe(value, path)
            place = self.redirected(path)
            self.process.assume_of("%s writes to a scratch folder that is removed" % what, path, size)
            if size <= LARGE:
                return function(value, place, *args[2:], **kwargs)
            with open(place, "wb") as file:
                return self.describe(value, file)

        return wrapper

    def describe(self, value, file):
        file.write(DESCRIBED)
        try:
            _Describe(file, self.process.torch).dump(value)
        except (pickle.PicklingError, TypeError, AttributeError):
            pass  # it is there, and cannot be loaded

    def redirected(self, path):
        """Where a file that is about to be written lies."""
        path = os.fspath(path)
        if os.fsdecode(os.path.abspath(path)).startswith(self.folder + os.sep):
            return path
        place = self.place(path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        return place

    def checkpoint(self, path):
        return isinstance(path, (str, bytes, os.PathLike)) and os.fsdecode(path).endswith(CHECKPOINTS)

    def load(self, function, name_of_path, where):
        """`where` names the parameter that says where tensors go."""
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            path, args = (args[0], args[1:]) if args else (kwargs.pop(name_of_path), args)
            place, saved = self.find(path)
            location = args[0] if args else kwargs.get(where)
            value = None
            if hasattr(path, "read"):
                value = self.described(path, location)
            elif saved:
                with open(place, "rb") as file:
                    value = self.described(file, location)
            if value is None:
                value = function(place if saved else path, *args, **kwargs)
            self.process.loaded(value)
            return value

        return wrapper

    def described(self, file, location):
        """What was saved as shapes alone; None: it was not, and the file stands where it stood."""
        global _location
        try:
            begin = file.tell()
            if file.read(len(DESCRIBED)) != DESCRIBED:
                file.seek(begin)
                return None
        except (AttributeError, OSError, ValueError):
            return None  # it cannot be gone back in: not one of ours
        before, _location = _location, location
        try:
            return pickle.load(file)
        finally:
            _location = before

    # --- the file system, where something was saved ---

    def looked_at(self, function):
        """Of os.stat and its like."""
        @functools.wraps(function)
        def wrapper(path, *args, **kwargs):
            try:
                return function(path, *args, **kwargs)
            except FileNotFoundError:
                place, saved = self.find(path)
                if not saved or kwargs.get("dir_fd") is not None:
                    raise
                return function(place, *args, **kwargs)

        return wrapper

    def removed(self, function):
        """Of os.remove, and of shutil.rmtree, whose folder may be there besides."""
        @functools.wraps(function)
        def wrapper(path, *args, **kwargs):
            place, saved = self.find(path)
            if not saved or kwargs.get("dir_fd") is not None:
                return function(path, *args, **kwargs)
            folder = stat.S_ISDIR(self.mode(place))
            function(place)
            if folder and self.mode(path):
                return function(path, *args, **kwargs)
            return None

        return wrapper

    def renamed(self, function):
        @functools.wraps(function)
        def wrapper(source, target, *args, **kwargs):
            place, saved = self.find(source)
            if saved:
                to = self.place(target)
                os.makedirs(os.path.dirname(to), exist_ok=True)
                self.rename(place, to)
                if not self.mode(source):
                    return None
            elif self.checkpoint(target) and self.place(source) in self.opened_to_write:  # written elsewhere, moved there when whole
                place = self.redirected(target)
                shutil.copyfile(source, place)
                os.remove(source)
                return None
            return function(source, target, *args, **kwargs)

        return wrapper

    def linked(self, function):
        @functools.wraps(function)
        def wrapper(source, target, *args, **kwargs):
            place, saved = self.find(source)
            if saved and not args and not kwargs:
                source, target = place, self.place(target)
                os.makedirs(os.path.dirname(target), exist_ok=True)
            return function(source, target, *args, **kwargs)

        return wrapper

    def listed(self, function):
        @functools.wraps(function)
        def wrapper(path="."):
            names = function(path)
            place, saved = self.find(path)
            return names + [name for name in function(place) if name not in names] if saved else names

        return wrapper

    def scanned(self, function):
        @functools.wraps(function)
        def wrapper(path="."):
            entries = function(path)
            place, saved = self.find(path)
            if not saved:
                return entries
            return _Entries(entries, function(place), os.fsdecode(path))

        return wrapper

    def opened(self, function):
        @functools.wraps(function)
        def wrapper(file, mode="r", *args, **kwargs):
            if isinstance(mode, str) and isinstance(file, (str, bytes, os.PathLike)):
                if not set(mode) & set("wax+"):
                    file = self.find(file)[0]
                elif set(mode) & set("wx"):
                    if self.checkpoint(file):
                        place = self.redirected(file)
                        if place != os.fspath(file):
                            self.process.assume_of("a checkpoint goes to a scratch folder that is removed", os.fsdecode(file))
                        file = place
                    elif len(self.opened_to_write) < 10000:
                        self.opened_to_write.add(self.place(file))
            return function(file, mode, *args, **kwargs)

        return wrapper


class _Entry:
    """What os.scandir tells of a file that was saved, under the program's name of it."""

    def __init__(self, entry, folder):
        self.entry = entry
        self.name = entry.name
        self.path = os.path.join(folder, entry.name)

    def __fspath__(self):
        return self.path

    def __getattr__(self, name):
        return getattr(self.entry, name)


class _Entries:
    def __init__(self, entries, saved, folder):
        with entries, saved:
            self.all = list(entries)
            names = {entry.name for entry in self.all}
            self.all += [_Entry(entry, folder) for entry in saved if entry.name not in names]
        self.rest = iter(self.all)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.rest)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass

    def close(self):
        pass


def install(process):
    if not process.settings.scratch:
        return
    torch = process.torch
    scratch = Scratch(process)
    torch.save = scratch.save(torch.save, "torch.save", ("obj", "f"))
    torch.load = scratch.load(torch.load, "f", "map_location")

    def safetensors(module):
        module.save_file = scratch.save(module.save_file, "safetensors", ("tensors", "filename"))
        module.load_file = scratch.load(module.load_file, "filename", "device")

    imports.after(process, "safetensors.torch", safetensors)
    for module, names, wrap in (
            (os, ("stat", "lstat", "open", "chmod", "utime", "listxattr", "getxattr"), scratch.looked_at), (os, ("link",), scratch.linked),
            (os, ("remove", "unlink"), scratch.removed), (shutil, ("rmtree",), scratch.removed), (os, ("rename", "replace"), scratch.renamed),
            (os, ("listdir",), scratch.listed), (os, ("scandir",), scratch.scanned), (builtins, ("open",), scratch.opened)):
        for name in names:
            before = getattr(module, name, None)
            if before is None:
                continue
            setattr(module, name, wrap(before))
            for able in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
                if before in able:
                    able.add(getattr(module, name))
    io.open = builtins.open

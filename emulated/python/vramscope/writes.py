"""What a planned program saves goes to a scratch folder: zeros are no checkpoint. The same program finds it again there."""
import functools
import os

from vramscope import imports

LARGE = 1 << 28  # bytes of tensors beyond which only an empty file is written


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
        self.places = {}

    def place(self, path):
        """Where the file lies that the program calls so."""
        whole = os.path.abspath(os.fspath(path))
        if whole not in self.places:
            os.makedirs(self.folder, exist_ok=True)
            self.places[whole] = os.path.join(self.folder, "%d-%d-%s" % (self.process.pid, len(self.places), os.path.basename(whole)[-80:]))
        return self.places[whole]

    def find(self, path):
        try:
            return self.places.get(os.path.abspath(os.fspath(path)), path)
        except TypeError:
            return path

    def save(self, function, what, first_is_path=False):
        @functools.wraps(function)
        def wrapper(value, path, *args, **kwargs):
            if not isinstance(path, (str, os.PathLike)):
                return function(value, path, *args, **kwargs)
            place = self.place(path)
            size = _bytes_of(value, self.process.torch)
            self.process.assume("%s writes to a scratch folder that is removed" % what, str(path), size)
            if size > LARGE:
                open(place, "wb").close()
                return None
            return function(value, place, *args, **kwargs)

        return wrapper

    def load(self, function):
        @functools.wraps(function)
        def wrapper(path, *args, **kwargs):
            return function(self.find(path), *args, **kwargs)

        return wrapper


def install(process):
    if not process.settings.scratch:
        return
    torch = process.torch
    scratch = Scratch(process)
    torch.save = scratch.save(torch.save, "torch.save")
    torch.load = scratch.load(torch.load)

    def safetensors(module):
        module.save_file = scratch.save(module.save_file, "safetensors")
        module.load_file = scratch.load(module.load_file)

    imports.after("safetensors.torch", safetensors)

"""Calls back when a module has been imported, whenever that is."""
import importlib.util
import sys


class _After:
    def __init__(self, name, call):
        self.name, self.call, self.looking = name, call, False

    def find_spec(self, name, path=None, target=None):
        if name != self.name or self.looking:
            return None
        self.looking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.looking = False
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
            self.call(module)

        spec.loader.exec_module = exec_module
        return spec


def after(name, call):
    if name in sys.modules:
        call(sys.modules[name])
    else:
        sys.meta_path.insert(0, _After(name, call))

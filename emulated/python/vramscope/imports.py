"""Calls back when a module has been imported, whenever that is."""
import importlib.util
import sys


class _After:
    def __init__(self, process, name, call):
        self.process, self.name, self.call, self.looking = process, name, call, False

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
            _call(self.process, self.name, self.call, module)

        spec.loader.exec_module = exec_module
        return spec


def _call(process, name, call, module):
    """The import is the program's: what a hook does not find in this version of a library is no error of it."""
    process.part("%s is left as it is" % name, call, module, of=name.partition(".")[0])


def after(process, name, call):
    if name in sys.modules:
        _call(process, name, call, sys.modules[name])
    else:
        sys.meta_path.insert(0, _After(process, name, call))

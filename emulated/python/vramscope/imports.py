"""Calls functions when a module has been imported, now or later."""

import importlib.machinery
import importlib.util
import sys


class _Finder:
    """A finder that never finds a module. Other finders find the modules, and this one only adds
    calls to their loading."""

    def __init__(self):
        self.calls = {}  # name of a module: [(process, call)]
        self.looking = set()

    def find_spec(self, name, path=None, target=None):
        if name not in self.calls or name in self.looking:
            return None
        self.looking.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.looking.discard(name)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            self.imported(name, module)

        spec.loader.exec_module = exec_module
        return spec

    def imported(self, name, module):
        for process, call in self.calls.pop(name, ()):
            _call(process, name, call, module)


class _Unfinished(importlib.machinery.ModuleSpec):
    """The specification of a module whose import has begun before after() is called, because this
    module imports torch. The import system sets `_initializing` to False at the end."""

    @property
    def _initializing(self):
        return self.__dict__["_initializing"]

    @_initializing.setter
    def _initializing(self, value):
        self.__dict__["_initializing"] = value
        module = sys.modules.get(self.name)
        if not value and module is not None:  # None: the import has failed
            self.__class__ = importlib.machinery.ModuleSpec
            _finder.imported(self.name, module)


_finder = _Finder()


def _call(process, name, call, module):
    """Runs a hook within an import of the program. A hook that does not fit this version of a
    library must not make the import fail."""
    process.part(
        "%s is used without vramscope's hook" % name, call, module, of=name.partition(".")[0]
    )


def after(process, name, call):
    if name in sys.modules:
        spec = getattr(sys.modules[name], "__spec__", None)
        if not getattr(spec, "_initializing", False):
            _call(process, name, call, sys.modules[name])
            return
        if type(spec) is importlib.machinery.ModuleSpec:
            spec.__class__ = _Unfinished
    elif _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    _finder.calls.setdefault(name, []).append((process, call))

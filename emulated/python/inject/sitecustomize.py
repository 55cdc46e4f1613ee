"""Lies first on the PYTHONPATH of a program that vramscope plans or records. It waits for `import
torch`, then calls the package next to this folder. The user's own sitecustomize runs as usual."""

import importlib.machinery
import importlib.util
import json
import os
import re
import sys
import time

_HERE = os.path.dirname(os.path.abspath(__file__))


def _package():
    """Imports the package beside this folder, even if sys.path contains another package with its
    name."""
    if "vramscope" in sys.modules:
        return sys.modules["vramscope"]
    folder = os.path.join(os.path.dirname(_HERE), "vramscope")
    spec = importlib.util.spec_from_file_location(
        "vramscope", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["vramscope"] = module
    spec.loader.exec_module(module)
    return module


class _AfterTorch:
    """A finder that never finds a module. It only runs `start` after torch has been imported."""

    def __init__(self):
        self.looking = False

    def find_spec(self, name, path=None, target=None):
        if name != "torch" or self.looking:
            return None
        self.looking = True
        try:
            spec = importlib.util.find_spec("torch")
        finally:
            self.looking = False
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module):
            _own_allocator()
            if os.environ.get("VRAMSCOPE_PROGRAM_TOGGLES"):
                _package()
                from vramscope import toggles, warm

                warm.about_to_import_torch()
                toggles.before_torch()
            try:
                execute(module)
            except Exception as error:
                _failed(error)
                raise
            sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
            _package().start(module)

        spec.loader.exec_module = exec_module
        return spec


def _own_allocator():
    """Disables other allocators, because they do not keep the history that a plan needs. PyTorch
    reads these settings when it is imported."""
    if not os.environ.get("VRAMSCOPE_PROGRAM_EMULATED"):
        return
    if os.environ.pop("PYTORCH_NO_CUDA_MEMORY_CACHING", None):
        # inherited by children
        os.environ["VRAMSCOPE_PROGRAM_ALLOCATOR"] = "PYTORCH_NO_CUDA_MEMORY_CACHING"
    for name in ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"):
        parts = os.environ.get(name, "").split(",")
        others = [part for part in parts if "cudaMallocAsync" not in part]
        if len(others) < len(parts):
            os.environ["VRAMSCOPE_PROGRAM_ALLOCATOR"] = name  # inherited by children
            os.environ[name] = ",".join(others)


def _failed(error):
    """Writes the import error into a file for the command line, which prints it. The error contains
    the loader's message, which says which library is missing."""
    text = "%s: %s" % (type(error).__name__, str(error)[:1500])
    missing = re.search(r"undefined symbol: (\w+)", text)
    if missing and re.match(r"(cu|nccl|nv)", missing[1]):
        text += ". The emulated platform lacks %s" % missing[1]
    try:
        with open(
            os.path.join(os.environ["VRAMSCOPE_PROGRAM_OUTPUT"], "process-%d.json" % os.getpid()),
            "w",
        ) as file:
            json.dump(
                {
                    "pid": os.getpid(),
                    "cuda": "?",
                    "ended": "exception",
                    "ended_ns": time.time_ns(),
                    "exception": text,
                },
                file,
            )
    except OSError:
        pass  # the import raises it, and Python prints it


def _watch_python():
    """Writes for the command line that Python has run with these hooks, and why it failed, in case
    it never imports torch. The last failure remains: a parent fails after its children."""
    path = os.path.join(os.environ["VRAMSCOPE_PROGRAM_OUTPUT"], "python.json")

    def fails(text):
        part = "%s-%d.part" % (path, os.getpid())
        try:
            with open(part, "w") as file:
                json.dump({"failure": text[:2000]}, file)
            os.replace(part, path)
        except OSError:
            pass  # Python prints the reason, too

    try:
        with open(path, "x") as file:
            file.write("{}")
    except OSError:
        pass
    excepthook, leave = sys.excepthook, sys.exit

    def on_exception(kind, value, traceback):
        try:
            if "torch" not in sys.modules:
                fails("%s: %s" % (kind.__name__, value))
        except Exception:
            pass  # the exception's own __str__ failed
        excepthook(kind, value, traceback)

    def on_exit(status=None):
        if isinstance(status, str) and "torch" not in sys.modules:
            fails(status)
        leave(status)

    sys.excepthook, sys.exit = on_exception, on_exit
    script = sys.argv[0] if getattr(sys, "argv", None) else ""
    if script not in ("", "-", "-c", "-m") and not os.path.exists(script):
        try:
            fails("can't open file '%s': No such file or directory" % os.path.abspath(script))
        except OSError:
            pass  # the working folder was deleted


def _next_sitecustomize():
    elsewhere = [p for p in sys.path if os.path.abspath(p or ".") != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


def _without_uploads():
    _package()
    from vramscope import uploads

    uploads.start()


if os.environ.get("VRAMSCOPE_PROGRAM_OUTPUT"):
    if os.environ.get("VRAMSCOPE_PROGRAM_TOGGLES") or os.environ.get("VRAMSCOPE_PROGRAM_SERVE"):
        _package()
        from vramscope import warm

        warm.begins()  # first, so that forks also get the variables that the hooks set later
    if os.environ.get("VRAMSCOPE_PROGRAM_EMULATED"):
        _without_uploads()
    _watch_python()
    sys.meta_path.insert(0, _AfterTorch())
_next_sitecustomize()
if os.environ.get("VRAMSCOPE_PROGRAM_SERVE"):
    _package()
    from vramscope import warm

    warm.serve()

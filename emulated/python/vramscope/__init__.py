"""What is in GPU memory while a neural network trains: planned without a GPU, recorded on one, shown in a window.

    import vramscope

    plan = vramscope.plan(["train.py", "--batch", "8"], device="rtx-4090")
    print(plan.peak_allocated, plan.categories, plan.fits)

    with vramscope.record("run.trace") as recording:     # on a GPU, or under `vramscope plan -- python ...`
        train()
    recording.show()

    vramscope.load("snapshot.pickle").check("24GiB")
    vramscope.show(torch.cuda.memory._snapshot())

`%load_ext vramscope` gives notebooks `%%vramscope`, and pytest has the fixture `vram_budget`. All figures are the program vramscope's.
Importing this imports nothing else and installs no hooks.

On the command line: `python -m vramscope train.py --batch 8` does what `vramscope plan -- python train.py --batch 8` does.
"""
import typing as _typing

if _typing.TYPE_CHECKING:
    from vramscope.calls import load, plan, snapshot
    from vramscope.program import VramscopeError
    from vramscope.recording import Recording, record
    from vramscope.result import Check, Result
    from vramscope.window import Window, show

__version__ = "0.2.0"  # as CMakeLists.txt says (tests/packaging)
__all__ = ["Check", "Recording", "Result", "VramscopeError", "Window", "load", "plan", "record", "show", "snapshot"]

_WHERE = {"load": "calls", "plan": "calls", "snapshot": "calls", "VramscopeError": "program", "Recording": "recording",
          "record": "recording", "Check": "result", "Result": "result", "Window": "window", "show": "window"}


def __getattr__(name: str) -> _typing.Any:
    if name not in _WHERE:
        raise AttributeError("module 'vramscope' has no attribute '%s'" % name)
    import importlib

    value = getattr(importlib.import_module("vramscope." + _WHERE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> _typing.List[str]:
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: _typing.Any) -> None:
    """%load_ext vramscope"""
    from vramscope import notebook

    notebook.load(shell)


def start(torch: _typing.Any) -> None:
    """Called once, when torch has been imported, in every process that `vramscope plan --` or `record --` starts: from here on the
    program is watched. Nothing here computes on the GPU, allocates on it, or keeps a tensor alive."""
    from vramscope import watch

    watch.start(torch)

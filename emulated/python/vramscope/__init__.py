"""GPU memory of neural network training: planned without a GPU, recorded on one, shown in a window.

    import vramscope

    plan = vramscope.plan(["train.py", "--batch", "8"], device="rtx-4090")
    print(plan.peak_allocated, plan.categories, plan.fits)

    # On a GPU, or under `vramscope plan -- python ...`:
    with vramscope.record("run.trace") as recording:
        train()
    recording.show()

    vramscope.load("snapshot.pickle").check("24GiB")
    vramscope.show(torch.cuda.memory._snapshot())

`%load_ext vramscope` adds `%%vramscope` to notebooks, and pytest gets the fixture `vram_budget`.
The program `vramscope` computes all figures. Importing this package imports nothing else and
installs no hooks.

On the command line, `python -m vramscope train.py --batch 8` does the same as `vramscope plan --
python train.py --batch 8`.
"""

import typing as _typing

if _typing.TYPE_CHECKING:
    from vramscope.calls import load, plan, snapshot
    from vramscope.program import VramscopeError
    from vramscope.recording import Recording, record
    from vramscope.result import Check, Result
    from vramscope.window import Window, show

__version__ = "0.2.0"  # must equal the version in CMakeLists.txt (tests/packaging)
__all__ = [
    "Check",
    "Recording",
    "Result",
    "VramscopeError",
    "Window",
    "load",
    "plan",
    "record",
    "show",
    "snapshot",
]

_WHERE = {
    "load": "calls",
    "plan": "calls",
    "snapshot": "calls",
    "VramscopeError": "program",
    "Recording": "recording",
    "record": "recording",
    "Check": "result",
    "Result": "result",
    "Window": "window",
    "show": "window",
}


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
    """Starts watching the program. Called once in every process that `vramscope plan --` or `record
    --` starts, after torch has been imported. Watching never computes or allocates on the GPU, and
    never keeps a tensor alive."""
    from vramscope import watch

    watch.start(torch)

"""Techniques that are switched on a program from outside, by PyTorch's and the libraries' own public switches:

    vramscope plan --toggle bf16 --toggle micro-batch=1 -- python train.py
    vramscope toggles -- python train.py

A toggle is one class (declaration.py) in a file of its group. Its code is the same whether it is on or only looked for: where it would be
applied it asks `reach`, which writes down the change and says whether to make it. So a program that is watched without toggles tells
which apply (`Session.report`), and none does nothing silently.

The rule: a plan with a toggle is, byte for byte, the plan of the program with the change written by hand (tests/emulated/toggles_test.py).
Importing this imports no torch: `python -m vramscope.toggles` prints the declarations, of which the build makes catalogue.json."""
import json
import os

VARIABLE = "VRAMSCOPE_PROGRAM_TOGGLES"  # JSON: [[name, value or null], ...]; absent: nobody looks


def declared():
    from vramscope.toggles import activations, adapters, allocator, batches, optimizers, precision  # noqa: F401  they register
    from vramscope.toggles.declaration import ALL

    return ALL


def wanted(environment=os.environ):
    """{name: value or None}; None: nobody looks."""
    text = environment.get(VARIABLE)
    return None if not text else {name: value for name, value in json.loads(text)}


def before_torch():
    """What PyTorch reads when it is imported: the environment."""
    chosen = wanted()
    for kind in declared().values() if chosen else ():
        if kind.name in chosen:
            kind.before_torch(chosen[kind.name])


def install(process):
    chosen = wanted()
    if chosen is None:
        return
    from vramscope import warm
    from vramscope.toggles.session import Session

    process.recorder.on_begin.append(lambda: warm.tell_modules(process))
    Session(process, declared(), chosen).install()

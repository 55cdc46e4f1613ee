"""Techniques that are switched on in a program from outside, through the public switches of PyTorch
and libraries:

    vramscope plan --toggle bf16 --toggle micro-batch=1 -- python train.py
    vramscope toggles -- python train.py

A toggle is a class (declaration.py) in the file of its group. Its code also runs if the toggle is
off and the program is only checked for places where it applies. At each such place, the code calls
`reach`, which stores the change and returns whether to make it. Therefore a program that is watched
without toggles reports which toggles apply (`Session.report`), and a toggle that has no effect is
always reported.

The rule: a plan with a toggle equals, byte for byte, the plan of the program with the change made
by hand (tests/emulated/toggles_test.py). Importing this package does not import torch: `python -m
vramscope.toggles` prints the declarations, from which the build creates catalogue.json."""

import json
import os

# JSON: [[name, value or null], ...]; absent: toggles are not looked for
VARIABLE = "VRAMSCOPE_PROGRAM_TOGGLES"


def declared():
    # Importing these modules registers their toggles.
    from vramscope.toggles import (  # noqa: F401
        activations,
        attention,
        adapters,
        allocator,
        batches,
        compiled,
        optimizers,
        gradients,
        precision,
        sharding,
    )
    from vramscope.toggles.declaration import ALL

    return ALL


def wanted(environment=os.environ):
    """Returns the chosen toggles as {name: value or None}. Returns None if the process does not
    report on toggles."""
    text = environment.get(VARIABLE)
    return None if not text else {name: value for name, value in json.loads(text)}


def before_torch():
    """Sets environment variables that PyTorch reads when it is imported or first uses CUDA."""
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

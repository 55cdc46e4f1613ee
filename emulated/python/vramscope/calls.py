"""The functions of the package: plans, files, snapshots."""

import os
import pickle
import shutil
import sys
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from vramscope import program
from vramscope.result import Result, write_whole

Path = Union[str, "os.PathLike[str]"]


def load(path: Path) -> Result:
    """Returns the figures of a trace, a CUDA memory snapshot or a Kineto trace.

    result = vramscope.load("snapshot.pickle")
    result.peak_allocated, result.categories, result.check("24GiB")
    """
    path = os.path.abspath(os.fspath(path))
    summary, _, said = program.run(["info", path, "--json"])
    result = Result(path, summary)
    result.warnings = [line for line in said if "warning: " in line]
    return result


def plan(
    command: Optional[Sequence[Path]] = None,
    *,
    device: Optional[str] = None,
    steps: Optional[int] = None,
    ranks: Optional[int] = None,
    devices: Optional[int] = None,
    as_rank: Optional[int] = None,
    writable: Sequence[Path] = (),
    preset: Optional[str] = None,
    model: Optional[Path] = None,
    settings: Optional[Mapping[str, Any]] = None,
    output: Optional[Path] = None,
    options: Sequence[str] = (),
    tell: bool = False,
    timeout: Optional[float] = None,
) -> Result:
    """Runs a program's training on an emulated GPU and returns its figures: `vramscope plan --
    COMMAND`.

        plan = vramscope.plan(["train.py", "--batch", "8"], device="rtx-4090")
        print(plan.peak_allocated, plan.categories, plan.fits)

    `command` is a list; if it begins with a script's name, this Python runs it. Without `command`,
    a built-in model is planned: `preset="gpt2"` or `model="config.json"`, with `settings={"batch":
    8, "precision": "amp-bf16"}`.

    `device`: a name listed by `vramscope devices`. `steps`: the program is ended after that many
    optimizer steps (default 2; 0: it runs to its end). `writable`: folders that the program really
    writes to; its other changes to files are discarded. `output`: the trace is stored there.
    `options`: more options of `vramscope plan`. `tell`: the program's output is passed on to this
    process's stderr while it runs.

    A program that runs out of memory also returns a result (`out_of_memory`). A program that fails
    in another way raises VramscopeError, whose `result` has what was recorded until then.
    """
    own = preset is not None or model is not None
    if isinstance(command, (str, bytes)):
        raise TypeError('plan() needs a list of arguments, as in ["train.py", "--batch", "8"]')
    if own == bool(command):
        raise TypeError("plan() needs a command, or a preset or model")
    folder = None
    if output is None:
        folder = tempfile.mkdtemp(prefix="vramscope-plan-")
        path = os.path.join(folder, "plan.trace")
    else:
        path = os.path.abspath(os.fspath(output))
    arguments: List[str] = ["plan", "-o", path, "--json"]
    if own:
        arguments += (
            ["--preset", preset] if preset is not None else ["--model", os.fspath(model or "")]
        )
        for key, value in dict(settings or {}, **({"device": device} if device else {})).items():
            arguments += [
                "--set",
                "%s=%s" % (key, str(value).lower() if isinstance(value, bool) else value),
            ]
    else:
        for name, value in (
            ("--device", device),
            ("--steps", steps),
            ("--ranks", ranks),
            ("--devices", devices),
            ("--as-rank", as_rank),
        ):
            if value is not None:
                arguments += [name, str(value)]
        for each in writable:
            arguments += ["--writable", os.fspath(each)]
    arguments += list(options)
    if command:
        words = [os.fspath(word) for word in command]
        if words[0].endswith(".py"):
            words.insert(0, sys.executable)
        arguments += ["--", *words]
    try:
        summary, _, said = program.run(arguments, tell=tell, timeout=timeout)
    except program.VramscopeError as error:
        if error.result and "peak" in error.result and os.path.exists(path):
            error.result = Result(path, error.result, folder=folder)
        elif folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    except BaseException:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    result = Result(path if os.path.exists(path) else None, summary, folder=folder)
    result.warnings = [line for line in said if "warning: " in line]
    return result


def snapshot(path: Optional[Path] = None, *, overwrite: bool = False) -> Any:
    """Returns the memory snapshot that PyTorch recorded (torch.cuda.memory), or writes it to
    `path`. An incomplete file is never left there.

        torch.cuda.memory._record_memory_history(max_entries=100_000)
        ...
        vramscope.snapshot("snapshot.pickle")      # vramscope snapshot.pickle opens it
        vramscope.show(vramscope.snapshot())

    Without a recorded history the snapshot contains only the current state. An existing file is not
    replaced unless `overwrite`.
    """
    import torch

    if not torch.cuda.is_available():
        raise program.VramscopeError(
            "torch.cuda finds no GPU, so a memory snapshot cannot be taken"
        )
    taken: Dict[str, Any] = torch.cuda.memory._snapshot()
    if path is None:
        return taken
    return write_whole(path, lambda file: pickle.dump(taken, file, protocol=4), overwrite=overwrite)

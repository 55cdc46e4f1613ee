"""The notebook magic `%%vramscope`, loaded by %load_ext vramscope."""

import html
import os
import shlex
import sys
import tempfile
from typing import Any, List, Optional

from vramscope import program
from vramscope.result import Check, Result

_USAGE = """%%vramscope [--plan | --record] [--device NAME] [--steps N] [--budget 24GiB]
            [--with CELLS] [-o F.trace]

Runs the cell's training and shows its GPU memory over time, and what the peak consists of.

--record     in this kernel, on its GPU (the default if there is a GPU)
--plan       on an emulated GPU (the default without a GPU), in a separate process that runs
             only this cell and the cells named by --with; it is ended after --steps optimizer
             steps (default 2; 0: it runs to its end)
--with       cells to run first, by their numbers (3 for In[3]): 1-4,7; or all
--budget     shows whether the training fits this much GPU memory
-o           writes the trace to this file, which must not exist
"""


def load(shell: Any) -> None:
    shell.register_magic_function(lambda line, cell: _cell(shell, line, cell), "cell", "vramscope")


def _arguments(line: str) -> Any:
    import argparse

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> Any:
            raise program.VramscopeError("%s\n\n%s" % (message, _USAGE), program.USAGE)

    parser = Parser(prog="%%vramscope", add_help=False)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--plan", action="store_true")
    how.add_argument("--record", action="store_true")
    parser.add_argument("--device")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--budget")
    parser.add_argument("--with", dest="cells", default="")
    parser.add_argument("-o", "--output")
    parser.add_argument("--help", "-h", action="store_true")
    return parser.parse_args(shlex.split(line))


def _has_gpu() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


class Shown:
    """Shows a result in a notebook, and says whether it fits a budget."""

    def __init__(self, result: Result, check: Optional[Check]) -> None:
        self.result = result
        self.check = check

    def _repr_html_(self) -> str:
        verdict = ""
        if self.check is not None:
            first = str(self.check).split("\n")[0].rstrip(":")
            verdict = "<p><b>%s</b></p>" % html.escape(first[:1].upper() + first[1:])
        return self.result._repr_html_() + verdict

    def __repr__(self) -> str:
        return repr(self.result) + ("\n%s" % self.check if self.check is not None else "")


def _cell(shell: Any, line: str, cell: str) -> Optional[Result]:
    try:
        options = _arguments(line)
        if options.help:
            print(_USAGE)
            return None
        record = options.record or not options.plan and _has_gpu()
        result = _record(shell, options, cell) if record else _plan(shell, options, cell)
        check = None if options.budget is None else result.check(options.budget)
    except (program.VramscopeError, FileExistsError) as error:
        print("vramscope: %s" % error, file=sys.stderr)
        return None
    from IPython.display import display

    display(Shown(result, check))
    _button(result)
    shell.user_ns["_vramscope"] = result
    return None


def _record(shell: Any, options: Any, cell: str) -> Result:
    for name in ("device", "steps", "cells"):
        if getattr(options, name):
            raise program.VramscopeError(
                "--%s needs --plan: a recording runs in this kernel"
                % ("with" if name == "cells" else name),
                program.USAGE,
            )
    from vramscope.recording import record

    with record(options.output) as recording:
        shell.ex(shell.transform_cell(cell))
    return recording


def _plan(shell: Any, options: Any, cell: str) -> Result:
    from vramscope.calls import plan

    if options.output and os.path.lexists(options.output):
        raise FileExistsError("'%s' exists; choose another name" % options.output)
    parts: List[str] = [_plain(shell, text) for text in _cells(shell, options.cells)]
    parts.append(_plain(shell, cell))
    with tempfile.TemporaryDirectory(prefix="vramscope-cell-") as folder:
        script = os.path.join(folder, "cell.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write("import sys\nsys.path.insert(0, %r)\n%s\n" % (os.getcwd(), "\n".join(parts)))
        try:
            return plan(
                [sys.executable, script],
                device=options.device,
                steps=options.steps,
                output=options.output,
                tell=True,
            )
        except program.VramscopeError as error:
            if not options.cells:
                raise program.VramscopeError(
                    "%s\nThe cell runs in a separate process: --with 1-4,7 (or --with all) runs "
                    "earlier cells first" % error,
                    error.status,
                ) from None
            raise


def _cells(shell: Any, text: str) -> List[str]:
    """Returns the sources of earlier cells, except cells that use this magic."""
    if not text:
        return []
    before = shell.user_ns.get("In", [])[:-1]  # the last one is this cell
    if text == "all":
        numbers = list(range(1, len(before)))
    else:
        numbers = []
        try:
            for part in text.split(","):
                first, _, last = part.partition("-")
                numbers += range(int(first), int(last or first) + 1)
        except ValueError:
            raise program.VramscopeError(
                "--with: '%s' does not name cells; write 1-4,7 or all" % text, program.USAGE
            ) from None
    for number in numbers:
        if not 0 < number < len(before):
            raise program.VramscopeError("--with: there is no In[%d] yet" % number, program.USAGE)
    return [
        before[number]
        for number in numbers
        if not before[number].lstrip().startswith(("%%vramscope", "%load_ext"))
    ]


def _plain(shell: Any, cell: str) -> str:
    """Replaces magics and shell commands by empty lines, because they are not valid Python."""
    lines = shell.transform_cell(cell).split("\n")
    return "\n".join("pass" if line.startswith("get_ipython()") else line for line in lines)


def _button(result: Result) -> None:
    """Shows a button that opens the window. Without ipywidgets, the result shows a command that
    does so."""
    try:
        import ipywidgets
        from IPython.display import display
    except ImportError:
        return
    button = ipywidgets.Button(description="Open in vramscope")

    def opens(_: Any) -> None:
        try:
            result.show()
        except program.VramscopeError as error:
            print("vramscope: %s" % error, file=sys.stderr)

    button.on_click(opens)
    display(button)

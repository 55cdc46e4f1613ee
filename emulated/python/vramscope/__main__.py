"""python -m vramscope [OPTIONS OF vramscope plan] train.py ARGS... runs the program `vramscope`."""

import os
import sys

from vramscope.program import VramscopeError, find


def main():
    arguments = sys.argv[1:]
    options = []
    while arguments and arguments[0].startswith("-"):
        options.append(arguments.pop(0))
        if (
            options[-1]
            in (
                "--device",
                "--ranks",
                "--as-rank",
                "--devices",
                "--steps",
                "-o",
                "--output",
                "--keep",
            )
            and arguments
        ):
            options.append(arguments.pop(0))
    if options[-1:] == ["--"]:
        options.pop()
    if not arguments:
        sys.exit(
            "usage: python -m vramscope [--device NAME] [--steps N] [-o F.trace] [--json] "
            "train.py ARGS..."
        )
    try:
        program = find()
    except VramscopeError as error:
        sys.exit("vramscope: %s" % error)
    os.execv(program, [program, "plan", *options, "--", sys.executable, *arguments])


if __name__ == "__main__":
    main()

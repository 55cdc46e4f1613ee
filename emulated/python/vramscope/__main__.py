"""python -m vramscope [OPTIONS OF vramscope plan] train.py ARGS...: the program `vramscope` does the work."""
import os
import shutil
import sys


def main():
    arguments = sys.argv[1:]
    options = []
    while arguments and arguments[0].startswith("-"):
        options.append(arguments.pop(0))
        if options[-1] in ("--device", "--ranks", "--as-rank", "--devices", "--steps", "-o", "--output", "--keep") and arguments:
            options.append(arguments.pop(0))
    if options[-1:] == ["--"]:
        options.pop()
    if not arguments:
        sys.exit("usage: python -m vramscope [--device NAME] [--steps N] [-o F.trace] [--json] train.py ARGS...")
    program = os.environ.get("VRAMSCOPE") or shutil.which("vramscope")
    if not program:
        sys.exit("vramscope: the program vramscope is not on PATH; name it in $VRAMSCOPE")
    os.execv(program, [program, "plan", *options, "--", sys.executable, *arguments])


if __name__ == "__main__":
    main()

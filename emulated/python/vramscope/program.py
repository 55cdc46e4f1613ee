"""Finds and runs the program `vramscope` and reads its `--json` output (app/cli/JSON.md). The
program computes all figures."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

DONE, NO, USAGE, BAD_INPUT, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 4, 130
_HERE = os.path.dirname(os.path.abspath(__file__))
_PREFIX = "vramscope: "
_ENDS_WITHIN = 10.0  # seconds for the program to end after Ctrl-C


class VramscopeError(RuntimeError):
    """An error of the program `vramscope`, with its message. `status` is its exit status
    (README.md): 1 negative result, 2 wrong usage, 3 bad input, 4 internal failure. If a planned
    program began to train and then failed, `result` is what was recorded of it; otherwise it is
    None.
    """

    def __init__(self, message: str, status: int = BAD_INPUT, result: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.result = result


def _candidates() -> Iterable[str]:
    # the second names the program that watches this process
    for name in ("VRAMSCOPE", "VRAMSCOPE_PROGRAM_SELF"):
        if os.environ.get(name):
            yield os.environ[name]
    yield os.path.join(_HERE, "_bundle", "bin", "vramscope")  # in a wheel
    found = shutil.which("vramscope")
    if found:
        yield found
    folder = _HERE
    # searches upwards: this folder lies in a build, an installation or the sources
    for _ in range(6):
        folder = os.path.dirname(folder)
        yield os.path.join(folder, "bin", "vramscope")
        yield os.path.join(folder, "build", "release", "bin", "vramscope")


def find() -> str:
    """Returns the path of the program `vramscope`: $VRAMSCOPE or else the program in the wheel, on
    PATH, or in the build tree, in this order."""
    for path in _candidates():
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
        if path == os.environ.get("VRAMSCOPE"):
            raise VramscopeError("$VRAMSCOPE is '%s', which is not an executable file" % path)
    raise VramscopeError(
        "the program vramscope was not found in this package or on PATH; set $VRAMSCOPE to its path"
    )


def platform() -> str:
    """Returns the folder of the emulated platform's libraries, which also contains the library that
    listens to the allocator."""
    places = [os.environ.get("VRAMSCOPE_EMULATED", ""), os.path.dirname(os.path.dirname(_HERE))]
    beside = os.path.dirname(os.path.realpath(find()))
    places += [
        os.path.join(beside, "..", "emulated"),
        os.path.join(beside, "..", "lib", "vramscope", "emulated"),
    ]
    for place in places:
        if place and os.path.isfile(os.path.join(place, "libvramscope-activities.so")):
            return os.path.abspath(place)
    raise VramscopeError(
        "libvramscope-activities.so was not found next to the program vramscope; set "
        "$VRAMSCOPE_EMULATED to its folder"
    )


def environment() -> Dict[str, str]:
    """Returns the environment without the variables that make child processes part of a plan. The
    program `vramscope` must not become part of one."""
    if "VRAMSCOPE_PROGRAM_OUTPUT" not in os.environ:
        return dict(os.environ)
    mine = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("VRAMSCOPE_PROGRAM_", "VRAMSCOPE_EMULATED_"))
        and name not in ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH")
    }
    for name in ("LD_AUDIT", "LD_PRELOAD", "PYTHONPATH", "PATH"):
        parts = [part for part in mine.get(name, "").split(os.pathsep) if part]
        own = os.environ.get("VRAMSCOPE_PROGRAM_EMULATED")
        hooks = os.environ.get("VRAMSCOPE_PROGRAM_PYTHONPATH")
        kept = [part for part in parts if not (own and part.startswith(own)) and part != hooks]
        if name in mine and len(kept) < len(parts):
            mine[name] = os.pathsep.join(kept)
            if not mine[name]:
                del mine[name]
    return mine


def _said(lines: Sequence[str], told: bool = False) -> str:
    """Returns the message of a failed command: the lines of the command itself, with errors
    first."""
    own = [line[len(_PREFIX) :] for line in lines if line.startswith(_PREFIX)]
    errors = [line[len("error: ") :] for line in own if line.startswith("error: ")]
    # Lines printed by a planned program.
    others = [line for line in lines if line.strip() and not line.startswith(_PREFIX)][-8:]
    if errors and others and not told:
        errors.append(
            "The last lines that the program printed:\n"
            + "\n".join("    " + line for line in others)
        )
    return "\n".join(errors or own or others) or "vramscope failed without a message"


def run(
    arguments: Sequence[str],
    *,
    accept: Tuple[int, ...] = (DONE, NO),
    tell: bool = False,
    timeout: Optional[float] = None,
) -> Tuple[Dict[str, Any], int, List[str]]:
    """Runs `vramscope ARGUMENTS` and returns its JSON object, its exit status and its lines on
    stderr. `tell`: lines of a program that runs under it are printed while it runs."""
    command = [find(), *arguments]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout is not None and process.stderr is not None
    said: List[str] = []
    written: List[bytes] = []

    def listen() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            text = line.decode("utf-8", "replace").rstrip("\n")
            said.append(text)
            del said[:-1000]
            if tell and not text.startswith(_PREFIX):
                print(text, file=sys.stderr, flush=True)

    def read() -> None:
        assert process.stdout is not None
        written.append(process.stdout.read())

    threads = [threading.Thread(target=target, daemon=True) for target in (listen, read)]
    for thread in threads:
        thread.start()
    try:
        process.wait(timeout)
    # including Ctrl-C: `vramscope` passes it on and ends the programs that it runs
    except BaseException as error:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if isinstance(error, subprocess.TimeoutExpired):
            raise VramscopeError(
                "vramscope %s did not end within %g seconds" % (arguments[0], timeout or 0),
                INTERRUPTED,
            ) from None
        raise
    finally:
        for thread in threads:
            thread.join(_ENDS_WITHIN)
        process.stdout.close()
        process.stderr.close()
    answer: Dict[str, Any] = {}
    if written and written[0].strip():
        try:
            answer = json.loads(written[0])
        except ValueError:
            raise VramscopeError(
                "vramscope %s did not return valid JSON: %s" % (arguments[0], _said(said)), INTERNAL
            ) from None
    if process.returncode not in accept:
        status = process.returncode if process.returncode > 0 else 128 - process.returncode
        error_of = VramscopeError(_said(said, tell), status)
        error_of.result = answer or None
        raise error_of
    return answer, process.returncode, said


def text(arguments: Sequence[str]) -> str:
    """Returns what `vramscope ARGUMENTS` prints to stdout, for commands that output a file. Errors
    are in English, as with --json."""
    done = subprocess.run(
        [find(), "--lang", "en", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    if done.returncode != DONE:
        raise VramscopeError(
            _said(done.stderr.decode("utf-8", "replace").splitlines()), done.returncode
        )
    return done.stdout.decode("utf-8", "replace")

"""One process of a watched program: its settings, what it reports about itself, and how it ends.

Every process that imports torch writes a small `process-PID.json` to the output folder; one that
uses CUDA also writes a folder `process-PID` with its memory history and marks. Children of a fork
do not write their parent's data."""

import json
import os
import re
import sys
import time

from vramscope import host, packages

PLACES = 4  # maximum number of listed lines of a file for one assumption
MOST_PROCESSES = 1 << 22  # Linux has no process numbers from here on (PID_MAX_LIMIT)


def enough():
    """Returns the exception that ends the program after the requested number of steps, like
    sys.exit(0): `finally` and atexit run, and `except Exception` does not catch it. It is not a
    subclass of SystemExit: threads print a traceback for subclasses. Its mark survives pickling:
    an executor with processes pickles the exception of a child and raises it in the parent."""
    error = SystemExit(0)
    error.vramscope_enough = True
    return error


def _follows_from_enough(error):
    """Returns whether the program raised the error with `raise ... from`, because of enough(). The
    context is not followed: `finally` may run out of memory, as it would after a whole training."""
    seen = set()
    while error is not None and id(error) not in seen:
        if getattr(error, "vramscope_enough", False):
            return True
        seen.add(id(error))
        error = error.__cause__
    return False


_TRACEBACK = "Traceback (most recent call last):\n"
_CAUGHT = re.compile(
    r"\w+: Caught \w+ (in [^\n]+?)\.?\nOriginal (%s.*)" % re.escape(_TRACEBACK), re.DOTALL
)


def _original(text):
    """If PyTorch caught the exception in a worker of a DataLoader, or in another thread, and raised
    it again, its text contains a traceback. Returns the text of the original exception, and where
    it was raised: "KeyError: 'image' (in DataLoader worker process 0)"."""
    caught = _CAUGHT.match(text)
    if caught is None:
        return text
    lines = caught[2].rpartition(_TRACEBACK)[2].split("\n")
    while lines and lines[0].startswith(" "):
        del lines[0]
    if not lines or not lines[0]:
        return text
    return "\n".join(["%s (%s)" % (lines[0], caught[1]), *lines[1:]]).rstrip()


class Settings:
    """The settings of the command line, from the environment, which children inherit."""

    def __init__(self, environment=os.environ):
        self.output = environment["VRAMSCOPE_PROGRAM_OUTPUT"]
        self.steps = int(environment.get("VRAMSCOPE_PROGRAM_STEPS", "0"))
        self.skip_init = environment.get("VRAMSCOPE_PROGRAM_SKIP_INIT") == "1"
        # folder of the platform's libraries
        self.emulated = environment.get("VRAMSCOPE_PROGRAM_EMULATED", "")
        self.scratch = os.path.join(self.output, "scratch")  # for files of these hooks
        # Where the program writes its files: into a temporary layer ("overlay", "copy") or onto the
        # user's disk ("none").
        self.isolation = environment.get("VRAMSCOPE_ISOLATION") or "none"
        # --writable
        self.real = [
            os.path.realpath(path)
            for path in environment.get("VRAMSCOPE_ISOLATION_REAL", "").split(os.pathsep)
            if path
        ]
        # the folder that keeps compiled code from plan to plan (compiling.py)
        self.compiled = environment.get("VRAMSCOPE_ISOLATION_COMPILED", "")
        # loaded into this process (native.py)
        self.library = environment.get("VRAMSCOPE_PROGRAM_TAIL", "")
        self.stacks = environment.get("VRAMSCOPE_PROGRAM_STACKS", "python")
        self.as_rank = environment.get("VRAMSCOPE_PROGRAM_AS_RANK", "")  # "R/N"
        # "none": only the history, for tests
        self.hooks = environment.get("VRAMSCOPE_PROGRAM_HOOKS", "all")

    def writes_to_disk(self, path):
        """Returns whether the program's writes to this path change the user's own file."""
        path = os.path.realpath(path)
        return self.isolation == "none" or any(
            path == real or path.startswith(real.rstrip(os.sep) + os.sep) for real in self.real
        )


class Process:
    """Collects what this process reports about itself. The interpreter's lock makes it
    thread-safe."""

    def __init__(self, torch, settings):
        self.torch = torch
        self.settings = settings
        self.pid = os.getpid()
        self.recorder = None
        self.toggles = None  # toggles.session.Session, if toggles are on or looked for
        self.loaded = lambda value: None  # called with the result of loading a checkpoint
        self.on_again = []  # called in a fork that becomes another program (warm.py)
        self.host = host.Nobody()
        self.assumptions = {}  # (what, where): bytes
        self.folders = {}  # common folders of assumptions about files
        self.about = {
            "pid": self.pid,
            "host": os.uname().nodename,
            "argv": sys.argv[:64],
            "python": sys.version.split()[0],
            "torch": str(torch.__version__),
            "cuda": torch.version.cuda or "",
            "hip": getattr(torch.version, "hip", None) or "",
            "package": os.path.dirname(os.path.abspath(__file__)),
            "rank": int(os.environ.get("RANK", "0") or 0),
            "world_size": int(os.environ.get("WORLD_SIZE", "1") or 1),
            "ended": "",  # "" (running, or killed), "end", "enough", "exception", "exit", "exec"
            "ended_ns": 0,
            "exception": "",
            "trains": False,  # the program has created an optimizer in this process
        }
        self.write()

    def stepped(self, steps):
        """Writes the number of completed steps, for the progress bar."""
        if self.about["rank"] == 0:
            try:
                with open(os.path.join(self.settings.output, "steps"), "w") as file:
                    file.write("%d" % steps)
            except OSError as error:
                complain(error)

    def trains(self):
        """Reports that steps of this process are to be expected."""
        if not self.about["trains"]:
            self.about["trains"] = True
            if self.mine():
                self.write()

    def mine(self):
        return os.getpid() == self.pid

    def again(self):
        """Call in a fork of the warm process (warm.py). Until now, that process has only imported
        modules. The fork then reports as a separate process that runs another program."""
        self.settings.__init__()
        self.pid = os.getpid()
        self.about.update(
            pid=self.pid,
            argv=sys.argv[:64],
            rank=int(os.environ.get("RANK", "0") or 0),
            world_size=int(os.environ.get("WORLD_SIZE", "1") or 1),
            trains=False,
        )
        for call in self.on_again:
            call()
        self.write()

    def assume(self, what, where="", size=0):
        key = (what, where)
        self.assumptions[key] = self.assumptions.get(key, 0) + int(size)

    def part(self, what, install, *args, of="torch"):
        """Installs a hook. If torch or another library lacks the function that the hook replaces,
        the program runs without the hook, which is reported."""
        try:
            return install(*args)
        except Exception as error:
            self.lacks(what, "%s: %s" % (type(error).__name__, str(error)[:500]), of)
            return None

    def lacks(self, what, where, of="torch"):
        self.assume("vramscope's hooks are missing with this version of %s: %s" % (of, what), where)

    def assume_of(self, what, path, size=0):
        """Adds an assumption about a file. Equal assumptions about several files are merged into
        one about their common folder."""
        path = os.path.abspath(path)
        before = self.folders.get(what)
        where = path if before is None else os.path.commonpath([before, path])
        self.folders[what] = where
        if before is not None:
            size += self.assumptions.pop((what, before), 0)
        self.assume(what, where, size)

    def told(self):
        """Returns the assumptions. Equal assumptions about several lines of a file are merged:
        "train.py:3, 7, 9 and 20 more"."""
        files = {}
        for (what, where), size in list(self.assumptions.items()):
            path, colon, line = where.rpartition(":")
            in_source = colon and line.isdigit()
            lines, sizes = files.setdefault(
                (what, path, "") if in_source else (what, "", where), ([], [])
            )
            lines.append(int(line) if in_source else 0)
            sizes.append(size)
        told = []
        for (what, path, where), (lines, sizes) in files.items():
            if path:
                lines.sort()
                where = "%s:%s" % (path, ", ".join(map(str, lines[:PLACES])))
                if len(lines) > PLACES:
                    where += " and %d more" % (len(lines) - PLACES)
            told.append({"what": what, "where": where, "bytes": sum(sizes)})
        return told

    def write(self):
        about = dict(self.about)
        about["assumptions"] = self.told()
        try:
            replace_file(
                os.path.join(self.settings.output, "process-%d.json" % self.pid),
                json.dumps(about).encode(),
            )
        except OSError as error:
            complain(error)

    def ends(self, how):
        self.about.update(ended=how, ended_ns=time.time_ns())

    def failed(self, kind, value):
        """Called when the process ends by an uncaught exception. A program that catches the end
        after the requested steps, and raises an exception of its own then, has not failed."""
        if not self.mine() or _follows_from_enough(value):
            return
        self.ends("exception")
        text = _original("%s: %s" % (kind.__name__, value))
        if self.settings.emulated and "invalid device ordinal" in text:
            # torchrun sets this variable to the number of processes that it starts on this
            # computer.
            wanted = os.environ.get("LOCAL_WORLD_SIZE", "N")
            first, _, rest = text.partition("\n")
            text = (
                "%s (the plan has %s GPU(s), fewer than the program uses: vramscope plan "
                "--devices %s)\n%s"
                % (first, os.environ.get("VRAMSCOPE_EMULATED_DEVICES", "1"), wanted, rest)
            )
        self.about["exception"] = text[:2000]

    def end(self, how):
        """Writes all data. After several calls, the first `how` other than "end" is reported."""
        if not self.mine():
            return
        if not self.about["ended"] or self.about["ended"] == "end":
            self.ends(how)
        if self.toggles is not None:
            self.about["toggles"] = self.toggles.report()
        self.about["sources"] = packages.sources()
        if self.recorder is not None:
            self.recorder.finish()
        self.write()

    def move_aside(self):
        """Renames the files of this process to a number that no process has."""

        def path(kind, number):
            return os.path.join(self.settings.output, kind % number)

        number = self.pid + MOST_PROCESSES
        while os.path.exists(path("process-%d.json", number)):
            number += MOST_PROCESSES
        try:
            for kind in ("process-%d", "process-%d.json", "platform-%d.json"):
                if os.path.exists(path(kind, self.pid)):
                    os.rename(path(kind, self.pid), path(kind, number))
            for kind in ("process-%d.json", "platform-%d.json"):
                if os.path.exists(path(kind, number)):
                    with open(path(kind, number), "rb") as file:
                        about = json.load(file)
                    about["pid"] = number
                    replace_file(path(kind, number), json.dumps(about).encode())
        except (OSError, ValueError) as error:
            complain(error)


_complained = False


def complain(error):
    global _complained
    if not _complained:
        _complained = True
        print(
            "vramscope: the recording of the program cannot be continued: %s" % error,
            file=sys.stderr,
            flush=True,
        )
        try:  # the command line has reserved space in this file, in case the disk is full
            with open(
                os.path.join(os.environ["VRAMSCOPE_PROGRAM_OUTPUT"], "trouble"), "r+b"
            ) as file:
                file.write(str(error).encode("ascii", "replace")[:1000] + b"\n")
        except OSError:
            pass


def replace_file(path, data):
    """Writes a file so that no other process ever sees it incomplete."""
    part = path + ".part"
    try:
        with open(part, "wb") as file:
            file.write(data)
        os.replace(part, path)
    except OSError:
        try:
            os.unlink(part)
        except OSError:
            pass
        raise

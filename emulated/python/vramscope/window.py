"""The vramscope window, run in a separate process."""

import os
import pickle
import shutil
import subprocess
import tempfile
import threading
from typing import Any, Dict, List, Optional, Union

from vramscope import program
from vramscope.result import Result


class Window:
    """A window that was opened. It stays open when this process ends.

    window = vramscope.show("run.trace")
    window.pid
    window.wait()     # until the user has closed it
    window.close()
    """

    def __init__(self, process: "subprocess.Popen[bytes]", log: str) -> None:
        self._process = process
        self._log = log

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def wait(self, timeout: Optional[float] = None) -> int:
        """Waits until the window is closed, and returns its exit status. Raises
        subprocess.TimeoutExpired after `timeout` seconds."""
        return self._process.wait(timeout)

    def close(self) -> None:
        if self.running:
            self._process.terminate()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def log(self) -> str:
        """Returns what the window has written to stderr."""
        try:
            with open(self._log, encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            return ""

    def __repr__(self) -> str:
        return "<vramscope.Window pid %d, %s>" % (self.pid, "open" if self.running else "closed")


def _display() -> bool:
    return any(os.environ.get(name) for name in ("WAYLAND_DISPLAY", "DISPLAY", "QT_QPA_PLATFORM"))


def show(*what: Union[str, "os.PathLike[str]", Dict[str, Any], Result]) -> Window:
    """Opens traces, files or snapshots in the window and returns immediately. If two are given, the
    first is the baseline of the second. The window is a separate process, and stays open when this
    process ends.

        vramscope.show("run.trace")
        vramscope.show(torch.cuda.memory._snapshot())
        vramscope.show(before, after)

    A snapshot, and the trace of a plan without `output`, are written to a temporary folder. It is
    removed if the window is closed while this process is still running.
    """
    if not what:
        raise TypeError("show() needs a trace, a snapshot or the path of one")
    if not _display():
        raise program.VramscopeError(
            "there is no display for the window ($DISPLAY, $WAYLAND_DISPLAY); use "
            "print(vramscope.load(path)) instead"
        )
    executable = program.find()
    folder = tempfile.mkdtemp(prefix="vramscope-show-")
    try:
        files: List[str] = [_file(one, folder, number) for number, one in enumerate(what)]
        log = os.path.join(folder, "log")
        with open(log, "wb") as said:
            process = subprocess.Popen(
                [executable, *files],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
                env=program.environment(),
                cwd="/",
            )
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    threading.Thread(target=_remove_after, args=(process, folder), daemon=True).start()
    return Window(process, log)


def _remove_after(process: "subprocess.Popen[bytes]", folder: str) -> None:
    process.wait()
    if process.returncode == 0:  # otherwise the log in the folder has the reason
        shutil.rmtree(folder, ignore_errors=True)


def _file(one: Any, folder: str, number: int) -> str:
    if isinstance(one, Result):
        path = str(one.path or "")
        if not path:
            raise program.VramscopeError("there is no trace yet")
        copy = os.path.join(folder, "%d-%s" % (number, os.path.basename(path)))
        try:
            os.link(path, copy)  # the object may delete its file before the window has read it
        except OSError:
            shutil.copyfile(path, copy)
        return copy
    if isinstance(one, dict):
        if "segments" not in one:
            raise TypeError(
                "this dictionary is not a memory snapshot of torch.cuda.memory._snapshot(): it "
                'has no "segments"'
            )
        path = os.path.join(folder, "snapshot-%d.pickle" % number)
        with open(path, "wb") as file:
            pickle.dump(one, file, protocol=4)
        return path
    path = os.path.abspath(str(os.fspath(one)))
    if not os.path.exists(path):
        raise FileNotFoundError("'%s': no such file" % path)
    return path

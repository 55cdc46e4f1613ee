"""`vramscope.record`: records a part of a running program.

If a plan or a recording already watches the whole program (`vramscope plan -- python ...`), this
part is cut from the data that the program has written so far. Otherwise this process's own GPU is
recorded from the beginning of the block on, with the same hooks.

Hooks stay installed afterwards; outside of a recording, each of them returns immediately."""

import os
import shutil
import tempfile
from typing import Any, Dict, List, Optional, Tuple, Union

from vramscope import program
from vramscope.result import Result, write_whole

_NO_GPU = (
    "torch.cuda finds no GPU to record. Without one, `vramscope plan -- python ...` or "
    "vramscope.plan([...]) runs the program on "
    "an emulated GPU, where record() works"
)


class Recording(Result):
    """The recording of `with vramscope.record(...) as recording`: a Result after the block has
    ended."""

    def __init__(self, path: Optional[str], overwrite: bool) -> None:
        self._fill(None, {})
        self._wanted = path
        self._overwrite = overwrite
        self._region: Any = None

    def __enter__(self) -> "Recording":
        if self._region is not None:
            raise program.VramscopeError(
                "a recording can be used only once: call vramscope.record() again"
            )
        if self._wanted is not None and os.path.lexists(self._wanted) and not self._overwrite:
            raise FileExistsError("'%s' exists; overwrite=True replaces it" % self._wanted)
        self._region = _region()
        self._region.begin()
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        try:
            folder, cut, summary, said = self._region.end()
        except program.VramscopeError:
            if kind is not None:  # the block's own exception is more important
                return
            raise
        path = cut
        if self._wanted is not None:
            path = write_whole(
                self._wanted, lambda file: _copy(cut, file), overwrite=self._overwrite
            )
            shutil.rmtree(folder, ignore_errors=True)
        self._fill(path, summary, folder if self._wanted is None else None)
        self.warnings = [line for line in said if "warning: " in line]


def record(
    path: Optional[Union[str, "os.PathLike[str]"]] = None, *, overwrite: bool = False
) -> Recording:
    """Records GPU memory during the block, as `vramscope record -- python ...` does for a whole
    program: categories, phases, modules, and the Python line of every allocation.

        with vramscope.record("run.trace") as recording:
            train_one_epoch()
        print(recording.peak_allocated, recording.categories)
        recording.show()

    Memory that was allocated before the block is included, and is marked as older than the
    recording. Needs a GPU (otherwise raises VramscopeError), or a program that runs under
    `vramscope plan --`. In a plan, the file at `path` is deleted with the program's other files,
    unless `--writable` names its folder. The recording contains kernels only if the whole program
    is watched. An existing file is not replaced unless `overwrite`.
    """
    return Recording(None if path is None else os.path.abspath(os.fspath(path)), overwrite)


def _copy(path: str, file: Any) -> None:
    with open(path, "rb") as source:
        shutil.copyfileobj(source, file)


def _region() -> Any:
    import torch

    from vramscope import watch

    if watch.current is not None and watch.current.mine() and watch.current.recorder is not None:
        return _Part(torch, watch.current)
    if not torch.cuda.is_available():
        raise program.VramscopeError(_NO_GPU)
    return _Own.of(torch)


# folder, path of the trace in the folder, figures of the trace, messages.
_Ended = Tuple[str, str, Dict[str, Any], List[str]]


class _Part:
    """A part of a program that is watched as a whole."""

    def __init__(self, torch: Any, process: Any) -> None:
        self.torch = torch
        self.process = process

    def begin(self) -> None:
        self.torch.cuda.init()  # the recorder's history begins when CUDA is initialized
        if not self.process.recorder.recording:
            raise program.VramscopeError("this program's memory is no longer recorded")
        self.device = self.torch.cuda.current_device()
        # _cut() leaves out entries from before self.began. On the host's clock, PyTorch's entries
        # have times in whole microseconds. If self.began were not rounded down to microseconds, an
        # entry of the part in the same microsecond would be left out.
        began = int(self.process.recorder.now())
        self.began = began if self.process.about.get("clock") == "virtual" else began // 1000 * 1000
        self.process.recorder.mark("A", self.process.recorder.name("vramscope.record"))

    def end(self) -> _Ended:
        recorder = self.process.recorder
        if not recorder.recording:
            raise program.VramscopeError("this program's memory is no longer recorded")
        recorder.mark("a")
        recorder.flush()
        self.process.write()
        folder = tempfile.mkdtemp(prefix="vramscope-record-")
        try:
            return (folder, *self._cut(folder))
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def _cut(self, folder: str) -> Tuple[str, Dict[str, Any], List[str]]:
        output = self.process.settings.output
        whole, part = os.path.join(folder, "whole.trace"), os.path.join(folder, "part.trace")
        planned = bool(self.process.settings.emulated)
        command = ["plan" if planned else "record", "--from", output, "-o", whole, "--json"]
        device = os.environ.get("VRAMSCOPE_PROGRAM_DEVICE")
        if planned and device:
            command += ["--device", device]
        # Also accepts the exit statuses for a failed program, because only the trace matters here:
        # the program may have reported an exception that it then caught.
        summary, _, said = program.run(
            command, accept=(program.DONE, program.NO, program.BAD_INPUT)
        )
        if not os.path.exists(whole):
            raise program.VramscopeError(
                "the recording so far cannot be read: %s" % " ".join(said[-3:])
            )
        first, mine = self._origin(whole, summary)
        # Selects the trace from the beginning of the part to its end.
        cut = [
            "export",
            whole,
            "--to",
            "trace",
            "-o",
            part,
            "--time",
            "%dns:" % max(0, self.began - first),
        ]
        if mine is not None:
            cut += ["--device", str(mine + self.device)]
        program.text(cut)
        os.unlink(whole)
        figures, _, more = program.run(["info", part, "--json"])
        return part, figures, more

    def _origin(self, whole: str, summary: Dict[str, Any]) -> Tuple[int, Optional[int]]:
        """Returns the time 0 of the trace on this process's clock. With several processes, also
        returns the number in the trace of this process's first device."""
        figures = program.run(["info", whole, "--json"])[0]
        if self.process.about.get("clock") == "virtual":
            first = _first_mark(os.path.join(self.process.recorder.folder, "marks.jsonl"))
        else:
            first = int(figures["start_unix_ns"])
        ranks = [rank for rank in summary.get("ranks", []) if rank["process"] == os.getpid()]
        if len(summary.get("ranks", [])) < 2 or not ranks:
            return first, None
        for row in figures.get("processes") or []:
            if ranks[0]["device"] in row["devices"]:
                first -= int(row["clock_offset_ns"])
        return first, int(ranks[0]["device"])


def _first_mark(path: str) -> int:
    import json

    with open(path, "rb") as file:
        for line in file:
            mark = json.loads(line)
            if mark[0] not in ("n", "T"):
                return int(mark[3])
    raise program.VramscopeError("the recording has no marks")


class _Own:
    """A recording in a program that is not watched as a whole."""

    _only: "Optional[_Own]" = None

    @classmethod
    def of(cls, torch: Any) -> "_Own":
        if cls._only is None:
            cls._only = _Own(torch)
        return cls._only

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.process: Any = None
        self.running = False

    def begin(self) -> None:
        if self.running:
            raise program.VramscopeError(
                "another recording is already running; only one is possible at a time"
            )
        if self.process is not None and not self.process.mine():
            raise program.VramscopeError(
                "record() was used before this process was forked; use it either in the parent "
                "or in the child"
            )
        self.torch.cuda.init()  # the allocator can be read only after this
        enabled = getattr(self.torch._C, "_cuda_isHistoryEnabled", None)
        if enabled is not None and enabled():
            raise program.VramscopeError(
                "this program records its own memory history: stop it first with "
                "torch.cuda.memory._record_memory_history(enabled=None), or save it with "
                "vramscope.snapshot()"
            )
        library = os.path.join(program.platform(), "libvramscope-activities.so")
        self.folder = tempfile.mkdtemp(prefix="vramscope-record-")
        try:
            self._watch(library)
            self.process.recorder.begin()
            if not self.process.recorder.recording:
                raise program.VramscopeError(
                    "the memory of this program cannot be recorded: its allocator keeps no history"
                )
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        self.running = True

    def _watch(self, library: str) -> None:
        from vramscope import hooks
        from vramscope.process import Process, Settings

        if self.process is None:
            settings = Settings(
                {"VRAMSCOPE_PROGRAM_OUTPUT": self.folder, "VRAMSCOPE_PROGRAM_TAIL": library}
            )
            self.process = Process(self.torch, settings)
            self.process.recorder = _recorder(self.process)
            self.process.recorder.wrap_the_programs_own()
            self.hooks = self.process.part(
                "phases, modules and steps are not recorded", hooks.install, self.process
            )
            return
        self.process.settings.output = self.folder
        self.process.about.update(ended="", ended_ns=0, exception="")
        self.process.about.pop("model", None)
        self.process.recorder.again()
        if self.hooks is not None:
            self.hooks.again()

    def end(self) -> _Ended:
        self.running = False
        recorder = self.process.recorder
        self.process.end("end")
        recorder.stop_history()
        if self.hooks is not None:
            self.hooks.saved.end()
        trace = os.path.join(self.folder, "recording.trace")
        try:
            summary, _, said = program.run(["record", "--from", self.folder, "-o", trace, "--json"])
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        for name in os.listdir(self.folder):
            if name.startswith("process-"):
                path = os.path.join(self.folder, name)
                shutil.rmtree(path, ignore_errors=True) if os.path.isdir(path) else os.unlink(path)
        return self.folder, trace, summary, said


def _recorder(process: Any) -> Any:
    from vramscope import recorder

    class PartRecorder(recorder.Recorder):
        """A recorder that begins after other allocations, and may begin again."""

        beginning = False

        def begin(self) -> None:
            for device in range(self.torch.cuda.device_count()):
                self.bases[device] = 0
                self.bases[device] = -self._requests(device)
            self.beginning = True
            try:
                super().begin()
            finally:
                self.beginning = False

        def again(self) -> None:
            self.names.clear()
            self.chunks, self.users, self.users_chunk = 0, None, 0

        def idle(self) -> bool:
            return not self.recording and not self.beginning

        def stop_history(self) -> None:
            self._record(False)

    return PartRecorder(process)

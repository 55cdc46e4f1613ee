"""Writes the caching allocator's history and the marks beside it into the folder of this process, in chunks, while the program
runs.

A mark says where in the history it belongs by counting: how many blocks were asked for and given back so far on the device, which
the allocator tells the library in this process (tail.py), else its statistics know; the history has one entry for each. That is exact
where times are not."""
import ctypes
import gc
import inspect
import os
import pickle
import sys
import threading
import time

from vramscope import tail
from vramscope.process import complain, replace_file

MAX_ENTRIES = 50_000_000  # of the ring that PyTorch keeps; it grows as it fills
FLUSH_SECONDS = 0.4  # somebody may be looking
FLUSH_SHARE = 0.1  # of the time, at most
FLUSH_STEP_SECONDS = 0.25  # a flush costs by the blocks that are there, too, so short steps share one
FLUSH_REQUESTS = 200_000

_LINES = ['["%s",%d,%d,%d,%d' + ",%d" * arguments + "]" for arguments in range(4)]


class Recorder:
    """One a process. `mark` and what calls it run under the interpreter's lock, on any thread."""

    def __init__(self, process):
        self.process = process
        self.torch = process.torch
        self.memory = process.torch.cuda.memory
        self.recording = False
        self.lines = []  # that are not in the file yet
        self.marks_file = None
        self.names = {}
        self.threads = {}
        self.chunks = 0
        self.clears = None  # whether a history that begins anew is empty; not known before the first
        self.bases = {}  # device: requests before its statistics were reset
        self.last = {}  # device: its last position
        self.used = set()  # devices that tensors are on
        self.flushed_at = 0.0
        self.flushed_requests = 0
        self.flush_took = 0.0  # seconds, the last one
        self.tail = tail.Tail(process.torch)
        self.users = None  # how the program itself asked for its history
        self.users_chunk = 0  # its history begins there
        self.shown = MAX_ENTRIES  # as many of the last ones as the program asked for
        self.now = None  # nanoseconds
        self.on_begin = []
        self.on_flush = []
        self.on_snapshot = []
        self.on_finish = []
        self.before_marks = None
        self.sample = None  # asks what the card has used
        self.sampled = False  # the first time as soon as the process has a context
        self.real = {name: getattr(self.memory, name) for name in
                     ("_record_memory_history", "_snapshot", "reset_accumulated_memory_stats") if hasattr(self.memory, name)}

    # --- the clock and the place in the history ---

    def _clock(self):
        folder = self.process.settings.emulated
        if folder:
            try:
                library = ctypes.CDLL(os.path.join(folder, "libvramscope-emulated.so"))
                now = library.vramscope_emulated_now_ns
                now.restype = ctypes.c_uint64
                now.argtypes = []
                self.process.about["clock"] = "virtual"
                return now
            except (OSError, AttributeError):
                pass
        self.process.about["clock"] = "host"
        return time.time_ns  # the clock of the entries' time_us

    def position(self):
        """(device, requests so far): allocations and frees that the history has an entry of."""
        collects = gc.isenabled()
        if collects:
            gc.disable()  # the statistics are some hundred objects: collections stay where they would be
        device = self.torch._C._cuda_getDevice()
        requests = self._requests(device)
        for other in tuple(self.used) if len(self.used) > 1 else ():  # what is asked for elsewhere has its place, too
            if other != device:
                elsewhere = self._requests(other)
                if elsewhere != self.last.get(other):
                    self.last[other] = elsewhere
                    self.put("e", other, elsewhere)
        if collects:
            gc.enable()
        if requests:
            self.used.add(device)
        self.last[device] = requests
        return device, requests

    def _requests(self, device):
        if self.tail.requests is not None:
            return self.tail.requests(device)
        count = self.torch._C._cuda_memoryStats(device)["allocation"]["all"]
        return count["allocated"] + count["freed"] + self.bases.get(device, 0)

    # --- marks ---

    def name(self, text):
        """The number of a text, which is written once."""
        number = self.names.get(text)
        if number is None:
            number = self.names[text] = len(self.names)
            quoted = text[:4096].encode("ascii", "backslashreplace").decode().replace("\\", "\\\\").replace('"', '\\"')
            quoted = "".join(c if c >= " " else " " for c in quoted)
            self.lines.append('["n",%d,"%s"]' % (number, quoted))
        return number

    def mark(self, kind, *arguments):
        if not self.recording:
            return
        device, requests = self.position()
        if self.before_marks is not None:
            self.before_marks(device, requests)
        self.put(kind, device, requests, *arguments)
        self.write_marks()
        if not self.sampled and self.sample is not None:
            self.sampled = self.sample() == 1

    def stepped(self):
        """Behind the mark of a step's end."""
        if self.sample is not None:
            self.sample()

    def put_each(self, kind, device, requests, rows):
        """Many at one moment: `rows` are what stands behind it, ",1,2"."""
        if rows:
            head = _LINES[0] % (kind, device, requests, self.now(), self.thread())
            self.lines.extend([head[:-1] + row + "]" for row in rows])

    def put(self, kind, device, requests, *arguments):
        self.put_at(self.now(), kind, device, requests, *arguments)

    def put_at(self, now, kind, device, requests, *arguments):
        thread = self.thread()
        self.lines.append(_LINES[len(arguments)] % (kind, device, requests, now, thread, *arguments))

    def thread(self):
        ident = threading.get_ident()
        thread = self.threads.get(ident)
        if thread is None:
            thread = self.threads[ident] = len(self.threads)
            self.lines.append('["T",%d,%d]' % (thread, threading.get_native_id()))  # as CUPTI knows it
        return thread

    def write_marks(self):
        """At every mark: what is in the file is there when the process is killed."""
        lines, self.lines = self.lines, []
        if not lines or not self.process.mine():
            return
        lines.append("")
        left = "\n".join(lines).encode()
        try:
            while left:
                left = left[os.write(self.marks_file, left):]
        except OSError as error:
            complain(error)
            self.recording = False

    # --- the history ---

    def begin(self):
        """When CUDA has been initialized, before the first allocation."""
        process = self.process
        if self.recording or not process.mine() and not self._adopt():
            return
        self.folder = os.path.join(process.settings.output, "process-%d" % process.pid)
        self.now = self._clock()
        try:
            os.makedirs(self.folder, exist_ok=True)
            self.marks_file = os.open(os.path.join(self.folder, "marks.jsonl"), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except OSError as error:
            complain(error)
            return
        torch = self.torch
        process.about["device"] = torch._C._cuda_getDevice()
        card = torch.cuda.get_device_properties(process.about["device"])
        process.about["card"] = {"name": card.name, "memory_bytes": card.total_memory, "sm_count": card.multi_processor_count,
                                 "compute_capability": 10 * card.major + card.minor}
        process.about["begin_ns"] = time.time_ns()
        self._record()
        self.tail.attach()
        self.tail.begin(self._chunk(0, "tail"))
        self.recording = True
        os.register_at_fork(after_in_child=self.stop)  # data loaders: what they do is not the parent's
        self.flushed_at = time.monotonic()
        self.mark("X")
        for call in self.on_begin:
            call()
        process.write()

    def stop(self):
        self.recording = False

    def _adopt(self):
        """A child of a fork that is the first to use CUDA: it is a process of its own."""
        self.process.pid = os.getpid()
        self.process.about["pid"] = self.process.pid
        return True

    def _record(self, enabled=True):
        record = self.real["_record_memory_history"]
        if not enabled:
            record(False) if "record_context" in inspect.signature(record).parameters else record(enabled=None)
        elif self.users:
            record(*self.users[0], **self.users[1])
        elif "record_context" in inspect.signature(record).parameters:  # 2.0
            record(True, True, MAX_ENTRIES, True)
        else:
            more = {}
            if "clear_history" in inspect.signature(record).parameters:
                more["clear_history"] = True
            # Who freed is nowhere shown; and PyTorch 2.11 asks for it while an exception of Python leaves an operator, and loses it.
            record(enabled="all", context="alloc", stacks=self.process.settings.stacks, max_entries=MAX_ENTRIES, **more)

    def snapshot(self):
        """The state and the entries since the last flush."""
        # PyTorch asks torch._inductor for the lines of compiled code, which imports it: a second for nothing.
        torch = self.torch
        absent = "torch._inductor" not in sys.modules
        if absent:
            torch.__dict__["_inductor"] = None
        try:
            return self.real["_snapshot"]()
        finally:
            if absent and torch.__dict__.get("_inductor", 0) is None:
                del torch.__dict__["_inductor"]

    def flush_now_and_then(self, seconds=FLUSH_SECONDS):
        """At places where no other thread allocates."""
        requests = sum(self.last.values())
        wait = max(seconds, self.flush_took / FLUSH_SHARE)
        if time.monotonic() - self.flushed_at > wait or requests - self.flushed_requests > FLUSH_REQUESTS:
            self.flush()

    def flush(self):
        if not self.recording or not self.process.mine():
            return
        collects = gc.isenabled()
        gc.disable()
        try:
            self._flush()
        except OSError as error:
            complain(error)
            self.recording = False
        finally:
            if collects:
                gc.enable()

    def _flush(self):
        begun = time.monotonic()
        for call in self.on_flush:
            call()
        snapshot = self.snapshot()
        anything = any(snapshot["device_traces"]) or self.chunks == 0
        before = self.tail.begin(self._chunk(self.chunks + 1, "tail")) if anything else ""
        for call in self.on_snapshot:
            call(snapshot)
        self._begin_anew()
        self.write_marks()
        if anything:
            snapshot.pop("external_annotations", None)
            data = pickle.dumps(snapshot, protocol=4)
            replace_file(self._chunk(self.chunks), data)
            self.chunks += 1
            tail.remove(before)
        self.flushed_at = time.monotonic()
        self.flush_took = self.flushed_at - begun
        self.flushed_requests = sum(self.last.values())

    def _begin_anew(self):
        self._record()
        if self.clears is None:
            self.clears = not any(self.snapshot()["device_traces"])
        if not self.clears:  # versions whose history is not cleared by that
            self._record(False)
            self._record()

    def _written(self, devices):
        """What the program's history has been so far: it is in the chunks."""
        entries = [[] for _ in range(devices)]
        for number in range(self.users_chunk, self.chunks):
            with open(self._chunk(number), "rb") as file:
                traces = pickle.load(file)["device_traces"]
            for device, trace in zip(entries, traces):
                device.extend(entry for entry in trace if entry["action"] != "snapshot")
        return entries

    def _chunk(self, number, kind="pickle"):
        return os.path.join(self.folder, "history-%06d.%s" % (number, kind))

    def finish(self):
        if self.recording:
            self.mark("E")
            self.stepped()
            self.flush()
            self.tail.end(written=self.recording)
            self.recording = False
            for call in self.on_finish:
                call()

    # --- a program that records its own history ---

    def wrap_the_programs_own(self):
        """From the import on: a program may ask for its history before it uses CUDA."""
        memory = self.memory
        if "_record_memory_history" not in self.real or "_snapshot" not in self.real:
            return
        record, snapshot = self.real["_record_memory_history"], self.real["_snapshot"]
        parameters = inspect.signature(record).parameters
        old = "record_context" in parameters

        def _record_memory_history(*args, **kwargs):
            enabled = args[0] if args else kwargs.get("enabled", "all")
            self.flush()
            before, self.users = self.users, None
            if enabled not in (None, False, "state"):  # else no entries are asked for
                legacy = old or enabled is True
                if legacy:
                    kwargs.setdefault("trace_alloc_record_context", True)
                else:
                    kwargs.setdefault("stacks", "all")
                    if kwargs.get("clear_history"):
                        before = None
                    if "clear_history" in parameters:
                        kwargs["clear_history"] = True
                # A ring that is full forgets what is not written yet: the program's own limit holds for what it is shown.
                name = "trace_alloc_max_entries" if legacy else "max_entries"
                self.shown = min(kwargs.get(name, 1 if legacy else MAX_ENTRIES), MAX_ENTRIES)
                if len(args) < 3:
                    kwargs[name] = MAX_ENTRIES
                self.users = args, kwargs
                if not before:
                    self.users_chunk = self.chunks
            if self.recording:
                self._begin_anew()

        def _snapshot(*args, **kwargs):
            self.flush()
            taken = snapshot(*args, **kwargs)
            now = taken["device_traces"]
            taken["device_traces"] = [[] for _ in now]
            if self.users:
                collects = gc.isenabled()
                gc.disable()
                for trace, written, last in zip(taken["device_traces"], self._written(len(now)), now):
                    trace.extend((written + last)[-self.shown:])
                if collects:
                    gc.enable()
            return taken

        def reset_accumulated_memory_stats(*args, **kwargs):
            if not self.recording:
                return self.real["reset_accumulated_memory_stats"](*args, **kwargs)
            device, requests = self.position()
            result = self.real["reset_accumulated_memory_stats"](*args, **kwargs)
            self.bases[device] = 0
            self.bases[device] = requests - self.position()[1]
            return result

        for wrapper in (_record_memory_history, _snapshot, reset_accumulated_memory_stats):
            if wrapper.__name__ in self.real:
                wrapper.__signature__ = inspect.signature(self.real[wrapper.__name__])
                setattr(memory, wrapper.__name__, wrapper)
        if "reset_accumulated_memory_stats" in self.real:
            self.torch.cuda.reset_accumulated_memory_stats = reset_accumulated_memory_stats

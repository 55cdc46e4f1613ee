"""Writes the caching allocator's history and the marks to this process's folder, in chunks, while
the program runs.

The position of a mark in the history is a count: the number of allocations and frees on the device
so far, from the library that the allocator reports to (tail.py), or otherwise from the allocator's
statistics. The history has one entry for each allocation and each free, so a position is exact; a
time would not be."""

import ctypes
import gc
import inspect
import os
import pickle
import sys
import time

from vramscope import native, tail
from vramscope.process import complain, replace_file

MAX_ENTRIES = 50_000_000  # size of PyTorch's ring buffer, which grows as it fills
FLUSH_SECONDS = 0.4  # short, because a window may show the program live
FLUSH_SHARE = 0.1  # maximum share of the run time that flushes take
# each flush also writes all existing blocks, so several short steps share one flush
FLUSH_STEP_SECONDS = 0.25
FLUSH_REQUESTS = 200_000


class Recorder:
    """There is one recorder per process. `mark` and its callers run on any thread, with the
    interpreter's lock."""

    def __init__(self, process):
        self.process = process
        self.torch = process.torch
        self.memory = process.torch.cuda.memory
        self.recording = False
        self.native = None  # native.Native, which writes the marks; set when recording begins
        self.names = {}
        self.chunks = 0
        self.rows = False  # whether the library writes the chunks of the history
        # whether restarting clears the history; unknown before the first restart
        self.clears = None
        # {device: number of allocations and frees before the device's statistics were reset}
        self.bases = {}
        self.flushed_at = 0.0
        self.flushed_requests = 0
        self.flush_took = 0.0  # duration of the last flush in seconds
        self.tail = tail.Tail(process.torch)
        self.users = None  # the program's own arguments for its history
        self.users_chunk = 0  # the chunk in which the program's history begins
        self.shown = MAX_ENTRIES  # number of latest entries that the program requested
        self.skipped = set()  # actions of which the program requested no entries
        self.now = None  # returns nanoseconds
        self.on_begin = []
        self.on_flush = []
        self.on_snapshot = []
        self.on_finish = []
        self.sample = None  # samples the GPU memory in use
        self.sampled = False  # whether a sample exists, which needs a context
        self.real = {
            name: getattr(self.memory, name)
            for name in ("_record_memory_history", "_snapshot", "reset_accumulated_memory_stats")
            if hasattr(self.memory, name)
        }

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
        """Returns (device, count). The count is the number of allocations and frees that have an
        entry in the history."""
        device = self.torch._C._cuda_getDevice()
        return device, self._requests(device)

    def _requests(self, device):
        if self.tail.requests is not None:
            return self.tail.requests(device)
        collects = gc.isenabled()
        # reading the statistics creates hundreds of objects, which must not influence when
        # collections run
        gc.disable()
        count = self.torch._C._cuda_memoryStats(device)["allocation"]["all"]
        requests = count["allocated"] + count["freed"] + self.bases.get(device, 0)
        if collects:
            gc.enable()
        return requests

    # --- marks ---

    def address(self, tensor):
        """Returns the address of the block of a tensor of any class, or 0 if the tensor has no
        block."""
        tensor = getattr(tensor, "_local_tensor", tensor)  # this rank's part of a DTensor
        try:
            storage = tensor.untyped_storage() if tensor.is_cuda else None
            # Fake tensors have no address.
            return (
                storage.data_ptr() if storage is not None and storage.device.type == "cuda" else 0
            )
        except (RuntimeError, NotImplementedError, AttributeError):
            return 0  # no storage: meta, fake, sparse

    def name(self, text):
        """Returns the number of a text. Each text is written only once."""
        number = self.names.get(text)
        if number is None:
            number = self.names[text] = len(self.names)
            quoted = (
                text[:4096]
                .encode("ascii", "backslashreplace")
                .decode()
                .replace("\\", "\\\\")
                .replace('"', '\\"')
            )
            quoted = "".join(c if c >= " " else " " for c in quoted)
            self.native.text(('["n",%d,"%s"]' % (number, quoted)).encode())
        return number

    def mark(self, kind, *arguments):
        if not self.recording:
            return
        self.native.mark(kind, *arguments)
        if not self.sampled and self.sample is not None:
            self.sampled = self.sample() == 1

    def stepped(self):
        """Called after the mark for the end of a step."""
        if self.sample is not None:
            self.sample()

    def _check_marks(self):
        if self.native.failed():
            complain(OSError("no space to write marks"))
            self.recording = False

    # --- the history ---

    def begin(self):
        """Called after CUDA has been initialized, before the first allocation."""
        process = self.process
        if self.recording or not process.mine() and not self._adopt():
            return
        self.folder = os.path.join(process.settings.output, "process-%d" % process.pid)
        self.now = self._clock()
        try:
            os.makedirs(self.folder, exist_ok=True)
            self.native = native.Native(process.settings.library)
        except (OSError, AttributeError) as error:
            complain(error)
            return
        torch = self.torch
        process.about["device"] = torch._C._cuda_getDevice()
        gpu = torch.cuda.get_device_properties(process.about["device"])
        process.about["card"] = {
            "name": gpu.name,
            "memory_bytes": gpu.total_memory,
            "sm_count": gpu.multi_processor_count,
            "compute_capability": 10 * gpu.major + gpu.minor,
        }
        process.about["begin_ns"] = time.time_ns()
        self.tail.attach()
        try:
            self.rows = (
                process.settings.stacks == "python"
                and self.users is None
                and self.tail.read_stacks(os.path.join(self.folder, "stacks.jsonl"))
            )
            self._record()
            if self.rows:
                self._write_chunk(self.snapshot())  # contains the allocator's settings
            self.tail.begin(self._chunk(self.chunks, "tail"))
            self.native.begin(
                os.path.join(self.folder, "marks.jsonl"),
                None if self.now is time.time_ns else self.now,
                torch,
                None if self.tail.requests is not None else self._requests,
                self.address,
            )
        except (OSError, AttributeError) as error:
            complain(error)
            return
        except RuntimeError as error:  # another allocator, set by the program
            print(
                "vramscope: this allocator keeps no history, so the program's memory is not "
                "recorded: %s" % error,
                file=sys.stderr,
                flush=True,
            )
            return
        self.recording = True
        # data loader workers are not part of the parent
        os.register_at_fork(after_in_child=self.stop)
        self.flushed_at = time.monotonic()
        self.mark("X")
        for call in self.on_begin:
            process.part("the recording of memory is incomplete", call)
        process.write()

    def stop(self):
        self.recording = False

    def _adopt(self):
        """If a forked child is the first to use CUDA, it becomes a recorded process of its own."""
        self.process.pid = os.getpid()
        self.process.about["pid"] = self.process.pid
        return True

    def _record(self, enabled=True):
        record = self.real["_record_memory_history"]
        if not enabled:
            record(False) if "record_context" in inspect.signature(record).parameters else record(
                enabled=None
            )
        elif self.users:
            record(**self.users)
        elif "record_context" in inspect.signature(record).parameters:  # torch 2.0
            record(True, True, MAX_ENTRIES, True)
        else:
            more = {}
            if "clear_history" in inspect.signature(record).parameters:
                more["clear_history"] = True
            # Stacks of frees are not recorded, because nothing shows them. Recording them would
            # also make PyTorch 2.11 lose Python exceptions that leave an operator.
            record(
                enabled="all",
                context="alloc",
                stacks=self.process.settings.stacks,
                max_entries=1 if self.rows else MAX_ENTRIES,
                **more,
            )

    def snapshot(self):
        """Returns the allocator's state, and the history entries since the last flush."""
        # PyTorch would import torch._inductor to look up lines of compiled code, which takes a
        # second. None in sys.modules prevents the import.
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
        """Flushes if the last flush was long enough ago. Called where no other thread allocates."""
        requests = self.native.requests()
        wait = max(seconds, self.flush_took / FLUSH_SHARE)
        if (
            time.monotonic() - self.flushed_at > wait
            or requests - self.flushed_requests > FLUSH_REQUESTS
        ):
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
        if self.rows:
            self._flush_rows()
        else:
            self._flush_entries()
        self.flushed_at = time.monotonic()
        self.flush_took = self.flushed_at - begun
        self.flushed_requests = self.native.requests()

    def _flush_rows(self):
        for call in self.on_snapshot:
            call(self.tail.streams())
        self._check_marks()
        if self.tail.chunk_ends(self._chunk(self.chunks + 1, "tail")):
            self.chunks += 1

    def _flush_entries(self):
        snapshot = self.snapshot()
        anything = any(snapshot["device_traces"]) or self.chunks == 0
        before = self.tail.begin(self._chunk(self.chunks + 1, "tail")) if anything else ""
        current = self.torch._C._cuda_getDevice()
        for call in self.on_snapshot:
            call(
                {
                    (segment.get("device", current), segment.get("stream", 0))
                    for segment in snapshot["segments"]
                }
            )
        self._begin_anew()
        self._check_marks()
        if anything:
            self._write_chunk(snapshot)
            tail.remove(before)

    def _write_chunk(self, snapshot):
        snapshot.pop("external_annotations", None)
        if self.rows:
            snapshot["device_traces"] = [[] for _ in snapshot["device_traces"]]
        replace_file(self._chunk(self.chunks), pickle.dumps(snapshot, protocol=4))
        self.chunks += 1

    def _begin_anew(self):
        self._record()
        if self.clears is None:
            self.clears = not any(self.snapshot()["device_traces"])
        if not self.clears:  # versions in which restarting does not clear the history
            self._record(False)
            self._record()

    def _written(self, devices):
        """Returns the program's history so far, which it reads from the chunks."""
        entries = [[] for _ in range(devices)]
        for number in range(self.users_chunk, self.chunks):
            with open(self._chunk(number), "rb") as file:
                traces = pickle.load(file)["device_traces"]
            for device, trace in zip(entries, traces):
                device.extend(trace)
        return entries

    def _chunk(self, number, kind="pickle"):
        return os.path.join(self.folder, "history-%06d.%s" % (number, kind))

    def finish(self):
        if self.recording:
            self.mark("E")
            self.stepped()
            self.flush()
            if self.rows and self.recording:
                self._write_the_end()
            self.tail.end(written=self.recording)
            self.recording = False
            self.native.end()
            for call in self.on_finish:
                call()

    def _write_the_end(self):
        """Writes the final state of the memory, because the rows of the history contain no
        pools."""
        try:
            self._write_chunk(self.snapshot())
        except OSError as error:
            complain(error)
            self.recording = False

    # --- a program that records its own history ---

    def idle(self):
        """Returns True after a recording has ended and before the next one begins. The program's
        calls then go directly to PyTorch."""
        return False

    def wrap_the_programs_own(self):
        """Called at import, because a program may enable its history before it uses CUDA."""
        memory = self.memory
        if "_record_memory_history" not in self.real or "_snapshot" not in self.real:
            return
        record, snapshot = self.real["_record_memory_history"], self.real["_snapshot"]
        parameters = inspect.signature(record).parameters
        old = "record_context" in parameters

        def _record_memory_history(*args, **kwargs):
            if self.idle():
                return record(*args, **kwargs)
            enabled = args[0] if args else kwargs.get("enabled", "all")
            self.flush()
            before, self.users = self.users, None
            if enabled not in (None, False, "state"):  # otherwise no entries are requested
                legacy = old or enabled is True
                signature = inspect.signature(
                    getattr(memory, "_record_memory_history_legacy", record) if legacy else record
                )
                asked = signature.bind(*args, **kwargs).arguments
                if legacy:
                    asked.setdefault("trace_alloc_record_context", True)
                else:
                    asked.setdefault("stacks", "all")
                if asked.get("clear_history"):
                    before = None
                if "clear_history" in signature.parameters:
                    asked["clear_history"] = True
                # With the program's limit, PyTorch would drop entries before they are written, and
                # skipped actions would
                # be missing in the trace. So the limit and the skipped actions are applied only to
                # the history that the
                # program gets.
                name = "trace_alloc_max_entries" if legacy else "max_entries"
                self.shown = min(asked.get(name, 1 if legacy else MAX_ENTRIES), MAX_ENTRIES)
                asked[name] = MAX_ENTRIES
                self.skipped = {"snapshot", *(asked.pop("skip_actions", None) or ())}
                self.users, self.rows = asked, False
                if not before:
                    self.users_chunk = self.chunks
            if self.recording:
                self._begin_anew()

        def _snapshot(*args, **kwargs):
            if self.idle():
                return snapshot(*args, **kwargs)
            self.flush()
            taken = snapshot(*args, **kwargs)
            now = taken["device_traces"]
            taken["device_traces"] = [[] for _ in now]
            if self.users:
                collects = gc.isenabled()
                gc.disable()
                for trace, written, last in zip(
                    taken["device_traces"], self._written(len(now)), now
                ):
                    trace.extend(
                        [entry for entry in written + last if entry["action"] not in self.skipped][
                            -self.shown :
                        ]
                    )
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

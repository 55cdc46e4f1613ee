"""Checks the files that vramscope exports: Chrome trace, snapshot, memory timeline. one_file.py
checks the two CSV files."""

import gzip
import json
import os

import reading
from memory import ALLOCATOR, IN_USE, NEVER, Snapshot, unsigned
from one_file import views
from table import both_ways

SEGMENT_ACTIONS = ("segment_alloc", "segment_free", "segment_map", "segment_unmap")


def _block_changes(view):
    """Returns the changes of blocks in a view, sorted: (entry, whether the block begins, block). If
    the free of a block is missing, an alloc ends it; there, the end comes before the begin of the
    new block."""
    changes = []
    for b in view.device.blocks:
        if b.born >= view.first:
            changes.append((b.born, 1, b))
        if b.freed is not NEVER and b.freed >= max(view.first, 0):
            changes.append((b.freed, 0, b))
    return sorted(changes, key=lambda c: c[:2])


class Exports:
    def __init__(self, one, folder):
        self.one, self.folder = one, folder
        self.check, self.program, self.path = one.check, one.program, one.path

    def _export(self, form, suffix, *options):
        out = os.path.join(self.folder, "out" + suffix)
        self.program.run("export", self.path, *options, "--to", form, "-o", out)
        return out

    # -- Chrome ----------------------------------------------------------------------------------
    def chrome(self):
        with open(self._export("chrome", ".json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        for view in views(self.one.snapshot):
            self._chrome_of(view, events)

    def _chrome_of(self, view, events):
        device = view.device
        counters = {"allocated": [], "reserved": []}
        memory, out_of_memory = [], []
        for e in events:
            if e.get("ph") == "C" and e["pid"] == device.number and e["name"] in counters:
                counters[e["name"]].append(e["args"]["bytes"])
            elif e.get("name") == "[memory]" and e["args"]["Device Id"] == device.number:
                a = e["args"]
                memory.append((a["Bytes"], a["Addr"], a["Total Allocated"], a["Total Reserved"]))
            elif e.get("name") == "[OutOfMemory]" and e["args"]["Device Id"] == device.number:
                a = e["args"]
                out_of_memory.append((a["Bytes"], a["Total Allocated"], a["Total Reserved"]))
        truth_reserved = [
            device.reserved(k) for k, e in enumerate(device.entries) if e[0] in SEGMENT_ACTIONS
        ]
        self._tail_is(
            "chrome: reserved at each event",
            counters["reserved"],
            truth_reserved,
            device.reserved(-1),
        )
        if not device.oddities:
            changes = _block_changes(view)
            self._tail_is(
                "chrome: allocated at each event",
                counters["allocated"],
                [device.allocated(k) for k, _, _ in changes],
                device.allocated(-1),
            )
            truth = [
                (b.size if begins else -b.size, b.address, device.allocated(k), device.reserved(k))
                for k, begins, b in changes
            ]
            self._tail_is("chrome: [memory] at each event", memory, truth, None)
        self.check("chrome: most allocated", max(counters["allocated"], default=0), view.peak()[0])
        self.check("chrome: most reserved", max(counters["reserved"], default=0), view.peak()[2])
        self.check(
            "chrome: out of memory on its device",
            out_of_memory,
            [
                (e[2], device.allocated(k), device.reserved(k))
                for k, e in enumerate(device.entries)
                if e[0] == "oom"
            ],
        )

    def _tail_is(self, figure, ours, truth, start):
        """Checks that `ours` ends with the values in `truth`, and that the value before them is
        `start`."""
        tail = ours[len(ours) - len(truth) :] if truth else []
        self.check(figure, len(tail), len(truth))
        bad = [(i, o, t) for i, (o, t) in enumerate(zip(tail, truth)) if o != t]
        self.check(figure, [b[:2] for b in bad[:1]], [(b[0], b[2]) for b in bad[:1]])
        self.one.table.rows[self.one.name, figure][0] += len(truth)
        if start is not None:
            before = ours[: len(ours) - len(truth)]
            self.check(figure + ", start", before[-1] if before else 0, start)

    # -- snapshot --------------------------------------------------------------------------------
    def snapshot(self, info):
        out = self._export("snapshot", ".pickle")
        value, cut = reading.load(out)
        self.check("snapshot: whole", cut, False)
        ours, truth = Snapshot(value), self.one.snapshot
        for number, device in truth.devices.items():
            if not device.has_memory and not device.entries:
                continue
            other = ours.devices.get(number)
            self.check("snapshot: device is there", other is not None, True)
            if other is not None:
                self._same_device(other, device)
        self._same_segments(value)
        again = self.program.json("info", out)
        for key in (
            "entries",
            "allocations",
            "older_allocations",
            "out_of_memory",
            "peak",
            "peaks",
            "segments",
            "streams",
            "devices",
        ):
            self.check("snapshot: info when opened again", {key: again[key]}, {key: info[key]})

    def _same_device(self, ours, truth):
        timed = self.one.snapshot.has_times

        # The only entry may be the mark of the snapshot itself. The file then counts as a snapshot
        # without history, in which the mark is not an entry.
        kinds = {*ALLOCATOR, "snapshot"}
        if not any(e[0] in ALLOCATOR for e in truth.entries):
            kinds = {*ALLOCATOR}

        def rows(device):
            return [e[:4] + ((e[4],) if timed else ()) for e in device.entries if e[0] in kinds]

        def frames(device):
            return [
                [(f.get("filename") or "", f.get("name") or "") for f in e[5]]
                for e in device.entries
                if e[0] == "alloc"
            ]

        a, b = rows(ours), rows(truth)
        self.check("snapshot: entries", len(a), len(b))
        bad = [(x, y) for x, y in zip(a, b) if x != y]
        self.check("snapshot: every entry", bad[:1], [])
        self.one.table.rows[self.one.name, "snapshot: every entry"][0] += len(b)
        self.check("snapshot: stacks of allocs", frames(ours) == frames(truth), True)
        self.check("snapshot: peak by the model", ours.peak(), truth.peak())

    def _same_segments(self, value):
        def blocks(segments, whole):
            out = []
            for s in segments:
                at = unsigned(s["address"])
                if whole and not s.get("is_expandable"):
                    out.append(
                        (
                            "segment",
                            s.get("device", 0),
                            at,
                            s["total_size"],
                            s.get("segment_type"),
                            tuple(s.get("segment_pool_id") or (0, 0)),
                        )
                    )
                for b in s["blocks"]:
                    at = unsigned(b.get("address", at) or at)
                    if b["state"] in IN_USE:
                        out.append(
                            (
                                s.get("device", 0),
                                at,
                                b["size"],
                                b.get("requested_size", b["size"]) or b["size"],
                                b["state"] == "active_allocated",
                            )
                        )
                    at += b["size"]
            return out

        original, _ = reading.load(self.path)
        original = original if isinstance(original, list) else original["segments"]
        if any(d.oddities for d in self.one.snapshot.devices.values()):
            return  # the end state of the file lacks blocks that are still live
        # Torch 2.0 has no pool ids; they are exported as (0, 0).
        ours, truth = blocks(value["segments"], True), blocks(original, True)
        only_ours, only_truth = both_ways(ours, truth)
        self.check("snapshot: segments and blocks at the end", only_ours[:3], only_truth[:3])
        self.one.table.rows[self.one.name, "snapshot: segments and blocks at the end"][0] += len(
            truth
        )
        total = lambda segments: sum(s["total_size"] for s in segments)
        self.check("snapshot: bytes of segments", total(value["segments"]), total(original))

    # -- memory timeline -------------------------------------------------------------------------
    def timeline(self):
        for view in views(self.one.snapshot):
            out = self._export("memory-timeline", ".raw.json.gz", *view.options)
            with gzip.open(out, "rt", encoding="utf-8") as file:
                points = json.load(file)
            before = sum(p[2] for p in points if p[1] == 1)
            self.check("memory-timeline: start", before, view.device.allocated(-1))
            self.check(
                "memory-timeline: end", sum(p[2] for p in points), view.device.allocated(view.last)
            )
            if view.device.oddities:
                continue
            level, ours = before, []
            for _, action, size, _ in points:
                if action in (2, 4):
                    level += size
                    ours.append(level)
            truth = [view.device.allocated(k) for k, _, _ in _block_changes(view)]
            self._tail_is("memory-timeline: allocated at each event", ours, truth, None)

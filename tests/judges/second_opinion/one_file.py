"""Compares vramscope's figures of one file with the model's."""

import csv
import io
import random

from holes import parts_at, rounding_and_tails
from memory import FREES, NEVER
from sites import Sites
from table import both_ways

ALL = ("--top", "1000000")
KINDS = {"alloc": "alloc", "free_requested": "free_requested", "free_completed": "free_completed"}


class View:
    """Entries `first` to `last` of one device of a file (by default all), and the options with
    which vramscope shows the same part."""

    def __init__(self, snapshot, device, options, first=0, last=None, label=""):
        self.snapshot, self.device, self.options, self.label = snapshot, device, options, label
        self.first = first
        self.last = len(device.entries) - 1 if last is None else last
        self.sites = Sites()

    @property
    def entries(self):
        return self.device.entries[self.first : self.last + 1]

    def older(self):
        return [b for b in self.device.blocks if b.lives_at(self.first - 1)]

    def born(self):
        blocks = [b for b in self.device.blocks if self.first <= b.born <= self.last]
        return sorted(blocks, key=lambda b: b.born)

    def peak(self):
        return self.device.peak(self.first, self.last)


def devices_with_memory(snapshot):
    return [d for d in snapshot.devices.values() if d.has_memory]


def views(snapshot):
    there = devices_with_memory(snapshot)
    for device in there:
        options = ["--device", device.number] if len(there) > 1 else []
        yield View(snapshot, device, options)


class OneFile:
    def __init__(self, program, table, path, name, snapshot, seed):
        self.program, self.table, self.path, self.name = program, table, path, name
        self.snapshot, self.random = snapshot, random.Random(seed)
        self.where = ""  # place of a difference, such as "--entries 3:20"

    def check(self, figure, ours, truth):
        return self.table.check(self.name, figure, ours, truth, self.where)

    def check_lists(self, figure, ours, truth):
        only_ours, only_truth = both_ways(ours, truth)
        self.check(
            figure, only_ours[:5], only_truth[:5]
        ) if only_ours or only_truth else self.check(figure, len(ours), len(truth))

    # -- info ------------------------------------------------------------------------------------
    def info(self, view=None, options=(), prefix=""):
        self.where = " ".join(str(o) for o in options)
        info = self.program.json("info", self.path, *options)
        there = [view] if view else list(views(self.snapshot))
        entries = [e for v in there for e in v.entries if e[0] in ALLOCATOR_KINDS]
        self.check(prefix + "entries", info["entries"], len(entries))
        self.check(
            prefix + "out of memory", info["out_of_memory"], sum(e[0] == "oom" for e in entries)
        )
        self.check(
            prefix + "blocks older than the recording",
            info["older_allocations"],
            sum(len(v.older()) for v in there),
        )
        self.check(
            prefix + "allocations",
            info["allocations"],
            sum(len(v.older()) + len(v.born()) for v in there),
        )
        # Ignores devices without memory in the part, because vramscope may list them or not.
        ours = {
            p["device"]: (p["allocated"], p["reserved"])
            for p in info["peaks"]
            if p["allocated"] or p["reserved"]
        }
        truth = {
            v.device.number: (v.peak()[0], v.peak()[2]) for v in there if v.peak()[0] or v.peak()[2]
        }
        for device in sorted(set(ours) | set(truth)):
            self.check(
                prefix + "peak allocated", ours.get(device, (0, 0))[0], truth.get(device, (0, 0))[0]
            )
            self.check(
                prefix + "peak reserved", ours.get(device, (0, 0))[1], truth.get(device, (0, 0))[1]
            )
        return info

    # -- requests --------------------------------------------------------------------------------
    def requests(self, view, info, prefix=""):
        """Checks every row of the CSV. Returns [(vramscope's event, entry of the device)]."""
        self._look_at(view)
        text = self.program.run("requests", self.path, *view.options).stdout.decode()
        rows = list(csv.DictReader(io.StringIO(text)))
        older = [r for r in rows if r["kind"] == "alloc"][: len(view.older())]
        ours = [
            (int(r["address"], 16), int(r["bytes_requested"]), int(r["bytes_rounded"]))
            for r in older
        ]
        self.check_lists(
            prefix + "requests: older blocks",
            ours,
            [(b.address, b.asked, b.size) for b in view.older()],
        )
        pending = sum(b.pending_at(view.first - 1) for b in view.older())
        recorded = rows[len(older) + pending :]
        # There are several valid ways to treat contradictory entries, so rows are not compared if
        # there are any.
        if view.device.oddities:
            return []
        truth, entry_of = [], []
        blocks = {}
        for b in view.device.blocks:
            for k in (b.born, b.requested, b.freed):
                if k is not NEVER and k >= 0:
                    blocks[k] = b
        start = info["start_unix_ns"]
        for k in range(view.first, view.last + 1):
            action, address, _, _, time, _ = view.device.entries[k]
            if action != "alloc" and action not in FREES:
                continue
            b = blocks[k]
            truth.append(
                (action, b.asked, b.size, address, time * 1000 if time is not None else None)
            )
            entry_of.append(k)
        ours = [
            (
                KINDS.get(r["kind"], r["kind"]),
                int(r["bytes_requested"]),
                int(r["bytes_rounded"]),
                int(r["address"], 16),
                int(r["time_ns"]) + start if t[4] is not None else None,
            )
            for r, t in zip(recorded, truth)
        ]
        self.check(prefix + "requests: rows", len(recorded), len(truth))
        bad = [(o, t) for o, t in zip(ours, truth) if o != t]
        self.check(prefix + "requests: every row", bad[:1], [])
        self.table.rows[self.name, prefix + "requests: every row"][0] += len(truth)
        return [(int(r["index"]), k) for r, k in zip(recorded, entry_of)]

    # -- the live set ----------------------------------------------------------------------------
    def allocations(self, view):
        """Returns vramscope's table of allocations, with the allocations' numbers as keys."""
        text = self.program.run("export", self.path, *view.options, "--to", "csv", "-o", "-").stdout
        return {int(r["allocation"]): r for r in csv.DictReader(io.StringIO(text.decode()))}

    def table_of_allocations(self, view, rows, info):
        older, born = view.older(), view.born()
        there = older + born
        self.check("export csv: rows", len(rows), len(there))
        if len(rows) != len(there):
            return
        key = lambda b: (b.address, b.asked, b.size)
        ours = [
            (int(r["address"], 16), int(r["bytes_requested"]), int(r["bytes_rounded"]))
            for r in rows.values()
        ]
        self.check_lists("export csv: older blocks", ours[: len(older)], [key(b) for b in older])
        self.check(
            "export csv: blocks in order of birth", ours[len(older) :], [key(b) for b in born]
        )
        in_order = {key(b): b for b in older}
        blocks = [in_order.get(o) for o in ours[: len(older)]] + born
        numbers = list(rows.values())
        for r, b in zip(numbers, blocks):
            if b is None:
                continue
            self.check("export csv: freed", int(r["freed"]), int(b.freed is not NEVER))
            self.check("export csv: device", int(r["device"]), view.device.number)
            self.check("export csv: pool", r["pool"], "small" if b.small else "large")
            if not self.snapshot.has_times:
                continue
            start = info["start_unix_ns"]
            if b.born >= 0:
                self.check(
                    "export csv: begin",
                    int(r["begin_ns"]) + start,
                    view.device.entries[b.born][4] * 1000,
                )
            if b.freed is not NEVER:
                self.check(
                    "export csv: end",
                    int(r["end_ns"]) + start,
                    view.device.entries[b.freed][4] * 1000,
                )
        self.block_of = {int(r["allocation"]): b for r, b in zip(numbers, blocks) if b}

    def live_at_peak(self, view, prefix=""):
        self._look_at(view)
        peak = self.program.json("peak", self.path, *view.options, "--by", "stack", *ALL)
        allocated, k, reserved = view.peak()
        self.check(prefix + "peak: allocated", peak["allocated"], allocated)
        self.check(prefix + "peak: requested", peak["requested"], view.device.asked(k))
        self.check(prefix + "peak: reserved then", peak["reserved"], view.device.reserved(k))
        self.check(prefix + "peak: most reserved", peak["peak_reserved"], reserved)
        live = view.device.live(k)
        self.check_lists(
            prefix + "peak: live blocks",
            [(b["bytes_requested"], b["bytes_rounded"]) for b in peak["largest"]],
            [(b.asked, b.size) for b in live],
        )
        groups = peak["groups"]
        self.check(prefix + "peak: groups add up", sum(g["bytes"] for g in groups), allocated)
        self.check(prefix + "peak: groups count", sum(g["count"] for g in groups), len(live))
        # Sites with the same name count as one group.
        by_name = {}
        for b in peak["largest"]:
            sums = by_name.setdefault(b["site"], [0, 0])
            sums[0] += b["bytes_rounded"]
            sums[1] += 1
        self.check_lists(
            prefix + "peak: groups by stack",
            [(g["name"], g["bytes"], g["count"]) for g in groups],
            [(name, *sums) for name, sums in by_name.items()],
        )
        if not getattr(self, "block_of", None) or prefix:
            return
        names = {}
        for b in peak["largest"]:
            block = self.block_of.get(b["allocation"])
            self.check("peak: block is in use", block is not None and block.lives_at(k), True)
            if block is not None:
                key = view.sites.key(block.frames, older=block.born < view.first)
                names.setdefault(key, set()).add(b["site"])
        for found in names.values():
            self.check("peak: one name for one call site", len(found), 1)

    # -- times -----------------------------------------------------------------------------------
    def moments(self, view, events, most=3):
        """Returns the (vramscope's event, entry) pairs to check: a random sample, and the last
        pair."""
        picked = self.random.sample(events, min(most, len(events)))
        return picked + events[-1:] if events else []

    def _look_at(self, view, event=None):
        self.where = " ".join(
            [str(o) for o in view.options] + ([f"--event {event}"] if event is not None else [])
        )

    def fragmentation(self, view, event, k, prefix=""):
        self._look_at(view, event)
        at = ["--event", event] if event is not None else []
        page = self.program.json(
            "explain", self.path, *view.options, *at, "--no-replay", "--page", "fragmentation", *ALL
        )["fragmentation"]
        device = view.device
        parts, outside = parts_at(device, k)
        rounding, tails = rounding_and_tails(device, k)
        live = device.live(k)
        cached = sum(p.cached for p in parts)
        unused = sum(p.unused for p in parts)
        truth = {
            "allocated": device.allocated(k),
            "requested": device.asked(k),
            "reserved": device.reserved(k),
            "rounding": rounding,
            "tails": tails,
            "cached": cached,
            "holes": unused - cached,
            "outside": outside,
            "largest_hole": max((p.largest for p in parts), default=0),
            "pending": sum(b.size for b in live if b.pending_at(k)),
        }
        for key, value in truth.items():
            self.check(f"{prefix}fragmentation: {key}", page[key], value)
        expandable = any(p.expandable for p in parts)
        if not expandable:
            self.check(prefix + "fragmentation: segments", page["segments"], len(parts))
            self.check(
                prefix + "fragmentation: segments cached",
                page["segments_cached"],
                sum(not p.blocks for p in parts),
            )
            pinned = [p for p in parts if p.blocks and p.unused]
            self.check(prefix + "fragmentation: pinned segments", page["pinned_count"], len(pinned))
            if len(pinned) <= 100:  # the page lists at most 100
                self.check_lists(
                    prefix + "fragmentation: what pins",
                    [
                        (p["bytes"], p["free"], p["largest_hole"], p["pin_count"], p["pool"])
                        for p in page["pinned"]
                    ],
                    [
                        (
                            p.size,
                            p.unused,
                            p.largest,
                            len(p.blocks),
                            "small" if p.small else "large",
                        )
                        for p in pinned
                    ],
                )
        self.check(
            prefix + "fragmentation: who pins adds up",
            sum(g["bytes"] for g in page["pinned_by"]),
            sum(p.unused - p.cached for p in parts if p.blocks),
        )
        pools = {}
        for p in parts:
            if not p.expandable:
                sums = pools.setdefault((p.small, p.mempool, p.stream), [0, 0, 0])
                for i, value in enumerate((p.size, p.live, p.unused)):
                    sums[i] += value
        if not expandable and len({s for *_, s in pools}) <= 1:
            self.check_lists(
                prefix + "fragmentation: pools",
                [
                    (p["pool"], p["mempool"], p["reserved"], p["live"], p["holes"] + p["cached"])
                    for p in page["pools"]
                ],
                [
                    ("small" if small else "large", mempool, *sums)
                    for (small, mempool, _), sums in pools.items()
                ],
            )

    def segments(self, view, event, k, prefix=""):
        self._look_at(view, event)
        at = ["--event", event] if event is not None else []
        page = self.program.json(
            "explain", self.path, *view.options, *at, "--no-replay", "--page", "segments", *ALL
        )
        page = page["segments"] if isinstance(page, dict) else page
        ours, ours_free = [], 0
        for s in page:
            for piece in s["pieces"]:
                if piece["use"] in ("live", "pending"):
                    ours.append((piece["address"], piece["bytes"], piece["use"]))
                elif piece["use"] == "free":
                    ours_free += piece["bytes"]
        parts, _ = parts_at(view.device, k)
        truth = [
            (b.address, b.size, "pending" if b.pending_at(k) else "live")
            for p in parts
            for b in p.blocks
        ]
        self.check_lists(prefix + "segments: blocks by address", ours, truth)
        self.check(prefix + "segments: free bytes", ours_free, sum(p.unused for p in parts))
        self.check(
            prefix + "segments: bytes", sum(s["bytes"] for s in page), sum(p.size for p in parts)
        )
        if not any(p.expandable for p in parts):
            self.check_lists(
                prefix + "segments: each",
                [
                    (
                        s["address"],
                        s["bytes"],
                        s["live"],
                        s["largest_hole"],
                        s["pool"],
                        s["mempool"],
                    )
                    for s in page
                ],
                [
                    (
                        p.address,
                        p.size,
                        p.live,
                        p.largest,
                        "small" if p.small else "large",
                        p.mempool,
                    )
                    for p in parts
                ],
            )

    # -- call sites ------------------------------------------------------------------------------
    def call_sites(self, view, info):
        self._look_at(view)
        page = self.program.json(
            "explain",
            self.path,
            *view.options,
            "--no-replay",
            "--page",
            "sites",
            "--sort",
            "bytes",
            *ALL,
        )["sites"]
        last = view.last
        end = self._end_ns()
        uses = {}
        live = {}
        changes = []
        state = info["content"] == "state"  # in a state, all blocks are older than the trace
        for b in view.older() if state else []:
            changes.append((b.born, 1, view.sites.key(b.frames, older=True), b))
        for b in view.born():
            key = view.sites.key(b.frames)
            changes.append((b.born, 1, key, b))
            if b.freed is not NEVER and b.freed <= last:
                changes.append((b.freed, 0, key, b))
        for k, birth, key, b in sorted(changes, key=lambda c: c[:2]):
            use = uses.setdefault(
                key,
                {
                    "count": 0,
                    "bytes": 0,
                    "largest": 0,
                    "alive_count": 0,
                    "alive_bytes": 0,
                    "peak": 0,
                    "longest": 0,
                    "held": 0,
                },
            )
            if not birth:
                live[key] -= b.size
                continue
            live[key] = live.get(key, 0) + b.size
            use["peak"] = max(use["peak"], live[key])
            use["count"] += 1
            use["bytes"] += b.size
            use["largest"] = max(use["largest"], b.size)
            alive = b.freed is NEVER or b.freed > last
            use["alive_count"] += alive
            use["alive_bytes"] += b.size * alive
            if self.snapshot.has_times and not state:
                entries = view.device.entries
                life = (end if alive else entries[b.freed][4] * 1000) - entries[k][4] * 1000
                use["longest"] = max(use["longest"], life)
                use["held"] += life * b.size
        timed = self.snapshot.has_times and not state
        self.check("call sites: how many", page["count"], len(uses))
        self.check_lists(
            "call sites: each",
            [
                (
                    u["count"],
                    u["bytes"],
                    u["largest"],
                    u["peak_live_bytes"],
                    u["alive_count"],
                    u["alive_bytes"],
                    u["longest_life_ns"] if timed else 0,
                )
                for u in page["sites"]
            ],
            [
                (
                    u["count"],
                    u["bytes"],
                    u["largest"],
                    u["peak"],
                    u["alive_count"],
                    u["alive_bytes"],
                    u["longest"] if timed else 0,
                )
                for u in uses.values()
            ],
        )
        if timed:
            ours = sum(u["byte_seconds"] for u in page["sites"])
            truth = sum(u["held"] for u in uses.values()) / 1e9
            self.check(
                "call sites: bytes times time",
                abs(ours - truth) <= 1e-6 * max(truth, 1) or ours,
                True,
            )

    def _end_ns(self):
        """Returns the end of vramscope's trace: the time of the last entry or annotation of all
        devices. It is the same if only one device is shown."""
        times = [
            e[4] for d in self.snapshot.devices.values() for e in d.entries if e[4] is not None
        ]
        times += [a["time_us"] for a in self.snapshot.annotations if "time_us" in a]
        return max(times) * 1000 if times else 0


ALLOCATOR_KINDS = (
    "alloc",
    "free_requested",
    "free_completed",
    "segment_alloc",
    "segment_free",
    "segment_map",
    "segment_unmap",
    "oom",
)

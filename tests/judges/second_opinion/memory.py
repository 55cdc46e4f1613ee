"""Models the memory of each device at every entry of its trace. Starts from the end state in the
file, undoes the entries back to the start, and then goes forward with every block's size.

A block lives from its `alloc` to its `free_completed`. Assumptions about data that the file lacks:
  - an alloc that is never freed and is missing at the end was freed after the last entry, or right
    before the alloc that reuses its addresses;
  - a segment that is never freed and is missing at the end was freed after the last entry, too."""

import bisect

from rules import SMALL_SEGMENT, SMALL_SIZE, Rules

IN_USE = ("active_allocated", "active_pending_free", "active_awaiting_free")
FREES = ("free_requested", "free_completed", "free")
ALLOCATOR = (
    "alloc",
    "free_requested",
    "free_completed",
    "segment_alloc",
    "segment_free",
    "segment_map",
    "segment_unmap",
    "oom",
)
OLD_NAMES = {"free": "free_completed"}
NEVER = None


def unsigned(address):
    return int(address) & (2**64 - 1)


class Block:
    """An allocation that lives from entry `born` (-1: it is older than the trace) to entry `freed`
    (or NEVER)."""

    __slots__ = (
        "address",
        "asked",
        "size",
        "born",
        "requested",
        "freed",
        "frames",
        "stream",
        "small",
        "exact",
        "at_end",
    )

    def __init__(self, address, asked=0, size=0, frames=(), stream=0):
        self.address, self.asked, self.size, self.frames = address, asked, size, frames
        self.born, self.requested, self.freed, self.stream = -1, NEVER, NEVER, stream
        self.small, self.exact, self.at_end = False, True, False

    def lives_at(self, k):
        return self.born <= k and (self.freed is NEVER or self.freed > k)

    def pending_at(self, k):
        return self.requested is not NEVER and self.requested <= k


class Segment:
    """Memory from one cudaMalloc, or a range of an expandable segment that is mapped at the end of
    the trace."""

    __slots__ = ("address", "size", "stream", "small", "expandable", "mempool", "born", "freed")

    def __init__(self, address, size, stream=0, small=False, expandable=False, mempool=0):
        self.address, self.size, self.stream, self.small = address, size, stream, small
        self.expandable, self.mempool, self.born, self.freed = expandable, mempool, -1, NEVER

    def lives_at(self, k):
        return self.born <= k and (self.freed is NEVER or self.freed > k)


class Stretches:
    """Mapped addresses as disjoint ranges [begin, end)."""

    def __init__(self, parts=()):
        self.parts = sorted(parts)

    def add(self, begin, end):
        if any(b < end and begin < e for b, e in self.parts):
            return False
        self.parts.append((begin, end))
        self.parts.sort()
        joined = []
        for b, e in self.parts:
            if joined and joined[-1][1] == b:
                joined[-1] = (joined[-1][0], e)
            else:
                joined.append((b, e))
        self.parts = joined
        return True

    def remove(self, begin, end):
        for i, (b, e) in enumerate(self.parts):
            if b <= begin and end <= e:
                self.parts[i : i + 1] = [p for p in ((b, begin), (end, e)) if p[0] < p[1]]
                return True
        return False

    def holding(self, address):
        for b, e in self.parts:
            if b <= address < e:
                return b, e
        return None

    def total(self):
        return sum(e - b for b, e in self.parts)


def _pool_id(segment):
    first, second = (tuple(segment.get("segment_pool_id") or (0, 0)) + (0, 0))[:2]
    return int(first) << 16 | int(second)


def _frames_of(block):
    if block.get("frames"):
        return block["frames"]
    history = block.get("history") or []
    return history[0].get("frames") or () if history else ()


class Device:
    def __init__(self, number, segments, entries, rules):
        self.number, self.entries, self.rules = number, entries, rules
        self.oddities = []  # descriptions of entries that contradict the rest of the file
        self.blocks, self.segments = [], []
        self._take_end(segments)
        self._undo()
        self._follow()
        self._curves()

    # -- the end state of the file ---------------------------------------------------------------
    def _take_end(self, segments):
        mapped = []
        self._live, self._segments_by_address, self.expandable = {}, {}, []
        for s in segments:
            address, expandable = unsigned(s["address"]), bool(s.get("is_expandable"))
            segment = Segment(
                address,
                int(s["total_size"]),
                s.get("stream", 0),
                s.get("segment_type") == "small",
                expandable,
                _pool_id(s),
            )
            if expandable:
                mapped.append((address, address + segment.size))
                self.expandable.append(segment)
            else:
                self.segments.append(segment)
                self._segments_by_address[address] = segment
            at = address
            for b in s["blocks"]:
                at = unsigned(b.get("address", at) or at)
                if b["state"] in IN_USE:
                    block = Block(
                        at,
                        int(b.get("requested_size", b["size"]) or b["size"]),
                        int(b["size"]),
                        _frames_of(b),
                        segment.stream,
                    )
                    block.small, block.at_end = segment.small, True
                    if b["state"] != "active_allocated":
                        # the free was requested before the trace, unless an entry requests it
                        block.requested = -1
                    self._live[at] = block
                    self.blocks.append(block)
                at += int(b["size"])
        self.mapped = Stretches()
        for begin, end in sorted(mapped):
            if not self.mapped.add(begin, end):
                self.oddities.append("expandable segments overlap")
        self.end_allocated = sum(b.size for b in self.blocks)
        self.end_reserved = sum(s.size for s in self.segments) + self.mapped.total()

    # -- backwards -------------------------------------------------------------------------------
    def _undo(self):
        live = self._live
        for k in range(len(self.entries) - 1, -1, -1):
            action, address, size = self.entries[k][:3]
            if action == "free_completed":
                if address in live:
                    self.oddities.append(f"entry {k} frees what lives on")
                    continue
                block = live[address] = Block(address, size, stream=self.entries[k][3])
                block.freed = k
                self.blocks.append(block)
            elif action == "free_requested":
                block = live.get(address)
                if block is None:
                    block = live[address] = Block(address, size, stream=self.entries[k][3])
                    block.freed = k
                    self.blocks.append(block)
                    self.oddities.append(f"entry {k}: a free that is never completed")
                block.requested = k
            elif action == "alloc":
                block = live.pop(address, None)
                if block is None:
                    block = Block(address, size)
                    self.blocks.append(block)
                block.born, block.asked = k, size
                block.stream, block.frames = self.entries[k][3], self.entries[k][5]
            elif action == "segment_alloc":
                segment = self._segments_by_address.pop(address, None)
                if segment is None:
                    segment = Segment(address, size, self.entries[k][3], size <= SMALL_SEGMENT)
                    self.segments.append(segment)
                segment.born = k
            elif action == "segment_free":
                segment = Segment(address, size, self.entries[k][3], size <= SMALL_SEGMENT)
                segment.freed = k
                self.segments.append(segment)
                self._segments_by_address[address] = segment
            elif action == "segment_map":
                if not self.mapped.remove(address, address + size):
                    self.oddities.append(f"entry {k} maps what is not mapped later")
            elif action == "segment_unmap":
                if not self.mapped.add(address, address + size):
                    self.oddities.append(f"entry {k} unmaps what is mapped later")
        if any(e[0] == "free_requested" for e in self.entries):
            # the trace only has the completion, so the free was requested before it
            for block in live.values():
                if block.freed is not NEVER and block.requested is NEVER:
                    block.requested = -1
        self.start_mapped = list(self.mapped.parts)
        self._pools_of_gone_segments()

    def _pools_of_gone_segments(self):
        """Decides the pool of segments that the state at the end of the file does not have. Such a
        segment is in the large pool if it is larger than small segments, or if it contained a block
        too large for the small pool."""
        for s in self.segments:
            if s.freed is NEVER and s.born < 0:
                continue
            if s.size > SMALL_SEGMENT:
                s.small = False

    # -- forward ---------------------------------------------------------------------------------
    def _segment_holding(self, address):
        i = bisect.bisect_right(self._starts, address) - 1
        if i < 0:
            return None
        segment = self._there[self._starts[i]]
        return segment if address < segment.address + segment.size else None

    def _end_of_room(self, address):
        segment = self._segment_holding(address)
        if segment is not None:
            end = segment.address + segment.size
        else:
            stretch = self.mapped.holding(address)
            if stretch is None:
                return None
            end = stretch[1]
        i = bisect.bisect_right(self._order, address)
        return min(end, self._order[i]) if i < len(self._order) else end

    def _follow(self):
        born = {}
        segment_born, segment_freed = {}, {}
        for b in self.blocks:
            if b.born >= 0:
                born[b.born] = b
        for s in self.segments:
            if s.born >= 0:
                segment_born[s.born] = s
            if s.freed is not NEVER:
                segment_freed[s.freed] = s
        freed = {b.freed: b for b in self.blocks if b.freed is not NEVER}
        self.mapped = Stretches(self.start_mapped)
        self._there = {s.address: s for s in self.segments if s.born < 0}
        self._starts = sorted(self._there)
        older = [b for b in self.blocks if b.born < 0]
        self._at = {b.address: b for b in older}
        self._order = sorted(self._at)
        for b in older:
            if not b.at_end:
                self._first_size_of_older(b)
        for k, entry in enumerate(self.entries):
            action, address, size = entry[:3]
            if action == "alloc":
                self._hand_out(k, born[k])
            elif k in freed:
                b = freed[k]
                if self._at.get(b.address) is b:
                    del self._at[b.address]
                    self._order.pop(bisect.bisect_left(self._order, b.address))
            elif k in segment_born:
                self._there[address] = segment_born[k]
                bisect.insort(self._starts, address)
            elif k in segment_freed:
                if self._there.pop(address, None) is not None:
                    self._starts.pop(bisect.bisect_left(self._starts, address))
            elif action == "segment_map":
                self.mapped.add(address, address + size)
            elif action == "segment_unmap":
                self.mapped.remove(address, address + size)
        for b in self.blocks:
            if b.at_end:
                continue
            if b.freed is NEVER:
                self.oddities.append(f"the block of entry {b.born} is never freed, but gone")

    def _first_size_of_older(self, b):
        """Sets the size of a block that is older than the trace and is freed in it. If the gap
        after the block is too small for a free block of the large pool, the gap must be the block's
        tail (a remainder that was not split off). Otherwise, assumes that the block has no tail."""
        b.size = self.rules.rounded(b.asked)
        b.small = b.size <= SMALL_SIZE
        if not self.rules.may_hide_a_tail(b.size, b.small):
            return
        room = self._end_of_room(b.address)
        gap = room - b.address - b.size if room is not None else 0
        if 0 <= gap <= SMALL_SIZE:
            b.size += gap
        else:
            b.exact = False

    def _hand_out(self, k, b):
        size = self.rules.rounded(b.asked)
        self._displace(k, b.address, size)
        i = bisect.bisect_left(self._order, b.address)
        if i > 0:  # an alloc uses the front of a free block, so the memory before it is in use
            before = self._at[self._order[i - 1]]
            gap = b.address - before.address - before.size
            segment = self._segment_holding(b.address)
            if (
                not before.exact
                and 0 <= gap <= SMALL_SIZE
                and (segment is None or segment.address <= before.address)
            ):
                before.size += gap
                before.exact = True
        b.small = size <= SMALL_SIZE  # its pool
        end = self._end_of_room(b.address)
        if end is not None and end - b.address >= size:
            rest = end - b.address - size
            if rest and not self.rules.splits(size, rest, b.small):
                size += rest
        else:
            self.oddities.append(f"entry {k} allocates where no room is")
        if not b.at_end:
            b.size = size
        elif b.size != size:
            self.oddities.append(
                f"the block of entry {k} has {b.size} bytes at the end, not {size}"
            )
        self._at[b.address] = b
        bisect.insort(self._order, b.address)

    def _displace(self, k, address, size):
        """Ends the blocks at these addresses, because they must have been freed before entry `k`.
        The file does not say when."""
        i = bisect.bisect_right(self._order, address) - 1
        if i >= 0:
            b = self._at[self._order[i]]
            if b.address + b.size <= address and b.address != address:
                i += 1
        i = max(i, 0)
        while i < len(self._order) and self._order[i] < address + size:
            b = self._at[self._order[i]]
            if b.freed is NEVER and not b.at_end:
                b.freed = k
                self.oddities.append(f"a free is missing before entry {k}")
                del self._at[self._order.pop(i)]
            else:
                self.oddities.append(f"entry {k} allocates what is in use")
                i += 1

    # -- figures ---------------------------------------------------------------------------------
    def _curves(self):
        n = len(self.entries)
        # differences between entries; index 0 is the start
        allocated, asked, reserved = ([0] * (n + 2) for _ in range(3))
        for b in self.blocks:
            for curve, amount in ((allocated, b.size), (asked, b.asked)):
                curve[b.born + 1] += amount
                if b.freed is not NEVER:
                    curve[b.freed + 1] -= amount
        for s in self.segments:
            reserved[s.born + 1] += s.size
            if s.freed is not NEVER:
                reserved[s.freed + 1] -= s.size
        reserved[0] += sum(e - b for b, e in self.start_mapped)
        for k, entry in enumerate(self.entries):
            if entry[0] == "segment_map":
                reserved[k + 1] += entry[2]
            elif entry[0] == "segment_unmap":
                reserved[k + 1] -= entry[2]
        for curve in (allocated, asked, reserved):
            for i in range(1, n + 2):
                curve[i] += curve[i - 1]
            curve.pop()
        self._allocated, self._asked, self._reserved = allocated, asked, reserved

    def allocated(self, k):  # after entry k, or at the start if k is -1
        return self._allocated[k + 1]

    def asked(self, k):
        return self._asked[k + 1]

    def reserved(self, k):
        return self._reserved[k + 1]

    def peak(self, first=0, last=None):
        """Returns the maximum of allocated bytes, the first entry at which it is reached, and the
        maximum of reserved bytes. Considers the entries `first` to `last` and the state before
        them."""
        last = len(self.entries) - 1 if last is None else last
        span = range(first, last + 2)  # indexes in the curves, from the state before `first`
        best = max(span, key=lambda i: (self._allocated[i], -i))
        return self._allocated[best], best - 1, max(self._reserved[i] for i in span)

    def live(self, k):
        return sorted((b for b in self.blocks if b.lives_at(k)), key=lambda b: b.address)

    def segments_at(self, k):
        return sorted((s for s in self.segments if s.lives_at(k)), key=lambda s: s.address)

    def mapped_at(self, k):
        mapped = Stretches(self.start_mapped)
        for action, address, size, *_ in self.entries[: k + 1]:
            if action == "segment_map":
                mapped.add(address, address + size)
            elif action == "segment_unmap":
                mapped.remove(address, address + size)
        return mapped.parts

    @property
    def has_memory(self):
        return bool(self.blocks or self.segments or self.start_mapped or self.expandable)


class Snapshot:
    def __init__(self, value):
        value = {"segments": value} if isinstance(value, list) else value
        if not isinstance(value, dict) or not isinstance(value.get("segments"), list):
            raise ValueError("not a snapshot: no segments")
        segments = value["segments"]
        self.settings = value.get("allocator_settings") or {}
        self.annotations = value.get("external_annotations") or []
        traces = value.get("device_traces") or []
        expandable = any(s.get("is_expandable") for s in segments) or any(
            e["action"] == "segment_map" for t in traces for e in t
        )
        rules = Rules(self.settings, expandable)
        entries = [e for t in traces for e in t]
        self.has_times = bool(entries) and all("time_us" in e for e in entries)
        self.devices = {}
        numbers = {int(s.get("device", 0)) for s in segments}
        numbers |= {d for d, t in enumerate(traces) if t}
        for number in sorted(numbers):
            trace = traces[number] if number < len(traces) else []
            entries = [self._entry(e, number) for e in trace]
            self.devices[number] = Device(
                number, [s for s in segments if int(s.get("device", 0)) == number], entries, rules
            )
            unknown = {e[0] for e in entries} - {*ALLOCATOR, "snapshot", "annotate"}
            if unknown:  # their effect on memory is unknown
                self.devices[number].oddities.append(f"entries of unknown kinds: {unknown}")

    def _entry(self, e, device):
        """Returns an entry as (action, address, size, stream, microseconds or None, frames)."""
        action = OLD_NAMES.get(e["action"], e["action"])
        address = e.get("addr", e.get("device_free", 0))
        return (
            action,
            unsigned(address),
            int(e.get("size", 0)),
            e.get("stream", 0),
            e.get("time_us"),
            e.get("frames") or (),
        )

    @property
    def entries(self):
        return sum(len(d.entries) for d in self.devices.values())

    def in_order(self):
        """Returns the (device, entry) pairs of all devices, sorted by time. Keeps the order of the
        entries of each device."""
        rows = []
        for number, device in self.devices.items():
            latest = 0
            for k, entry in enumerate(device.entries):
                latest = max(latest, entry[4] or 0)
                rows.append((latest, number, k))
        return [(number, k) for _, number, k in sorted(rows)]

    def first_time(self):
        times = [e[4] for d in self.devices.values() for e in d.entries if e[4] is not None]
        return min(times) if times else None

"""A small caching allocator that writes the same trace as PyTorch's. It has best fit, splitting,
merging, streams, private pools, expandable segments, and a GPU that can be full. It knows every
block's size at every entry; the model of memory.py is checked against these sizes."""

from rules import MIB, SMALL_SIZE

SMALL_BUFFER, LARGE_BUFFER, MIN_LARGE = 2 * MIB, 20 * MIB, 10 * MIB
SPACE = 1 << 40  # distance between the addresses of two devices, and of two expandable segments


class OutOfMemory(Exception):
    pass


class Piece:
    """A block of a segment: in use, waiting for another stream, or free."""

    def __init__(self, address, size):
        self.address, self.size = address, size
        self.state, self.asked, self.frames = "inactive", 0, []


class Memory:
    """A segment. Unmapped addresses of an expandable segment belong to no piece."""

    def __init__(self, address, size, pool, expandable):
        self.address, self.size, self.pool, self.expandable = address, size, pool, expandable
        self.pieces = [] if expandable else [Piece(address, size)]


class Allocator:
    def __init__(self, device, rules, capacity, clock, expandable=False, base=0x7F0000000000):
        self.device, self.rules, self.capacity, self.clock = device, rules, capacity, clock
        self.expandable = expandable
        self.next = base + device * 64 * SPACE
        self.memories, self.entries, self.levels = [], [], []
        self.allocated = self.reserved = 0

    # -- the trace's entries ---------------------------------------------------------------------
    def note(self, action, address, size, stream, frames=()):
        key = "device_free" if action == "oom" else "addr"
        self.entries.append(
            {
                "action": action,
                key: address,
                "size": size,
                "stream": stream,
                "time_us": self.clock(),
                "frames": list(frames) and frames,
            }
        )
        self.levels.append((self.allocated, self.reserved))

    # -- allocation ------------------------------------------------------------------------------
    def malloc(self, asked, stream=0, pool=(0, 0), frames=()):
        size = self.rules.rounded(asked)
        key = (size <= SMALL_SIZE, stream, pool)
        found = self._fit(size, key) or self._more(asked, size, key, frames)
        memory, piece = found
        rest = piece.size - size
        if rest and self.rules.splits(size, rest, key[0]):
            behind = Piece(piece.address + size, rest)
            memory.pieces.insert(memory.pieces.index(piece) + 1, behind)
            piece.size = size
        piece.state, piece.asked, piece.frames = "active_allocated", asked, frames
        self.allocated += piece.size
        self.note("alloc", piece.address, asked, stream, frames)
        return memory, piece

    def _fit(self, size, key):
        limit = self.rules.max_split
        best = None
        for memory in self.memories:
            if memory.pool != key:
                continue
            for piece in memory.pieces:
                if piece.state != "inactive" or piece.size < size:
                    continue
                if (
                    not key[0]
                    and not self.expandable
                    and (
                        (size < limit <= piece.size)
                        or (size >= limit and piece.size >= size + LARGE_BUFFER)
                    )
                ):
                    continue
                if best is None or (piece.size, piece.address) < (best[1].size, best[1].address):
                    best = memory, piece
        return best

    def _more(self, asked, size, key, frames):
        if self.expandable:
            return self._map(asked, size, key, frames)
        if key[0]:
            bytes_ = SMALL_BUFFER
        elif size < MIN_LARGE:
            bytes_ = LARGE_BUFFER
        else:
            bytes_ = -(-size // SMALL_BUFFER) * SMALL_BUFFER
        self._room_for(bytes_, asked, key, frames)
        memory = Memory(self.next, bytes_, key, False)
        self.next += bytes_ + (self.next >> 21 & 3) * SMALL_BUFFER  # some segments are adjacent
        self.memories.append(memory)
        self.reserved += bytes_
        self.note("segment_alloc", memory.address, bytes_, key[1], frames)
        return memory, memory.pieces[0]

    def _room_for(self, bytes_, asked, key, frames):
        if self.reserved + bytes_ <= self.capacity:
            return
        self.empty_cache()
        if self.reserved + bytes_ > self.capacity:
            self.note("oom", self.capacity - self.reserved, asked, key[1], frames)
            raise OutOfMemory

    def _map(self, asked, size, key, frames):
        memory = next((m for m in self.memories if m.pool == key), None)
        if memory is None:
            memory = Memory(self.next, SPACE // 2, key, True)
            self.next += SPACE
            self.memories.append(memory)
        page = SMALL_BUFFER if key[0] else LARGE_BUFFER
        at = memory.address
        for i in range(len(memory.pieces) + 1):  # the first gap that is large enough
            end = (
                memory.pieces[i].address if i < len(memory.pieces) else memory.address + memory.size
            )
            before = memory.pieces[i - 1] if i else None
            free = (
                before.size
                if before is not None
                and before.state == "inactive"
                and before.address + before.size == at
                else 0
            )
            if end > at and free + end - at >= size:
                bytes_ = -(-(size - free) // page) * page
                if bytes_ <= end - at:
                    break
            if i < len(memory.pieces):
                at = memory.pieces[i].address + memory.pieces[i].size
        reserved = self.reserved
        self._room_for(bytes_, asked, key, frames)
        if self.reserved != reserved:  # pages were unmapped, so the search starts again
            return self._fit(size, key) or self._map(asked, size, key, frames)
        piece = Piece(at, bytes_)
        memory.pieces.insert(i, piece)
        self.reserved += bytes_
        self.note("segment_map", at, bytes_, key[1], frames)
        return memory, self._merge(memory, piece)

    # -- free ------------------------------------------------------------------------------------
    def free(self, memory, piece, later=False):
        """If `later`, another stream still uses the piece, which complete() will free."""
        frames = ()
        self.note("free_requested", piece.address, piece.asked, memory.pool[1], frames)
        piece.state = "active_pending_free"
        if not later:
            self.complete(memory, piece)

    def complete(self, memory, piece):
        self.allocated -= piece.size
        self.note("free_completed", piece.address, piece.asked, memory.pool[1])
        piece.state = "inactive"
        self._merge(memory, piece)

    @staticmethod
    def _merge(memory, piece):
        i = memory.pieces.index(piece)
        if i + 1 < len(memory.pieces):
            behind = memory.pieces[i + 1]
            if behind.state == "inactive" and piece.address + piece.size == behind.address:
                piece.size += behind.size
                del memory.pieces[i + 1]
        if i > 0:
            before = memory.pieces[i - 1]
            if before.state == "inactive" and before.address + before.size == piece.address:
                before.size += piece.size
                del memory.pieces[i]
                return before
        return piece

    def empty_cache(self):
        for memory in list(self.memories):
            if memory.pool[2] != (0, 0):
                continue  # a private pool keeps its memory
            if memory.expandable:
                self._unmap(memory)
            elif len(memory.pieces) == 1 and memory.pieces[0].state == "inactive":
                self.memories.remove(memory)
                self.reserved -= memory.size
                self.note("segment_free", memory.address, memory.size, memory.pool[1])

    def _unmap(self, memory):
        page = SMALL_BUFFER if memory.pool[0] else LARGE_BUFFER
        for piece in list(memory.pieces):
            if piece.state != "inactive":
                continue
            begin = memory.address + -(-(piece.address - memory.address) // page) * page
            end = memory.address + (piece.address + piece.size - memory.address) // page * page
            if begin >= end:
                continue
            i = memory.pieces.index(piece)
            rest = [(piece.address, begin), (end, piece.address + piece.size)]
            memory.pieces[i : i + 1] = [Piece(b, e - b) for b, e in rest if b < e]
            self.reserved -= end - begin
            self.note("segment_unmap", begin, end - begin, memory.pool[1])

    # -- the state at the end --------------------------------------------------------------------
    def segments(self):
        out = []
        for memory in self.memories:
            stretches = []
            for piece in memory.pieces:
                if (
                    stretches
                    and stretches[-1][-1].address + stretches[-1][-1].size == piece.address
                ):
                    stretches[-1].append(piece)
                else:
                    stretches.append([piece])
            out += [self._segment(memory, pieces) for pieces in stretches]
        return sorted(out, key=lambda s: s["address"])

    def _segment(self, memory, pieces):
        small, stream, pool = memory.pool
        used = [p for p in pieces if p.state != "inactive"]
        return {
            "device": self.device,
            "address": pieces[0].address,
            "total_size": sum(p.size for p in pieces),
            "stream": stream,
            "allocated_size": sum(p.size for p in used if p.state == "active_allocated"),
            "active_size": sum(p.size for p in used),
            "requested_size": sum(p.asked for p in used),
            "segment_type": "small" if small else "large",
            "segment_pool_id": pool,
            "is_expandable": memory.expandable,
            "frames": [],
            "blocks": [
                {
                    "address": p.address,
                    "size": p.size,
                    "requested_size": p.asked,
                    "state": p.state,
                    "frames": p.frames,
                }
                for p in pieces
            ],
        }

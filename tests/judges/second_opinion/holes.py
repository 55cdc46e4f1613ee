"""Free memory in segments at a given time: holes, cached memory, the largest free piece."""

from rules import MIB

# page size of expandable segments, for the small and the large pool
PAGE = {True: 2 * MIB, False: 20 * MIB}


class Part:
    """A segment or a mapped range of an expandable segment, with its blocks and its free memory."""

    def __init__(self, address, size, stream, small, expandable, mempool):
        self.address, self.size, self.stream, self.small = address, size, stream, small
        self.expandable, self.mempool, self.blocks = expandable, mempool, []

    def free(self):
        out, at = [], self.address
        for b in self.blocks:
            if b.address > at:
                out.append((at, b.address - at))
            at = b.address + b.size
        if at < self.address + self.size:
            out.append((at, self.address + self.size - at))
        return out

    @property
    def live(self):
        return sum(b.size for b in self.blocks)

    @property
    def unused(self):
        return self.size - self.live

    @property
    def largest(self):
        return max((size for _, size in self.free()), default=0)

    @property
    def cached(self):
        """Returns how many bytes empty_cache() would release: whole segments, and whole pages of
        expandable segments."""
        if not self.expandable:
            return 0 if self.blocks else self.size
        page = PAGE[self.small]
        total = 0
        for at, size in self.free():
            begin = -(-(at - self.address) // page) * page
            end = (at - self.address + size) // page * page
            total += max(0, end - begin)
        return total


def parts_at(device, k):
    parts = [
        Part(s.address, s.size, s.stream, s.small, False, s.mempool) for s in device.segments_at(k)
    ]
    for begin, end in device.mapped_at(k):
        owner = next(
            (s for s in device.expandable if s.address < end and begin < s.address + s.size), None
        )
        # This range may be a union of adjacent mapped ranges of several segments. It counts as a
        # part of the first of these segments.
        parts.append(
            Part(
                begin,
                end - begin,
                owner.stream if owner else 0,
                owner.small if owner else None,
                True,
                owner.mempool if owner else 0,
            )
        )
    parts.sort(key=lambda p: p.address)
    outside = 0
    at = 0
    for b in device.live(k):
        while at < len(parts) and parts[at].address + parts[at].size <= b.address:
            at += 1
        if at < len(parts) and parts[at].address <= b.address:
            parts[at].blocks.append(b)
        else:
            outside += b.size
    for p in parts:
        # the range is unmapped at the end, so the allocations in it determine the pool
        if p.small is None:
            ever = [b.small for b in device.blocks if p.address <= b.address < p.address + p.size]
            p.small = all(ever) if ever else p.size < PAGE[False]
    return parts, outside


def rounding_and_tails(device, k):
    rounding = tails = 0
    for b in device.live(k):
        rounded = min(max(device.rules.rounded(b.asked), b.asked), max(b.size, b.asked))
        rounding += rounded - b.asked
        tails += b.size - rounded
    return rounding, tails

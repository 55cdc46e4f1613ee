"""Compares vramscope's output for parts of a file (`--entries A:B`) with the model of the whole
file."""

from one_file import View, devices_with_memory


def parts(one, most):
    """Returns parts of the file as (first entry, last entry): random ranges, the first half, and
    the last tenth."""
    n = one.snapshot.entries
    if n < 4:
        return []
    out = [(0, n // 2), (n - n // 10 - 1, n - 1)]
    for _ in range(most):
        a, b = sorted(one.random.sample(range(n), 2))
        out.append((a, b))
    return out


def check(one, most):
    there = devices_with_memory(one.snapshot)
    timed_devices = [d for d in there if d.entries]
    if len(timed_devices) > 1 and not one.snapshot.has_times:
        return  # the order of entries of different devices is unknown
    order = one.snapshot.in_order()
    for a, b in parts(one, most):
        options = ["--entries", f"{a}:{b}"]
        together = []
        for device in there:
            first = sum(1 for number, _ in order[:a] if number == device.number)
            last = first - 1 + sum(1 for number, _ in order[a : b + 1] if number == device.number)
            select = ["--device", device.number] if len(there) > 1 else []
            together.append(View(one.snapshot, device, options + select, first, last))
        info = None
        for view in together:
            info = one.info(view, view.options, "part: ")
            one.live_at_peak(view, "part: ")
            events = one.requests(view, info, "part: ")
            if events:
                event, k = events[-1]
                one.fragmentation(view, event, k, "part: ")
                one.segments(view, event, k, "part: ")

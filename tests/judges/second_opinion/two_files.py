"""Compares two files: `diff`, `diff --by stack`, `diff --requests`."""

from one_file import devices_with_memory
from sites import Sites, innermost_of
from table import both_ways


def pairs_of(a, b):
    """Returns {device number: (A's device, B's device)}. If each file has only one device, these
    two are a pair. Otherwise, devices with the same number are pairs, with None for a file that
    lacks the device."""
    sides = [{d.number: d for d in devices_with_memory(s)} for s in (a, b)]
    if len(sides[0]) == len(sides[1]) == 1:
        (one,), (other,) = sides
        return {other: (sides[0][one], sides[1][other])}
    return {n: (sides[0].get(n), sides[1].get(n)) for n in sorted({*sides[0], *sides[1]})}


def _needed(device):
    allocated, _, reserved = device.peak()
    return max(allocated, reserved), allocated


def device_to_show(snapshot):
    """Returns the first device that ran out of memory. If there is none, returns the device on
    which most memory is needed."""
    for number, k in snapshot.in_order():
        if snapshot.devices[number].entries[k][0] == "oom":
            return snapshot.devices[number]
    return max(devices_with_memory(snapshot), key=_needed, default=None)


NOTHING = (0, -1, 0)  # the peak of a device that a file lacks


def _live_by_site(device, k, sites):
    out = {}
    for b in device.live(k):
        sums = out.setdefault(
            sites.key(b.frames, portable=True, older=b.born < 0),
            [0, 0, innermost_of(b.frames, b.born < 0)],
        )
        sums[0] += b.size
        sums[1] += 1
    return out


def _join_by_innermost(live):
    """Matches a site that only A has with a site that only B has if both have the same innermost
    frame of the program. Their callers differ."""
    alone = [{}, {}]
    for side in (0, 1):
        for key, (_, _, innermost) in live[side].items():
            if innermost is not None and key not in live[1 - side]:
                alone[side].setdefault(innermost, []).append(key)
    for innermost in set(alone[0]) & set(alone[1]):
        for side in (0, 1):
            taken = [live[side].pop(key) for key in alone[side][innermost]]
            live[side]["innermost", innermost] = [
                sum(t[0] for t in taken),
                sum(t[1] for t in taken),
                None,
            ]


def _check_sites(table, name, answer, devices, peaks):
    """Compares every call site of one device in both files."""
    if answer["matched_by"] != "stack":
        return
    sites = Sites()
    live = [_live_by_site(d, p[1], sites) if d else {} for d, p in zip(devices, peaks)]
    _join_by_innermost(live)
    truth = [
        (*live[0].get(key, (0, 0))[:2], *live[1].get(key, (0, 0))[:2])
        for key in set(live[0]) | set(live[1])
    ]
    ours = [(s["a"], s["count"]["a"], s["b"], s["count"]["b"]) for s in answer["sites"]]
    only_ours, only_truth = both_ways(ours, truth)
    table.check(name, "diff by stack: call sites", only_ours[:4], only_truth[:4])
    table.rows[name, "diff by stack: call sites"][0] += len(truth)
    table.check(name, "diff by stack: equal", answer["equal"], all(s[:2] == s[2:] for s in truth))
    for s in answer["sites"]:
        change = (
            "added"
            if not s["count"]["a"]
            else "removed"
            if not s["count"]["b"]
            else "grown"
            if s["b"] > s["a"]
            else "shrunk"
            if s["b"] < s["a"]
            else "same"
        )
        table.check(name, "diff by stack: change", s["change"], change)


def check(program, table, a, b):
    """`a`, `b`: (path, name, Snapshot)."""
    name = f"{a[1]} | {b[1]}"
    pairs = pairs_of(a[2], b[2])
    if not pairs:
        return
    peaks = {n: [d.peak() if d else NOTHING for d in pair] for n, pair in pairs.items()}
    plain = program.json("diff", a[0], b[0], allowed=(0, 1))
    by_stack = program.json("diff", a[0], b[0], "--by", "stack", allowed=(0, 1))
    shown = device_to_show(b[2])
    for what, answer in (("diff", plain), ("diff by stack", by_stack)):
        devices = answer.get("devices", [answer])
        table.check(name, f"{what}: devices", [d["device"] for d in devices], list(pairs))
        if shown is not None:
            table.check(name, f"{what}: device", answer["device"], shown.number)
        for d in devices:
            truth = peaks[d["device"]]
            for figure, i in (("allocated", 0), ("reserved", 2)):
                sides = d["peak"][figure]
                table.check(
                    name,
                    f"{what}: peak {figure}",
                    (sides["a"], sides["b"], sides["delta"]),
                    (truth[0][i], truth[1][i], truth[1][i] - truth[0][i]),
                    f"device {d['device']}",
                )
            if what == "diff by stack":
                _check_sites(table, name, d, pairs[d["device"]], truth)
        table.check(
            name,
            f"{what}: of the device that is shown",
            answer["peak"],
            next(d["peak"] for d in devices if d["device"] == answer["device"]),
        )
    if by_stack["matched_by"] == "stack":
        table.check(
            name,
            "diff by stack: equal",
            by_stack["equal"],
            all(d["equal"] for d in by_stack.get("devices", [by_stack])),
        )
    if a[0] != b[0]:
        return
    table.check(name, "diff: a file equals itself", plain["equal"], True)
    requests = program.json("diff", a[0], b[0], "--requests", allowed=(0, 1))["requests"]
    table.check(name, "diff --requests: a file equals itself", requests["equal"], requests["total"])

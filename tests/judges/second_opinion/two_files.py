"""Two files beside each other: `diff`, `diff --by stack`, `diff --requests`."""
from one_file import devices_with_memory
from sites import Sites
from table import both_ways


def device_to_show(snapshot):
    """Of several: the first that ran out of memory, else the one with the highest peak."""
    there = devices_with_memory(snapshot)
    for number, k in snapshot.in_order():
        if snapshot.devices[number].entries[k][0] == "oom":
            return snapshot.devices[number]
    return max(there, key=lambda d: d.peak()[0], default=None)


def _live_by_site(device, k, sites):
    out = {}
    for b in device.live(k):
        sums = out.setdefault(sites.key(b.frames, portable=True, older=b.born < 0), [0, 0])
        sums[0] += b.size
        sums[1] += 1
    return out


def check(program, table, a, b):
    """`a`, `b`: (path, name, Snapshot)."""
    name = f"{a[1]} | {b[1]}"
    devices = [device_to_show(side[2]) for side in (a, b)]
    if None in devices:
        return
    peaks = [d.peak() for d in devices]
    plain = program.json("diff", a[0], b[0], allowed=(0, 1))
    by_stack = program.json("diff", a[0], b[0], "--by", "stack", allowed=(0, 1))
    for what, answer in (("diff", plain), ("diff by stack", by_stack)):
        for figure, i in (("allocated", 0), ("reserved", 2)):
            sides = answer["peak"][figure]
            table.check(name, f"{what}: peak {figure}", (sides["a"], sides["b"], sides["delta"]),
                        (peaks[0][i], peaks[1][i], peaks[1][i] - peaks[0][i]))
    if by_stack["matched_by"] == "stack":
        sites = Sites()
        live = [_live_by_site(d, p[1], sites) for d, p in zip(devices, peaks)]
        truth = [(*live[0].get(key, (0, 0)), *live[1].get(key, (0, 0)))
                 for key in set(live[0]) | set(live[1])]
        ours = [(s["a"], s["count"]["a"], s["b"], s["count"]["b"]) for s in by_stack["sites"]]
        only_ours, only_truth = both_ways(ours, truth)
        table.check(name, "diff by stack: call sites", only_ours[:4], only_truth[:4])
        table.rows[name, "diff by stack: call sites"][0] += len(truth)
        table.check(name, "diff by stack: equal", by_stack["equal"],
                    all(s[:2] == s[2:] for s in truth))
        for s in by_stack["sites"]:
            change = "added" if not s["count"]["a"] else "removed" if not s["count"]["b"] else \
                "grown" if s["b"] > s["a"] else "shrunk" if s["b"] < s["a"] else "same"
            table.check(name, "diff by stack: change", s["change"], change)
    if a[0] != b[0]:
        return
    table.check(name, "diff: a file equals itself", plain["equal"], True)
    requests = program.json("diff", a[0], b[0], "--requests", allowed=(0, 1))["requests"]
    table.check(name, "diff --requests: a file equals itself", requests["equal"],
                requests["total"])

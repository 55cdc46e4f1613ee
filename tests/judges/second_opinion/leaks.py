"""Memory that every step leaves behind. The steps are those that the program reports (`phases`)."""

from memory import NEVER


def check(one, view, info):
    page = one.program.json("explain", one.path, *view.options, "--no-replay", "--page", "leaks")[
        "leaks"
    ]
    steps = one.program.json("phases", one.path, *view.options)["steps"]
    one.check("leaks: steps", page["steps"], [s["index"] for s in steps])
    one.check("leaks: known", page["known"], len(steps) >= 3)
    if len(steps) < 3 or not one.snapshot.has_times:
        return
    start = info["start_unix_ns"]
    times = [e[4] * 1000 - start for e in view.device.entries]
    edges = {t for s in steps for t in (s["begin_ns"], s["end_ns"])}
    if any(times[i] == times[i + 1] and times[i] in edges for i in range(len(times) - 1)):
        one.table.skip(one.name, "leaks: several entries at the very moment where a step ends")
        return
    begins = [s["begin_ns"] for s in steps]
    last_of = []
    for i, s in enumerate(steps):
        # If the next step begins when this step ends, entries at exactly that time belong to the
        # next step.
        next_begins = i + 1 < len(steps) and steps[i + 1]["begin_ns"] == s["end_ns"]
        inside = [k for k, t in enumerate(times) if t < s["end_ns"] + (not next_begins)]
        last_of.append(inside[-1] if inside else -1)
    one.check(
        "leaks: allocated at each step's end",
        page["allocated_at_step_end"],
        [view.device.allocated(k) for k in last_of],
    )
    end = last_of[-1]
    sites = {}
    for b in view.born():
        t = times[b.born]
        if t < begins[0] or b.born > end:
            continue
        gone = b.requested if b.requested is not NEVER else b.freed
        if gone is not NEVER and gone <= end:
            continue
        step = max(i for i, begin in enumerate(begins) if begin <= t)
        site = sites.setdefault(view.sites.key(b.frames), [[0] * len(steps), 0])
        site[0][step] += b.size
        site[1] += 1
    all_of_them = {(tuple(stayed), count) for stayed, count in sites.values()}
    ours = [(tuple(leak["stayed"]), leak["count"]) for leak in page["leaks"]]
    for leak, (stayed, count) in zip(page["leaks"], ours):
        one.check("leaks: each", (stayed, count) in all_of_them or (stayed, count), True)
        one.check("leaks: bytes", leak["bytes"], sum(stayed))
    for stayed, count in all_of_them:
        judged = stayed[1:-1]
        if len(judged) >= 2 and all(judged):
            one.check("leaks: none is missed", (stayed, count) in ours or (stayed, count), True)
        if not any(judged):
            one.check("leaks: none is invented", (stayed, count) in ours and (stayed, count), False)
    one.check(
        "leaks: bytes a step",
        round(page["bytes_per_step"]),
        round(sum(sum(s[1:-1]) / (len(steps) - 2) for s, _ in ours)),
    )

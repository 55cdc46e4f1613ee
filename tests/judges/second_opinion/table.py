"""The table of compared figures and their differences."""

import collections
import fnmatch


class Table:
    def __init__(self, known):
        # [(file, figure, reason)]: patterns of differences that are not fixed yet
        self.known = known
        # (file, figure) -> [compared, [(ours, truth, where)]]
        self.rows = collections.OrderedDict()
        self.skipped = []

    def check(self, file, figure, ours, truth, where=""):
        row = self.rows.setdefault((file, figure), [0, []])
        row[0] += 1
        if ours != truth:
            row[1].append((ours, truth, where))
        return ours == truth

    def skip(self, file, reason):
        self.skipped.append((file, reason))

    @property
    def compared(self):
        return sum(n for n, _ in self.rows.values())

    def reason(self, file, figure):
        """Returns the reason if the difference is a known one, or None."""
        for files, figures, reason in self.known:
            if fnmatch.fnmatch(file, files) and fnmatch.fnmatch(figure, figures):
                return reason
        return None

    def gone(self):
        """Returns the known differences of compared figures that no longer occur."""
        out = []
        for files, figures, _ in self.known:
            found = [
                row
                for (file, figure), row in self.rows.items()
                if fnmatch.fnmatch(file, files) and fnmatch.fnmatch(figure, figures)
            ]
            if found and not any(differences for _, differences in found):
                out.append((files, figures))
        return out

    def wrong(self):
        """Returns the new differences, and the known differences that no longer occur."""
        return self.gone() + [
            key
            for key, (_, differences) in self.rows.items()
            if differences and self.reason(*key) is None
        ]

    def text(self, everything):
        files = collections.OrderedDict()
        for (file, figure), row in self.rows.items():
            files.setdefault(file, []).append((figure, *row))
        lines = []
        for file, figures in files.items():
            bad = [f for f in figures if f[2]]
            count = sum(f[1] for f in figures)
            lines.append(
                f"{file}: {count:,} figures, "
                + (f"{len(bad)} of {len(figures)} kinds differ" if bad else "equal")
            )
            for figure, n, differences in figures:
                if not differences and not everything:
                    continue
                if not differences:
                    lines.append(f"  {figure:<34} {n:>8,}  equal")
                    continue
                known = self.reason(file, figure)
                lines.append(
                    f"  {figure:<34} {n:>8,}  {len(differences):,} differ"
                    + (f" (known: {known})" if known else "")
                )
                for ours, truth, where in differences[:4]:
                    lines.append(f"      ours  {_short(ours)}   {where}".rstrip())
                    lines.append(f"      truth {_short(truth)}")
        for files, figures in self.gone():
            lines.append(f"{files}: {figures} is equal now: take it out of known.py")
        for file, reason in self.skipped:
            lines.append(f"{file}: SKIPPED: {reason}")
        return "\n".join(lines)


def _short(value):
    text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    return text if len(text) <= 300 else text[:297] + "..."


def both_ways(ours, truth):
    """Returns the elements that only `ours` has and those that only `truth` has, for a readable
    message."""
    a, b = collections.Counter(ours), collections.Counter(truth)
    return sorted((a - b).elements(), key=str), sorted((b - a).elements(), key=str)

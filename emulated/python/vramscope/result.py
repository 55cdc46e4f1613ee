"""The figures of a trace, a memory snapshot or a plan, from the program `vramscope`, as an
object."""

import html
import json
import os
import shutil
import tempfile
import weakref
from typing import IO, Any, Callable, Dict, List, Optional, Union

from vramscope import program

_PARTS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def bytes_text(size: int) -> str:
    """Returns the size as the program formats it, such as "1.84 GiB"."""
    for unit, name in _PARTS:
        if size >= unit:
            return "%.2f %s" % (size / unit, name)
    return "%d B" % size if size else "0 B"


class Check:
    """Whether a training fits a budget: the result of `vramscope check --json`.

    True if it fits:

        if not result.check("24GiB"):
            ...
    """

    def __init__(self, answer: Dict[str, Any]) -> None:
        self.json = answer
        self.within_budget: bool = answer["within_budget"]
        self.budget: int = answer["budget"]
        self.needed: int = answer["needed"]
        self.over: int = answer["over"]
        self.categories: Dict[str, int] = answer["peak_by_category"]

    def __bool__(self) -> bool:
        return self.within_budget

    def __str__(self) -> str:
        """Returns the verdict in one line, and after it what is live at the peak."""
        at_least = "at least " if self.json.get("ran_out_at") else ""
        needs = "needs %s%s, budget %s" % (
            at_least,
            bytes_text(self.needed),
            bytes_text(self.budget),
        )
        if self.within_budget:
            return "within the budget: %s: %s to spare" % (
                needs,
                bytes_text(self.budget - self.needed),
            )
        if self.json["verdict"] == "unknown":
            return "it is unknown whether it fits: it ran out of memory, %s" % needs
        lines = ["over the budget: %s: %s too much" % (needs, bytes_text(self.over))]
        peak = self.json["peak"]
        moment = (
            ["step %d" % peak["step"]]
            if isinstance(peak.get("step"), int) and peak["step"] >= 0
            else []
        )
        moment += [
            peak[key] for key in ("phase", "module") if peak.get(key) and peak[key] != "none"
        ]
        lines.append(
            "at the peak, %s allocated, %s reserved%s:"
            % (
                bytes_text(peak["allocated"]),
                bytes_text(peak["reserved_then"]),
                " (%s)" % ", ".join(moment) if moment else "",
            )
        )
        for name, size in sorted(self.categories.items(), key=lambda item: -item[1]):
            lines.append("  %-18s %12s" % (name, bytes_text(size)))
        sites = self.json.get("sites", [])[:5]
        if sites:
            lines.append("largest call sites:")
            lines += ["  %12s  %s" % (bytes_text(site["bytes"]), site["name"]) for site in sites]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return "<vramscope.Check %s of %s>" % (bytes_text(self.needed), bytes_text(self.budget))


class Result:
    """Figures of a trace, a memory snapshot, or a plan; all in bytes.

        plan = vramscope.plan(["train.py", "--batch", "8"], device="h100-sxm")
        plan.peak_allocated, plan.peak_reserved
        plan.categories          # {"Parameter": 1976149504, "Activation": ...} at the peak
        plan.check("24GiB")      # whether it fits
        plan.show()              # in the window
        plan                     # in a notebook: the curve and a table

    `path` is the file with all data, which other programs of vramscope open. The file of a plan
    without `output` is deleted with this object.
    """

    def __init__(
        self, path: Optional[str], summary: Dict[str, Any], *, folder: Optional[str] = None
    ) -> None:
        self._fill(path, summary, folder)

    def _fill(
        self, path: Optional[str], summary: Dict[str, Any], folder: Optional[str] = None
    ) -> None:
        self.path = path
        self.summary = summary
        self._peak: Optional[Dict[str, Any]] = None
        self.warnings: List[str] = []
        if folder is not None:
            weakref.finalize(self, shutil.rmtree, folder, True)

    # --- figures ---

    def _at_peak(self) -> Dict[str, Any]:
        if self._peak is None:
            self._peak = self.peak()
        return self._peak

    @property
    def peak_allocated(self) -> int:
        """The maximum of allocated bytes, as torch.cuda.max_memory_allocated() counts them (in
        blocks)."""
        return int(self.summary["peak"]["allocated"])

    @property
    def peak_reserved(self) -> int:
        """The maximum of bytes reserved by the caching allocator."""
        return int(self.summary["peak"]["reserved"])

    @property
    def categories(self) -> Dict[str, int]:
        """The categories at the peak: {"Parameter": bytes, "Activation": bytes, ...}."""
        by_category = self.summary.get("peak_by_category")
        return dict(self._at_peak()["by_category"] if by_category is None else by_category)

    @property
    def device_name(self) -> str:
        return str(self.summary.get("device_name", ""))

    @property
    def fits(self) -> Optional[bool]:
        """Whether a plan fits its GPU. It is None for other traces and for snapshots; use check()
        with a budget for them."""
        fits = self.summary.get("fits")
        return None if fits is None else bool(fits)

    @property
    def out_of_memory(self) -> bool:
        return bool(self.summary.get("out_of_memory"))

    @property
    def measured(self) -> bool:
        """True if the figures were recorded on a real GPU, False if they were planned."""
        return bool(self.summary.get("measured"))

    def _file(self) -> str:
        if self.path is None:
            raise program.VramscopeError("there is no trace yet")
        return self.path

    def peak(
        self, by: str = "category", *, at: Optional[str] = None, top: int = 20
    ) -> Dict[str, Any]:
        """Returns what is live at the peak or at time `at`, as `vramscope peak --json` prints it.
        `by` is category, module, op, stack (call site) or phase."""
        arguments = ["peak", self._file(), "--by", by, "--top", str(top), "--json"]
        return program.run(arguments + (["--at", at] if at else []))[0]

    def explain(self) -> Dict[str, Any]:
        """Returns fragmentation, unused memory, leaks, call sites and failed allocations, as
        `vramscope explain --json` prints them."""
        return program.run(["explain", self._file(), "--json"])[0]

    def check(self, budget: Union[int, str], *, context: Optional[str] = None) -> Check:
        """Checks whether the training fits a budget ("24GiB" or a number of bytes), including the
        CUDA context, like `vramscope check --json`."""
        arguments = ["check", self._file(), "--budget", str(budget), "--json"]
        return Check(program.run(arguments + (["--context", context] if context else []))[0])

    # --- other outputs ---

    def show(self) -> "Any":
        """Opens the trace in the window. Does not wait, and returns a vramscope.Window."""
        from vramscope import window

        return window.show(self)

    def to_json(self, indent: Optional[int] = None) -> str:
        """Returns the program's JSON output for the trace, which app/cli/JSON.md documents."""
        return json.dumps(self.summary, indent=indent)

    def svg(self, title: Optional[str] = None) -> str:
        """Returns an SVG image of the memory over time by category, as `vramscope export --to svg`
        writes it."""
        return program.text(
            ["export", self._file(), "--to", "svg", "-o", "-"]
            + (["--title", title] if title else [])
        )

    def save(self, path: Union[str, "os.PathLike[str]"], *, overwrite: bool = False) -> str:
        """Copies the trace to `path`, which must not exist unless `overwrite`."""
        source = self._file()
        return write_whole(path, lambda file: _copy(source, file), overwrite=overwrite)

    # --- text and HTML ---

    def __repr__(self) -> str:
        if not self.summary:
            return "<vramscope.%s without a trace yet>" % type(self).__name__
        return "<vramscope.%s peak %s allocated, %s reserved%s>" % (
            type(self).__name__,
            bytes_text(self.peak_allocated),
            bytes_text(self.peak_reserved),
            ", " + self.device_name if self.device_name else "",
        )

    def _verdict(self) -> str:
        if self.fits is None or self.measured:
            return ""
        if self.fits:
            return "fits on %s" % self.device_name
        return "does not fit on %s" % self.device_name

    def _repr_html_(self) -> str:
        """Returns what a notebook shows: the curve, and what the peak consists of, as HTML without
        scripts."""
        if not self.summary:
            return "<p>%s</p>" % html.escape(repr(self))
        allocated = max(self.peak_allocated, 1)
        rows = "".join(
            "<tr><td style='text-align:left'>%s</td><td style='text-align:right'>%s</td><td "
            "style='text-align:right'>%.1f %%</td></tr>"
            % (html.escape(name), bytes_text(size), 100.0 * size / allocated)
            for name, size in sorted(self.categories.items(), key=lambda item: -item[1])
        )
        head = "peak %s allocated, %s reserved" % (
            bytes_text(self.peak_allocated),
            bytes_text(self.peak_reserved),
        )
        verdict = self._verdict()
        if verdict:
            head += "; " + verdict
        opens = ""
        if self.path is not None and os.path.exists(self.path):
            opens = "<p>In the window: <code>vramscope %s</code></p>" % html.escape(self.path)
        return (
            "<div class='vramscope-result'>%s<p><b>%s</b></p><table><thead><tr><th "
            "style='text-align:left'>At the peak</th>"
            "<th style='text-align:right'>Bytes</th><th "
            "style='text-align:right'>Share</th></tr></thead><tbody>%s</tbody></table>%s</div>"
            % (self.svg(), html.escape(head), rows, opens)
        )


def _copy(path: str, file: "IO[bytes]") -> None:
    with open(path, "rb") as source:
        shutil.copyfileobj(source, file)


def write_whole(
    path: Union[str, "os.PathLike[str]"], write: Callable[["IO[bytes]"], None], *, overwrite: bool
) -> str:
    """Writes a file, and leaves no incomplete file behind. Raises FileExistsError if the file
    exists and may not be replaced."""
    path = os.path.abspath(os.fspath(path))
    if os.path.lexists(path) and not overwrite:
        raise FileExistsError("'%s' exists; overwrite=True replaces it" % path)
    handle, part = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".vramscope-")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(part, 0o666 & ~mask)
        if overwrite:
            os.replace(part, path)
        else:
            try:
                os.link(part, path)  # fails if the file was created meanwhile
            except FileExistsError:
                raise FileExistsError("'%s' exists; overwrite=True replaces it" % path) from None
            except OSError:  # a file system without links
                os.rename(part, path)
    finally:
        try:
            os.unlink(part)
        except FileNotFoundError:
            pass
    return path

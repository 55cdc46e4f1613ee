#!/usr/bin/env python3
"""Checks exported files in the tools for which they are written.

  memory_viz_check.py torch EXPORT_SAMPLES    pickle.load; torch.cuda._memory_viz stats, trace,
                                              segments, memory, trace_plot, segment_plot
  memory_viz_check.py browser EXPORT_SAMPLES  MemoryViz.js in Chromium draws each plot
  memory_viz_check.py hta EXPORT_SAMPLES      HolisticTraceAnalysis plots the memory timeline

EXPORT_SAMPLES is the program of that name in this folder. A recorded snapshot that was opened and
exported must give exactly the output of the original.

If a requirement is missing, prints it and exits with status 77. Environment variables:
  VRAMSCOPE_JUDGE_PYTHON  a python3 that has torch (never imported) or HolisticTraceAnalysis
  VRAMSCOPE_MEMORY_VIZ    MemoryViz.js, from torch/utils/viz in PyTorch's source
  VRAMSCOPE_D3            d3 version 5 as one ES module (default: built from Debian's node-d3)
"""

import base64
import collections
import contextlib
import functools
import gzip
import http.server
import importlib.util
import io
import json
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import threading

SOURCE = pathlib.Path(__file__).resolve().parents[2]
RECORDED = SOURCE.parent / "shared" / "snapshots"


class Missing(Exception):
    pass


class NoGlobals(pickle.Unpickler):
    def find_class(self, module, name):
        raise AssertionError(f"the pickle asks for {module}.{name}")


def load(path):
    with open(path, "rb") as file:
        return NoGlobals(file).load()


def samples(folder):
    """Yields (name, path, path of the recorded original or None)."""
    for path in sorted(folder.glob("*.pickle")):
        if path.name.endswith(".original.pickle"):
            continue
        original = path.with_name(path.stem + ".original.pickle")
        yield path.stem, path, original if original.exists() else None


def memory_viz():
    """Loads only torch/cuda/_memory_viz.py, because importing torch would need its libraries."""
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise Missing("torch is not installed for " + sys.executable)
    file = pathlib.Path(spec.submodule_search_locations[0]) / "cuda" / "_memory_viz.py"
    spec = importlib.util.spec_from_file_location("memory_viz", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def recorded(path):
    """Loads a snapshot and clears the requested sizes and frames that the allocator may leave in
    free blocks.
    """
    data = load(path)
    for segment in data["segments"]:
        for block in segment["blocks"]:
            if block["state"] == "inactive":
                block.update(requested_size=0, frames=[])
    return data


def equal(what, new, old):
    if new != old:
        at = next((i for i, (a, b) in enumerate(zip(new, old)) if a != b), min(len(new), len(old)))
        raise AssertionError(
            f"{what} differs at {at}: {new[at : at + 200]!r} instead of {old[at : at + 200]!r}"
        )


def judge_torch(folder):
    viz = memory_viz()
    # To draw flame graphs, the tool would download a Perl script. The test compares the folded
    # stacks that the script would get.
    views = {
        "stats": viz.segsum,
        "trace": viz.trace,
        "segments": functools.partial(viz.segments, format_flamegraph=str),
        "memory": functools.partial(viz.memory, format_flamegraph=str),
    }
    for name, path, original in samples(folder):
        data = load(path)
        assert list(data)[1:3] == ["segments", "device_traces"], list(data)
        for view, function in views.items():
            text = function(load(path))
            assert text.strip(), f"{name}: {view} says nothing"
            if view == "trace" and any(
                e["action"] == "annotate" for t in data["device_traces"] for e in t
            ):
                assert "annotate" in text and "activation" in text, (
                    f"{name}: changes of category are not told"
                )
            if original:
                equal(f"{name}: {view}", text, function(recorded(original)))
        for plot in (viz.trace_plot, viz.segment_plot):
            assert "add_local_files" in plot(load(path))
        entries = sum(map(len, data["device_traces"]))
        print(
            f"{name}: {entries} entries, {len(data['segments'])} segments: {', '.join(views)}"
            + (" equal the recorded file's" if original else "")
        )


# ---- browser

PAGE = """<!DOCTYPE html><html><body><script>
const problems = [];
window.addEventListener('error', e => problems.push(String(e.message)));
window.addEventListener('unhandledrejection', e => problems.push(String(e.reason)));
// The note is written once the picture has stood still for a while, on a busy computer too.
const drawn = () => document.querySelectorAll('svg polygon, svg rect').length;
let last = 0, still = 0, looks = 0;
window.addEventListener('load', function look() {
  still = drawn() === last ? still + 1 : 0;
  last = drawn();
  if ((still < 10 || last === 0) && ++looks < 150) return setTimeout(look, 100);
  const note = document.createElement('pre');
  note.id = 'judged';
  note.textContent = JSON.stringify({
    problems, polygons: document.querySelectorAll('svg polygon').length,
    rectangles: document.querySelectorAll('svg rect').length,
    words: [...document.querySelectorAll('svg text')].map(t => t.textContent)});
  document.body.append(note);
});
</script><script type="module">
import {add_local_files} from "./MemoryViz.js";
add_local_files([{name: 'x.pickle', base64: '%s'}], '%s');
</script></body></html>"""


# the SVG elements of each plot
DRAWN = {"Active Memory Timeline": "polygons", "Allocator State History": "rectangles"}


def d3_module(folder):
    if os.environ.get("VRAMSCOPE_D3"):
        return pathlib.Path(os.environ["VRAMSCOPE_D3"]).read_text()
    if not shutil.which("esbuild") or not pathlib.Path("/usr/share/nodejs/d3").is_dir():
        raise Missing("d3 as an ES module: set VRAMSCOPE_D3, or install node-d3 and esbuild")
    (folder / "in.js").write_text("export * from 'd3'")
    subprocess.run(
        ["esbuild", "in.js", "--bundle", "--format=esm", "--outfile=d3.mjs", "--log-level=error"],
        cwd=folder,
        check=True,
        env={**os.environ, "NODE_PATH": "/usr/share/nodejs"},
    )
    return (folder / "d3.mjs").read_text()


def serve(folder):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        extensions_map = {".js": "text/javascript", ".mjs": "text/javascript", ".html": "text/html"}

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def judge_browser(folder):
    chromium = (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )
    if not chromium:
        raise Missing("chromium is not installed")
    script = pathlib.Path(os.environ.get("VRAMSCOPE_MEMORY_VIZ", ""))
    if not script.is_file():
        raise Missing("MemoryViz.js: set VRAMSCOPE_MEMORY_VIZ")
    site = folder / "site"
    site.mkdir()
    (site / "d3.js").write_text(d3_module(folder))
    # Replaces every imported URL with the same file. The parts of d3 share the current event, so
    # there must be only one copy of d3.
    (site / "MemoryViz.js").write_text(re.sub(r'"https://[^"]*"', '"./d3.js"', script.read_text()))
    server = serve(site)
    try:
        for name, path, original in samples(folder):
            for kind in DRAWN:
                seen = {}
                for which, file in (("exported", path), ("recorded", original)):
                    # On a busy computer, the browser may return an empty page. Tries again, and
                    # fails only if the page is always empty.
                    for _ in range(3 if file else 0):
                        seen[which] = look(chromium, site, server, file, kind, folder)
                        if seen[which][DRAWN[kind]] > 0:
                            break
                judge_picture(name, kind, seen, load(path))
    finally:
        server.shutdown()


def look(chromium, site, server, file, kind, folder):
    # Pads the data as PyTorch's own page does.
    data = file.read_bytes()
    data += b"\0" * (3 - len(data) % 3)
    (site / "page.html").write_text(PAGE % (base64.b64encode(data).decode(), kind))
    url = f"http://127.0.0.1:{server.server_port}/page.html"
    dom = subprocess.run(
        [
            chromium,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            f"--user-data-dir={folder}/profile",
            "--virtual-time-budget=20000",
            "--timeout=60000",
            "--dump-dom",
            url,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=240,
        check=True,
        text=True,
    ).stdout
    note = re.search(r'<pre id="judged">(.*?)</pre>', dom, re.S)
    assert note, f"{file.name}: the page did not finish"
    text = note.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return json.loads(text)


def judge_picture(name, kind, seen, data):
    new, old = seen["exported"], seen.get("recorded")
    assert not new["problems"], f"{name}: {new['problems']}"
    drawn = DRAWN[kind]
    assert new[drawn] > 3, f"{name}: {kind}: {new[drawn]} {drawn}"
    if old:
        assert new[drawn] == old[drawn], (
            f"{name}: {kind}: {new[drawn]} {drawn} instead of {old[drawn]}"
        )
    legend = [c for c in data.get("categories", []) if c in new["words"]]
    if kind == "Active Memory Timeline" and "categories" in data:
        said = {e["category"] for trace in data["device_traces"] for e in trace if "category" in e}
        assert said == set(legend), f"{name}: the legend has {legend}, the file {said}"
    print(
        f"{name}: {kind}: {new[drawn]} {drawn}"
        + (" as of the recorded file" if old else "")
        + (f"; legend: {', '.join(legend)}" if legend else "")
    )


# ---- HolisticTraceAnalysis


def judge_hta(folder):
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            import plotly.graph_objects as go
            from hta.memory_analysis import MemoryAnalysis
    except ImportError as e:
        raise Missing(f"HolisticTraceAnalysis is not installed for {sys.executable}: {e}")
    figures = []
    go.Figure.show = lambda self, *_, **__: figures.append(self)
    for path in sorted(folder.glob("*.raw.json.gz")):
        MemoryAnalysis(str(path)).plot_memory_timeline()
        top = figures[-1].data[-1].y.max()  # curves are stacked, so the last one is the sum
        live, peak = 0, 0
        for _, moment in by_time(json.load(gzip.open(path))):
            live += sum(bytes_ for _, _, bytes_, _ in moment)
            peak = max(peak, live)
        assert abs(top * 1024**3 - peak) < 1, (
            f"{path.name}: the plot's peak is {top} GiB, not {peak} B"
        )
        print(f"{path.name}: plotted, {len(figures[-1].data)} categories, peak {peak} B")


def by_time(points):
    moments = collections.OrderedDict()
    for point in points:
        moments.setdefault(point[0], []).append(point)
    return moments.items()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    python = os.environ.get("VRAMSCOPE_JUDGE_PYTHON")
    if python and os.environ.get("VRAMSCOPE_JUDGE_STARTED") != "1":
        os.environ["VRAMSCOPE_JUDGE_STARTED"] = "1"
        os.execv(python, [python] + sys.argv)
    with tempfile.TemporaryDirectory(prefix="judge", ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        subprocess.run([sys.argv[2], name, str(RECORDED)], check=True)
        if not RECORDED.is_dir():
            print("no recorded snapshots next to the source: only the simulated run is checked")
        try:
            {"torch": judge_torch, "browser": judge_browser, "hta": judge_hta}[sys.argv[1]](folder)
        except Missing as missing:
            print("skipped:", missing)
            sys.exit(77)


main()

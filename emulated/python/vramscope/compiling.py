"""Handles the caches of torch.compile and Triton, which keep results for later runs. If they
contain measurements, the first step measures no kernels on the GPU. It then needs less memory, and
the allocator's blocks are divided differently from there on. A plan measures like a program's first
run, so two plans of the same program give the same result. Nothing that was measured on the
emulated GPU is stored where a real run would use it.

Compiled code is kept from plan to plan, in a folder of vramscope, because compiling takes long.

A folder that the environment or the program names is still used, and an assumption says so."""

import functools
import gc
import importlib.util
import inspect
import os
import sys
import types

from vramscope import imports
from vramscope.known import place

HERE = os.path.dirname(os.path.abspath(__file__))
VARIABLE = "TORCHINDUCTOR_CACHE_DIR"


def _stores_measurements_apart():
    """Returns whether this version of PyTorch reads measurements through a function that can be
    replaced. Versions before 2.5 do not."""
    torch = importlib.util.find_spec("torch")
    places = torch.submodule_search_locations if torch else None
    return bool(places) and os.path.exists(
        os.path.join(places[0], "_inductor", "runtime", "autotune_cache.py")
    )


class Compiling:
    def __init__(self, process):
        self.process = process
        self.folder = ""
        self.choose()
        process.on_again.append(self.choose)

    def choose(self):
        settings = self.process.settings
        kept = settings.compiled if _stores_measurements_apart() else ""
        ours = os.path.join(kept or os.path.join(settings.scratch, "compiled"), "")
        named = os.environ.get(VARIABLE, "")
        # Each rank has a folder of its own. In a common folder, timing would decide which ranks
        # find code that another rank has compiled.
        before, self.folder = self.folder, os.path.join(ours, "rank-" + os.environ.get("RANK", "0"))
        # otherwise the user's environment names a folder
        if not named or named.startswith(ours) or named == before:
            os.environ[VARIABLE] = self.folder

    def compiles(self, function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            folder = os.environ.get(VARIABLE, "")
            if folder == self.folder:
                self.process.assume(
                    "torch.compile is assumed to find no results of earlier runs, so the first "
                    "steps measure kernels on the GPU",
                    place(),
                )
            else:
                self.process.assume(
                    "torch.compile uses its existing cache. Without it, the first steps may need "
                    "more memory",
                    folder,
                )
            return function(*args, **kwargs)

        return wrapper

    def forgets_measurements(self, module):
        """Hides which kernels were fastest in earlier plans from torch.compile."""
        cache = module.AutotuneCache
        read_best = cache.read_best

        @functools.wraps(read_best)
        def read(self_of_cache, *args, **kwargs):
            if os.environ.get(VARIABLE, "") == self.folder:
                return None
            return read_best(self_of_cache, *args, **kwargs)

        cache.read_best = read

    def collects(self, module):
        """Runs Python's garbage collector after each compilation. How often it runs by itself
        depends on how much is compiled and how much is found in the cache, so tensors in reference
        cycles would live longer in one of two plans."""

        def collect(*args):
            self.process.assume(
                "Python's garbage collector is assumed to run after each compilation", place()
            )
            gc.collect()

        module.callback_handler.register_end_callback(collect)

    # --- Triton's autotuner: measuring uses as much GPU memory as usual, but only the first usable
    # kernel is measured

    def tunes(self, module):
        tuner = module.Autotuner
        prune, bench = tuner.prune_configs, tuner._bench

        @functools.wraps(prune)
        def prune_configs(tuner, *args, **kwargs):
            # a new measurement begins: no configuration that runs was found yet
            tuner._vramscope_runs = False
            self.process.assume(
                "Triton's autotuner is assumed to choose the first configuration that the GPU "
                "can run; the others are not compiled",
                place(),
            )
            return prune(tuner, *args, **kwargs)

        @functools.wraps(bench)
        def _bench(tuner, *args, **kwargs):
            if getattr(tuner, "_vramscope_runs", False):
                return tuner._vramscope_slower
            times = bench(tuner, *args, **kwargs)
            several = isinstance(times, (list, tuple))
            first = times[0] if several else times
            if first != float("inf"):
                tuner._vramscope_runs = True
                tuner._vramscope_slower = (
                    type(times)([float("inf")] * len(times)) if several else float("inf")
                )
            return times

        tuner.prune_configs, tuner._bench = prune_configs, _bench
        if hasattr(tuner, "check_disk_cache"):  # results of an earlier run

            def check_disk_cache(tuner, key, configurations, measure, *args, **kwargs):
                measure()
                return False

            tuner.check_disk_cache = check_disk_cache

    def measures(self, module):
        """Wraps do_bench, which repeats a kernel for a number of milliseconds."""
        measure = module.do_bench

        @functools.wraps(measure)
        def do_bench(function, *args, **kwargs):
            kwargs.pop("warmup", None)
            kwargs.pop("rep", None)
            return measure(function, 0, 0, *args[2:], **kwargs)

        module.do_bench = do_bench


def _codes(code):
    yield code
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _codes(part)


def stays_as_it_is(module):
    """Excludes functions of this package from torch.compile, which would otherwise compile them on
    their own. A function of this package that compiled code calls is still traced as part of its
    caller."""
    skip_code = getattr(module, "skip_code", None)
    if skip_code is None:  # before 2.8
        from torch._C._dynamo.eval_frame import skip_code

    for name, part in list(sys.modules.items()):
        if name.partition(".")[0] != "vramscope":
            continue
        functions = [
            one
            for owner in (part, *filter(inspect.isclass, vars(part).values()))
            for one in vars(owner).values()
        ]
        for function in filter(inspect.isfunction, functions):
            if function.__code__.co_filename.startswith(HERE):
                for code in _codes(function.__code__):
                    skip_code(code)


def install(process):
    if not process.settings.emulated:
        return
    compiling = Compiling(process)
    imports.after(
        process,
        "torch._inductor.compile_fx",
        lambda module: setattr(module, "compile_fx", compiling.compiles(module.compile_fx)),
    )
    imports.after(process, "torch._inductor.runtime.autotune_cache", compiling.forgets_measurements)
    imports.after(process, "torch._dynamo.callback", compiling.collects)
    imports.after(process, "torch._dynamo.eval_frame", stays_as_it_is)
    imports.after(process, "triton.runtime.autotuner", compiling.tunes)
    imports.after(process, "triton.testing", compiling.measures)

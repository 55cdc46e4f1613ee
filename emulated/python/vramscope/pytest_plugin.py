"""The pytest fixture `vram_budget`: a test fails if its training needs more GPU memory than the
budget.

    def test_fits(vram_budget):
        with vram_budget("24GiB"):
            train()

On a GPU the block is recorded. Without one, each such test runs in a process of its own under
`vramscope plan`, on the GPU named by `--vram-device` (or `vram_device` in pytest's configuration);
`vramscope plan --steps 0 -- pytest` runs all tests under one plan.
"""

import json
import os
import subprocess
import sys
import tempfile
from typing import Any, Callable, List, Optional, Union

import pytest

# set in a process that runs one test under a plan: the file of its reports
_REPORTS = "VRAMSCOPE_PYTEST_REPORTS"


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("vramscope", "GPU memory budgets")
    group.addoption(
        "--vram-device",
        metavar="NAME",
        help="the GPU for which tests with vram_budget are planned on a computer without one "
        "(a name of `vramscope devices`; default rtx-4090)",
    )
    group.addoption(
        "--vram-plan",
        action="store_true",
        help="plan tests with vram_budget even if there is a GPU",
    )
    parser.addini(
        "vram_device",
        "the GPU for which tests with vram_budget are planned on a computer without one",
        default="",
    )


class _Budget:
    def __init__(self, budget: Union[int, str], context: Optional[str], recording: Any) -> None:
        self.budget = budget
        self.context = context
        self.recording = recording
        self.check: Any = None

    def __enter__(self) -> "_Budget":
        import gc

        import torch

        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()  # the cache of earlier tests does not count for this one
        self.recording.__enter__()
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        from vramscope.program import VramscopeError

        try:
            self.recording.__exit__(None, None, None)
            self.check = self.recording.check(self.budget, context=self.context)
        except VramscopeError:
            if kind is not None:
                return  # the test's own exception is more specific
            raise
        out_of_memory = kind is not None and "OutOfMemory" in kind.__name__
        if self.check or (kind is not None and not out_of_memory):
            return
        text = "GPU memory %s" % self.check
        if out_of_memory:
            text += "\n%s" % str(value).split("\n")[0]
        raise pytest.fail.Exception(text, pytrace=False) from None


@pytest.fixture
def vram_budget() -> Callable[..., _Budget]:
    """`with vram_budget("24GiB"): train()` fails if train() needs more GPU memory, including the
    CUDA context. The message shows what the peak consists of. `context` overrides the size of the
    CUDA context ("450MiB")."""

    def make(budget: Union[int, str], *, context: Optional[str] = None) -> _Budget:
        from vramscope.recording import record

        return _Budget(budget, context, record())

    return make


# --- without a GPU ---


def _needs_a_plan(item: Any) -> bool:
    if (
        "vram_budget" not in getattr(item, "fixturenames", ())
        or os.environ.get(_REPORTS)
        or os.environ.get("VRAMSCOPE_PROGRAM_OUTPUT")
    ):
        return False
    if item.config.getoption("vram_plan"):
        return True
    try:
        import torch
    except ImportError:
        import importlib.util

        # Only searches for torch and does not import it, because it cannot be imported without
        # NVIDIA's libraries. A plan provides these libraries.
        return importlib.util.find_spec("torch") is not None
    return not torch.cuda.is_available()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: Any, nextitem: Any) -> Optional[bool]:
    if not _needs_a_plan(item):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _planned(item):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _planned(item: Any) -> List[Any]:
    """Runs the test in a separate process under a plan, and returns its reports."""
    from vramscope import program

    config = item.config
    folder = tempfile.mkdtemp(
        prefix="vramscope-pytest-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None
    )
    reports = os.path.join(folder, "reports")
    said = ""
    try:
        command = [program.find(), "plan", "--steps", "0", "--json", "--writable", folder]
        device = config.getoption("vram_device") or config.getini("vram_device")
        if device:
            command += ["--device", device]
        command += [
            "--",
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-o",
            "addopts=",
            "--rootdir",
            str(config.rootpath),
            *_own_options(config),
            item.nodeid,
        ]
        done = subprocess.run(
            command,
            cwd=str(config.rootpath),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, _REPORTS: reports, "PYTEST_ADDOPTS": ""},
        )
        said = done.stderr.decode("utf-8", "replace")
        with open(reports) as file:
            return [
                config.hook.pytest_report_from_serializable(config=config, data=json.loads(line))
                for line in file
            ]
    except (OSError, ValueError, program.VramscopeError) as error:
        text = "the test could not be run under `vramscope plan`: %s" % (
            said.strip()[-4000:] or error
        )
        return [
            pytest.TestReport(
                item.nodeid,
                item.location,
                {},
                "failed" if when == "call" else "passed",
                text if when == "call" else None,
                when,
            )
            for when in ("setup", "call", "teardown")
        ]
    finally:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


def _own_options(config: Any) -> List[str]:
    """Returns the options of pytest's command line that determine which files and plugins it
    finds."""
    options: List[str] = []
    if config.inipath is not None:
        options += ["-c", str(config.inipath)]
    for name in config.getoption("plugins") or []:
        if not name.startswith("no:"):
            options += ["-p", name]
    for name, value in (
        ("--confcutdir", config.getoption("confcutdir", None)),
        ("--import-mode", config.getoption("importmode", None)),
    ):
        if value:
            options.append("%s=%s" % (name, value))
    return options


@pytest.hookimpl(trylast=True)
def pytest_configure(config: Any) -> None:
    path = os.environ.get(_REPORTS)
    if path:
        config.pluginmanager.register(_Reporter(config, path), "vramscope-reporter")


class _Reporter:
    def __init__(self, config: Any, path: str) -> None:
        self.config = config
        self.path = path

    def pytest_runtest_logreport(self, report: Any) -> None:
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        with open(self.path, "a") as file:
            file.write(json.dumps(data) + "\n")

"""A server process for the plans of `fit`: it has imported what a program imports, and becomes the
program repeatedly by forking.

vramscope starts `python train.py` as for any plan, with VRAMSCOPE_PROGRAM_SERVE in its environment.
sitecustomize calls serve(), which imports the modules that the program's first run had imported
before it used CUDA (stored by `tell_modules`), and listens on a socket. Each request contains an
output folder, descriptors of standard streams and namespaces, arguments and environment. A fork
applies them and returns from serve(): the interpreter then runs the script as `__main__`, as if it
had just started.

CUDA is not used before the fork. For each program, another process waits for the program's end,
reports how it ended, and kills it if the client is gone. The platform's library reads some settings
only once. Therefore all forks use the same path for their output folders: the path of a fixed
descriptor (OUTPUT).

The server's imports are isolated in the same way as a program. A plan's namespaces are below this
process's user namespace (overlay_root.h), so the fork may enter them as an ordinary user. Entering
them grants capabilities, which the fork then drops, as an exec would."""

import array
import atexit
import ctypes
import gc
import importlib
import json
import os
import re
import select
import shutil
import signal
import socket
import sys
import threading

from vramscope import packages, torchrun, uploads
from vramscope.process import replace_file
from vramscope.torchrun import MOST, PR_SET_PDEATHSIG

SOCKET, MODULES = "VRAMSCOPE_PROGRAM_SERVE", "VRAMSCOPE_PROGRAM_MODULES"
GPUS, DEVICES = "VRAMSCOPE_EMULATED_GPU", "VRAMSCOPE_EMULATED_DEVICES"
OUTPUT = 900  # the descriptor of a program's output folder, as in profiler/program/warm.h
POLL_MS = 20
PR_SET_DUMPABLE = 4
CAPABILITY_VERSION_3 = 0x20080522
# Variables that may differ between plans: vramscope's own, and those that torchrun sets (they are
# read when a process group is created). The first list has prefixes, the second has names.
_OF_A_PLAN = ("VRAMSCOPE_", "TORCHELASTIC_")
_OF_A_RANK = {
    "RANK",
    "LOCAL_RANK",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "GROUP_RANK",
    "ROLE_RANK",
    "MASTER_ADDR",
    "MASTER_PORT",
    "PWD",
    "OLDPWD",
    "SHLVL",
    "_",
}
_OF_LAUNCHERS = {"torch", "accelerate"}  # packages that torchrun and launchers built on it import


# --- the modules of a first run ---

_began_with = {}


def begins():
    """Stores the environment at the interpreter's start, before the program changes it."""
    _began_with.update(os.environ)


def about_to_import_torch():
    ours = {"PYTORCH_CUDA_ALLOC_CONF", *uploads.VARIABLES, *uploads.NO_NETWORK}
    changed = sorted(
        name
        for name in {*os.environ, *_began_with}
        if os.environ.get(name) != _began_with.get(name) and name not in ours
    )
    _changes.extend(changed)
    if "VRAMSCOPE_PROGRAM_TOGGLES" in os.environ:
        _watch_environment()


_changes = []
# [(variable, the packages imported before)] of variables that the program sets after torch is
# imported
_written = []


def _watch_environment():
    """Stores which variables the program sets until it uses CUDA. A package that is imported
    afterwards may read them; in the server, it would be imported before they are set."""
    kind = type(os.environ)
    write = kind.__setitem__

    def __setitem__(environment, name, value):
        if len(_written) < 64 and environment.get(name) != value and _called_by_program():
            _written.append((name, {module.partition(".")[0] for module in sys.modules}))
        write(environment, name, value)

    kind.__setitem__ = __setitem__
    _unwatch.append(lambda: setattr(kind, "__setitem__", write))


_unwatch = []


def _called_by_program():
    frame = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") in ("os", "_collections_abc"):
        frame = frame.f_back
    return frame is not None and packages.is_own(frame.f_code.co_filename)


def _read_later(modules):
    """Returns a variable and a package that may read it: the program sets the variable before it
    imports the package. Returns None if there is none."""
    for variable, before in _written:
        for module in modules:
            package = module.partition(".")[0]
            if package not in before and package not in sys.stdlib_module_names:
                return variable, package
    return None


def tell_modules(process):
    """Called when the program first uses CUDA. Stores the names of the modules that have been
    imported until then, in the order of their imports."""
    if "VRAMSCOPE_PROGRAM_TOGGLES" not in os.environ:
        return
    files = [
        (name, getattr(module, "__dict__", {}).get("__file__"))
        for name, module in list(sys.modules.items())
        if name != "__main__"
    ]
    begun = {
        name
        for name, module in list(sys.modules.items())
        if getattr(getattr(module, "__spec__", None), "_initializing", False)
    }
    # If the program first uses CUDA while a module is still being imported, the server must not
    # import that module. It must not import the module's submodules either, because this would
    # import the module.
    names = [
        name
        for name, path in files
        if packages.is_package(path)
        and not packages.is_own(path)
        and not any(name == other or name.startswith(other + ".") for other in begun)
    ]
    why = (
        "the program sets %s before it imports torch" % ", ".join(_changes[:4]) if _changes else ""
    )
    while _unwatch:
        _unwatch.pop()()
    later = _read_later(names)
    if later is not None:
        why = why or "the program sets %s before it imports %s" % later
    if threading.active_count() > 1:
        why = why or "the program starts threads before it uses CUDA"
    told = {"modules": names, "why_not": why, "rank": torchrun.describe(_began_with, _may_differ)}
    try:
        replace_file(
            os.path.join(process.settings.output, "modules.json"), json.dumps(told).encode()
        )
    except OSError:
        pass  # the next program starts without the server


# --- the server ---


def serve():
    """Runs the server. Returns only in forks, each of which becomes a planned program."""
    path, modules = os.environ.pop(SOCKET), os.environ.pop(MODULES)
    with open(modules) as file:
        told = json.load(file)
    names = told["modules"]
    # This server imports packages at the same time as this process.
    ranks = torchrun.start(told.get("rank"), path + ".ranks", modules, OUTPUT)
    if ranks is not None:
        names = [name for name in names if name.partition(".")[0] in _OF_LAUNCHERS]
    atexit.register(_keep_imports)  # the function registered first is called last
    sys.dont_write_bytecode, writes = True, sys.dont_write_bytecode
    again = None
    # The first optimizer imports torch._dynamo, often after the list was stored. Its 800 modules
    # take two seconds.
    for name in [*names, *(["torch._dynamo"] if "torch" in names else ())]:
        try:
            importlib.import_module(name)
            if name == "torch":
                again = _count_devices_aside(sys.modules[name])
        # for example, the program creates this module only while it runs
        except Exception as error:
            if name == "torch":
                raise
            print("vramscope: not imported in advance: %s (%s)" % (name, error), file=sys.stderr)
    sys.dont_write_bytecode = writes
    if again is not None:
        again()
    if ranks is not None:
        torchrun.use(ranks, path + ".ranks", OUTPUT)
    _imported.update(_files())
    _shared.extend(
        name
        for name in sys.modules
        if name.partition(".")[0] not in {*sys.stdlib_module_names, "__main__"}
    )
    gc.collect()
    gc.freeze()  # the program's garbage collections skip imported objects, whose pages stay shared
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(path + ".part")
    listener.listen(16)
    os.rename(path + ".part", path)
    # the system removes ended children, for which nothing waits
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, before)
            if _answer(connection):
                return
        connection.close()


def _count_devices_aside(torch):
    """Makes PyTorch count devices in another process. PyTorch refuses to use CUDA in a fork if the
    parent process has counted devices (cuda.is_available), and some libraries count them when they
    are imported (bitsandbytes). Returns a function that restores PyTorch's own way of counting."""
    count, counted = getattr(getattr(torch, "_C", None), "_cuda_getDeviceCount", None), []
    if count is None:  # built without CUDA
        return None

    def aside():
        if not counted:
            child = os.fork()
            if child == 0:
                try:
                    os._exit(min(count(), 254))
                finally:
                    os._exit(255)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            counted.append(status if 0 <= status < 255 else 0)
        return counted[0]

    def again():
        torch._C._cuda_getDeviceCount = count

    torch._C._cuda_getDeviceCount = aside
    return again


def _keep_imports():
    """When the interpreter ends, prevents it from deallocating packages that were imported before
    the fork. Deallocating them would copy every page that is shared with the server, which took
    longer than the program itself. The program's own objects are finalized as usual."""
    gc.freeze()
    kept = [sys.modules.pop(name) for name in _shared if name in sys.modules]
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))


_imported = {}
_shared = []  # names of imported modules


def _files():
    """Returns the state of the imported files on the disk as {path: (size, time of the last
    change)}."""
    files = {}
    for module in list(sys.modules.values()):
        path = getattr(module, "__dict__", {}).get("__file__")
        if isinstance(path, str) and path not in files:
            files[path] = _facts(path)
    return files


def _facts(path):
    try:
        facts = os.stat(path)
        return facts.st_size, facts.st_mtime_ns
    except OSError:
        return None


def _answer(connection):
    """Answers one request. Forks a process that becomes the program, and returns True in it. The
    process that waits for the program ends here."""
    _die_with_parent(signal.SIGKILL)
    try:
        request, descriptors = _receive(connection)
        if request is None:
            os._exit(0)  # the client only checked that the server runs
        why = _refuse(request)
        if why:
            connection.send(json.dumps({"refused": why}).encode())
            os._exit(0)
        ready, told = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(ready)
            connection.close()
            _become(request, descriptors, told)
            return True
        os.close(told)
        for descriptor in descriptors:
            os.close(descriptor)
        said = os.read(ready, 4096)
        if said:
            os.waitpid(child, 0)
            connection.send(json.dumps({"refused": said.decode()}).encode())
        else:
            connection.send(json.dumps({"process": child}).encode())
            connection.send(json.dumps({"status": _wait(connection, child)}).encode())
    except OSError:
        pass  # the client is gone
    os._exit(0)


def _receive(connection):
    message, ancillary, _, _ = connection.recvmsg(
        MOST, socket.CMSG_SPACE(16 * array.array("i").itemsize)
    )
    descriptors = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(data[: len(data) - len(data) % descriptors.itemsize])
    return json.loads(message) if message else None, list(descriptors)


def _refuse(request):
    """Returns why this process cannot become the requested program, or "" if it can."""
    if _arguments(request) is None:
        return "the server was started for another program"
    given = request["environment"]
    changed = sorted(
        name
        for name in {*given, *_began_with}
        if given.get(name) != _began_with.get(name)
        and not _may_differ(name)
        and not _of_a_shim(name)
    )
    if changed:
        return "the environment has changed: %s" % ", ".join(changed[:4])
    if given.get(DEVICES) != _began_with.get(DEVICES):
        return "the server was started with another number of GPUs"
    # imported modules may have read the GPU's properties
    if _but_memory(given) != _but_memory(_began_with):
        return "the server was started for another GPU"
    torch = sys.modules.get("torch")
    if torch is not None and (torch.cuda.is_initialized() or torch.cuda._is_in_bad_fork()):
        return "an imported module uses CUDA"
    threads = len(os.listdir("/proc/self/task"))
    return "imported modules run %d threads" % (threads - 1) if threads > 1 else ""


def _may_differ(name):
    return name.startswith(_OF_A_PLAN) or name in _OF_A_RANK


def _of_a_shim(name):
    """Returns whether pyenv's `python` may have set the variable. This `python` is a script that
    sets variables and then starts the interpreter. The client's environment lacks these
    variables."""
    return name == "PATH" or name.startswith(("PYENV_", "_PYENV_"))


def _arguments(request):
    """Returns the arguments in the request if this process was started for the same program,
    otherwise None."""
    own, command = sys.orig_argv, request["command"]
    options = len(own) - len(sys.argv)  # the interpreter and its options
    # the interpreter may have another name: pyenv's is a script
    if command[1 : options + 1] == own[1 : options + 1]:
        return command[options + 1 :]
    # The program may have been started as a command: a script whose first line names the
    # interpreter.
    if options == 1 and shutil.which(command[0], path=request["environment"].get("PATH")) == own[1]:
        return command[1:]
    return None


def _wait(connection, child):
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return status
        # the client sends nothing more, so an event means that the connection is closed
        if poll.poll(POLL_MS):
            os.killpg(child, signal.SIGKILL)
            return os.waitpid(child, 0)[1]


def _take_environment(given):
    """Sets the environment to that of the request. Variables that hooks and libraries have set in
    this process are kept."""
    here = "/proc/self/fd/%d" % OUTPUT
    since = {
        name: value.replace(here, given.get("VRAMSCOPE_PROGRAM_OUTPUT", here))
        for name, value in os.environ.items()
        if _began_with.get(name) != value
    }
    wanted = {
        **given,
        **since,
        **{name: value for name, value in os.environ.items() if _of_a_shim(name)},
    }
    for name in set(os.environ) - set(wanted):
        del os.environ[name]
    for name, value in wanted.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def _but_memory(environment):
    return re.sub(r"memory_bytes=\d+", "", environment.get(GPUS, ""))


def _take_platform_settings():
    """Makes the emulated platform read its settings again: in this plan, the GPUs may have another
    memory size, and only this plan's processes share them."""
    platform = ctypes.CDLL(
        os.path.join(os.environ["VRAMSCOPE_PROGRAM_EMULATED"], "libvramscope-emulated.so")
    )
    if platform.vramscope_emulated_reread_settings() != 0:
        raise RuntimeError("the emulated platform cannot use the GPUs of %s" % GPUS)


def _die_with_parent(by):
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(by), 0, 0, 0)


def _without_capabilities(libc):
    """Drops all capabilities. A process gets them when it enters a user namespace. An exec by a
    user other than root would drop them, but a fork does not."""
    if os.geteuid() == 0:
        return
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    if libc.capset(header, (ctypes.c_uint32 * 6)()) != 0:
        raise OSError(
            ctypes.get_errno(), "capabilities cannot be dropped: " + os.strerror(ctypes.get_errno())
        )
    # an exec sets it; without it, root owns the files of /proc/self
    libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)


def _become(request, descriptors, told):
    """Does in this process what the launcher's preparations and an exec would do
    (profiler/program/launch.cpp)."""
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        os.setpgid(0, 0)
        output, streams, namespaces = descriptors[0], descriptors[1:4], descriptors[4:]
        for namespace in namespaces:
            if libc.setns(namespace, 0) != 0:
                raise OSError(
                    ctypes.get_errno(),
                    "the isolated file system cannot be entered: "
                    + os.strerror(ctypes.get_errno()),
                )
        if namespaces:
            _without_capabilities(libc)
        os.chdir(request["folder"])
        # Checks files in the plan's mount namespace, because this process's own namespace still
        # shows the old file after a file was replaced.
        changed = [
            path for path, facts in _imported.items() if facts is not None and _facts(path) != facts
        ]
        if changed:
            raise OSError(
                "an imported file has changed: %s%s"
                % (changed[0], " and %d more" % (len(changed) - 1) if len(changed) > 1 else "")
            )
        _die_with_parent(signal.SIGKILL)  # a change of user namespace clears this setting
        os.dup2(output, OUTPUT)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        for descriptor in descriptors:
            if descriptor > 2:
                os.close(descriptor)
    except OSError as error:
        os.write(told, str(error).encode()[:4000])
        os._exit(127)
    os.close(told)
    options, arguments = len(sys.orig_argv) - len(sys.argv), _arguments(request)
    sys.argv[1:] = arguments
    sys.orig_argv[options + 1 :] = arguments
    _take_environment(request["environment"])
    _take_platform_settings()
    # Until this call, the isolation library has the server's variables, and would set them in child
    # processes.
    again = getattr(ctypes.CDLL(None), "vramscope_isolation_again", None)
    if again is not None:
        again()
    from vramscope import toggles, watch

    if watch.current is not None:  # torch is imported
        toggles.before_torch()
        watch.current.again()
        toggles.install(watch.current)

"""A process that has imported what a program imports, and becomes the program again and again, by forking: what `fit` plans with.

    vramscope starts `python train.py` as for any plan, with VRAMSCOPE_PROGRAM_SERVE in its environment. sitecustomize comes here: the modules
    that the program's own first run had imported before it used CUDA (told by `tell_modules`) are imported, and a socket is listened on.
    Every request brings a folder for what is recorded, descriptors of standard streams and namespaces, arguments and environment. It is
    answered by a fork that takes them and returns: the interpreter goes on to run the script as `__main__`, as if it had just started.

Nothing has touched CUDA by then. Beside each program a process waits for its end, says how it ended, and ends it when whoever asked is gone.
The library of the platform reads some of its settings once, so the folder has one name in all of them: that of a descriptor.

What is imported is isolated as a program is. The namespaces of a plan lie below the user namespace of this process (overlay_root.h), so the
fork may enter them without any right of its own, as an ordinary user. It gives up the capabilities that this brings, as an exec would."""
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

from vramscope import packages, uploads
from vramscope.process import replace_file

SOCKET, MODULES = "VRAMSCOPE_PROGRAM_SERVE", "VRAMSCOPE_PROGRAM_MODULES"
CARDS, DEVICES = "VRAMSCOPE_EMULATED_CARD", "VRAMSCOPE_EMULATED_DEVICES"
OUTPUT = 900  # the descriptor of a program's folder, as profiler/program/warm.h has it
MOST = 1 << 18  # bytes of a message
POLL_MS = 20
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
CAPABILITY_VERSION_3 = 0x20080522
# What may differ from plan to plan: these libraries' own, and what torchrun tells its ranks, which is read when a group is made.
_OF_A_PLAN = ("VRAMSCOPE_", "TORCHELASTIC_")
_OF_A_RANK = {"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT", "PWD", "OLDPWD", "SHLVL", "_"}


# --- what a first run tells ---

_began_with = {}


def begins():
    """The interpreter starts: how its environment is before the program changes it."""
    _began_with.update(os.environ)


def about_to_import_torch():
    ours = {"PYTORCH_CUDA_ALLOC_CONF", *uploads.VARIABLES, *uploads.NO_NETWORK}
    changed = sorted(name for name in {*os.environ, *_began_with} if os.environ.get(name) != _began_with.get(name) and name not in ours)
    _changes.extend(changed)


_changes = []


def tell_modules(process):
    """Called when the program first uses CUDA: what is imported by then, in its order."""
    if "VRAMSCOPE_PROGRAM_TOGGLES" not in os.environ:
        return
    files = [(name, getattr(module, "__dict__", {}).get("__file__")) for name, module in list(sys.modules.items()) if name != "__main__"]
    begun = {name for name, module in list(sys.modules.items()) if getattr(getattr(module, "__spec__", None), "_initializing", False)}
    # What is being imported uses CUDA by that, and so would the server. Importing a part of it begins with it.
    names = [name for name, path in files if packages.is_package(path) and not packages.is_own(path)
             and not any(name == other or name.startswith(other + ".") for other in begun)]
    why = "the program sets %s before it imports torch" % ", ".join(_changes[:4]) if _changes else ""
    if threading.active_count() > 1:
        why = why or "the program runs threads before it uses CUDA"
    try:
        replace_file(os.path.join(process.settings.output, "modules.json"), json.dumps({"modules": names, "why_not": why}).encode())
    except OSError:
        pass  # it starts cold


# --- the server ---

def serve():
    """Returns in every process that is to become the program."""
    path, modules = os.environ.pop(SOCKET), os.environ.pop(MODULES)
    with open(modules) as file:
        names = json.load(file)["modules"]
    atexit.register(_keep_imports)  # the first that is registered is called last
    sys.dont_write_bytecode, writes = True, sys.dont_write_bytecode
    again = None
    for name in names:
        try:
            importlib.import_module(name)
            if name == "torch":
                again = _count_devices_aside(sys.modules[name])
        except Exception as error:  # one that is made while the program runs
            if name == "torch":
                raise
            print("vramscope: not imported beforehand: %s (%s)" % (name, error), file=sys.stderr)
    sys.dont_write_bytecode = writes
    if again is not None:
        again()
    _imported.update(_files())
    _shared.extend(name for name in sys.modules if name.partition(".")[0] not in {*sys.stdlib_module_names, "__main__"})
    gc.collect()
    gc.freeze()  # collections of the program leave what was imported alone, and its pages shared
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(path + ".part")
    listener.listen(16)
    os.rename(path + ".part", path)
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, before)
            if _answer(connection):
                return
        connection.close()


def _count_devices_aside(torch):
    """PyTorch takes a process that has counted its devices (cuda.is_available) for one that must not fork, and libraries count when they are
    imported (bitsandbytes). Another process counts. Returns what ends that."""
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
    """At the interpreter's end: packages that were imported before the fork are not torn down. Collecting and deallocating them copies every
    page that is shared with the server, which took longer than the program. What the program itself has made is finalized as ever."""
    gc.freeze()
    kept = [sys.modules.pop(name) for name in _shared if name in sys.modules]
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))


_imported = {}
_shared = []  # names of packages' modules


def _files():
    """What has been imported, as it is on the disk: {path: (size, time of its last change)}."""
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
    """True in the process that is to be the program; the one beside it ends here."""
    _die_with_parent(signal.SIGKILL)
    try:
        request, descriptors = _receive(connection)
        if request is None:
            os._exit(0)  # who only asked whether somebody is here
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
        pass  # whoever asked is gone
    os._exit(0)


def _receive(connection):
    message, ancillary, _, _ = connection.recvmsg(MOST, socket.CMSG_SPACE(16 * array.array("i").itemsize))
    descriptors = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(data[:len(data) - len(data) % descriptors.itemsize])
    return json.loads(message) if message else None, list(descriptors)


def _refuse(request):
    """Why this process cannot be that program; "": it can."""
    if _arguments(request) is None:
        return "it is another program"
    given = request["environment"]
    changed = sorted(name for name in {*given, *_began_with} if given.get(name) != _began_with.get(name)
                     and not name.startswith(_OF_A_PLAN) and name not in _OF_A_RANK and not _of_a_shim(name))
    if changed:
        return "the environment has changed: %s" % ", ".join(changed[:4])
    if given.get(DEVICES) != _began_with.get(DEVICES):
        return "it has another number of GPUs"
    if _but_memory(given) != _but_memory(_began_with):  # what is imported may have asked which GPU it is
        return "it is for another GPU"
    torch = sys.modules.get("torch")
    if torch is not None and (torch.cuda.is_initialized() or torch.cuda._is_in_bad_fork()):
        return "what it imports uses CUDA"
    threads = len(os.listdir("/proc/self/task"))
    return "what was imported runs %d threads of its own" % (threads - 1) if threads > 1 else ""


def _of_a_shim(name):
    """pyenv's `python` is a script, which sets these before the interpreter starts: whoever asks has not seen them."""
    return name == "PATH" or name.startswith(("PYENV_", "_PYENV_"))


def _arguments(request):
    """The program's own, if it is the one that this process has been started as; else None."""
    own, command = sys.orig_argv, request["command"]
    options = len(own) - len(sys.argv)  # the interpreter's, and the interpreter
    if command[1:options + 1] == own[1:options + 1]:  # the interpreter may have come by another name: pyenv's is a script
        return command[options + 1:]
    # A script that is started by its first line.
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
        if poll.poll(POLL_MS):  # nobody sends anything any more: it is closed
            os.killpg(child, signal.SIGKILL)
            return os.waitpid(child, 0)[1]


def _take_environment(given):
    """The program's own, with what hooks and libraries have set since this process began."""
    here = "/proc/self/fd/%d" % OUTPUT
    since = {name: value.replace(here, given.get("VRAMSCOPE_PROGRAM_OUTPUT", here)) for name, value in os.environ.items()
             if _began_with.get(name) != value}
    wanted = {**given, **since, **{name: value for name, value in os.environ.items() if _of_a_shim(name)}}
    for name in set(os.environ) - set(wanted):
        del os.environ[name]
    for name, value in wanted.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def _but_memory(environment):
    return re.sub(r"memory_bytes=\d+", "", environment.get(CARDS, ""))


def _take_cards():
    """The plan may be for another size of the GPU's memory than this process was started for."""
    if os.environ.get(CARDS) == _began_with.get(CARDS):
        return
    platform = ctypes.CDLL(os.path.join(os.environ["VRAMSCOPE_PROGRAM_EMULATED"], "libvramscope-emulated.so"))
    if platform.vramscope_emulated_reread_cards() != 0:
        raise RuntimeError("the emulated platform does not take the GPUs of %s" % CARDS)


def _die_with_parent(by):
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(by), 0, 0, 0)


def _without_capabilities(libc):
    """Entering a user namespace brings all of them; an exec by anybody but root takes them away."""
    if os.geteuid() == 0:
        return
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    if libc.capset(header, (ctypes.c_uint32 * 6)()) != 0:
        raise OSError(ctypes.get_errno(), "capabilities cannot be given up: " + os.strerror(ctypes.get_errno()))
    libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # an exec sets it: without, files of /proc/self are root's


def _become(request, descriptors, told):
    """What an exec and its preparations would do (profiler/program/launch.cpp)."""
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        os.setpgid(0, 0)
        output, streams, namespaces = descriptors[0], descriptors[1:4], descriptors[4:]
        for namespace in namespaces:
            if libc.setns(namespace, 0) != 0:
                raise OSError(ctypes.get_errno(), "the isolated file system cannot be entered: " + os.strerror(ctypes.get_errno()))
        if namespaces:
            _without_capabilities(libc)
        os.chdir(request["folder"])
        # Seen from the plan's own namespace: what was replaced meanwhile is still the old file in that of this process.
        changed = [path for path, facts in _imported.items() if facts is not None and _facts(path) != facts]
        if changed:
            raise OSError("what was imported has changed: %s%s" % (changed[0], " and %d more" % (len(changed) - 1) if len(changed) > 1 else ""))
        _die_with_parent(signal.SIGKILL)  # a change of user namespace clears it
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
    sys.orig_argv[options + 1:] = arguments
    _take_environment(request["environment"])
    _take_cards()
    # What hands the launcher's variables on to children has kept those of the process that imported.
    again = getattr(ctypes.CDLL(None), "vramscope_isolation_again", None)
    if again is not None:
        again()
    from vramscope import toggles, watch

    if watch.current is not None:  # torch is there
        watch.current.again()
        toggles.install(watch.current)

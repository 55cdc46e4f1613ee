"""A process that has imported what a program imports, and becomes the program again and again, by forking: what `fit` plans with.

    vramscope starts `python train.py` as for any plan, with VRAMSCOPE_PROGRAM_SERVE in its environment. sitecustomize comes here: the modules
    that the program's own first run had imported before it used CUDA (told by `tell_modules`) are imported, and a socket is listened on.
    Every request brings a folder for what is recorded, descriptors of standard streams and namespaces, arguments and environment. It is
    answered by a fork that takes them and returns: the interpreter goes on to run the script as `__main__`, as if it had just started.

Nothing has touched CUDA by then. Beside each program a process waits for its end, says how it ended, and ends it when whoever asked is gone.
The library of the platform reads some of its settings once, so the folder has one name in all of them: that of a descriptor."""
import array
import ctypes
import importlib
import json
import os
import select
import signal
import socket
import sys
import threading

SOCKET, MODULES = "VRAMSCOPE_PROGRAM_SERVE", "VRAMSCOPE_PROGRAM_MODULES"
OUTPUT = 900  # the descriptor of a program's folder, as profiler/program/warm.h has it
MOST = 1 << 18  # bytes of a message
POLL_MS = 20
PR_SET_PDEATHSIG = 1


# --- what a first run tells ---

_began_with = {}


def begins():
    """The interpreter starts: how its environment is before the program changes it."""
    _began_with.update(os.environ)


def about_to_import_torch():
    changed = sorted(name for name in {*os.environ, *_began_with} if os.environ.get(name) != _began_with.get(name) and name != "PYTORCH_CUDA_ALLOC_CONF")
    _changes.extend(changed)


_changes = []


def tell_modules(process):
    """Called when the program first uses CUDA: what is imported by then, in its order."""
    if "VRAMSCOPE_PROGRAM_TOGGLES" not in os.environ:
        return
    names = [name for name, module in list(sys.modules.items()) if name != "__main__" and process.toggles.is_package(getattr(module, "__file__", None))]
    why = "the program sets %s before it imports torch" % ", ".join(_changes[:4]) if _changes else ""
    if threading.active_count() > 1:
        why = why or "the program runs threads before it uses CUDA"
    try:
        with open(os.path.join(process.settings.output, "modules.json"), "w") as file:
            json.dump({"modules": names, "why_not": why}, file)
    except OSError:
        pass  # it starts cold


# --- the server ---

def serve():
    """Returns in every process that is to become the program."""
    path, modules = os.environ.pop(SOCKET), os.environ.pop(MODULES)
    begins()
    with open(modules) as file:
        names = json.load(file)["modules"]
    sys.dont_write_bytecode, writes = True, sys.dont_write_bytecode
    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:  # one that is made while the program runs
            if name == "torch":
                raise
            print("vramscope: not imported beforehand: %s (%s)" % (name, error), file=sys.stderr)
    sys.dont_write_bytecode = writes
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


def _answer(connection):
    """True in the process that is to be the program; the one beside it ends here."""
    _die_with_parent(signal.SIGKILL)
    try:
        request, descriptors = _receive(connection)
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
    return json.loads(message), list(descriptors)


def _refuse(request):
    """Why this process cannot be that program; "": it can."""
    own, command = sys.orig_argv, request["command"]
    options = len(own) - len(sys.argv)  # the interpreter's, and the interpreter, which has come here by the same name
    if command[1:options + 1] != own[1:options + 1]:
        return "it is another program"
    threads = len(os.listdir("/proc/self/task"))
    return "what was imported runs %d threads of its own" % (threads - 1) if threads > 1 else ""


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
    wanted = {**given, **since}
    for name in set(os.environ) - set(wanted):
        del os.environ[name]
    for name, value in wanted.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def _die_with_parent(by):
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(by), 0, 0, 0)


def _become(request, descriptors, told):
    """What an exec and its preparations would do (profiler/program/launch.cpp)."""
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        os.setpgid(0, 0)
        output, streams, namespaces = descriptors[0], descriptors[1:4], descriptors[4:]
        for namespace in namespaces:
            if libc.setns(namespace, 0) != 0:
                raise OSError(ctypes.get_errno(), "the isolated file system cannot be entered: " + os.strerror(ctypes.get_errno()))
        os.chdir(request["folder"])
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
    options = len(sys.orig_argv) - len(sys.argv)
    sys.argv[1:] = request["command"][options + 1:]
    sys.orig_argv[options + 1:] = request["command"][options + 1:]
    _take_environment(request["environment"])
    from vramscope import toggles, watch

    if watch.current is not None:  # torch is there
        watch.current.again()
        toggles.install(watch.current)

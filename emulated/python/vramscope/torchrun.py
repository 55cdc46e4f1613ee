"""Ranks of torchrun that start with their packages imported. torchrun, and launchers built on it
(`accelerate launch`), start each rank as a new interpreter, which would import everything again.

While a first plan runs, each rank stores its command and environment in the file that lists its
modules (`describe`). The server of later plans (warm.py) starts a second server with that command
(`start`). The forks of the first server become torchrun, and send the commands of ranks to the
second server (`use`). If the second server refuses, a rank is started as usual, and the reason is
printed."""

import array
import ctypes
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time

PR_SET_PDEATHSIG = 1
NAMESPACES = ("user", "mnt", "net", "ipc", "uts")  # in the order in which a process enters them
WAIT_S, ANSWER_S = 120, 20
MOST = 1 << 18  # size limit of a message


def describe(began_with, of_a_plan):
    """Returns how torchrun started this process, for the modules' file; None if it did not.
    `of_a_plan` says which variables may differ between plans."""
    # a rank from a server has this variable, too, but did not begin with it
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        return None
    return {
        "command": sys.orig_argv,
        "environment": {name: value for name, value in began_with.items() if not of_a_plan(name)},
    }


def start(rank, path, modules, output):
    """Starts a server for ranks that listens at `path`. Returns its process, or None if the program
    is not started by torchrun. `output`: the descriptor through which its forks find their output
    folder."""
    # this process is a rank's server itself
    if not isinstance(rank, dict) or rank["command"] == sys.orig_argv:
        return None
    own = {name: value for name, value in os.environ.items() if name.startswith("VRAMSCOPE_")}
    environment = {
        **rank["environment"],
        **own,
        "VRAMSCOPE_PROGRAM_SERVE": path,
        "VRAMSCOPE_PROGRAM_MODULES": modules,
    }
    libc = ctypes.CDLL(None)
    return subprocess.Popen(
        rank["command"],
        env=environment,
        pass_fds=(output,),
        stdin=subprocess.DEVNULL,
        preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0),
    )


def use(server, path, output):
    """Waits until the server of ranks listens. Then makes torchrun send the commands of ranks to
    it, in this process and in its forks."""
    until = time.monotonic() + WAIT_S
    while not os.path.exists(path):
        if server.poll() is not None or time.monotonic() > until:
            return
        time.sleep(0.01)
    try:
        from torch.distributed import run  # noqa: F401 (torchrun's own modules)
        from torch.distributed.elastic.multiprocessing.subprocess_handler import subprocess_handler
    except ImportError:  # PyTorch versions that start ranks in another way
        return
    # A plan's mount namespace has its own view of the file system, where this socket cannot be
    # reached by its name.
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
    reached = "/proc/self/fd/%d/%s" % (folder, os.path.basename(path))
    servers = {name: os.readlink("/proc/%d/ns/%s" % (server.pid, name)) for name in NAMESPACES}
    popen = subprocess_handler.SubprocessHandler._popen

    def _popen(self, args, env):
        streams = [
            0,
            *(
                stream.fileno() if stream else number
                for stream, number in ((self._stdout, 1), (self._stderr, 2))
            ),
        ]
        try:
            return Rank(reached, list(args), dict(env), output, streams, _entered(servers))
        except OSError as error:
            print("vramscope: a rank imports all modules again: %s" % error, file=sys.stderr)
            return popen(self, args, env)

    subprocess_handler.SubprocessHandler._popen = _popen


def _entered(servers):
    """Returns the paths of those namespaces of this process that are not the server's."""
    own = [(name, "/proc/self/ns/" + name) for name in NAMESPACES]
    return [path for name, path in own if os.readlink(path) != servers[name]]


class Rank:
    """A rank that the server has started. Has the attributes and methods of subprocess.Popen that
    torchrun uses. The rank is a child of the server. The server reports how the rank ends, and
    kills it when the connection is closed."""

    def __init__(self, path, args, environment, output, streams, namespaces):
        self.args, self.returncode = args, None
        self._connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        descriptors = [
            os.open(place, os.O_RDONLY) for place in ("/proc/self/fd/%d" % output, *namespaces)
        ]
        try:
            self._connection.settimeout(ANSWER_S)
            self._connection.connect(path)
            message = json.dumps(
                {"command": args, "folder": os.getcwd(), "environment": environment}
            ).encode()
            descriptors[1:1] = [os.dup(stream) for stream in streams]
            self._connection.sendmsg(
                [message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
            )
            answer = json.loads(self._connection.recv(MOST) or b"{}")
            if "process" not in answer:
                raise OSError(
                    answer.get(
                        "refused", "the process that keeps the imported modules does not answer"
                    )
                )
            self.pid = answer["process"]
        except BaseException:
            self._connection.close()
            raise
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def poll(self):
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout=None):
        if self.returncode is None:
            if not select.select([self._connection], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout)
            message = self._connection.recv(MOST)
            status = json.loads(message)["status"] if message else int(signal.SIGKILL)
            self.returncode = os.waitstatus_to_exitcode(status)
            self._connection.close()
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self):
        self.send_signal(signal.SIGTERM)

    def kill(self):
        self.send_signal(signal.SIGKILL)

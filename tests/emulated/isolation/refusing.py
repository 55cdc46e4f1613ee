"""Runs a command under a seccomp filter that refuses one system call, as container runtimes and
distributions do:

    refusing.py unshare|mount COMMAND...

unshare: EPERM, as in containers without namespaces. mount: EACCES, as in Ubuntu 24.04, where an
unprivileged process gets a user namespace, but AppArmor denies it all capabilities there."""

import ctypes
import errno
import os
import struct
import sys

# seccomp(2), linux/filter.h, linux/audit.h; numbers of x86-64's system calls
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
CALLS = {"unshare": (272, errno.EPERM), "mount": (165, errno.EACCES)}


def refuse(name):
    number, error = CALLS[name]
    program = b"".join(
        struct.pack("=HBBI", *instruction)
        for instruction in (
            (LOAD, 0, 0, 0),  # the number of the system call
            (EQUAL, 0, 1, number),
            (RETURN, 0, 0, ERRNO | error),
            (RETURN, 0, 0, ALLOW),
        )
    )
    buffer = ctypes.create_string_buffer(program)

    class Filter(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]

    described = Filter(len(program) // 8, ctypes.addressof(buffer))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    for arguments in (
        (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(described), 0, 0),
    ):
        if prctl(*arguments) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    refuse(sys.argv[1])
    os.execvp(sys.argv[2], sys.argv[2:])

"""Distinguishes imported files of the program itself from installed ones."""

import os
import sys
import sysconfig

_HERE = os.path.dirname(os.path.abspath(__file__))
_STANDARD = {sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib")}
_INSTALLED = tuple(os.sep + name + os.sep for name in ("site-packages", "dist-packages"))
MOST = 2000
_known = {}  # folder of sys.path: whether packages are installed there


def is_package(path):
    """Returns whether a module's file belongs to an installed package (including torch)."""
    return (
        isinstance(path, str)
        and not path.startswith(_HERE)
        and any(path.startswith(folder + os.sep) for folder in sys.path if _holds_packages(folder))
    )


def _holds_packages(folder):
    known = _known.get(folder)
    if known is None:
        try:
            known = bool(folder) and (
                folder in _STANDARD
                or any(name.endswith((".dist-info", ".egg-info")) for name in os.listdir(folder))
            )
        except OSError:
            known = False
        _known[folder] = known
    return known


def _folder():
    """Returns the folder of the program itself."""
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    return os.path.dirname(os.path.abspath(main)) if main else os.getcwd()


def is_own(path):
    """Returns whether the file belongs to the program: it is not installed, or it is in the
    program's own folder (as with `pip install -e`)."""
    if not isinstance(path, str) or path.startswith((_HERE, "<")):
        return False
    path = os.path.abspath(path)
    if not is_package(path):
        return not any(path.startswith(folder + os.sep) for folder in _STANDARD)
    return path.startswith(_folder() + os.sep) and not any(part in path for part in _INSTALLED)


def sources():
    """Returns the imported files that belong to the program, beginning with the script."""
    found = {}
    for name in ("__main__", *sys.modules):
        path = getattr(sys.modules.get(name), "__dict__", {}).get("__file__")
        if is_own(path) and not path.endswith(os.sep + "sitecustomize.py"):
            found.setdefault(os.path.abspath(path))
    return list(found)[:MOST]

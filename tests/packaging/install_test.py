"""Tests the wheel, the archive, the AppImage and the Debian package in minimal systems: the base of
Debian or Ubuntu with python3-venv, an ordinary user, no compiler, no desktop, no FUSE. Run it by
hand as root:

    python3 install_test.py DIST [--suites bookworm,trixie,jammy] [--roots FOLDER] \
        [--torch FOLDER] [--tools FOLDER] [--network setup|torch]

--roots FOLDER          stores the systems for later runs
--torch FOLDER          contains a torch for bookworm's Python, for PYTHONPATH
--tools FOLDER          contains the wheels of uv and pipx, which install the wheel, too
                        (`pip download -d FOLDER --python-version 3.10 --only-binary :all:
                        uv pipx tomli`)
--network setup|torch   setup: `vramscope setup` downloads LibTorch (0.5 GB), plans a preset;
                        torch: also runs `pip install torch` (3 GB)
On a system that is too old (bullseye), it tests the error message. Prints PASS and FAIL lines with
seconds and megabytes. The exit status is 1 on a FAIL, 77 if the test cannot run here.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
# otherwise debootstrap's default
MIRROR = [os.environ["DEBOOTSTRAP_MIRROR"]] if "DEBOOTSTRAP_MIRROR" in os.environ else []
UBUNTU = ("jammy", "noble")
TOO_OLD = ("bullseye", "focal")
PACKAGES = "python3-venv,ca-certificates"
USER = 1000

PROGRAM = """
import torch
layers = torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 256)
model = torch.nn.Sequential(*layers).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    model(torch.randn(32, 256, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


class Root:
    """One minimal system, in which commands run as an ordinary user."""

    def __init__(self, folder, suite):
        self.path, self.suite = pathlib.Path(folder), suite
        self.mounts = []

    def make(self):
        if not (self.path / "usr/bin/python3").exists():
            ubuntu = ["--components=main,universe"] if self.suite in UBUNTU else []
            # debootstrap's script for all Ubuntu releases
            mirror = (
                (MIRROR or ["http://archive.ubuntu.com/ubuntu"]) + ["gutsy"] if ubuntu else MIRROR
            )
            done = subprocess.run(
                [
                    "debootstrap",
                    "--variant=minbase",
                    "--include=" + PACKAGES,
                    *ubuntu,
                    self.suite,
                    str(self.path),
                    *mirror,
                ],
                capture_output=True,
                text=True,
            )
            if done.returncode != 0:
                skip(
                    "debootstrap of %s: %s" % (self.suite, done.stdout[-300:] + done.stderr[-300:])
                )
        home = self.path / "home/u"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        os.chown(home, USER, USER)
        for name in ("proc", "dev", "tmp"):
            (self.path / name).mkdir(exist_ok=True)
        os.chmod(self.path / "tmp", 0o1777)
        # Adds a user. This is the only change to the system.
        passwd = self.path / "etc/passwd"
        if "\nu:" not in passwd.read_text():
            with open(passwd, "a") as file:
                file.write("u:x:%d:%d::/home/u:/bin/bash\n" % (USER, USER))

    def mount(self, source, target, *options):
        target = self.path / target
        target.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", *options, str(source), str(target)], check=True)
        self.mounts.append(target)

    def unmount(self):
        for target in reversed(self.mounts):
            subprocess.run(["umount", str(target)])
        self.mounts = []

    def run(self, command, root=False, **environment):
        """Runs the command in the system. Returns (status, output, seconds)."""
        start = time.monotonic()
        user = [] if root else ["--userspec=%d:%d" % (USER, USER)]
        done = subprocess.run(
            [
                "chroot",
                *user,
                str(self.path),
                "/usr/bin/env",
                "-i",
                "HOME=/home/u",
                "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
                "LANG=C.UTF-8",
                *("%s=%s" % pair for pair in environment.items()),
                "bash",
                "-c",
                "cd /home/u && " + command,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        return done.returncode, done.stdout, time.monotonic() - start

    def files(self, folder):
        return {
            str(path.relative_to(self.path / folder)) for path in (self.path / folder).rglob("*")
        }


class Report:
    def __init__(self):
        self.failed = 0

    def check(self, suite, what, good, detail=""):
        self.failed += not good
        print("%s  %-9s %-52s %s" % ("PASS" if good else "FAIL", suite, what, detail), flush=True)
        return good


def other_version(wheel, folder):
    """Copies the wheel with another version, to install two versions side by side."""
    old = re.match(r"vramscope-([^-]+)-", wheel.name)[1]
    new = old + ".post1"
    target = pathlib.Path(folder, wheel.name.replace(old, new))
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as out:
        for entry in source.infolist():
            data = source.read(entry)
            name = entry.filename.replace("vramscope-" + old, "vramscope-" + new)
            if name.endswith("RECORD"):
                data = re.sub(
                    rb",sha256=[^,]*,\d*",
                    b",,",
                    data.replace(b"vramscope-" + old.encode(), b"vramscope-" + new.encode()),
                )
            elif name.endswith("METADATA") or name.endswith("scripts/vramscope"):
                data = data.replace(old.encode(), new.encode())
            copy = zipfile.ZipInfo(name, entry.date_time)
            copy.external_attr, copy.create_system = entry.external_attr, 3
            out.writestr(copy, data)
    return target, old, new


def with_wheel(root, report, torch):
    suite, wheel = root.suite, next((root.path / "dist").glob("*.whl")).name
    status, _, seconds = root.run("python3 -m venv v && python3 -m venv w")
    report.check(suite, "two virtual environments", status == 0, "%.1f s" % seconds)
    before = root.files("home/u/v")
    status, out, seconds = root.run("v/bin/pip install --no-index /dist/%s" % wheel)
    report.check(
        suite,
        "pip install of the wheel",
        status == 0,
        "%.1f s %s" % (seconds, out[-200:] if status else ""),
    )
    size = sum(
        path.stat().st_size
        for path in (root.path / "home/u/v").rglob("*")
        if path.is_file()
        and not path.is_symlink()
        and str(path.relative_to(root.path / "home/u/v")) not in before
    )
    report.check(suite, "what it takes on disk", size > 0, "%.0f MB" % (size / 1e6))
    status, out, _ = root.run("v/bin/vramscope --version")
    times = sorted(root.run("v/bin/vramscope --version")[2] for _ in range(9))
    report.check(
        suite,
        "vramscope --version",
        status == 0 and out.startswith("vramscope "),
        "%.0f ms of 9, chroot and bash in it%s"
        % (times[4] * 1e3, "" if status == 0 else ": " + out[-300:]),
    )
    status, out, seconds = root.run("v/bin/vramscope info /data/snapshot.pickle.zst")
    report.check(
        suite,
        "info of a snapshot",
        status == 0,
        "%.2f s %s" % (seconds, out[-300:] if status else ""),
    )
    status, out, seconds = root.run(
        "v/bin/vramscope /data/sample.trace --screenshot p.png && stat -c %s p.png"
    )
    report.check(
        suite,
        "a picture of the window, without a desktop",
        status == 0,
        "%.2f s, %s" % (seconds, out.strip()[-300:]),
    )
    if torch:
        status, out, seconds = root.run(
            "v/bin/vramscope plan --json -o run.trace -- v/bin/python /data/train.py",
            PYTHONPATH="/torch:/torch-packages",
        )
        report.check(
            suite,
            "plan of a PyTorch program",
            status == 0 and '"peak"' in out,
            "%.1f s %s" % (seconds, out[-400:] if status else ""),
        )
        if status == 0:
            status, out, seconds = root.run("v/bin/vramscope run.trace --screenshot q.png")
            report.check(
                suite, "a picture of that", status == 0, "%.2f s %s" % (seconds, out[-300:])
            )
            status, out, seconds = root.run(
                "PATH=/home/u/v/bin:$PATH v/bin/python -m vramscope --json /data/train.py",
                PYTHONPATH="/torch:/torch-packages",
            )
            report.check(
                suite,
                "python -m vramscope",
                status == 0,
                "%.1f s %s" % (seconds, out[-300:] if status else ""),
            )
    status, out, _ = root.run(
        "mkdir -p m && echo no >m/libQt6Core.so.6 && LD_LIBRARY_PATH=/home/u/m v/bin/vramscope "
        "--version"
    )
    report.check(suite, "another Qt on LD_LIBRARY_PATH", status == 0, out[-300:] if status else "")
    root.run("chmod -R a-w v/lib")
    status, out, _ = root.run(
        "v/bin/vramscope --version && v/bin/vramscope info /data/sample.trace"
    )
    report.check(
        suite, "site-packages that can't be written", status == 0, out[-300:] if status else ""
    )
    root.run("chmod -R u+w v/lib")
    with tempfile.TemporaryDirectory() as folder:
        other, old, new = other_version(root.path / "dist" / wheel, folder)
        shutil.copy(other, root.path / "data" / other.name)
        status, out, _ = root.run(
            "w/bin/pip install --no-index /data/%s && v/bin/pip list | grep vramscope && "
            "w/bin/pip list | grep vramscope "
            "&& v/bin/vramscope --version && w/bin/vramscope --version" % other.name
        )
        report.check(
            suite,
            "two versions side by side",
            status == 0 and old + "\n" in out and new + "\n" in out,
            out[-300:] if status else "%s, %s" % (old, new),
        )
    status, out, _ = root.run(
        "mkdir -p bin && ln -sf ../v/bin/vramscope bin/vramscope && bin/vramscope --version && "
        "PATH=/home/u/bin:$PATH vramscope --version"
    )
    report.check(
        suite, "by a link, as pipx and uv make them", status == 0, out[-300:] if status else ""
    )
    status, out, _ = root.run("v/bin/pip uninstall -y vramscope")
    left = {
        name
        for name in root.files("home/u/v") - before
        if "/__pycache__" not in name or "vramscope" in name
    }
    report.check(
        suite, "pip uninstall leaves nothing", status == 0 and not left, " ".join(sorted(left)[:5])
    )
    status, out, seconds = root.run(
        "python3 -m venv --system-site-packages s && s/bin/pip --version >/dev/null; "
        "s/bin/python -m pip install --no-index --target t /dist/%s "
        "&& t/bin/vramscope --version" % wheel
    )
    report.check(suite, "pip install --target", status == 0, out[-200:] if status else "")


def with_user_and_conda(root, report):
    """Tests `pip install --user`. Also tests a prefix that looks like an activated conda
    environment, because conda itself is not on PyPI. The prefix has its own Python, and its lib
    folder, which LD_LIBRARY_PATH names, contains libstdc++ and Qt."""
    suite, wheel = root.suite, next((root.path / "dist").glob("*.whl")).name
    status, out, _ = root.run(
        "s/bin/python -m pip install --no-index --user /dist/%s && .local/bin/vramscope "
        "--version && "
        # this pip does not uninstall outside its environment
        "rm -r .local/bin/vramscope .local/lib" % wheel
    )
    report.check(suite, "pip install --user", status == 0, out[-300:] if status else "")
    status, out, _ = root.run(
        "python3 -m venv --copies c && mkdir -p c/conda-meta && touch c/conda-meta/history && "
        "cp /usr/lib/x86_64-linux-gnu/libstdc++.so.6 c/lib && echo no >c/lib/libQt6Core.so.6 && "
        "c/bin/pip install --no-index /dist/%s && CONDA_PREFIX=$PWD/c LD_LIBRARY_PATH=$PWD/c/lib "
        "PATH=$PWD/c/bin:$PATH "
        "bash -c 'vramscope --version && vramscope /data/sample.trace --screenshot c.png'" % wheel
    )
    report.check(
        suite, "a prefix that looks like conda's", status == 0, out[-300:] if status else ""
    )


def with_tools(root, report):
    """Tests the real uvx and pipx, without a network."""
    suite, wheel = root.suite, next((root.path / "dist").glob("*.whl")).name
    status, out, _ = root.run(
        "python3 -m venv tools && tools/bin/pip install --no-index --find-links /tools uv pipx"
    )
    if not report.check(suite, "uv and pipx", status == 0, out[-300:] if status else ""):
        return
    status, out, seconds = root.run(
        "tools/bin/uvx --offline --from /dist/%s vramscope --version" % wheel
    )
    report.check(
        suite,
        "uvx",
        status == 0 and "vramscope " in out,
        "%.1f s %s" % (seconds, out[-300:] if status else ""),
    )
    status, out, seconds = root.run(
        "tools/bin/uvx --offline --from /dist/%s vramscope info /data/snapshot.pickle.zst" % wheel
    )
    report.check(
        suite,
        "uvx, from its cache",
        status == 0,
        "%.1f s %s" % (seconds, out[-300:] if status else ""),
    )
    status, out, seconds = root.run(
        "tools/bin/uv tool install --offline /dist/%s && .local/bin/vramscope --version && "
        "tools/bin/uv tool uninstall vramscope "
        "&& ! ls .local/bin/vramscope" % wheel
    )
    report.check(
        suite, "uv tool install", status == 0, "%.1f s %s" % (seconds, out[-300:] if status else "")
    )
    status, out, seconds = root.run(
        "tools/bin/pipx install --pip-args=--no-index /dist/%s && .local/bin/vramscope --version "
        "&& tools/bin/pipx uninstall vramscope "
        "&& ! ls .local/bin/vramscope" % wheel,
        PIP_NO_INDEX="1",
        PIP_FIND_LINKS="/tools",
    )
    report.check(
        suite, "pipx install", status == 0, "%.1f s %s" % (seconds, out[-300:] if status else "")
    )


CERTIFICATES = "/data/certificates.crt"


def with_network(root, report, how):
    """Follows the steps of a new user: installs LibTorch with `vramscope setup` and PyTorch with
    pip."""
    suite, wheel = root.suite, next((root.path / "dist").glob("*.whl")).name
    root.run("v/bin/pip install --no-index /dist/%s" % wheel)
    status, out, seconds = root.run("v/bin/vramscope setup --yes", SSL_CERT_FILE=CERTIFICATES)
    report.check(
        suite, "vramscope setup", status == 0, "%.0f s %s" % (seconds, out[-300:] if status else "")
    )
    status, out, seconds = root.run("v/bin/vramscope plan --preset gpt2 --json")
    report.check(
        suite,
        "plan --preset gpt2",
        status == 0 and '"peak"' in out,
        "%.1f s %s" % (seconds, out[-300:] if status else ""),
    )
    status, out, _ = root.run("v/bin/vramscope setup --remove && ! ls .local/share/vramscope")
    report.check(suite, "setup --remove leaves nothing", status == 0, out[-300:] if status else "")
    if how != "torch":
        return
    status, out, seconds = root.run(
        "v/bin/pip install -q --no-cache-dir torch==2.11.0", PIP_CERT=CERTIFICATES
    )
    if report.check(
        suite,
        "pip install torch",
        status == 0,
        "%.0f s %s" % (seconds, out[-300:] if status else ""),
    ):
        status, out, seconds = root.run(
            "v/bin/vramscope plan --json -- v/bin/python /data/train.py"
        )
        report.check(
            suite,
            "plan of a program with that torch",
            status == 0 and '"peak"' in out,
            "%.1f s %s" % (seconds, out[-400:] if status else ""),
        )
        status, out, seconds = root.run("v/bin/vramscope plan --preset gpt2 --json")
        report.check(
            suite,
            "plan --preset gpt2 with that torch",
            status == 0 and '"peak"' in out,
            "%.1f s %s" % (seconds, out[-300:] if status else ""),
        )


def too_old(root, report):
    """Tests that a system that is too old prints a readable message instead of the loader's
    error."""
    archive = next((root.path / "dist").glob("*.tar"), None)
    starts = [
        archive
        and "tar xf /dist/%s && %s/bin/vramscope --version"
        % (archive.name, archive.name.removesuffix(".tar"))
    ]
    starts += [
        "/dist/%s --version" % image.name for image in (root.path / "dist").glob("*.AppImage")
    ]
    starts.append(
        "python3 -m venv v && v/bin/python -m zipfile -e /dist/*.whl x && chmod +x "
        "x/vramscope/_bundle/bin/vramscope && "
        "x/vramscope/_bundle/bin/vramscope --version"
    )
    for command in filter(None, starts):
        status, out, _ = root.run(command)
        report.check(
            root.suite,
            "what is missing is said: " + command.split("/")[-1][:26],
            status == 4 and "or newer is required" in out and out.count("\n") == 1,
            out.strip()[-200:],
        )


def with_appimage(root, report):
    image = next((root.path / "dist").glob("*.AppImage"), None)
    if image is None:
        return
    status, out, first = root.run("/dist/%s --version" % image.name)
    report.check(
        root.suite,
        "the AppImage, first start (unpacks itself)",
        status == 0,
        "%.1f s %s" % (first, out[-300:] if status else ""),
    )
    status, out, second = root.run("/dist/%s --version" % image.name)
    report.check(
        root.suite,
        "the AppImage, second start",
        status == 0,
        "%.2f s %s" % (second, out[-300:] if status else ""),
    )
    status, out, seconds = root.run("/dist/%s /data/sample.trace --screenshot i.png" % image.name)
    report.check(
        root.suite,
        "the AppImage, a picture",
        status == 0,
        "%.2f s %s" % (seconds, out[-300:] if status else ""),
    )
    status, out, _ = root.run("env -u HOME /dist/%s --version" % image.name)
    report.check(
        root.suite,
        "the AppImage without a home says so",
        status == 4 and "XDG_CACHE_HOME" in out,
        out.strip()[-200:],
    )


def list_of_files(wheel, report):
    """Checks that the SPDX document lists every file of the wheel, and that everything it refers to
    exists."""
    with zipfile.ZipFile(wheel) as archive:
        tree = "vramscope/_bundle/"
        own = tree + "share/doc/vramscope/vramscope.spdx.json"
        document = json.loads(archive.read(own))
        listed = {
            file["fileName"][2:]: file["checksums"][0]["checksumValue"]
            for file in document["files"]
        }
        there = {
            name[len(tree) :]: hashlib.sha256(archive.read(name)).hexdigest()
            for name in archive.namelist()
            if name.startswith(tree) and name != own
        }
        # links in the tree, which are files in a wheel
        links = {"lib/vramscope/emulated/libcuda.so", "lib/vramscope/emulated/libnvidia-ml.so"}
        wrong = [
            name
            for name in set(listed) | set(there)
            if name not in links and listed.get(name) != there.get(name)
        ]
        known = {"SPDXRef-DOCUMENT"} | {
            item["SPDXID"] for item in document["packages"] + document["files"]
        }
        dangling = [
            relation
            for relation in document["relationships"]
            if not {relation["spdxElementId"], relation["relatedSpdxElement"]} <= known
        ]
        licences = [
            package["licenseComments"]
            for package in document["packages"]
            if "licenseComments" in package
            and tree + package["licenseComments"] not in archive.namelist()
        ]
    report.check(
        "-",
        "the list of files (SPDX)",
        not wrong and not dangling and not licences and len(there) > 100,
        "%d files of %d packages %s"
        % (len(there), len(document["packages"]), " ".join(wrong[:3] + licences[:3])),
    )


def with_archive(root, report):
    archive = next((root.path / "dist").glob("*.tar"), None)
    if archive is None:
        return
    top = archive.name.removesuffix(".tar")
    status, out, seconds = root.run(
        "tar xf /dist/%s && mv %s 'any where' && 'any where/bin/vramscope' --version && 'any "
        "where/bin/vramscope' "
        "/data/sample.trace --screenshot a.png" % (archive.name, top)
    )
    report.check(
        root.suite,
        "the archive, moved",
        status == 0,
        "%.1f s %s" % (seconds, out[-300:] if status else ""),
    )


def with_package(root, report):
    package = next((root.path / "dist").glob("*.deb"), None)
    if package is None:
        return
    status, out, seconds = root.run("dpkg -i /dist/%s" % package.name, root=True)
    if status != 0 and "libstdc++6" in out:
        report.check(root.suite, "dpkg -i", False, out[-300:])
        return
    report.check(
        root.suite, "dpkg -i", status == 0, "%.1f s %s" % (seconds, out[-300:] if status else "")
    )
    status, out, _ = root.run(
        "vramscope --version && vramscope /data/sample.trace --screenshot d.png"
    )
    report.check(root.suite, "the Debian package", status == 0, out[-300:] if status else "")
    status, out, _ = root.run("dpkg -P vramscope && ! ls /opt/vramscope", root=True)
    report.check(root.suite, "dpkg -P leaves nothing", status == 0, out[-300:] if status else "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dist", type=pathlib.Path)
    parser.add_argument("--suites", default="bookworm,trixie")
    parser.add_argument("--roots", type=pathlib.Path)
    parser.add_argument("--torch", type=pathlib.Path)
    parser.add_argument("--torch-packages", type=pathlib.Path)
    parser.add_argument("--tools", type=pathlib.Path)
    parser.add_argument("--network", choices=["setup", "torch"])
    options = parser.parse_args()
    if os.geteuid() != 0:
        skip("chroot and debootstrap need root")
    if not shutil.which("debootstrap"):
        skip("debootstrap is missing")
    report = Report()
    scratch = tempfile.TemporaryDirectory()
    list_of_files(next(options.dist.glob("*.whl")), report)
    for suite in options.suites.split(","):
        root = Root((options.roots or pathlib.Path(scratch.name)) / suite, suite)
        root.make()
        for name in ("dist", "data"):
            shutil.rmtree(root.path / name, ignore_errors=True)
            (root.path / name).mkdir()
        for path in options.dist.iterdir():
            if path.suffix in (".whl", ".deb", ".AppImage"):
                shutil.copy(path, root.path / "dist")
            elif path.name.endswith(".tar.zst"):  # minimal systems have no zstd
                subprocess.run(
                    [
                        "zstd",
                        "-qdf",
                        str(path),
                        "-o",
                        str(root.path / "dist" / path.name.removesuffix(".zst")),
                    ],
                    check=True,
                )
        shutil.copy(
            SOURCE / "tests/golden/recordings/cs336_five_forwards.pickle.zst",
            root.path / "data/snapshot.pickle.zst",
        )
        shutil.copy(
            SOURCE / "tests/golden/inference/gpt2-adamw.trace", root.path / "data/sample.trace"
        )
        (root.path / "data/train.py").write_text(PROGRAM)
        torch = options.torch if options.torch and suite == "bookworm" else None
        try:
            root.mount("proc", "proc", "-t", "proc")
            root.mount("tmpfs", "dev", "-t", "tmpfs")
            for name in ("null", "zero", "full", "random", "urandom"):
                (root.path / "dev" / name).touch()
                subprocess.run(
                    ["mount", "--bind", "/dev/" + name, str(root.path / "dev" / name)], check=True
                )
                root.mounts.append(root.path / "dev" / name)
            root.mount("tmpfs", "dev/shm", "-t", "tmpfs")
            os.symlink("/proc/self/fd", root.path / "dev/fd")
            if torch:
                root.mount(torch, "torch", "--bind")
                root.mount(options.torch_packages, "torch-packages", "--bind")
            if suite in TOO_OLD:
                too_old(root, report)
                continue
            with_wheel(root, report, torch)
            with_user_and_conda(root, report)
            if options.tools:
                root.mount(options.tools.resolve(), "tools", "--bind")
                with_tools(root, report)
            with_archive(root, report)
            with_appimage(root, report)
            with_package(root, report)
            if options.network:
                shutil.copy("/etc/resolv.conf", root.path / "etc/resolv.conf")
                shutil.copy("/etc/ssl/certs/ca-certificates.crt", str(root.path) + CERTIFICATES)
                with_network(root, report, options.network)
        finally:
            root.unmount()
    scratch.cleanup()
    sys.exit(1 if report.failed else 0)


if __name__ == "__main__":
    main()

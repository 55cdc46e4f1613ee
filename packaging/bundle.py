"""Makes a tree that runs on other computers: the files that `cmake --install` installs, Qt, and the
libraries that both need.

    python3 bundle.py BUILD TREE        makes TREE (an empty or missing folder) from a build folder

    bin/vramscope              app/starter: finds which libraries the computer lacks, executes
                               lib/vramscope/vramscope
    lib/vramscope/             the programs, Qt, its plugins, libraries that are always used
    lib/vramscope/fallback/    NAME/NAME: libraries that are used only if the computer has none
    share/                     fonts, licences, vramscope.spdx.json, ...

Libraries keep their own files and names, so that users can replace Qt (LGPL) by another build.
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from elf import Elf, is_elf

MOST_GLIBC = (2, 35)
MOST_GLIBCXX = (3, 4, 30)

PLUGINS = """
platforms/libqxcb.so platforms/libqwayland-egl.so platforms/libqwayland-generic.so
platforms/libqoffscreen.so platforms/libqminimal.so xcbglintegrations/libqxcb-glx-integration.so
xcbglintegrations/libqxcb-egl-integration.so wayland-shell-integration/libxdg-shell.so
wayland-decoration-client/libbradient.so
wayland-graphics-integration-client/libqt-plugin-wayland-egl.so
platforminputcontexts/libcomposeplatforminputcontextplugin.so
platforminputcontexts/libibusplatforminputcontextplugin.so iconengines/libqsvgicon.so
imageformats/libqsvg.so imageformats/libqico.so tls/libqopensslbackend.so
""".split()

# libqopensslbackend.so loads these libraries by name at run time.
OPENED = ["libssl.so.3", "libcrypto.so.3"]

# Libraries that are never bundled: those of the C library and the compiler, which every Linux
# system has, and those of the user's PyTorch.
NEVER = re.compile(
    r"(ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libresolv|libstdc\+\+|libtorch.*|libc10.*)\.so(\..*)?$"
)

# Libraries that are bundled, but used only if the computer has no copy of its own. These are the
# libraries that manylinux expects on the system (PEP 600: libX11, libGL, libglib-2.0, libICE,
# libSM, libz, libexpat, ...), the libraries that AppImage's excludelist leaves to the system
# (github.com/AppImage/pkg2appimage/blob/master/excludelist), and their dependencies. The graphics
# driver in the same process was built with the system's copies, and fonts are configured for the
# system's fontconfig.
# The wheels of Qt for Python do not bundle these libraries, so their users must first install
# libEGL, libGL, libxkbcommon, ...
FALLBACK = re.compile(
    r"(libEGL|libGLX|libGLdispatch|libOpenGL|libGL|libX11|libX11-xcb|libXau|libXdmcp|libICE|libSM|libuuid|libbsd|libmd"
    r"|libxcb|libxcb-(glx|randr|render|shape|shm|sync|xfixes|xkb)|libwayland-(client|cursor|egl)|libffi"
    r"|libfontconfig|libfreetype|libexpat|libpng16|libbrotli(dec|common)|libz|libglib-2\.0|libpcre2-8"
    r"|libdbus-1|libsystemd|libcap|libgcrypt|libgpg-error|liblz4|liblzma|libgcc_s|libgomp|libssl|libcrypto)\.so\.[0-9]+$"
)

FONTS = [
    "/usr/share/fonts/opentype/inter/Inter-%s.otf" % style
    for style in ("Regular", "Medium", "SemiBold", "Bold")
] + [
    "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf",
    "/usr/share/fonts/truetype/dejavu/DejaVuSansMono-Bold.ttf",
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
]

# On a computer without a desktop, fontconfig has no other configuration, and uses these fonts.
FONTS_CONF = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <dir>/usr/share/fonts</dir>
  <dir prefix="xdg">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"""

# Packages that are linked statically or embedded. APPIMAGE_LINKED are linked into app/appimage, and
# LINKED into all other files. The compiler's libraries are also linked into app/appimage.
APPIMAGE_LINKED = ["libsquashfuse-dev", "libzstd-dev", "libc6-dev"]
LINKED = [
    "libimgui-dev",
    "libcli11-dev",
    "nlohmann-json3-dev",
    "libstdc++-12-dev",
    "libgcc-12-dev",
    "libzstd-dev",
]


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def library_folders():
    folders = [
        "/usr/lib/x86_64-linux-gnu",
        "/lib/x86_64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
        "/usr/local/lib",
    ]
    return [pathlib.Path(folder) for folder in folders if os.path.isdir(folder)]


# Functions that libvramscope-newer.so (app/starter) provides for older C libraries.
NEWER = {"arc4random_buf": "GLIBC_2.36"}


def use_newer(target, up):
    """Links a library that needs a function in NEWER to libvramscope-newer.so, whose function is
    used if the C library has none."""
    asked = run("objdump", "-T", str(target))
    names = [
        name
        for name, version in NEWER.items()
        if re.search(r"%s\)?\s+%s$" % (re.escape(version), name), asked, re.M)
    ]
    if not names:
        return
    for name in names:
        run("patchelf", "--clear-symbol-version", name, str(target))
    run("patchelf", "--add-needed", "libvramscope-newer.so", str(target))
    search_first(target, "$ORIGIN" + up)
    elf = Elf(target)
    for name in names:
        elf.drop_version(target, "libc.so.6", NEWER[name])


def search_first(target, *folders):
    """Sets DT_RPATH. Unlike DT_RUNPATH, it is searched before LD_LIBRARY_PATH, on which the
    environment modules of clusters put other versions of these libraries."""
    run("patchelf", "--force-rpath", "--set-rpath", ":".join(folders), str(target))


def find_library(name):
    for folder in library_folders():
        if (folder / name).exists():
            return folder / name
    raise SystemExit("bundle: the library %s is needed and was not found" % name)


def qt_plugins():
    for tool in ("qtpaths6", "qmake6"):
        path = shutil.which(tool)
        if path:
            return pathlib.Path(run(path, "-query", "QT_INSTALL_PLUGINS").strip())
    return find_library("libQt6Core.so.6").parent / "qt6/plugins"


class Packages:
    """Finds the Debian package to which a file belongs."""

    def __init__(self):
        self.sources = {}  # file in the tree -> (package, file on this computer)

    def of(self, path):
        # /lib is a link to /usr/lib, so dpkg may know a file by either of two paths.
        path = str(path)
        for name in (
            path,
            os.path.realpath(path),
            path.removeprefix("/usr"),
            os.path.realpath(path).removeprefix("/usr"),
        ):
            found = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
            if found.returncode == 0:
                return found.stdout.split(":")[0].split(",")[0]
        raise SystemExit(
            "bundle: no installed package contains %s, so its licence is unknown" % path
        )


def version_of(package):
    return (
        run(
            "dpkg-query",
            "-W",
            "-f=${Version}\t${source:Package}\t${source:Version}\t${Homepage}\n",
            package,
        )
        .splitlines()[0]
        .split("\t")
    )


def install(build, tree):
    if tree.exists() and any(tree.iterdir()):
        raise SystemExit("bundle: %s is not empty" % tree)
    subprocess.run(
        ["cmake", "--install", str(build), "--prefix", str(tree), "--strip"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    own = tree / "lib/vramscope"
    (tree / "bin/vramscope").rename(own / "vramscope")
    shutil.copy(build / "bin/vramscope_start", tree / "bin/vramscope")
    shutil.copy(build / "lib/libvramscope-newer.so", own)
    run("strip", str(tree / "bin/vramscope"), str(own / "libvramscope-newer.so"))


def copy_library(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(os.path.realpath(source), target)
    target.chmod(0o644)


def add_libraries(tree, packages):
    own = tree / "lib/vramscope"
    plugins = qt_plugins()
    programs = (
        "vramscope",
        "vramscope-worker",
        "vramscope-worker-loop",
        "libvramscope_torch_cuda.so",
    )
    # a build without LibTorch has no worker
    waiting = [own / name for name in programs if (own / name).exists()]
    for path in waiting:
        search_first(path, "$ORIGIN")
    for name in PLUGINS:
        target = own / "plugins" / name
        copy_library(plugins / name, target)
        search_first(target, "$ORIGIN/../..")
        packages.sources[target] = (packages.of(plugins / name), plugins / name)
        waiting.append(target)
    seen = set()
    needed = list(OPENED)
    while needed or waiting:
        if not needed:
            needed = list(Elf(waiting.pop()).needed)
        for name in needed:
            if (
                name in seen
                or NEVER.match(name)
                or (own / name).exists()
                or name.startswith("libcuda")
            ):
                continue
            seen.add(name)
            source = find_library(name)
            target = own / "fallback" / name / name if FALLBACK.match(name) else own / name
            copy_library(source, target)
            if target.parent == own:
                search_first(target, "$ORIGIN")
            use_newer(target, "" if target.parent == own else "/../..")
            packages.sources[target] = (packages.of(source), source)
            waiting.append(target)
        needed = []
    (own / "qt.conf").write_text("[Paths]\nPrefix = .\nPlugins = plugins\n")


def add_fonts(tree, packages):
    share = tree / "share/vramscope"
    (share / "fonts").mkdir(parents=True)
    for path in FONTS:
        target = share / "fonts" / os.path.basename(path)
        shutil.copyfile(path, target)
        packages.sources[target] = (packages.of(path), path)
    (share / "fonts.conf").write_text(FONTS_CONF)


def add_certificates(tree, packages):
    """Adds certificates for `vramscope setup` on a computer that has none (ui/setup/network.cpp).
    They come from the package and not from /etc/ssl/certs, because the owner of the build computer
    may have added authorities there that users must not trust."""
    listed = sorted(
        line for line in run("dpkg", "-L", "ca-certificates").splitlines() if line.endswith(".crt")
    )
    if len(listed) < 50:
        raise SystemExit(
            "bundle: ca-certificates has %d certificates: is it installed?" % len(listed)
        )
    target = tree / "share/vramscope/ca-certificates.crt"
    target.write_bytes(b"".join(pathlib.Path(path).read_bytes().strip() + b"\n" for path in listed))
    packages.sources[target] = ("ca-certificates", target)


def check(tree):
    """Checks that each file finds its libraries in the tree or may use those of the computer
    (NEVER, FALLBACK), and that it needs no glibc newer than allowed."""
    wrong = []
    own = tree / "lib/vramscope"
    for path in sorted(tree.rglob("*")):
        if path.is_symlink() or not path.is_file() or not is_elf(path):
            continue
        elf = Elf(path)
        if elf.newest("GLIBC") > MOST_GLIBC:
            wrong.append("%s needs glibc %s" % (path, elf.newest("GLIBC")))
        if elf.newest("GLIBCXX") > MOST_GLIBCXX:
            wrong.append("%s needs GLIBCXX %s" % (path, elf.newest("GLIBCXX")))
        if any(not entry.startswith("$ORIGIN") for entry in elf.runpath):
            wrong.append("%s looks for libraries in %s" % (path, elf.runpath))
        for name in elf.needed:
            if not (
                NEVER.match(name)
                or (own / name).exists()
                or (own / "fallback" / name / name).exists()
                or (path.parent / name).exists()
                or (path.parent.parent / name).exists()
            ):
                wrong.append("%s needs %s, which the tree does not contain" % (path, name))
    if wrong:
        raise SystemExit("bundle: " + "\nbundle: ".join(wrong))


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def identity(name):
    return "SPDXRef-Package-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def package_entry(name, doc):
    """Returns the SPDX entry of a Debian package, and copies the package's copyright file to
    doc/licenses."""
    found, source, source_version, homepage = version_of(name)
    text = pathlib.Path("/usr/share/doc", name, "copyright")
    if not text.exists():
        raise SystemExit("bundle: %s has no copyright file" % name)
    shutil.copyfile(text, doc / "licenses" / (name + ".txt"))
    entry = {
        "SPDXID": identity(name),
        "name": name,
        "versionInfo": found,
        "downloadLocation": "NOASSERTION",
        "sourceInfo": "Debian source package %s %s" % (source, source_version),
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseComments": "share/doc/vramscope/licenses/%s.txt" % name,
        "externalRefs": [
            {
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator": "pkg:deb/debian/%s@%s?arch=amd64" % (name, found),
            }
        ],
    }
    if homepage:
        entry["homepage"] = homepage
    return entry


def add_common_licenses(doc):
    """Copies the licenses from /usr/share/common-licenses to which Debian's copyright files
    refer."""
    commons = pathlib.Path("/usr/share/common-licenses")
    used = set()
    for text in (doc / "licenses").iterdir():
        used |= set(
            re.findall(
                r"/usr/share/common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])",
                text.read_text(errors="replace"),
            )
        )
    for name in sorted(used):
        if (commons / name).exists():
            shutil.copyfile(commons / name, doc / "licenses" / ("common-" + name))


def add_linked(tree, names):
    """Adds packages to the tree's SPDX document: those that are linked statically into the
    AppImage's runtime. No file of the tree contains them."""
    doc = tree / "share/doc/vramscope"
    path = doc / "vramscope.spdx.json"
    document = json.loads(path.read_text())
    known = {entry["name"] for entry in document["packages"]}
    for name in names:
        if name in known:
            continue
        document["packages"].append(package_entry(name, doc))
        document["relationships"].append(
            {
                "spdxElementId": "SPDXRef-Package-vramscope",
                "relationshipType": "STATIC_LINK",
                "relatedSpdxElement": identity(name),
            }
        )
    add_common_licenses(doc)
    path.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")


def describe(tree, packages, version, epoch):
    """Writes share/doc/vramscope: the copyright of every package, and an SPDX 2.3 document of all
    files."""
    doc = tree / "share/doc/vramscope"
    (doc / "licenses").mkdir(parents=True, exist_ok=True)
    names = sorted({package for package, _ in packages.sources.values()} | set(LINKED))
    entries = [
        {
            "SPDXID": "SPDXRef-Package-vramscope",
            "name": "vramscope",
            "versionInfo": version,
            "downloadLocation": "NOASSERTION",
            "licenseConcluded": "Apache-2.0",
            "licenseDeclared": "Apache-2.0",
            "copyrightText": "NOASSERTION",
            "filesAnalyzed": False,
        }
    ]
    relations = [
        {
            "spdxElementId": "SPDXRef-DOCUMENT",
            "relationshipType": "DESCRIBES",
            "relatedSpdxElement": "SPDXRef-Package-vramscope",
        }
    ]
    for name in names:
        entry = package_entry(name, doc)
        entries.append(entry)
        relations.append(
            {
                "spdxElementId": "SPDXRef-Package-vramscope",
                "relatedSpdxElement": identity(name),
                "relationshipType": "STATIC_LINK" if name in LINKED else "CONTAINS",
            }
        )
    add_common_licenses(doc)
    files = []
    for path in sorted(tree.rglob("*")):
        if not path.is_file() or path.is_symlink():
            continue
        name = str(path.relative_to(tree))
        reference = "SPDXRef-File-" + hashlib.sha256(name.encode()).hexdigest()[:16]
        owner = packages.sources.get(path)
        file = {
            "SPDXID": reference,
            "fileName": "./" + name,
            "licenseConcluded": "NOASSERTION",
            "copyrightText": "NOASSERTION",
            "checksums": [{"algorithm": "SHA256", "checksumValue": sha256(path)}],
        }
        if owner and sha256(os.path.realpath(owner[1])) != sha256(path):
            file["comment"] = (
                "of the package; changed with patchelf: the search path for libraries, or "
                "libvramscope-newer.so for a function of glibc 2.36"
            )
        files.append(file)
        relations.append(
            {
                "spdxElementId": identity(owner[0]) if owner else "SPDXRef-Package-vramscope",
                "relationshipType": "CONTAINS",
                "relatedSpdxElement": reference,
            }
        )
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": "vramscope-" + version,
        "documentNamespace": "https://spdx.org/spdxdocs/vramscope-%s-%s"
        % (version, hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()[:32]),
        "creationInfo": {"created": epoch, "creators": ["Tool: vramscope-packaging-" + version]},
        "packages": entries,
        "files": files,
        "relationships": relations,
    }
    (doc / "vramscope.spdx.json").write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")


def make(build, tree, version, epoch):
    packages = Packages()
    install(build, tree)
    add_libraries(tree, packages)
    add_fonts(tree, packages)
    add_certificates(tree, packages)
    check(tree)
    describe(tree, packages, version, epoch)


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), "0", "1970-01-01T00:00:00Z")

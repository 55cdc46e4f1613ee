"""Creates libraries to link against, with the symbols and versions of an older C library.

    python3 stub_libraries.py --version 2.28 --output FOLDER \
        --libc libc.so.6 --libm libm.so.6 --loader ld.so \
        --nonshared libc_nonshared.a
        --compiler c++

Each symbol of this computer's C library gets its newest version that is not newer than the given
one. Symbols that glibc 2.34 merged into libc.so.6 are in their previous libraries. The libraries
contain no code.
"""

import argparse
import pathlib
import re
import struct
import subprocess

OF_LIBDL = re.compile(r"dl(open|sym|close|error|addr|addr1|info|vsym|mopen)$")
OF_LIBPTHREAD = re.compile(r"(__)?pthread_|sem_(?!ctl|get|op)")
OF_LIBRT = re.compile(r"(shm_(open|unlink)|timer_|mq_|aio_|lio_)")


def number(version):
    return tuple(int(part) for part in version.split("_")[1].split("."))


def symbols(path):
    """Yields (name, version, whether it is the default version, type, size) of each symbol that an
    ELF-64 file exports."""
    data = pathlib.Path(path).read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        raise SystemExit("%s: not a 64-bit ELF file" % path)
    (sections_at,) = struct.unpack_from("<Q", data, 40)
    entry, count = struct.unpack_from("<HH", data, 58)
    sections = [
        struct.unpack_from("<IIQQQQIIQQ", data, sections_at + i * entry) for i in range(count)
    ]
    by_type = {section[1]: section for section in sections}
    dynsym, versym, verdef = by_type[11], by_type[0x6FFFFFFF], by_type[0x6FFFFFFD]

    def text(section, at):
        start = sections[section][4] + at
        return data[start : data.index(b"\0", start)].decode()

    names, at = {}, verdef[4]
    while True:
        _, _, index, _, _, aux, following = struct.unpack_from("<HHHHIII", data, at)
        names[index] = text(verdef[6], struct.unpack_from("<I", data, at + aux)[0])
        if not following:
            break
        at += following
    for i in range(1, dynsym[5] // 24):
        name, info, _, section, _, size = struct.unpack_from("<IBBHQQ", data, dynsym[4] + i * 24)
        (version,) = struct.unpack_from("<H", data, versym[4] + i * 2)
        if section not in (0, 0xFFF1) and (version & 0x7FFF) in names:
            yield (
                text(dynsym[6], name),
                names[version & 0x7FFF],
                not version & 0x8000,
                info & 15,
                size,
            )


def chosen(path, limit):
    """Returns {name: (version, type, size, whether the symbol has a newer version)}."""
    found, newer = {}, set()
    for name, version, _, kind, size in symbols(path):
        if not re.fullmatch(r"GLIBC_2[0-9.]+", version):
            continue
        if number(version) > limit:
            newer.add(name)
        elif name not in found or number(found[name][0]) < number(version):
            found[name] = (version, kind, size)
    return {name: (*value, name in newer) for name, value in found.items()}


def home(name, moved):
    if moved and OF_LIBDL.match(name):
        return "libdl.so.2"
    if moved and OF_LIBPTHREAD.match(name):
        return "libpthread.so.0"
    if moved and OF_LIBRT.match(name):
        return "librt.so.1"
    return "libc.so.6"


def build(folder, soname, content, compiler):
    assembler, script = [".text"], {}
    for name, (version, kind, size, _) in sorted(content.items()):
        script.setdefault(version, []).append(name)
        if kind == 1:
            assembler += [
                ".section .bss",
                '.globl "%s"' % name,
                '.type "%s",@object' % name,
                '.size "%s",%d' % (name, size),
                '"%s": .zero %d' % (name, max(size, 1)),
                ".text",
            ]
        elif kind == 6:
            assembler += [
                '.section .tbss,"awT",@nobits',
                '.globl "%s"' % name,
                '.type "%s",@object' % name,
                '"%s": .zero %d' % (name, max(size, 1)),
                ".text",
            ]
        else:
            assembler += ['.globl "%s"' % name, '.type "%s",@function' % name, '"%s": nop' % name]
    assembler.append('.section .note.GNU-stack,"",@progbits')
    source, versions = folder / (soname + ".s"), folder / (soname + ".map")
    source.write_text("\n".join(assembler) + "\n")
    nodes = [
        "%s { global: %s };" % (version, " ".join('"%s";' % name for name in names))
        for version, names in sorted(script.items(), key=lambda item: number(item[0]))
    ]
    versions.write_text("\n".join(nodes + ["VRAMSCOPE_LOCAL { local: *; };"]) + "\n")
    subprocess.run(
        [
            compiler,
            "-shared",
            "-nostdlib",
            "-Wl,-soname," + soname,
            "-Wl,--version-script=%s" % versions,
            "-o",
            str(folder / soname),
            str(source),
        ],
        check=True,
    )


def main():
    parser = argparse.ArgumentParser()
    for option in ("version", "output", "libc", "libm", "loader", "nonshared", "compiler"):
        parser.add_argument("--" + option, required=True)
    options = parser.parse_args()
    limit = tuple(int(part) for part in options.version.split("."))
    folder = pathlib.Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        "libm.so.6": chosen(options.libm, limit),
        "libc.so.6": {},
        "libdl.so.2": {},
        "libpthread.so.0": {},
        "librt.so.1": {},
    }
    for name, value in chosen(options.libc, limit).items():
        contents[home(name, value[3])][name] = value
    for soname, content in contents.items():
        build(folder, soname, content, options.compiler)
        if soname != "libc.so.6":
            link = folder / (soname.split(".")[0] + ".so")
            link.unlink(missing_ok=True)
            link.symlink_to(soname)
    (folder / "libc.so").write_text(
        "GROUP ( %s/libc.so.6 %s AS_NEEDED ( %s ) )\n"
        % (
            folder,
            options.nonshared,
            " ".join(
                [
                    "%s/%s" % (folder, soname)
                    for soname in contents
                    if soname not in ("libc.so.6", "libm.so.6")
                ]
                + [options.loader]
            ),
        )
    )


if __name__ == "__main__":
    main()

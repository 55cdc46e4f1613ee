"""Reads the requirements of an ELF-64 file: libraries, versions of their symbols, and search
paths."""

import struct


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(5) == b"\x7fELF\x02"


class Elf:
    """needed: the sonames of the required libraries. runpath: a list of folders. versions: {soname:
    the versions that the file needs of that library}."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self._data = file.read()
        data = self._data
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("%s: not a 64-bit little-endian ELF file" % path)
        self.needed, self.runpath, self.soname, self.versions = [], [], "", {}
        self.version_entries = {}  # (file, version) -> offset of its entry
        (at,) = struct.unpack_from("<Q", data, 32)
        size, count = struct.unpack_from("<HH", data, 54)
        parts = [struct.unpack_from("<IIQQQQQQ", data, at + i * size) for i in range(count)]
        loads = [(p[3], p[2], p[5]) for p in parts if p[0] == 1]
        dynamic = [p for p in parts if p[0] == 2]
        if not dynamic:
            return

        def offset(address):
            for start, place, length in loads:
                if start <= address < start + length:
                    return address - start + place
            raise ValueError("%s: an address outside of the file" % path)

        entries = []
        for i in range(dynamic[0][5] // 16):
            tag, value = struct.unpack_from("<QQ", data, dynamic[0][2] + i * 16)
            if tag == 0:
                break
            entries.append((tag, value))
        table = dict(entries)
        strings = offset(table[5])

        def text(at):
            return data[strings + at : data.index(b"\0", strings + at)].decode()

        for tag, value in entries:
            if tag == 1:
                self.needed.append(text(value))
            elif tag == 14:
                self.soname = text(value)
            elif tag in (15, 29):
                self.runpath += text(value).split(":")
        if 0x6FFFFFFE in table:
            at = offset(table[0x6FFFFFFE])
            while True:
                _, number, file, aux, following = struct.unpack_from("<HHIII", data, at)
                aux += at
                for _ in range(number):
                    _, _, _, name, step = struct.unpack_from("<IHHII", data, aux)
                    self.version_entries[text(file), text(name)] = aux
                    self.versions.setdefault(text(file), set()).add(text(name))
                    aux += step
                if not following:
                    break
                at += following
        del self._data

    def drop_version(self, path, file, version):
        """Removes a version of the library `file` from the versions that `path` requires (`path` is
        the file from which this object was read). No symbol may still use the version. Its entry is
        overwritten with the oldest version that the file needs of the same library."""
        oldest = min(
            (name for library, name in self.version_entries if library == file and name != version),
            key=lambda name: [int(part) for part in name.split("_")[-1].split(".")],
        )
        with open(path, "r+b") as out:
            out.seek(self.version_entries[file, oldest])
            kept = struct.unpack("<IHHII", out.read(16))
            out.seek(self.version_entries[file, version])
            _, flags, index, _, step = struct.unpack("<IHHII", out.read(16))
            out.seek(self.version_entries[file, version])
            out.write(struct.pack("<IHHII", kept[0], flags, index, kept[3], step))

    def newest(self, prefix):
        """Returns the newest version with this prefix, for example (2, 35) for GLIBC_2.35, or () if
        there is none."""
        found = [()]
        for versions in self.versions.values():
            for version in versions:
                name, _, number = version.partition("_")
                if name == prefix and number[:1].isdigit():
                    found.append(tuple(int(part) for part in number.split(".")))
        return max(found)

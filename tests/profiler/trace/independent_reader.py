#!/usr/bin/env python3
"""A second reader of `.trace` files, which only follows proto/FORMAT.md.

    independent_reader.py FILE              prints a line for each event, activity, frame and stack
    independent_reader.py FILE EXPECTED     compares these lines with a file; exit status 1 if they
                                            differ, and 77 if zstd is missing

Needs only the standard library, and libzstd.so.1 (through ctypes) or the zstd program.
"""

import ctypes
import shutil
import struct
import subprocess
import sys

MAGIC = b"\x89VRT"
FIELDS = [
    "time",
    "id",
    "address",
    "bytes",
    "rounded",
    "name",
    "module",
    "category",
    "detail",
    "stream",
    "thread",
    "device",
    "pool",
    "duration",
    "stack",
    "mempool",
    "user_metadata",
    "compile_context",
]
FIELDS_OF_VERSION = {1: 14, 2: 16, 3: 18, 4: 18, 5: 18, 6: 18}
ACTIVITY_FIELDS = [
    "begin",
    "duration",
    "device",
    "from",
    "to",
    "stream",
    "thread",
    "name",
    "op",
    "module",
    "correlation",
    "address",
    "bytes",
]
SIGNED = {"id", "address", "rounded", "correlation"}
BYTES = {"category", "detail", "device", "pool", "from", "to"}
OPERAND = 12  # a kind of activity
ALLOC, FREE_REQUESTED, FREE_COMPLETED, SEGMENT_ALLOC = 1, 2, 3, 5
M64 = (1 << 64) - 1


def crc32c_table():
    table = []
    for i in range(256):
        for _ in range(8):
            i = (i >> 1) ^ (0x82F63B78 if i & 1 else 0)
        table.append(i)
    return table


CRC_TABLE = crc32c_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def load_zstd():
    try:
        lib = ctypes.CDLL("libzstd.so.1")
        lib.ZSTD_decompress.restype = ctypes.c_size_t
        lib.ZSTD_decompress.argtypes = [
            ctypes.c_char_p,
            ctypes.c_size_t,
            ctypes.c_char_p,
            ctypes.c_size_t,
        ]

        def decompress(data, size):
            out = ctypes.create_string_buffer(size)
            assert lib.ZSTD_decompress(out, size, data, len(data)) == size, "zstd"
            return out.raw

        return decompress
    except OSError:
        if not shutil.which("zstd"):
            return None
        return lambda data, size: (
            subprocess.run(["zstd", "-dc"], input=data, check=True, stdout=subprocess.PIPE).stdout
        )


def frames(data, decompress):
    at = 0
    while at < len(data):
        assert data[at : at + 4] == MAGIC, f"no frame at {at}"
        kind, flags, stored, size, crc = struct.unpack_from("<HHIII", data, at + 4)
        body = data[at + 20 : at + 20 + stored]
        assert len(body) == stored, f"cut frame at {at}"
        assert crc32c(data[at + 4 : at + 16] + body) == crc, f"checksum at {at}"
        yield at, kind, decompress(body, size) if flags & 1 else body
        at += 20 + stored


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value & M64, at


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def zigzag(value):
    return (value >> 1) ^ -(value & 1)


def message(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        field, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif wire == 5:
            value, at = struct.unpack_from("<I", data, at)[0], at + 4
        else:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        yield field, value


def numbers(data):
    at, out = 0, []
    while at < len(data):
        value, at = varint(data, at)
        out.append(value)
    return out


def rows(payload, names):
    """Returns the numbers of a batch's fields, and (kind, stored values) for each of its rows."""
    fields = {n: 0 for n in range(1, 10)}
    layouts, columns, kinds = {}, {}, b""
    for field, value in message(payload):
        if field == 3:
            row = dict(message(value))
            layouts[row[1]] = (row[2], row[3])
        elif field == 4:
            kinds = value
        elif field >= 16:
            name = names[field - 16]
            columns[name] = iter(value if name in BYTES else numbers(value))
        else:
            fields[field] = value
    assert len(kinds) == fields[2]

    def each():
        for kind in kinds:
            carried, row = layouts[kind][1], {}
            for n, name in enumerate(names):
                value = next(columns[name]) if carried >> n & 1 else 0
                row[name] = zigzag(value) if name in SIGNED else value
            yield kind, row
        for name, column in columns.items():
            assert next(column, None) is None, f"left over in {name}"

    return fields, each()


def activities(payload):
    fields, each = rows(payload, ACTIVITY_FIELDS)
    begin, last = zigzag(fields[5]), {}
    block_at, last_block = {}, 0
    for kind, a in each:
        begin += a["begin"]
        a["begin"], end = begin, begin + a.pop("duration")
        for name in ("correlation", "address"):
            a[name] = last[kind, name] = (a[name] + last.get((kind, name), 0)) & M64
        if kind == OPERAND and fields[6]:
            if a["bytes"] == 0:
                a["bytes"] = block_at[a["address"]]
            else:
                a["bytes"] = last_block = (last_block + zigzag(a["bytes"] - 1)) & M64
            block_at[a["address"]] = a["bytes"]
        yield f"activity {kind} begin={begin} end={end} " + " ".join(
            f"{f}={a[f]}" for f in ACTIVITY_FIELDS[2:]
        )


def events(payload):
    fields, each = rows(payload, FIELDS)
    time, shift, unit = zigzag(fields[5]), fields[8], max(fields[9], 1)
    next_allocation, next_segment, last_freed = fields[6], fields[7], 0
    last_id, last_address = {}, {}
    for kind, e in each:
        time += e["time"]
        e["time"] = time
        expected = {
            ALLOC: next_allocation,
            SEGMENT_ALLOC: next_segment,
            FREE_REQUESTED: last_freed,
            FREE_COMPLETED: last_freed,
        }
        e["id"] = (e["id"] + expected.get(kind, last_id.get(kind, 0))) & M64
        units = (e["address"] + last_address.get(kind, 0)) & M64
        e["address"] = (units << shift) & M64
        if kind == ALLOC:
            e["rounded"] += ((e["bytes"] + unit - 1) & M64) // unit * unit
        e["rounded"] &= M64
        if kind == ALLOC:
            next_allocation = (e["id"] + 1) & M64
        elif kind == SEGMENT_ALLOC:
            next_segment = (e["id"] + 1) & M64
        elif kind in (FREE_REQUESTED, FREE_COMPLETED):
            last_freed = e["id"]
        last_id[kind] = e["id"]
        last_address[kind] = e["address"] >> shift
        yield kind, e


def stack_table(payload, known):
    """Returns lines about the frames and stacks of one table. `known` has the numbers of frames and
    stacks in earlier tables."""
    fields = {1: 0, 2: b"", 3: b"", 4: b"", 5: 0, 6: b"", 7: b""}
    fields.update(message(payload))
    function, file, line, lengths, used = (numbers(fields[n]) for n in (2, 3, 4, 6, 7))
    assert len(function) == len(file) == len(line), "columns of frames"
    assert sum(lengths) == len(used), "lengths of stacks"
    if function:
        assert fields[1] == known["frames"], "frames do not continue"
    if lengths:
        assert fields[5] == known["stacks"], "stacks do not continue"
    lines = []
    for row in zip(function, file, line):
        assert max(row[:2]) < known["strings"], "a string that is not defined yet"
        lines.append("frame %d function=%d file=%d line=%d" % (known["frames"], *row))
        known["frames"] += 1
    at = 0
    for length in lengths:
        frame_ids = used[at : at + length]
        assert all(f < known["frames"] for f in frame_ids), "a frame that is not defined yet"
        lines.append(f"stack {known['stacks']} frames=" + ",".join(map(str, frame_ids)))
        known["stacks"] += 1
        at += length
    return lines


def listing(data, decompress):
    lines, index, types, footer_at, version, batches = [], 0, [], None, 0, []
    known = {"strings": 0, "frames": 0, "stacks": 1}
    for at, kind, payload in frames(data, decompress):
        types.append(kind)
        if kind == 1:
            version = dict(message(payload))[1]
            assert version in FIELDS_OF_VERSION, "version"
        if kind == 2:
            table = list(message(payload))
            first = dict(table).get(1, 0)
            known["strings"] = first + sum(field == 2 for field, _ in table)
        if kind == 6:
            assert version >= 2, "stacks in version 1"
            lines += stack_table(payload, known)
        if kind == 3:
            for event_kind, e in events(payload):
                assert e["stack"] < known["stacks"], "a stack that is not defined yet"
                strings = max(e[f] for f in ("name", "module", "user_metadata", "compile_context"))
                assert strings < known["strings"], "a string not defined yet"
                lines.append(
                    f"{index} {event_kind} "
                    + " ".join(f"{f}={e[f]}" for f in FIELDS[: FIELDS_OF_VERSION[version]])
                )
                index += 1
        if kind == 7:
            assert version >= 4, f"activities in version {version}"
            assert version >= 6 or dict(message(payload)).get(6, 0) == 0, "blocks of operands"
            found = list(activities(payload))
            assert version >= 5 or all(not line.startswith("activity 12 ") for line in found), (
                "operands"
            )
            begins = [int(line.split("begin=")[1].split()[0]) for line in found]
            assert begins == sorted(begins), "activities out of order within a batch"
            batches.append(
                (
                    at,
                    len(found),
                    begins[0],
                    max(int(line.split("end=")[1].split()[0]) for line in found),
                )
            )
            lines += found
        if kind == 4:
            index_rows = [dict(message(value)) for field, value in message(payload) if field == 10]
            assert batches == [
                (r[1], r[2], signed(r.get(3, 0)), signed(r.get(4, 0))) for r in index_rows
            ], "the footer's index of activities"
            assert dict(message(payload)).get(9, 0) == sum(b[1] for b in batches), "activities"
            footer_at = at
            assert dict(message(payload))[1] == index, "the footer counts other events"
        if kind == 5:
            assert dict(message(payload))[1] == footer_at, "the end frame points elsewhere"
    assert types[0] == 1 and types[-2:] == [4, 5], types
    return "\n".join(lines) + "\n"


def main():
    decompress = load_zstd()
    if decompress is None:
        print("skipped: neither libzstd.so.1 nor the zstd program was found")
        return 77
    with open(sys.argv[1], "rb") as f:
        out = listing(f.read(), decompress)
    if len(sys.argv) < 3:
        sys.stdout.write(out)
        return 0
    with open(sys.argv[2]) as f:
        expected = f.read()
    if out == expected:
        print(f"{len(out.splitlines())} lines agree")
        return 0
    for n, (a, b) in enumerate(zip(out.splitlines(), expected.splitlines())):
        if a != b:
            print(f"line {n + 1}:\n  here     {a}\n  expected {b}")
            break
    else:
        print("one listing is longer")
    return 1


if __name__ == "__main__":
    sys.exit(main())

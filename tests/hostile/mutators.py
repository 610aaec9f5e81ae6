"""Ways to spoil a file. Each takes what it needs and a `random.Random`, and gives bytes: same draws, same bytes.

`spoil(kind, whole, other, draw)` is the way in: kind says what the bytes are, other is a second file of the same format
to splice with."""

import gzip
import io
import json
import lzma
import struct
import zipfile
import zlib

WILD_INTEGERS = (0, 1, 2, 127, 255, 2**15, 2**16 - 1, 2**24, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**64 - 1)
# What a number in a text is replaced by.
WILD_NUMBERS = ("", "0", "-1", "-0", "1e400", "-1e400", "1e-400", "NaN", "nan", "Infinity", "-inf", "null", "1e39")
WILD_NUMBERS += ("2147483648", "4294967296", "9223372036854775808", "18446744073709551616", "99999999999999999999999")
WILD_NUMBERS += ("1" * 400, "0." + "3" * 400, "0x10", "1e", "+1", "1_000", "--1", "1.5", "true", "\x00", "\u00e9")


def flip_bits(data, draw):
    made = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 8, 40))):
        if made:
            made[draw.randrange(len(made))] ^= 1 << draw.randrange(8)
    return bytes(made)


def insert(data, draw):
    at = draw.randrange(len(data) + 1)
    added = draw.choice((draw.randbytes(draw.choice((1, 4, 64))), bytes(draw.choice((1, 8, 1000))), b"\xff" * 8))
    return data[:at] + added + data[at:]


def delete(data, draw):
    at = draw.randrange(len(data) + 1)
    return data[:at] + data[at + draw.choice((1, 1, 2, 8, 100)) :]


def truncate(data, draw):
    return data[: draw.randrange(len(data) + 1)]


def repeat(data, draw):
    """A part of it, many times over: long lists and long names."""
    at = draw.randrange(len(data) + 1)
    part = data[at : at + draw.choice((1, 4, 30, 300))]
    return data[:at] + part * draw.choice((2, 20, 400)) + data[at:]


def splice(data, other, draw):
    return data[: draw.randrange(len(data) + 1)] + other[draw.randrange(len(other) + 1) :]


def edit_length(data, draw):
    """A wild number over 1, 2, 4 or 8 bytes, most likely near the start, where headers are."""
    width = draw.choice((1, 2, 4, 8))
    if len(data) < width:
        return data
    at = (
        draw.randrange(len(data) - width + 1) if draw.random() < 0.5 else draw.randrange(min(len(data) - width, 64) + 1)
    )
    order = draw.choice(("little", "big"))
    value = draw.choice(WILD_INTEGERS) % 256**width
    return data[:at] + value.to_bytes(width, order) + data[at + width :]


def edit_number_in_text(data, draw):
    """One run of digits replaced."""
    starts = [i for i, byte in enumerate(data) if 48 <= byte <= 57 and (i == 0 or not 48 <= data[i - 1] <= 57)]
    if not starts:
        return insert(data, draw)
    begin = end = draw.choice(starts)
    while end < len(data) and 48 <= data[end] <= 57:
        end += 1
    return data[:begin] + draw.choice(WILD_NUMBERS).encode() + data[end:]


def edit_line(data, draw):
    """A line dropped, doubled, moved or cut."""
    lines = data.split(b"\n")
    at = draw.randrange(len(lines))
    what = draw.randrange(4)
    if what == 0:
        del lines[at]
    elif what == 1:
        lines.insert(at, lines[at])
    elif what == 2:
        lines.insert(draw.randrange(len(lines)), lines.pop(at))
    else:
        lines[at] = truncate(lines[at], draw)
    return b"\n".join(lines)


BYTES = (flip_bits, insert, delete, truncate, repeat, edit_length)
TEXT = (flip_bits, insert, delete, truncate, repeat, edit_number_in_text, edit_number_in_text, edit_line, edit_line)


class Raw(str):
    """A token that is written into JSON as it is."""


def edit_json(data, draw):
    """The document with one to three values dropped, replaced, doubled or nested. Objects are lists of pairs while they
    are edited, so that a key may come twice."""
    try:
        document = json.loads(data, object_pairs_hook=lambda pairs: {"pairs": pairs})
    except (ValueError, RecursionError):
        return flip_bits(data, draw)
    holder = [document]
    for _ in range(draw.choice((1, 1, 2, 3))):
        edit_json_value(holder, draw)
    return json_text(holder[0]).encode("utf-8", "surrogatepass")


def edit_json_value(holder, draw):
    # Down from the top, any way, to any depth.
    at, parent = 0, holder
    while True:
        value = parent[at][1] if isinstance(parent[at], tuple) else parent[at]
        inner = value["pairs"] if isinstance(value, dict) else value
        if not isinstance(inner, list) or not inner or draw.random() < 0.25:
            break
        parent, at = inner, draw.randrange(len(inner))
    key = parent[at][0] if isinstance(parent[at], tuple) else None
    what = draw.randrange(6)
    if what == 0 and parent is not holder:
        del parent[at]
    elif what == 1 and parent is not holder:
        small = len(json_text(value)) < 300
        parent[at:at] = [parent[at]] * draw.choice((1, 1, 2000 if small else 1))
    elif what == 2 and key is not None:
        parent[at] = (draw.choice(("", key + "x", "\udcff", "__proto__", "k" * 5000)), parent[at][1])
    else:
        made = wild_json(draw)
        parent[at] = made if key is None else (key, made)


def wild_json(draw):
    depth = draw.choice((3, 20, 1000, 100_000))
    choices = [
        None,
        True,
        [],
        {"pairs": []},
        "",
        "x" * 3000,
        "\x1b[31m\n</script>\u2028",
        [1, "a"],
        {"pairs": [("a", 1)]},
    ]
    choices += [Raw(number or "0") for number in WILD_NUMBERS[:20]] * 2
    choices += [Raw("[" * depth + "]" * depth), Raw('{"a":' * depth + "1" + "}" * depth), Raw("")]
    return draw.choice(choices)


def json_text(value):
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {json_text(inner)}" for key, inner in value["pairs"]) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(json_text(inner) for inner in value) + "]"
    return json.dumps(value)


def read_varint(data, at):
    value = shift = 0
    while at < len(data) and shift < 64:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at
    raise ValueError("no varint")


def varint(value):
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([*made, value])


def read_fields(data):
    """(field number, wire type, value) of a protobuf message, in order; ValueError when it is none."""
    fields, at = [], 0
    while at < len(data):
        tag, at = read_varint(data, at)
        wire = tag & 7
        if wire == 0:
            value, at = read_varint(data, at)
        elif wire in (1, 2, 5):
            size = 8 if wire == 1 else 4
            if wire == 2:
                size, at = read_varint(data, at)
            value, at = data[at : at + size], at + size
        else:
            raise ValueError("no message")
        if at > len(data) or tag < 8:
            raise ValueError("no message")
        fields.append((tag >> 3, wire, value))
    return fields


def write_fields(fields):
    made = []
    for number, wire, value in fields:
        made.append(varint(number << 3 | wire))
        if wire == 2:
            made.append(varint(len(value)))
        made.append(varint(value) if wire == 0 else value)
    return b"".join(made)


def edit_protobuf(data, draw):
    """One field dropped, doubled, moved or changed, at any depth; the lengths around it still fit."""
    try:
        fields = read_fields(data)
    except ValueError:
        return draw.choice(BYTES)(data, draw)
    if not fields:
        return insert(data, draw)
    at = draw.randrange(len(fields))
    number, wire, value = fields[at]
    if wire == 2 and value and draw.random() < 0.75:
        fields[at] = (number, wire, edit_protobuf(value, draw))
        return write_fields(fields)
    what = draw.randrange(5)
    if what == 0:
        del fields[at]
    elif what == 1:
        small = wire != 2 or len(value) < 300
        fields[at:at] = [fields[at]] * draw.choice((1, 1, 3, 500 if small else 1))
    elif what == 2:
        fields.insert(draw.randrange(len(fields)), fields.pop(at))
    elif what == 3:
        fields[at] = (draw.choice((number + 1, 1, 2, 5, 15, 536870911)), wire, value)
    elif wire == 0:
        fields[at] = (number, wire, draw.choice((*WILD_INTEGERS, (value + 1) % 2**64, (value - 1) % 2**64)))
    else:
        fields[at] = (number, wire, draw.choice(BYTES)(value, draw) if wire == 2 else draw.randbytes(len(value)))
    return write_fields(fields)


def zipped(entries, deflated):
    """An archive of (name, content); each entry's CRC fits."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED) as archive:
        for name, content in entries:
            archive.writestr(zipfile.ZipInfo(name), content, archive.compression)
    return file.getvalue()


def edit_archive(data, draw):
    """An .npz file with one of its arrays spoilt, dropped or renamed."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [(name, archive.read(name)) for name in archive.namelist()]
    except (zipfile.BadZipFile, zlib.error, OSError, NotImplementedError, RuntimeError, EOFError, ValueError):
        return draw.choice(BYTES)(data, draw)
    if not entries:
        return data
    at = draw.randrange(len(entries))
    name, content = entries[at]
    what = draw.randrange(6)
    if what == 0:
        del entries[at]
    elif what == 1:
        entries[at] = (draw.choice((name.upper(), "../../up.npy", "meta.npy", "x" * 300 + ".npy")), content)
    elif b'{"' in content and b"<U" in content[:80] and draw.random() < 0.8:
        entries[at] = (name, edit_text_array(content, draw))
    else:
        entries[at] = (name, draw.choice((*BYTES, edit_number_in_text))(content, draw))
    return zipped(dict(entries).items(), draw.random() < 0.5)


def edit_text_array(content, draw):
    """A NumPy array of one text, which is JSON, with that JSON edited."""
    (size,) = struct.unpack("<H", content[8:10])
    text = content[10 + size :].decode("utf-32-le", "replace").rstrip("\x00")
    made = edit_json(text.encode(), draw).decode("utf-8", "replace")[:200_000]
    head = f"{{'descr': '<U{len(made)}', 'fortran_order': False, 'shape': (), }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + made.encode("utf-32-le")


def edit_packed(data, draw):
    """A .gz or .xz file whose content is spoilt and packed again."""
    pack, unpack = (gzip.compress, gzip.decompress) if data[:2] == b"\x1f\x8b" else (lzma.compress, lzma.decompress)
    try:
        content = unpack(data)
    except (OSError, EOFError, zlib.error, lzma.LZMAError):
        return draw.choice(BYTES)(data, draw)
    packed = pack(draw.choice(TEXT)(content, draw))
    return packed + pack(content[: draw.randrange(50)]) if draw.random() < 0.2 else packed


# kind: what its own editor is, and how often it is used beside the plain ones.
EDITORS = {
    "bytes": ((), BYTES),
    "text": ((), TEXT),
    "json": ((edit_json,), TEXT),
    "protobuf": ((edit_protobuf,), BYTES),
    "archive": ((edit_archive,), BYTES),
    "packed": ((edit_packed,), BYTES),
}


def spoil(kind, whole, other, draw):
    """`whole` after one to three edits."""
    own, plain = EDITORS[kind]
    if draw.random() < 0.08:
        return splice(whole, other, draw)
    made = whole
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        made = draw.choice(own if own and draw.random() < 0.7 else plain)(made, draw)
    return made

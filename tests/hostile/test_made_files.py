"""Files made to cost much: bombs, sizes that lie, lists that are quadratic to read, numbers without end. Each is small
or a few megabytes, and has the limits of its format."""

import dataclasses
import gzip
import json
import lzma
import struct
import zlib

import pytest
import seeds
from formats import FORMATS, MIB
from mutators import varint, write_fields, zipped


def message(*fields):
    """A protobuf message of (number, value): an int is a varint, a str or bytes are length-delimited."""
    made = []
    for number, value in fields:
        value = value.encode() if isinstance(value, str) else value
        made.append((number, 0, value) if isinstance(value, int) else (number, 2, value))
    return write_fields(made)


def tensor(name, type_, dims, raw):
    return message(*((1, size) for size in dims), (2, type_), (8, name), (9, raw))


def node(operator, inputs, outputs, *attributes):
    parts = [(1, name) for name in inputs] + [(2, name) for name in outputs] + [(4, operator)]
    return message(*parts, *((5, attribute) for attribute in attributes))


def value(name, *sizes):
    """A float32 value; None is a dimension that is left open."""
    dims = [(1, message((2, "N")) if size is None else message((1, size))) for size in sizes]
    return message((1, name), (2, message((1, message((1, 1), (2, message(*dims)))))))


def onnx(nodes, initializers, inputs, outputs):
    graph = [(1, each) for each in nodes] + [(2, "g")] + [(5, each) for each in initializers]
    graph += [(11, each) for each in inputs] + [(12, each) for each in outputs]
    return message((1, 8), (7, message(*graph)), (8, message((1, ""), (2, 17))))


def filled(shape, output):
    """A constant of any size in a few bytes."""
    fill = message((1, "value"), (5, tensor("", 1, (1,), struct.pack("<f", 1e-4))), (20, 4))
    return tensor("s", 7, (len(shape),), struct.pack(f"<{len(shape)}q", *shape)), node(
        "ConstantOfShape", "s", [output], fill
    )


def wide_product(columns=2**23):
    """Rows of 4 times a matrix of 2^23 columns: 10 GB of room for a file of 200 bytes."""
    shape, constant = filled((4, columns), "c")
    axes = tensor("ax", 7, (1,), struct.pack("<q", 1))
    nodes = [constant, node("MatMul", ("x", "c"), ["y0"]), node("ReduceSum", ("y0", "ax"), ["y"])]
    return onnx(nodes, [shape, axes], [value("x", None, 4)], [value("y", None, 1)])


def slow_constants(count=60, size=3000):
    """A chain of products of constants, each 27 billion multiply-adds."""
    shape, constant = filled((size, size), "c0")
    nodes = [constant] + [node("MatMul", (f"c{i}", f"c{i}"), [f"c{i + 1}"]) for i in range(count)]
    nodes.append(node("MatMul", ("x", f"c{count}"), ["y"]))
    return onnx(nodes, [shape], [value("x", None, size)], [value("y", None, size)])


def own_npz(meta):
    return zipped([("values.npy", seeds.npy("(2, 3)", seeds.floats(6))), ("meta.npy", seeds.text_array(meta))], False)


def many_columns(count):
    columns = ",".join(f'{{"name":"c{i}","kind":"numeric","levels":[]}}' for i in range(count))
    return f'{{"assay":"table","columns":[{columns}],"label":null,"id":"","item_shape":[]}}'


def with_metadata(key, text):
    """A small model of two features that says this about itself."""
    weights = tensor("w", 1, (2, 1), struct.pack("<2f", 1, 2))
    model = onnx([node("MatMul", ("x", "w"), ["y"])], [weights], [value("x", None, 2)], [value("y", None, 1)])
    return model + message((14, message((1, key), (2, text))))


def many_entries(count):
    """An archive of scalars, none of which is the table that is looked for."""
    body, content = seeds.npy("()", bytes(4)), []
    local = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 33, zlib.crc32(body), len(body), len(body), 12, 0)
    central, size = [], len(local) + 16 + len(body)
    for i in range(count):
        name = b"%08d.npy" % i
        content.append(b"PK\x03\x04" + local + name + body)
        central.append(b"PK\x01\x02\x14\x00" + local + struct.pack("<HHHII", 0, 0, 0, 0, i * size) + name)
    listed = b"".join(central)
    end = struct.pack("<HHHHIIH", 0, 0, count, count, len(listed), count * size, 0)
    return b"".join(content) + listed + b"PK\x05\x06" + end


DEEP = "[" * 200_000 + "]" * 200_000
KEYS = ",".join(f'"k{i}":0' for i in range(200_000))
ZEROS = bytes(MIB)


def zeros_deflated(count):
    """So many megabytes of zeros as raw deflate, without an end: one piece that stands alone, again and again."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return (packer.compress(ZEROS) + packer.flush(zlib.Z_FULL_FLUSH)) * count


def gzip_bomb(head, count):
    """A file of several members, one after the other, which are one file."""
    return gzip.compress(head) + gzip.compress(ZEROS) * count


def xz_bomb(head, count):
    return lzma.compress(head) + lzma.compress(ZEROS) * count


def npz_bomb(count):
    """An archive that claims, truly, a column of zeros."""
    head = seeds.npy(f"({count * len(ZEROS) // 4}, 1)", b"")
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH) + zeros_deflated(count) + b"\x03\x00"
    crc = zlib.crc32(head)
    for _ in range(count):
        crc = zlib.crc32(ZEROS, crc)
    size = len(head) + count * len(ZEROS)
    common = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, crc, len(data), size, 5, 0)
    entry = b"PK\x03\x04" + common + b"x.npy" + data
    central = b"PK\x01\x02" + struct.pack("<H", 20) + common + struct.pack("<HHHII", 0, 0, 0, 0, 0) + b"x.npy"
    return entry + central + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(entry), 0)


# name of the case: format, its bytes, and what else than its limits it may take (MiB, seconds)
BOMB = (1100, 8)  # what unpacks within the limit is read before the rest is refused
BUDGET = (1024, 3)  # what a model asks for beyond its size
MADE = {
    "csv of one long line": ("csv", lambda: b"a," * 500_000 + b"\n1,2\n", None),
    "csv of many columns": (
        "csv",
        lambda: ",".join(f"c{i}" for i in range(200_000)).encode() + b"\n" + b"1," * 199_999 + b"1\n",
        None,
    ),
    "csv of empty cells": ("csv", lambda: b"a,b,c,d\n" + b",,,\n" * 300_000, None),
    "csv of levels": ("csv", lambda: b"a\n" + b"".join(b"x%d\n" % i for i in range(200_000)), None),
    "csv of quotes": ("csv", lambda: b'a\n"' + b'""' * 700_000 + b'"\n', None),
    "csv of open quotes": ("csv", lambda: b"a,b\n" + b'"x,' * 400_000, None),
    "csv of nothing but line ends": ("csv", lambda: b"a\n" + b"\n" * 1_500_000, None),
    "csv of long numbers": ("csv", lambda: b"a\n" + b"1" * 1_000_000 + b"\n", None),
    "npz of many columns": ("npz", lambda: own_npz(many_columns(100_000)), None),
    "npz of many keys": ("npz", lambda: own_npz("{" + KEYS + ', "assay": "table"}'), None),
    "npz that is deep": ("npz", lambda: own_npz('{"assay": "table", "columns": ' + DEEP + "}"), None),
    "npz of many entries": ("npz", lambda: many_entries(60_000), None),
    "npz bomb": ("npz", lambda: npz_bomb(600), BOMB),
    "gzip bomb": ("csv.gz", lambda: gzip_bomb(b"a\n", 600), BOMB),
    "gzip bomb of lines": ("csv.gz", lambda: gzip.compress(b"a\n" + b"1\n" * 20_000_000, 9), BOMB),
    "gzip bomb in NPY": ("npy.gz", lambda: gzip_bomb(seeds.npy("(200000000, 1)", b""), 600), BOMB),
    "gzip in gzip": ("csv.gz", lambda: gzip.compress(gzip_bomb(b"a\n", 64)), None),
    "xz bomb": ("csv.xz", lambda: xz_bomb(b"a\n", 600), BOMB),
    "xz of many streams": ("csv.xz", lambda: lzma.compress(b"") * 20_000, None),
    "wide product": ("onnx", wide_product, BUDGET),
    "slow constants": ("onnx", slow_constants, None),
    "deep encoder": (
        "onnx",
        lambda: with_metadata(
            "assay.encoder", '{"assay_encoder":1,"columns":[],"label":"","classes":[],"item_shape":' + DEEP + "}"
        ),
        None,
    ),
    "unknown categories without an encoder": ("onnx", lambda: with_metadata("assay.unseen", "unknown"), None),
    "deep names": ("onnx", lambda: with_metadata("assay.feature_names", DEEP), None),
    "deep messages": ("onnx", lambda: nested_messages(60_000), None),
    "many nodes": (
        "onnx",
        lambda: onnx(
            [node("Relu", [f"v{i}"], [f"v{i + 1}"]) for i in range(20_000)],
            [],
            [value("v0", None, 2)],
            [value("v20000", None, 2)],
        ),
        None,
    ),
    "deep XGBoost": ("xgboost.json", lambda: b'{"learner":' + DEEP.encode() + b"}", None),
    "XGBoost of many keys": ("xgboost.json", lambda: b'{"learner":{' + KEYS.encode() + b'},"version":[2,0,0]}', None),
    "LightGBM of many lines": ("lightgbm.txt", lambda: b"tree\nversion=v4\n" + b"a=1\n" * 400_000, None),
    "LightGBM of many features": (
        "lightgbm.txt",
        lambda: b"tree\nversion=v4\nnum_class=1\nmax_feature_idx=2147483646\n",
        None,
    ),
    "deep explanations": ("explanations.json", lambda: b'{"rows":' + DEEP.encode() + b"}", None),
    "explanations of many keys": ("explanations.json", lambda: b"{" + KEYS.encode() + b"}", None),
    "explanations of many features": (
        "explanations.json",
        lambda: json.dumps({"features": ["a"] * 100_000, "rows": [{"values": []}] * 100_000}).encode(),
        None,
    ),
    "groups of many names": (
        "groups",
        lambda: ("{" + ",".join(f'"k{i}":[]' for i in range(200_000)) + "}").encode(),
        None,
    ),
    "deep groups": ("groups", lambda: b'{"a":' + DEEP.encode() + b"}", None),
    "many rules": ("gate rules", lambda: b'{"schema":"assay.rules/1","rules":[' + b"{}," * 300_000 + b"{}]}", None),
    "deep study": ("study.json", lambda: b'{"facts":' + DEEP.encode() + b"}", None),
    "study of many keys": ("study.json", lambda: b"{" + KEYS.encode() + b"}", None),
    "manifest of many files": (
        "manifest.json",
        lambda: json.dumps(
            {
                "schema": "assay.manifest/1",
                "inputs": [],
                "outputs": [{"name": f"f{i}", "sha256": "0" * 64} for i in range(20_000)],
            }
        ).encode(),
        None,
    ),
    "deep settings": ("settings.json", lambda: b'{"arguments":' + DEEP.encode() + b"}", None),
}


def nested_messages(depth):
    """A graph in an attribute of a node of a graph, and so on."""
    size, heads = 0, []
    for _ in range(depth):
        heads.append(b"\x0a" + varint(size))
        size += len(heads[-1])
    return message((1, 8), (7, b"".join(reversed(heads))))


def made_form(case):
    name, make, extra = MADE[case]
    form = FORMATS[name]
    if extra is not None:
        form = dataclasses.replace(form, base=form.base + extra[0] * MIB, seconds=form.seconds + extra[1])
    return form, make()


@pytest.mark.parametrize("case", MADE)
def test_made_files(farm, case):
    form, content = made_form(case)
    for command in form.commands:
        wrong = farm.try_content(form, content, command)
        assert not wrong, farm.report(MADE[case][0], case.replace(" ", "-"), content, command, wrong)

"""Malformed array files and compressed files: exit code 1, one clear sentence that names the file, and an
old output file left as it was. Nothing a header claims is believed, and no damaged byte ends in a crash."""

import gzip
import io
import json
import lzma
import random
import struct
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

NUMBERS = np.arange(600, dtype="<f4").reshape(200, 3)


def npy(array=NUMBERS, **options) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez(file, **(arrays or {"x": NUMBERS}))
    return file.getvalue()


def idx(shape=(200, 3), kind=0x08, data=None) -> bytes:
    head = bytes([0, 0, kind, len(shape)]) + b"".join(struct.pack(">I", size) for size in shape)
    return head + (bytes(600) if data is None else data)


def header(text: str, version=(1, 0), length=None) -> bytes:
    size = len(text) if length is None else length
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H" if version[0] == 1 else "<I", size) + text.encode()


def lying(descr="<f4", shape="(200, 3)", order="False") -> bytes:
    return header(f"{{'descr': {descr!r}, 'fortran_order': {order}, 'shape': {shape}, }}\n") + NUMBERS.tobytes()


def arrow(name: str, table=None) -> bytes:
    table = pa.table({"a": NUMBERS[:, 0], "b": [f"w{i % 7}" for i in range(200)]}) if table is None else table
    file = io.BytesIO()
    if name == "parquet":
        pa.parquet.write_table(table, file, write_page_checksum=True)
    else:
        pa.feather.write_feather(table, file)
    return file.getvalue()


def claim_size(archive: bytes, size: int) -> bytes:
    """The archive with another unpacked size in its directory."""
    at = archive.rindex(b"PK\x01\x02") + 24
    return archive[:at] + struct.pack("<I", size) + archive[at + 4 :]


def empty_zip() -> bytes:
    file = io.BytesIO()
    zipfile.ZipFile(file, "w").close()
    return file.getvalue()


def flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]


def without_footer_start(parquet: bytes) -> bytes:
    at = len(parquet) - 8 - struct.unpack("<I", parquet[-8:-4])[0]
    return parquet[:at] + bytes(40) + parquet[at + 40 :]


CSV = b"a,b\n" + b"".join(b"%d,%d\n" % (i * i, i) for i in range(3000))
FALSE_NOTES = {"assay": "table", "columns": [], "label": None, "id": "", "item_shape": []}
PARQUET, FEATHER = arrow("parquet"), arrow("feather")

# name of the file, content, words that must be in the sentence
CASES = {
    "npy empty": ("x.npy", b"", ["NPY"]),
    "npy of other bytes": ("x.npy", b"a,b\n1,2\n" * 30, ["NPY"]),
    "npy version 9": ("x.npy", npy().replace(b"NUMPY\x01\x00", b"NUMPY\x09\x00"), ["version", "9.0"]),
    "npy header cut": ("x.npy", npy()[:40], ["header"]),
    "npy header length lies": ("x.npy", header("{}", length=60000), ["header"]),
    "npy header of 4 GB": ("x.npy", header("{}", version=(2, 0), length=0xFFFFFFFF), ["header"]),
    "npy header is no dictionary": ("x.npy", header("[1, 2]\n"), ["header"]),
    "npy header with code": ("x.npy", header("__import__('os').system('touch hacked')\n"), ["header"]),
    "npy header without shape": ("x.npy", header("{'descr': '<f4', 'fortran_order': False}\n"), ["shape"]),
    "npy data cut": ("x.npy", npy()[:-1], ["2400 bytes", "2399"]),
    "npy data missing": ("x.npy", npy()[:128], ["2400 bytes", "found 0"]),
    "npy with a rest": ("x.npy", npy() + b"x", ["2400 bytes", "2401"]),
    "npy shape lies": ("x.npy", lying(shape="(201, 3)"), ["2412 bytes", "2400"]),
    "npy shape lies hugely": ("x.npy", lying(shape="(1000000000000, 3)"), ["12000000000000 bytes"]),
    "npy shape overflows": ("x.npy", lying(shape="(4294967296, 4294967296, 3)"), ["memory"]),
    "npy shape negative": ("x.npy", lying(shape="(-200, 3)"), ["shape"]),
    "npy shape is no tuple": ("x.npy", lying(shape="600"), ["shape"]),
    "npy without dimensions": ("x.npy", npy(np.float32(3)), ["row"]),
    "npy without rows": ("x.npy", npy(np.zeros((0, 3), "f4")), ["row"]),
    "npy without columns": ("x.npy", npy(np.zeros((3, 0), "f4")), ["column"]),
    "npy of objects": ("x.npy", npy(np.array([[{}], [1]], object), allow_pickle=True), ["'|O'", "objects"]),
    "npy of records": ("x.npy", npy(np.zeros(3, [("a", "f4"), ("b", "i4")])), ["structured"]),
    "npy of complex numbers": ("x.npy", npy(np.zeros((3, 2), "c8")), ["'<c8'"]),
    "npy of dates": ("x.npy", npy(np.zeros((3, 2), "M8[s]")), ["M8"]),
    "npy of text": ("x.npy", npy(np.array([["a"], ["b"]])), ["text"]),
    "npy too large for float32": ("x.npy", npy(np.array([[1, 2], [3, 1e300]])), ["float32", "1e+300"]),
    "npz empty": ("x.npz", b"", ["ZIP"]),
    "npz of other bytes": ("x.npz", npy(), ["ZIP"]),
    "npz cut": ("x.npz", npz()[:-30], []),
    "npz without its start": ("x.npz", npz()[100:], []),
    "npz with a damaged array": ("x.npz", flipped(npz(), 1500), ["x.npy"]),
    "npz size lies": ("x.npz", claim_size(npz(), 3_000_000_000), ["x.npy"]),
    "npz without arrays": ("x.npz", empty_zip(), ["no arrays"]),
    "npz of two matrices": ("x.npz", npz(first=NUMBERS, second=NUMBERS), ["'first'", "'second'"]),
    "npz of text": ("x.npz", npz(x=np.array([["a"]])), ["'x'", "text"]),
    "npz of objects": ("x.npz", npz(x=np.array([[None]], object)), ["x.npy", "objects"]),
    "npz with features named label": (
        "x.npz",
        npz(x=NUMBERS, y=NUMBERS[:, 0], features=np.array(["a", "b", "label"])),
        ["'label'"],
    ),
    "npz with false notes of ours": (
        "x.npz",
        npz(values=NUMBERS, meta=np.array(json.dumps(FALSE_NOTES))),
        ["'values'"],
    ),
    "idx empty": ("x.idx", b"", ["IDX"]),
    "idx of other bytes": ("x.idx", CSV, ["IDX"]),
    "idx of unknown type": ("x.idx", idx(kind=0x0A), ["0A"]),
    "idx without dimensions": ("x.idx", idx(shape=()), ["dimensions"]),
    "idx header cut": ("x.idx", idx()[:7], ["header"]),
    "idx data cut": ("x.idx", idx()[:-1], ["600 bytes", "599"]),
    "idx with a rest": ("x.idx", idx() + b"x", ["600 bytes", "601"]),
    "idx shape lies": ("x.idx", idx(shape=(0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF)), ["memory"]),
    "MNIST's name, other bytes": ("train-images-idx3-ubyte", CSV, ["IDX"]),
    "parquet empty": ("x.parquet", b"", ["Parquet"]),
    "parquet of other bytes": ("x.parquet", CSV, ["Parquet"]),
    "parquet cut": ("x.parquet", PARQUET[:-20], ["Parquet"]),
    "parquet without its start": ("x.parquet", PARQUET[200:], ["Parquet"]),
    "parquet footer size lies": ("x.parquet", PARQUET[:-8] + b"\xff\xff\xff\x7fPAR1", ["Parquet"]),
    "parquet footer garbled": ("x.parquet", without_footer_start(PARQUET), ["Parquet"]),
    "parquet page garbled": ("x.parquet", flipped(PARQUET, 200), ["Parquet"]),
    "parquet of lists": ("x.parquet", arrow("parquet", pa.table({"l": [[1], [2]]})), ["'l'", "lists"]),
    "parquet of timestamps": (
        "x.parquet",
        arrow("parquet", pa.table({"t": pa.array([1], pa.timestamp("s"))})),
        ["'t'", "timestamps"],
    ),
    "parquet too large for float32": (
        "x.parquet",
        arrow("parquet", pa.table({"n": [1.0, 1e300]})),
        ["'n'", "row 2", "float32"],
    ),
    "parquet with a name twice": (
        "x.parquet",
        arrow("parquet", pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["n", "n"])),
        ["'n' twice"],
    ),
    "feather empty": ("x.feather", b"", ["Feather"]),
    "feather of other bytes": ("x.feather", CSV, ["Feather"]),
    "feather that is parquet": ("x.feather", PARQUET, ["Feather"]),
    "feather cut": ("x.feather", FEATHER[:-20], ["Feather"]),
    "feather footer garbled": ("x.feather", FEATHER[:-100] + bytes(90) + FEATHER[-10:], ["Feather"]),
    "feather of dates": (
        "x.feather",
        arrow("feather", pa.table({"d": pa.array([1], pa.date32())})),
        ["'d'", "dates"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_malformed_array_file(refused, needs, tmp_path, case):
    name, content, words = CASES[case]
    needs(name)
    (tmp_path / name).write_bytes(content)
    sentence = refused(name)
    assert sentence.startswith(name)
    for word in words:
        assert word in sentence


@pytest.mark.parametrize("packing", ["gz", "xz"])
@pytest.mark.parametrize("name", ["x.csv", "x.npy", "x.npz", "x.idx", "x.parquet"])
def test_truncated_and_damaged_compression(refused, needs, tmp_path, packing, name):
    needs(name)
    content = {"x.csv": CSV, "x.npy": npy(), "x.npz": npz(), "x.idx": idx(), "x.parquet": PARQUET}[name]
    packed = gzip.compress(content) if packing == "gz" else lzma.compress(content)
    path = tmp_path / f"{name}.{packing}"
    for kept in (3, 11, len(packed) // 2, len(packed) - 5, len(packed) - 1):
        path.write_bytes(packed[:kept])
        assert refused(path.name).startswith(path.name)
    # The last one is in the checksum of gzip and in the index of xz.
    for at in (len(packed) // 3, len(packed) // 2, len(packed) - 6):
        path.write_bytes(flipped(packed, at))
        assert refused(path.name).startswith(path.name)


def test_truncated_and_damaged_compression_say_so(refused, tmp_path):
    for name, packed in (("x.csv.gz", gzip.compress(CSV)), ("x.csv.xz", lzma.compress(CSV))):
        (tmp_path / name).write_bytes(packed[: len(packed) // 2])
        assert "ends in the middle" in refused(name)
        (tmp_path / name).write_bytes(flipped(packed, len(packed) - 6))
        assert "damaged" in refused(name)


@pytest.mark.parametrize("name", ["x.csv", "x.npy", "x.npz", "x.idx", "x.csv.gz", "x.csv.xz", "x.parquet", "x.feather"])
def test_random_damage_is_never_a_crash(assay, one_sentence, needs, tmp_path, name):
    """Whatever bytes change, the file is read (the change hit a value) or refused in one sentence."""
    needs(name)
    whole = {
        "x.csv": CSV[:2000],
        "x.npy": npy(),
        "x.npz": npz(),
        "x.idx": idx(),
        "x.csv.gz": gzip.compress(CSV),
        "x.csv.xz": lzma.compress(CSV),
        "x.parquet": PARQUET,
        "x.feather": FEATHER,
    }[name]
    draw = random.Random(name)
    for _ in range(25):
        damaged = bytearray(whole)
        for _ in range(draw.choice((1, 1, 4, 30))):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        (tmp_path / name).write_bytes(damaged)
        result = assay("describe", name, "--json")
        if result.returncode != 0:
            assert name in one_sentence(result)

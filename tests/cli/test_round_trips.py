"""Every format against NumPy and pyarrow, in both directions: what they write is read with exactly their values (as
float32), and what the program writes they read."""

import csv
import gzip
import io
import json
import lzma
import struct
import time

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

PACKINGS = ["", ".gz", ".xz"]
# The smallest and the largest of float32, a signed zero, numbers that need nine digits, and a missing value.
NUMBERS = np.array(
    [[0.1, -0.0, 1e-45], [16777216, 3.4028235e38, -1.17549435e-38], [np.nan, 1 / 3, 123456.789], [1, 2, 255]], "f4"
)
WORDS = ["plain", 'a "quoted", one', "two\nlines", "naïve 漢字 🙂", " blanks ", "a;b|c\td", "NA", "?", "-1"]


def unpack(path) -> bytes:
    content = path.read_bytes()
    return {".gz": gzip.decompress, ".xz": lzma.decompress}.get(path.suffix, bytes)(content)


def cells(path, delimiter=",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(unpack(path).decode(), newline=""), delimiter=delimiter, strict=True))


def numbers(rows) -> np.ndarray:
    return np.array([[float(cell or "nan") for cell in row] for row in rows]).astype("f4")


def read_idx(content: bytes) -> np.ndarray:
    kind = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}[content[2]]
    shape = struct.unpack(f">{content[3]}I", content[4 : 4 + 4 * content[3]])
    return np.frombuffer(content, kind, offset=4 + 4 * content[3]).reshape(shape)


def same_bits(found, expected):
    found = np.ascontiguousarray(found, "f4")
    expected = np.ascontiguousarray(expected, "f4")
    assert found.shape == expected.shape
    missing = np.isnan(expected)
    assert (np.isnan(found) == missing).all()
    assert (found.view("u4")[~missing] == expected.view("u4")[~missing]).all()


DTYPES = [
    "<f4",
    "<f8",
    "<f2",
    "|i1",
    "<i2",
    "<i4",
    "<i8",
    "|u1",
    "<u2",
    "<u4",
    "<u8",
    "|b1",
    ">f4",
    ">f8",
    ">i2",
    ">u8",
]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_npy_of_numpy(convert, tmp_path, dtype, order):
    draw = np.random.default_rng(7)
    kind = np.dtype(dtype).kind
    limits = (0, 1) if kind == "b" else (-1, 1) if kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    exact = draw.uniform(*map(float, limits), (60, 5)) * 0.99
    array = np.asarray(exact.round() if kind != "f" else exact).astype(dtype, order=order)
    np.save(tmp_path / "x.npy", array)
    rows = cells(convert("x.npy", "y.csv"))
    assert rows[0] == ["x1", "x2", "x3", "x4", "x5"]
    same_bits(numbers(rows[1:]), array.astype("f4"))
    back = np.load(convert("x.npy", "y.npy"))
    assert back.dtype == np.dtype("<f4")
    same_bits(back, array.astype("f4"))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(7,), (7, 1), (5, 3, 4), (4, 2, 3, 5)])
def test_npy_of_other_dimensions(convert, tmp_path, shape, order):
    """Rows are the first dimension; images get their dimensions back."""
    array = np.arange(np.prod(shape), dtype="f4").reshape(shape)
    np.save(tmp_path / "x.npy", np.asarray(array, order=order))
    same_bits(numbers(cells(convert("x.npy", "y.csv"))[1:]), array.reshape(shape[0], -1))
    back = np.load(convert("x.npy", "y.npy"))
    same_bits(back, array if len(shape) > 1 else array.reshape(-1, 1))


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("packing", PACKINGS)
def test_npz_of_numpy(convert, tmp_path, save, packing):
    draw = np.random.default_rng(3)
    x = np.asfortranarray(draw.normal(size=(40, 3)))
    y = draw.integers(0, 3, 40)
    content = io.BytesIO()
    save(content, x=x, y=y, features=np.array(["a", "ü", "c"]))
    pack = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}[packing]
    (tmp_path / f"x.npz{packing}").write_bytes(pack(content.getvalue()))
    rows = cells(convert(f"x.npz{packing}", "y.csv"))
    assert rows[0] == ["a", "ü", "c", "label"]
    same_bits(numbers(rows[1:])[:, :3], x)
    assert [row[3] for row in rows[1:]] == [str(label) for label in y]


def test_npz_with_text_labels(convert, described, tmp_path):
    np.savez(tmp_path / "x.npz", data=np.eye(3), target=np.array(["cat", "dog", "cat"]))
    assert [row[3] for row in cells(convert("x.npz", "y.csv"))] == ["label", "cat", "dog", "cat"]
    assert described("x.npz")["label"] == "label"


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize(("code", "dtype"), [(8, "u1"), (9, "i1"), (11, ">i2"), (12, ">i4"), (13, ">f4"), (14, ">f8")])
def test_idx_in(convert, tmp_path, code, dtype, packing):
    array = (np.arange(30) * 4).reshape(5, 2, 3).astype(dtype)
    content = bytes([0, 0, code, 3]) + struct.pack(">3I", *array.shape) + array.tobytes()
    pack = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}[packing]
    (tmp_path / f"some-idx3-ubyte{packing}").write_bytes(pack(content))
    same_bits(np.load(convert(f"some-idx3-ubyte{packing}", "y.npy")), array)


def test_idx_out_is_bytes_where_that_loses_nothing(convert, tmp_path):
    for array, kind in ((np.arange(24).reshape(2, 3, 4), "u1"), (np.array([[0.5, 1]]), "f4"), (-np.eye(2), "f4")):
        np.save(tmp_path / "x.npy", array)
        found = read_idx(convert("x.npy", "y.idx").read_bytes())
        assert found.dtype.newbyteorder("=") == np.dtype(kind)
        same_bits(found, array)


@pytest.fixture
def mixed(tmp_path):
    """A table of text and numbers with gaps, as the program gets it from CSV, and the same in Python's terms."""
    words = [*WORDS, None]
    amounts = [None, *range(len(WORDS))]
    lines = [["word", "amount"], *zip(words, amounts, strict=True)]
    # Everything in quotes but what is missing, which in quotes would be the empty text.
    cells = [["" if cell is None else '"' + str(cell).replace('"', '""') + '"' for cell in line] for line in lines]
    (tmp_path / "mixed.csv").write_text("".join(",".join(line) + "\n" for line in cells), newline="")
    return words, amounts


READERS = {
    "csv": lambda path: cells(path)[1:],
    "tsv": lambda path: cells(path, "\t")[1:],
    "psv": lambda path: cells(path, "|")[1:],
    "npy": lambda path: np.load(io.BytesIO(unpack(path)), allow_pickle=False),
    "npz": lambda path: np.load(io.BytesIO(unpack(path)), allow_pickle=False)["values"],
    "idx": lambda path: read_idx(unpack(path)),
    "parquet": lambda path: pa.parquet.read_table(io.BytesIO(unpack(path))),
    "feather": lambda path: pa.feather.read_table(io.BytesIO(unpack(path))),
}


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("extension", READERS)
def test_numbers_out_and_in(convert, tmp_path, extension, packing):
    np.save(tmp_path / "x.npy", NUMBERS)
    written = convert("x.npy", f"y.{extension}{packing}")
    found = READERS[extension](written)
    if extension in ("parquet", "feather"):
        assert found.schema.types == [pa.float32()] * 3
        assert found.column_names == ["x1", "x2", "x3"]
        assert found["x1"].null_count == 1
        found = np.column_stack([column.to_numpy() for column in found.columns])
    elif extension in ("csv", "tsv", "psv"):
        found = numbers(found)
    same_bits(found, NUMBERS)
    same_bits(np.load(convert(written.name, "back.npy")), NUMBERS)


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("extension", ["csv", "tsv", "psv", "npz", "parquet", "feather"])
def test_text_out_and_in(convert, mixed, extension, packing):
    words, amounts = mixed
    written = convert("mixed.csv", f"y.{extension}{packing}", "--label", "word")
    found = READERS[extension](written)
    if extension == "npz":
        arrays = np.load(io.BytesIO(unpack(written)), allow_pickle=False)
        meta = json.loads(str(arrays["meta"]))
        levels = meta["columns"][0]["levels"]
        assert levels == sorted(WORDS, key=str.encode)
        assert list(arrays["features"]) == ["word", "amount"]
        assert meta["label"] == 0
        pairs = [(None if np.isnan(code) else levels[int(code)], amount) for code, amount in found]
        assert [word for word, _ in pairs] == words
        same_bits([[amount] for _, amount in pairs], [[np.nan if a is None else a] for a in amounts])
    elif extension in ("parquet", "feather"):
        assert found.to_pydict() == {"word": words, "amount": amounts}
        assert pa.types.is_dictionary(found.schema.field("word").type)
    else:
        assert [row[0] or None for row in found] == words
        assert [row[1] for row in found] == ["" if amount is None else str(amount) for amount in amounts]
    back = cells(convert(written.name, "back.csv"))
    assert back == cells(convert("mixed.csv", "direct.csv"))
    assert [row[0] or None for row in back[1:]] == words


def test_ids_come_back(convert, described, tmp_path):
    (tmp_path / "x.csv").write_text("name,n\nZoë,1\n007,2\n")
    for extension in ("csv", "npz", "parquet", "feather"):
        convert("x.csv", f"y.{extension}", "--id", "name")
        found = described(f"y.{extension}", "--id", "name")
        assert found["id"] == "name" and [column["name"] for column in found["columns"]] == ["n"]
        assert cells(convert(f"y.{extension}", "z.csv", "--id", "name")) == [["name", "n"], ["Zoë", "1"], ["007", "2"]]


ARROW = pa.table(
    {
        "number": pa.array([0.1, None, 3.0, -4.5] * 25, pa.float64()),
        "whole": pa.array([1, 2, None, -4] * 25, pa.int16()),
        "flag": pa.array([True, False, None, True] * 25),
        "word": pa.array(["x", None, "naïve", 'a "b", c'] * 25),
        "level": pa.array(["lo", "hi", "lo", None] * 25).dictionary_encode(),
        "long": pa.array(["p", "q", "", None] * 25, pa.large_string()),
    }
)


@pytest.mark.parametrize("name", ["zstd.parquet", "plain.pq", "packed.parquet.gz", "lz4.feather", "raw.arrow"])
def test_tables_of_pyarrow(arrow_plugin, convert, described, tmp_path, name):
    """Nulls, text, dictionaries, several row groups and every usual compression."""
    file = io.BytesIO()
    if name in ("lz4.feather", "raw.arrow"):
        packing = "lz4" if name.startswith("lz4") else "uncompressed"
        pa.feather.write_feather(ARROW, file, compression=packing, chunksize=30)
    else:
        packing = "zstd" if name.startswith("zstd") else "snappy"
        pa.parquet.write_table(ARROW, file, compression=packing, row_group_size=30)
    (tmp_path / name).write_bytes(gzip.compress(file.getvalue()) if name.endswith(".gz") else file.getvalue())
    kinds = {column["name"]: (column["kind"], column["missing"]) for column in described(name)["columns"]}
    numeric, categorical = ("numeric", 25), ("categorical", 25)
    assert kinds == dict(zip(ARROW.column_names, [numeric] * 3 + [categorical] * 3, strict=True))
    found = pa.parquet.read_table(convert(name, "y.parquet")).to_pydict()
    for column in ("whole", "flag", "word", "level", "long"):
        assert found[column] == ARROW[column].to_pylist()
    expected = [None if value is None else float(np.float32(value)) for value in ARROW["number"].to_pylist()]
    assert found["number"] == expected


def test_same_table_same_bytes(convert, mixed, tmp_path):
    """Nothing of the time or the process is in an output file, so results can be compared byte by byte."""
    names = [f"y.{e}{p}" for e in ("csv", "npz", "parquet", "feather") for p in PACKINGS]
    first = {name: convert("mixed.csv", name).read_bytes() for name in names}
    time.sleep(1.1)  # gzip counts in seconds
    assert {name: convert("mixed.csv", name).read_bytes() for name in names} == first


@pytest.mark.parametrize("extension", ["csv", "tsv", "npz", "parquet", "feather"])
def test_the_empty_text_is_not_what_is_missing(convert, tmp_path, extension):
    """A category may be the empty text; it stays one on the way through every format, beside cells that are missing."""
    (tmp_path / "x.csv").write_text('word,n\n"",1\nx,2\n,3\n')
    written = convert("x.csv", f"y.{extension}")
    lines = convert(written.name, "z.csv").read_text().splitlines()
    assert lines == ["word,n", '"",1', "x,2", ",3"]

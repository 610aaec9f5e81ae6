"""Small sound files of every format, to be spoilt: fixtures of the repository, and files made here.

`python tests/hostile/seeds.py FOLDER [PROGRAM]` writes them into a folder for each fuzz target (tools/fuzz does)."""

import gzip
import hashlib
import io
import json
import lzma
import pathlib
import struct
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from mutators import zipped

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures"
MOST_BYTES = 12_000

CSV = b"size,colour,answer\n" + b"".join(b"%d.5,%s,%d\n" % (i, (b"red", b"green")[i % 2], i % 3) for i in range(20))
QUOTED = b'id;"a ""b""";c\r\n1;"x;y";-2e-3\r\n2;NA;"3\n4"\r\n'
GROUPS = {"all": ["sepal_length", "sepal_width"], "one": ["petal_length"]}
RULES = {"schema": "assay.rules/1", "rules": [{"criterion": "complexity", "explanation": "gradient", "most": 9}]}


def npy(shape, values, code="<f4", fortran="False"):
    head = f"{{'descr': '{code}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + values


def floats(count):
    return struct.pack(f"<{count}f", *range(count))


def text_array(text):
    return npy("()", text.encode("utf-32-le"), f"<U{len(text)}")


def tar(files):
    """Member name -> bytes; tarfile's plain ustar form, without times."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def idx(shape, code=8, data=None):
    count = 1
    for size in shape:
        count *= size
    sizes = b"".join(struct.pack(">I", size) for size in shape)
    return bytes([0, 0, code, len(shape)]) + sizes + (bytes(i % 256 for i in range(count)) if data is None else data)


def table_meta(names=("a", "b", "c")):
    columns = [{"name": name, "kind": "numeric", "levels": []} for name in names]
    columns[-1] = {"name": names[-1], "kind": "categorical", "levels": ["no", "yes"]}
    return json.dumps({"assay": "table", "columns": columns, "label": 2, "id": "", "item_shape": []})


def npz_files():
    rows = npy("(4, 3)", struct.pack("<12f", *[0, 1, 0, 1] * 3))
    own = [("values.npy", rows), ("meta.npy", text_array(table_meta()))]
    foreign = [("x.npy", npy("(4, 3)", floats(12))), ("y.npy", npy("(4,)", b"nnyy", "|S1"))]
    return [zipped(own, False), zipped(own, True), zipped(foreign, False)]


def explainer_files():
    """The file of a prepared explainer, and its JSON alone."""
    model = b"\x08\x09" * 20
    group = {"name": "a", "first": 0, "count": 2, "kind": "categorical", "levels": ["x", "y"]}
    meta = {
        "schema": "assay.explainer/1",
        "version": "0",
        "model": {
            "name": "m.onnx",
            "sha256": hashlib.sha256(model).hexdigest(),
            "unit": "margin",
            "texts": [{"column": 1, "texts": ["p", "q"]}],
        },
        "method": "kernel_shap",
        "options": [["samples", "50"]],
        "seed": 3,
        "target": {"kind": "predicted", "which": 0},
        "columns": {"names": ["a", "b"], "groups": [group], "item_shape": [2, 1]},
        "players": {"names": ["g"], "words": "groups given"},
        "reference": {"description": "2 rows", "rows": True, "scales": True, "strata": False, "drawn_from": 9},
        "pool_words": "pool",
        "pool": {
            "source": "pool",
            "part": "train",
            "label_name": "y",
            "labels": True,
            "class_names": ["no", "yes"],
            "id_name": "id",
            "ids": True,
            "row_numbers": False,
        },
        "front_end": "{}",
    }
    arrays = [
        ("meta.npy", text_array(json.dumps(meta))),
        ("model.npy", npy(f"({len(model)},)", model, "|u1")),
        ("players.npy", npy("(2,)", bytes(16), "<i8")),
        ("reference.npy", npy("(2, 2)", floats(4))),
        ("scales.npy", npy("(2,)", bytes(16), "<f8")),
        ("pool.npy", npy("(1, 2)", floats(2))),
        ("pool_labels.npy", npy("(1,)", bytes(8), "<f8")),
        ("pool_ids.npy", npy("(1,)", "r".encode("utf-32-le"), "<U1")),
    ]
    return [zipped(arrays, False), json.dumps(meta).encode()]


def arrow_files(name):
    """Empty where pyarrow is not installed."""
    try:
        import pyarrow as pa
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError:
        return []
    table = pa.table({"a": [0.5, None, 2.0] * 20, "b": ["x", "y", "x"] * 20, "n": list(range(60))})
    made = []
    for packing in ("NONE", "SNAPPY") if name == "parquet" else ("uncompressed", "lz4"):
        file = pa.BufferOutputStream()
        if name == "parquet":
            pa.parquet.write_table(table, file, compression=packing)
        else:
            pa.feather.write_feather(table, file, compression=packing)
        made.append(file.getvalue().to_pybytes())
    return made


def fixtures(*patterns):
    found = [path for pattern in patterns for path in sorted(FIXTURES.glob(pattern))]
    small = [path.read_bytes() for path in found if path.stat().st_size <= MOST_BYTES]
    # Weights in files of their own are not where the spoilt copy is.
    return [content for content in small if b"external_data" not in content and b"location" not in content]


TEMPLATES = [
    b'{"against": {"above": "{feature} of {value} is above {reference}"}, "for": "{rank} {share} {{}}"}',
    b'{"features": {"a": {"level": "{value}"}}}',
]


def make_kit(program, folder):
    """What commands need beside the file under test, made by the program: rows, models, explanations, studies."""

    def run(*arguments):
        subprocess.run([program, "--quiet", *arguments], cwd=folder, check=True, capture_output=True)

    (folder / "mixed.csv").write_bytes(CSV)
    run("data", "iris", "--split", "test", "--out", "test.csv")
    run("data", "iris", "--split", "train", "--out", "train.csv")
    short = ("--hidden", "4", "--training", "epochs=5")
    run("train", "--data", "train.csv", "--label", "species", *short, "--out", "m.onnx")
    run("train", "--data", "mixed.csv", "--label", "answer", "--categorical", "answer", *short, "--out", "mixed.onnx")
    rows = ("--data", "test.csv", "--label", "species", "--rows", "1-6", "--baseline", "zero")
    for name in ("phi.npz", "phi.json", "phi.csv"):
        more = ("--replicates", "5") if name == "phi.npz" else ()
        run("explain", "--model", "m.onnx", *rows, "--method", "lime:samples=8", "--out", name, *more)
    (folder / "phi.npy").write_bytes(npy("(6, 4)", floats(24)))
    run("aggregate", "--members", "phi.npz,phi.json", "--aggregator", "mean", "--out", "mean.json")
    study = ("--data", "test.csv", "--pool", "train.csv", "--label", "species", "--sample", "5", "--pool-sample", "20")
    study += ("--methods", "gradient,occlusion", "--aggregators", "mean", "--criteria", "complexity,max_sensitivity")
    for seed, name in (("0", "study"), ("1", "after")):
        run("--seed", seed, "study", "--model", "m.onnx", *study, "--out", name)
    (folder / "groups.json").write_text(json.dumps(GROUPS))
    (folder / "words.json").write_bytes(TEMPLATES[0])
    (folder / "rules.json").write_text(json.dumps(RULES))


def metadata_of(model, key):
    """A text that an ONNX file of ours holds beside its graph."""
    from mutators import read_fields

    for number, _, entry in read_fields(model):
        if number == 14 and (pair := dict((n, value) for n, _, value in read_fields(entry))).get(1) == key:
            return pair[2]
    raise KeyError(key)


def target_seeds(kit):
    """For each fuzz target its seeds. Without a kit those that only the program makes are left out."""
    texts = {"csv": [b"\x00" + CSV, b"\x06" + QUOTED, b"\x10" + CSV], "table_meta": [table_meta().encode()]}
    texts["npy"] = [npy("(4, 3)", floats(12)), npy("(2, 3)", bytes(24), "<i4", "True"), npy("(2,)", b"ab", "|S1")]
    texts["npz"] = npz_files()
    texts["explainer_file"] = explainer_files()
    texts["idx"] = [idx((6,)), idx((3, 2, 2))]
    texts["tar"] = [tar({"a/1.txt": b"Time,Parameter,Value\n", "b": b""}), tar({"long": bytes(513)})]
    texts["packed"] = [gzip.compress(CSV), lzma.compress(CSV), gzip.compress(CSV) * 2, CSV[:60]]
    texts["options"] = [
        b"kernel_shap:count=8:flag=true,convex:weights=[0.2,0.8]:radius=auto:size=3",
        b"a:word=b:share=1",
    ]
    texts["row_ranges"] = [b"1,5,10-20", b"1000,1-3"]
    texts["arrow"] = [bytes(range(256)), bytes(64)]
    texts["onnx"] = texts["graph"] = fixtures("**/*.onnx")
    texts["xgboost"] = fixtures("trees/*/model.json", "trees/*/model.ubj")
    texts["lightgbm"] = fixtures("trees/*/model.txt")
    texts["model_file"] = texts["onnx"][:8] + texts["xgboost"][:4] + texts["lightgbm"][:4]
    texts["groups"] = [b'{"g": ["a", "b"], "h": ["c"]}', b'{"g": ["1", "d"]}']
    texts["reason_templates"] = TEMPLATES
    texts["gate_rules"] = [json.dumps(RULES).encode()]
    texts["gate_rules"] += [b'{"schema": "assay.rules/1", "rules": [{"criterion": "a:x=1", "least_coverage": 0.5}]}']
    texts["html"] = [b"<b>&\"'</script><!--{{a}}\xe2\x80\xa8\x1b[31m", b"plain"]
    texts["difference"] = [b'{"a": [1, 2.5, "x"]}\x00{"a": [1, 2.6, "y"]}', b"a,b\n1,2\n\x00a,b\n1,3\n"]
    if kit is None:
        return texts
    study = kit / "study"
    texts["encoder"] = [metadata_of((kit / name).read_bytes(), b"assay.encoder") for name in ("m.onnx", "mixed.onnx")]
    texts["recipe"] = [metadata_of((kit / "m.onnx").read_bytes(), b"assay.training")]
    texts["explanations"] = [(kit / name).read_bytes() for name in ("phi.json", "mean.json")]
    texts["explanations_arrays"] = [(kit / name).read_bytes() for name in ("phi.npz", "phi.npy")]
    texts["explanations_meta"] = [json.dumps(json.loads(text)["meta"]).encode() for text in texts["explanations"]]
    texts["explanations_table"] = [(kit / "phi.csv").read_bytes(), b"a,b\n1,2\n"]
    texts["study_entry"] = [path.read_bytes() for path in sorted((study / "scores").iterdir())]
    for name, file in (
        ("study_summary", "study"),
        ("manifest", "manifest"),
        ("settings", "settings"),
        ("run_times", "run"),
    ):
        texts[name] = [(study / f"{file}.json").read_bytes()]
    return texts


def main(folder, program=None):
    with tempfile.TemporaryDirectory() as made:
        kit = pathlib.Path(made) if program else None
        if kit:
            make_kit(program, kit)
        for target, seeds in target_seeds(kit).items():
            (pathlib.Path(folder) / target).mkdir(parents=True, exist_ok=True)
            for number, content in enumerate(seeds):
                (pathlib.Path(folder) / target / str(number)).write_bytes(content)


if __name__ == "__main__":
    main(*sys.argv[1:])

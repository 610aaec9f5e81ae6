"""What comes from outside, how the program is made to read it, and what it may take for that.

A file of n bytes may take `base` + `multiple` * n bytes of memory (the largest resident set) and `seconds` +
`per_megabyte` * n / 10^6 of processor time until it is read or refused. docs/security.md shows this table to users;
tests/hostile/test_promises.py holds the two together."""

import dataclasses
import gzip
import lzma

import seeds

MIB = 1 << 20


@dataclasses.dataclass(frozen=True)
class Format:
    kind: str  # of mutators.EDITORS
    place: str  # where the spoilt file lies, in the folder that commands run in
    commands: tuple[tuple[str, ...], ...]
    sound: object  # kit -> files to begin with
    multiple: int = 64
    base: int = 64 * MIB
    seconds: float = 3.0
    per_megabyte: float = 3.0
    codes: tuple[int, ...] = (0, 1, 2)
    cases: int = 60  # in `make test`

    def most_memory(self, size):
        return self.base + self.multiple * size

    def most_seconds(self, size):
        return self.seconds + self.per_megabyte * size / 1e6


def table(kind, name, sound, **limits):
    return Format(kind, name, (("describe", name, "--json"), ("data", name, "--out", "out.npz")), sound, **limits)


def model(kind, name, sound, **limits):
    return Format(kind, name, (("inspect", name, "--json"), ("inspect", name)), sound, **limits)


def explanations(kind, name, sound, **limits):
    command = ("--json", "evaluate", "--explanations", name, "--criteria", "complexity,sparseness")
    return Format(kind, name, (command,), sound, **limits)


def kit_files(*names):
    return lambda kit: [(kit / name).read_bytes() for name in names]


COMPARED = (0, 1, 2, 3)  # 3: the studies differ, or a rule does not hold
TEXT = 192  # a column of a name of a few letters takes hundreds of bytes

ROWS = ("--data", "test.csv", "--label", "species", "--rows", "1-2", "--baseline", "zero")

FORMATS = {
    "csv": table("text", "x.csv", lambda kit: [seeds.CSV, seeds.QUOTED], multiple=TEXT, cases=150),
    "npy": table("bytes", "x.npy", lambda kit: seeds.target_seeds(None)["npy"][:2], cases=100),
    "npz": table("archive", "x.npz", lambda kit: seeds.npz_files(), cases=150),
    "idx": table("bytes", "x.idx", lambda kit: [seeds.idx((6,)), seeds.idx((3, 2, 2))]),
    "csv.gz": table("packed", "x.csv.gz", lambda kit: [gzip.compress(seeds.CSV)], multiple=TEXT),
    "csv.xz": table("packed", "x.csv.xz", lambda kit: [lzma.compress(seeds.CSV)], multiple=TEXT),
    "npy.gz": table("packed", "x.npy.gz", lambda kit: [gzip.compress(seeds.npy("(4, 3)", seeds.floats(12)))]),
    "parquet": table("bytes", "x.parquet", lambda kit: seeds.arrow_files("parquet"), base=256 * MIB),
    "feather": table("bytes", "x.feather", lambda kit: seeds.arrow_files("feather"), base=256 * MIB),
    "onnx": model("protobuf", "x.onnx", lambda kit: seeds.fixtures("**/*.onnx"), multiple=320, cases=400),
    "onnx of ours": Format(
        "protobuf",
        "x.onnx",
        (("predict", "--model", "x.onnx", "--data", "mixed.csv", "--label", "answer"),),
        kit_files("mixed.onnx"),
        multiple=320,
        cases=150,
    ),
    "xgboost.json": model("json", "x.json", lambda kit: seeds.fixtures("trees/xgboost*/model.json"), cases=150),
    "xgboost.ubj": model("bytes", "x.ubj", lambda kit: seeds.fixtures("trees/xgboost*/model.ubj"), cases=100),
    "lightgbm.txt": model("text", "x.txt", lambda kit: seeds.fixtures("trees/lightgbm*/model.txt"), cases=150),
    "explanations.json": explanations("json", "x.json", kit_files("phi.json", "mean.json"), cases=100),
    "explanations.npz": explanations("archive", "x.npz", kit_files("phi.npz"), cases=100),
    "explanations.npy": explanations("bytes", "x.npy", kit_files("phi.npy")),
    "explanations.csv": explanations("text", "x.csv", kit_files("phi.csv")),
    "groups": Format(
        "json",
        "x.json",
        (("explain", "--model", "m.onnx", *ROWS, "--method", "occlusion", "--groups", "x.json"),),
        kit_files("groups.json"),
    ),
    "reason templates": Format(
        "json", "x.json", (("reasons", "phi.npz", "--template", "x.json"),), kit_files("words.json")
    ),
    "gate rules": Format("json", "x.json", (("gate", "study", "x.json"),), kit_files("rules.json"), codes=COMPARED),
    "study.json": Format(
        "json",
        "study/study.json",
        (("gate", "study", "rules.json"), ("diff", "study", "after")),
        kit_files("study/study.json", "after/study.json"),
        codes=COMPARED,
        cases=100,
    ),
    "scores of a study": Format(
        "json",
        "study/scores/gradient.json",
        (("diff", "study", "after"),),
        kit_files("study/scores/gradient.json", "after/scores/gradient.json"),
        codes=COMPARED,
        cases=100,
    ),
    "manifest.json": Format(
        "json",
        "study/manifest.json",
        (("verify", "study", "--files-only"),),
        kit_files("study/manifest.json", "after/manifest.json"),
        codes=COMPARED,
    ),
    "settings.json": Format(
        "json",
        "study/settings.json",
        (("study", "--resume", "--out", "study", "--plan"),),
        kit_files("study/settings.json", "after/settings.json"),
    ),
    "run.json": Format(
        "json", "study/run.json", (("study", "--resume", "--out", "study"),), kit_files("study/run.json"), cases=20
    ),
}

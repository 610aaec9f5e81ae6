"""The house keeps its shape: data flows one way, siblings do not know each other, heavy headers stay in .cpp files.

The rules are those of docs/architecture.md. The scanner is tried on a small bad tree first, so that it can be seen
to fail."""

import pathlib
import re

import pytest

# A stage may include itself and the stages to its left.
STAGES = ["core", "data", "model", "explain", "evaluate", "aggregate", "study", "archive", "report"]

# What operators stand on, and what those of one family share.
OPERATOR_FAMILIES = {
    f"{name}.h" for name in ("kernel", "kernel_cost", "node_setup", "operators", "unary", "leaky", "integer_unary")
}
OPERATOR_FAMILIES |= {f"{name}.h" for name in ("broadcast", "extremum", "softmax", "movement", "reduce", "window")}
OPERATOR_FAMILIES |= {f"{name}.h" for name in ("pool", "two_by_two", "im2col", "matrix_product", "dense_layer")}
OPERATOR_FAMILIES |= {f"{name}.h" for name in ("classifier", "linear_model", "post_transform", "tabular")}
OPERATOR_FAMILIES |= {f"{name}.h" for name in ("ensemble", "ensemble_attributes", "by_element", "direct_conv")}

# Folders with one file per thing: these files do not include each other's headers, apart from what is shared here.
# A file may always include the header of its own name.
SHARED_HEADERS = {
    "assay/data/sets": {"common.h", "clinical.h"},  # clinical.h: what the intensive-care tables have in common
    "assay/model/ops": OPERATOR_FAMILIES,
    "assay/explain": {
        "common.h",
        "deeplift_common.h",
        "explainer.h",
        "explanations.h",
        "kept.h",
        "methods.h",
        "players.h",
        "reference.h",
        "subject.h",
        "target.h",
    },
    "assay/evaluate": {"common.h", "criterion.h", "criteria.h", "pool_explanations.h", "scores.h"},
    "assay/aggregate": {"common.h", "aggregator.h", "aggregators.h", "errors.h", "members.h"},
}

# The table of a folder, one line for each thing, is the one file that may know all of them.
TABLES = {"assay/model/ops/operators.cpp"}

# Third-party headers that cost seconds a file, or would make the public headers need another library.
HEAVY = re.compile(
    r"(Eigen|nlohmann(?!/json_fwd\.hpp)|fmt|spdlog|CLI|tbb|oneapi|hwy|Random123|protozero|arrow|parquet|coin)/|(zlib|lzma)\.h$"
)

MOST_LINES = 500
OURS = ["assay", "cli", "python", "plugins", "tests", "benchmarks", "examples", "fuzz", "tools", "cmake"]
SUFFIXES = {".h", ".cpp", ".py", ".cmake", ".txt", ".in", ".cu"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def stage_of(path: str) -> str | None:
    parts = pathlib.PurePosixPath(path).parts
    return parts[1] if len(parts) > 2 and parts[0] == "assay" else None


def includes(text: str) -> list[tuple[str, str]]:
    """(quote, path) of each include, comments left out."""
    return INCLUDE.findall(re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))


def include_problems(path: str, text: str) -> list[str]:
    """What a source file of ours includes although it may not."""
    problems = []
    own_stage, folder = stage_of(path), str(pathlib.PurePosixPath(path).parent)
    for quote, included in includes(text):
        stage = stage_of(included)
        if quote == '"' and not included.startswith(("assay/", "cli/")):
            problems.append(f"{path}: {included} is not named by its path from the root")
        if path.startswith("assay/") and included.startswith("cli/"):
            problems.append(f"{path}: the library includes the program's {included}")
        if own_stage and own_stage not in STAGES:
            problems.append(f"{path}: {own_stage} is no stage")
        elif own_stage and stage and (stage not in STAGES or STAGES.index(stage) > STAGES.index(own_stage)):
            problems.append(f"{path}: {own_stage} includes {included}, which is to its right")
        if folder in SHARED_HEADERS and path not in TABLES and str(pathlib.PurePosixPath(included).parent) == folder:
            name = pathlib.PurePosixPath(included)
            if name.name not in SHARED_HEADERS[folder] and name.stem != pathlib.PurePosixPath(path).stem:
                problems.append(f"{path}: includes its sibling {included}")
        if path.startswith("assay/") and path.endswith(".h") and HEAVY.search(included):
            problems.append(f"{path}: a header includes {included}")
    return problems


def header_problems(path: str, text: str) -> list[str]:
    problems = []
    if not text.startswith(("// ", "/*")):
        problems.append(f"{path}: does not open with a comment that says what it is")
    if not re.search(r"^#pragma once$", text, re.MULTILINE):
        problems.append(f"{path}: has no #pragma once")
    return problems


def scan(root: pathlib.Path) -> list[str]:
    problems = []
    for top in OURS:
        for file in sorted((root / top).rglob("*")):
            relative = file.relative_to(root)
            caches = any(part == "__pycache__" or part.startswith(".") for part in relative.parts[:-1])
            if not file.is_file() or (file.suffix not in SUFFIXES and "." in file.name) or caches:
                continue
            path, text = relative.as_posix(), file.read_text(encoding="utf-8")
            if text.count("\n") > MOST_LINES:
                problems.append(f"{path}: {text.count(chr(10))} lines, more than {MOST_LINES}")
            if top not in ("assay", "cli") or file.suffix not in (".h", ".cpp"):
                continue
            problems += include_problems(path, text)
            problems += header_problems(path, text) if file.suffix == ".h" else []
            for quote, included in includes(text):
                exists = (root / included).exists() or (root / f"{included}.in").exists()
                if quote == '"' and not exists:
                    problems.append(f"{path}: there is no {included}")
    return problems


def test_the_house_keeps_its_shape(root):
    problems = scan(root)
    assert not problems, "\n".join(problems)


def test_the_scanner_saw_the_house(root):
    """An empty list of problems means something only if the files were looked at."""
    seen = [path for path in (root / "assay").rglob("*.cpp")]
    assert len(seen) > 20
    assert any(included.startswith("assay/core/") for path in seen for _, included in includes(path.read_text()))


def test_the_build_knows_the_stages_in_this_order(root):
    listed = re.search(r"set\(ASSAY_STAGES ([^)]*)\)", (root / "CMakeLists.txt").read_text())[1].split()
    assert listed == [stage for stage in STAGES if stage in listed]
    folders = {path.name for path in (root / "assay").iterdir() if path.is_dir()}
    assert folders == set(listed)


OPENING = "// What this is.\n#pragma once\n"
BAD = {
    "assay/core/matrix.h": (OPENING + '#include "assay/data/table.h"\n', "to its right"),
    "assay/core/error.cpp": ('#include "assay/report/html.h"\n', "to its right"),
    "assay/data/table.cpp": ('  #  include "assay/model/model.h"\n', "to its right"),
    "assay/study/run.cpp": ('#include "assay/archive/folder_store.h"\n', "to its right"),
    "assay/archive/study_files.cpp": ('#include "assay/report/report_html.h"\n', "to its right"),
    "assay/explain/lime.cpp": ('#include "assay/explain/occlusion.h"\n', "its sibling"),
    "assay/evaluate/faithfulness.h": (OPENING + '#include "assay/evaluate/complexity.h"\n', "its sibling"),
    "assay/data/sets/adult.cpp": ('#include "assay/data/sets/iris.h"\n', "its sibling"),
    "assay/model/ops/relu.cpp": ('#include "assay/model/ops/gemm.h"\n', "its sibling"),
    "assay/core/text.h": (OPENING + "#include <fmt/format.h>\n", "a header includes"),
    "assay/data/io/gz.h": (OPENING + "#include <zlib.h>\n", "a header includes"),
    "assay/core/solve.h": (OPENING + "#include <Eigen/Dense>\n", "a header includes"),
    "assay/core/open.h": ("#pragma once\nint f();\n", "open with a comment"),
    "assay/core/once.h": ("// What this is.\nint f();\n", "no #pragma once"),
    "assay/core/relative.cpp": ('#include "error.h"\n', "path from the root"),
    "assay/core/shows.cpp": ('#include "cli/terminal.h"\n', "the program's"),
    "assay/misc/things.cpp": ('#include "assay/core/error.h"\n', "no stage"),
    "assay/core/gone.cpp": ('#include "assay/core/no_such_file.h"\n', "there is no"),
    "assay/core/long.cpp": ("int x;\n" * 501, "more than 500"),
    "tools/long_script": ("true\n" * 501, "more than 500"),
}


@pytest.mark.parametrize("path", BAD)
def test_each_rule_can_be_broken(tmp_path, path):
    text, word = BAD[path]
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(text)
    assert any(word in problem and problem.startswith(path) for problem in scan(tmp_path))


GOOD = {
    "assay/core/matrix.h": OPENING + "#include <vector>\n",
    "assay/core/version.h.in": "// x\n",
    "assay/data/table.h": OPENING + '#include "assay/core/matrix.h"\n#include "assay/core/version.h"\n',
    "assay/data/sets/common.h": OPENING + '#include "assay/data/table.h"\n',
    "assay/data/sets/adult.cpp": '#include "assay/data/sets/common.h"\n#include <fmt/format.h>\n',
    "assay/explain/games/game.h": OPENING,
    "assay/explain/lime.h": OPENING,
    "assay/explain/lime.cpp": '#include "assay/explain/lime.h"\n#include "assay/explain/games/game.h"\n',
    "assay/explain/methods.cpp": '/*\n#include "assay/report/html.h"\n*/\n',
    "cli/main.cpp": '#include "assay/explain/lime.h"\n',
}


def test_what_is_allowed_is_no_problem(tmp_path):
    for path, text in GOOD.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert scan(tmp_path) == []

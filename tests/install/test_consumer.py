"""What `cmake --install` leaves is complete: a program elsewhere finds it, compiles against its headers and runs."""

import os
import pathlib
import re
import subprocess

import pytest


def run(*command, **options):
    result = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=300, **options)
    assert result.returncode == 0, f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}"
    return result.stdout


@pytest.fixture(scope="module")
def build(program) -> pathlib.Path:
    folder = pathlib.Path(program).resolve().parent
    if not (folder / "cmake_install.cmake").exists():
        pytest.skip(f"{folder} is no build folder")
    return folder


@pytest.fixture(scope="module")
def installed(build, tmp_path_factory) -> pathlib.Path:
    prefix = tmp_path_factory.mktemp("install") / "prefix"
    run("cmake", "--install", build, "--prefix", prefix)
    return prefix


def test_consumer_builds_and_runs(installed, root, tmp_path):
    """examples/consumer, copied out of the checkout so that nothing but the installed tree can be found."""
    for file in (root / "examples" / "consumer").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    generator = ["-G", "Ninja"] if any(os.access(f"{p}/ninja", os.X_OK) for p in os.get_exec_path()) else []
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", *generator, f"-DCMAKE_PREFIX_PATH={installed}")
    run("cmake", "--build", tmp_path / "build")
    run(installed / "bin" / "assay", "--quiet", "train", "--data", "iris", "--out", "iris.onnx", cwd=tmp_path)
    lines = run(tmp_path / "build" / "consumer", "iris.onnx", cwd=tmp_path).splitlines()
    # Three explanations, each a heading and three flowers of three classes.
    assert [line.split(":")[0] for line in lines[::4]] == ["kernel_shap", "integrated_gradients", "mean"]
    for heading in lines[::4]:
        assert 0.8 < float(heading.split()[-1]) <= 1
    assert [line.split(":")[0].strip() for line in lines[1:4]] == ["setosa", "versicolor", "virginica"]
    assert all(line.count("petal") == 2 for line in lines[1:4])


def test_the_program_is_short_and_stands_in_the_docs(root):
    program = (root / "examples" / "consumer" / "main.cpp").read_text()
    assert len(program.splitlines()) <= 40
    assert f"```cpp\n{program}```" in (root / "docs" / "cpp.md").read_text()


def includes_of(header, root, build):
    path = root / header if (root / header).exists() else build / "generated" / header
    return re.findall(r'^#include "(assay/[^"]+)"', path.read_text(), re.MULTILINE)


def test_only_public_headers_are_installed_and_they_are_alone_enough(installed, build, root, tmp_path):
    """assay/assay.h and what it includes, each of which compiles by itself, with the standard library alone."""
    public, pending = set(), ["assay/assay.h"]
    while pending:
        header = pending.pop()
        if header not in public:
            public.add(header)
            pending += includes_of(header, root, build)
    include = installed / "include"
    assert {path.relative_to(include).as_posix() for path in include.rglob("*.h")} == public
    source = tmp_path / "all.cpp"
    source.write_text("".join(f'#include "{header}"\n' for header in sorted(public)) + "int main() {}\n")
    compiler = os.environ.get("CXX", "c++")
    run(compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Werror", "-I", include, source)


def test_nothing_points_back_into_the_checkout(installed, build, root):
    for file in (installed).rglob("*.cmake"):
        text = file.read_text()
        assert str(root) not in text and str(build) not in text, file


def test_installed_program_runs(installed, root, tmp_path):
    version = run(installed / "bin" / "assay", "--version", cwd=tmp_path)
    assert re.fullmatch(r"assay \d+\.\d+\.\d+\n", version)
    asked = re.search(r"project\(assay VERSION ([\d.]+)", (root / "CMakeLists.txt").read_text())[1]
    assert version == f"assay {asked}\n"
    assert "150 rows" in run(installed / "bin" / "assay", "describe", "iris", cwd=tmp_path)


def test_installed_program_finds_its_arrow_plugin(installed, build, tmp_path):
    if not (build / "libassay_arrow.so").exists():
        pytest.skip("the Arrow plugin was not built")
    environment = {name: value for name, value in os.environ.items() if name != "ASSAY_PLUGIN_DIR"}
    assay = installed / "bin" / "assay"
    run(assay, "data", "iris", "--out", "iris.parquet", cwd=tmp_path, env=environment)
    assert '"rows": 150' in run(assay, "describe", "iris.parquet", "--json", cwd=tmp_path, env=environment)


def test_without_the_plugin_the_error_says_how_to_get_it(program, tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    environment = {**os.environ, "ASSAY_PLUGIN_DIR": str(tmp_path)}
    for command in (["describe", "x.parquet"], ["data", "iris", "--out", "y.feather"]):
        result = subprocess.run([program, *command], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert result.returncode == 1
        assert re.fullmatch(r"assay: [^\n]*Arrow plugin[^\n]*make build[^\n]*ASSAY_PLUGIN_DIR[^\n]*\n", result.stderr)
    assert [path.name for path in tmp_path.iterdir()] == ["x.parquet"]

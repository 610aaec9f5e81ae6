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
    assert run(tmp_path / "build" / "consumer", cwd=tmp_path) == "iris has 150 rows and 5 columns\n"


def test_public_headers_are_all_there_and_alone_enough(installed, root, tmp_path):
    """Every header of the library is installed and compiles by itself, with the standard library alone."""
    include = installed / "include"
    headers = {path.relative_to(root).as_posix() for path in (root / "assay").rglob("*.h")} | {"assay/core/version.h"}
    found = {path.relative_to(include).as_posix() for path in include.rglob("*.h")}
    assert headers <= found
    source = tmp_path / "all.cpp"
    source.write_text("".join(f'#include "{header}"\n' for header in sorted(headers)) + "int main() {}\n")
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

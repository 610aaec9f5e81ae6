"""What pip is told about the package, and what it would take with it. tests/long/test_wheel.py builds the wheel."""

import re
import subprocess
import sys
import tarfile

import pytest

try:
    import tomllib
except ModuleNotFoundError:
    pytest.skip("tomllib: Python 3.11 or later reads pyproject.toml", allow_module_level=True)


@pytest.fixture(scope="module")
def project(root) -> dict:
    return tomllib.loads((root / "pyproject.toml").read_text())


def backend(root, hook: str, folder) -> str:
    """The last line that a hook of the build backend prints: the name of what it made."""
    code = f"import scikit_build_core.build as b; print(b.{hook}({str(folder)!r}))"
    result = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "WARNING" not in result.stderr, result.stderr
    return result.stdout.splitlines()[-1]


def test_what_builds_the_package_is_what_the_tests_have(project, root):
    """The pins of pyproject.toml are those of the environment that `make test` and `make wheel` build in."""
    pinned = set((root / "tools" / "requirements" / "test.txt").read_text().splitlines())
    assert set(project["build-system"]["requires"]) <= pinned


def test_version_comes_from_the_one_place(root, tmp_path):
    name = backend(root, "prepare_metadata_for_build_wheel", tmp_path)
    metadata = (tmp_path / name / "METADATA").read_text()
    version = re.search(r"project\(assay VERSION ([\d.]+)", (root / "CMakeLists.txt").read_text())[1]
    assert f"\nName: assay-xai\nVersion: {version}\n" in metadata
    assert re.findall(r"^Requires-Dist: ([\w-]+)[^;]*$", metadata, re.MULTILINE) == ["numpy"]
    assert (tmp_path / name / "entry_points.txt").read_text().split("\n")[:2] == [
        "[console_scripts]",
        "assay = assay._command:main",
    ]


def test_extras_that_messages_name_exist(project, root):
    """`pip install assay-xai[extra]`, as an ImportError says it, asks for an extra that there is."""
    extras = project["project"]["optional-dependencies"]
    text = "".join(path.read_text() for path in (root / "python" / "assay").glob("*.py"))
    named = set(re.findall(r"assay-xai\[(\w+)\]", text)) | set(re.findall(r'needed\("\w+", "(\w+)"', text))
    assert {"pandas", "plots", "shap"} <= named <= set(extras)
    # The engines are hundreds of megabytes, and those who run them have them.
    assert extras["all"] == [f"assay-xai[{','.join(sorted(set(extras) - {'all', 'ray', 'spark'}))}]"]


def test_source_distribution_is_the_checkout(root, tmp_path):
    """Everything that a build needs, and nothing that one left behind."""
    with tarfile.open(tmp_path / backend(root, "build_sdist", tmp_path)) as archive:
        files = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    assert {"CMakeLists.txt", "python/CMakeLists.txt", "python/assay/_core.pyi", "LICENSE", "pyproject.toml"} <= files
    for folder in ("assay", "cli", "cmake", "python/src", "python/assay", "plugins"):
        ours = {path.relative_to(root).as_posix() for path in (root / folder).rglob("*") if path.is_file()}
        assert {path for path in ours if "__pycache__" not in path and "/." not in path} <= files, folder
    assert not [name for name in files if name.startswith("build/") or "__pycache__" in name or name.endswith(".so")]

"""`make wheel`: what comes out holds the package and the libraries that it needs, and nothing of where it was built."""

import functools
import os
import pathlib
import re
import subprocess
import zipfile

import pytest


@functools.cache
def made_wheel(root: pathlib.Path) -> pathlib.Path:
    """Making it installs it into an empty environment and runs tests/install/smoke.py there."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MAKEFLAGS")}
    made = subprocess.run(["make", "wheel"], cwd=root, env=environment, capture_output=True, text=True, timeout=3600)
    assert made.returncode == 0, made.stdout + made.stderr
    assert "explained 150 rows of iris" in made.stdout
    assert "manylinux" in made.stdout
    (path,) = (root / "build" / "wheel").glob("*.whl")
    return path


@pytest.fixture
def wheel(root) -> pathlib.Path:
    """Of the scope of one test: a wider one would build before the tests of this folder are skipped."""
    return made_wheel(root)


def test_holds_the_package_and_its_libraries_alone(wheel, root):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    assert {name.partition("/")[0] for name in names} == {
        "assay",
        "assay_xai.libs",
        f"{'-'.join(wheel.name.split('-')[:2])}.dist-info",
    }
    modules = {path.name for path in (root / "python" / "assay").iterdir() if path.is_file()}
    packed = {name.partition("/")[2] for name in names if name.startswith("assay/")}
    extension = {name for name in packed if re.fullmatch(r"_core\..*so", name)}
    assert packed == modules | extension | {"bin/assay"} and len(extension) == 1
    libraries = {re.match(r"(lib\w+)-", name.rpartition("/")[2])[1] for name in names if "assay_xai.libs/" in name}
    assert libraries == {"libfmt", "libhwy", "liblzma"}


def test_tells_nothing_of_where_it_was_built(wheel, root):
    home = str(pathlib.Path.home()).encode()
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            assert str(root).encode() not in content, name
            assert len(home) < 3 or home + b"/" not in content, name


def test_program_keeps_its_permission(wheel):
    with zipfile.ZipFile(wheel) as archive:
        assert archive.getinfo("assay/bin/assay").external_attr >> 16 & 0o111 == 0o111

"""Explanations in Parquet and Feather files without the engine's plugin: by pyarrow, in the engine's own columns."""

import sys

import numpy as np
import pytest

import assay


@pytest.fixture
def no_plugin(monkeypatch, tmp_path):
    monkeypatch.setenv("ASSAY_PLUGIN_DIR", str(tmp_path / "none"))


def full(**more):
    """Every column that a table of explanations can have, with undefined numbers and names like those of others."""
    values = np.array([[1, -2, 0.1], [3, 4, np.nan], [1e-30, 7, 1 / 3]], np.float32)
    said = {"features": ["target", "b,\n", "1"], "base": 0.1, "output": [1, np.nan, 3], "target": ["1", "0", "1"]}
    said |= {"standard_error": np.abs(values), "ids": ["007", "", "x"]}
    return assay.Explanations.from_array(values, **(said | more))


def columns_of(e):
    numbers = [e.values, e.output.astype(np.float32), e.base.astype(np.float32), e.gap.astype(np.float32)]
    numbers += [part for part in (e.standard_error, e.background_error) if part is not None]
    words = [e.features, e.ids, None if e.target is None else e.target.tolist()]
    return [np.nan_to_num(each, nan=-99).tolist() for each in numbers], words


def test_the_columns_are_those_of_the_engine(tmp_path, no_plugin):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow reads these files")
    full().save(tmp_path / "e.parquet")
    table = parquet.read_table(tmp_path / "e.parquet")
    features = ["target (feature)", "b,\n", "1"]
    assert table.column_names == ["id", "target", "output", "base", "gap", *features] + [
        f"{f} (stderr)" for f in features
    ]
    types = ["string", "dictionary<values=string, indices=int32, ordered=0>"] + ["float"] * 9
    assert [str(each) for each in table.schema.types] == types
    # Undefined numbers are nulls.
    assert table.column("output").to_pylist() == [1, None, 3] and table.column("1").null_count == 1
    assert table.schema.metadata[b"assay.id"] == b"id"


@pytest.mark.parametrize("extension", ["parquet", "pq", "feather", "arrow"])
@pytest.mark.parametrize("more", [{}, {"ids": None}, {"target": None, "standard_error": None}], ids=str)
def test_pyarrow_stands_in_for_the_plugin(tmp_path, no_plugin, monkeypatch, root, extension, more):
    pytest.importorskip("pyarrow", reason="pyarrow writes these files")
    made = full(**more)
    path = tmp_path / f"e.{extension}"
    made.save(path)
    assert columns_of(assay.Explanations.load(path)) == columns_of(made)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    if not (root / "build" / "libassay_arrow.so").exists():
        return  # `pip install .` builds no plugin to compare with
    monkeypatch.setenv("ASSAY_PLUGIN_DIR", str(root / "build"))
    engine = assay.Explanations.load(path)
    assert columns_of(engine) == columns_of(made)
    engine.save(path)  # and the other way round
    monkeypatch.setenv("ASSAY_PLUGIN_DIR", str(tmp_path / "none"))
    assert columns_of(assay.Explanations.load(path)) == columns_of(made)


def test_pyarrow_reads_errors_of_the_background_and_tables_of_others(tmp_path, no_plugin):
    arrow = pytest.importorskip("pyarrow", reason="pyarrow reads these files")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow reads these files")
    train, test = assay.dataset("iris", split="train"), assay.dataset("iris", split="test")
    made = assay.explain(assay.train(train), test, "kernel_shap", pool=train, background="pool:7")
    assert made.background_error is not None
    made.save(tmp_path / "e.parquet")
    assert columns_of(assay.Explanations.load(tmp_path / "e.parquet")) == columns_of(made)
    parquet.write_table(arrow.table({"a": [1.5, None], "1": [2, 3]}), tmp_path / "m.parquet")
    other = assay.Explanations.load(tmp_path / "m.parquet")
    np.testing.assert_array_equal(other.values, np.array([[1.5, 2], [np.nan, 3]], np.float32))
    assert other.features == ["a", "1"] and other.target is None
    (tmp_path / "no.parquet").write_bytes(b"no table" * 9)
    with pytest.raises(ValueError, match=r"no\.parquet: expected a parquet file, found "):
        assay.Explanations.load(tmp_path / "no.parquet")
    with pytest.raises(ValueError, match="'a \\(stderr\\)' twice"):
        twice = assay.Explanations.from_array(np.ones((1, 2)), features=["a", "a (stderr)"], standard_error=[[1, 1]])
        twice.save(tmp_path / "twice.parquet")
    assert not (tmp_path / "twice.parquet").exists()


def test_without_plugin_and_pyarrow_it_is_said_what_to_install(tmp_path, no_plugin, monkeypatch):
    for name in ("pyarrow", "pyarrow.parquet", "pyarrow.feather"):
        monkeypatch.setitem(sys.modules, name, None)
    (tmp_path / "e.parquet").write_bytes(b"PAR1")
    for use in (full().save, assay.Explanations.load):
        with pytest.raises(ImportError, match=r"needs pyarrow: pip install assay-xai\[arrow\]$"):
            use(tmp_path / "e.parquet")
    assert (tmp_path / "e.parquet").read_bytes() == b"PAR1"

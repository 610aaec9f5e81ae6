"""assay.batch: results do not depend on how rows are parted, on the process or on threads; bad batches are refused."""

import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import assay
import assay.batch

pa = pytest.importorskip("pyarrow", reason="batches are Arrow's")
pd = pytest.importorskip("pandas", reason="batches may be DataFrames")

TRAIN = assay.dataset("iris", split="train")
FEATURES = TRAIN.features
FRAME = pd.DataFrame({"row_id": np.arange(100, 100 + len(TRAIN)), **{name: TRAIN[name] for name in FEATURES}})
FRAME["note"] = [None] * len(TRAIN)  # a column that nobody asked for, of a type that no model takes
TABLE = pa.Table.from_pandas(FRAME, preserve_index=False)


@pytest.fixture(scope="module")
def model():
    return assay.train(TRAIN)


@pytest.fixture(scope="module")
def job(model):
    return assay.batch.job(
        model,
        ["kernel_shap:samples=12", "gradient"],
        pool=FRAME[FEATURES],
        background="pool:10",
        target="predicted",
        id="row_id",
        aggregators=["mean"],
        criteria=["complexity", "faithfulness"],
    )


def same_bits(first, second):
    assert first.schema == second.schema and first.num_rows == second.num_rows
    for name in first.schema.names:
        a, b = first[name].combine_chunks(), second[name].combine_chunks()
        if pa.types.is_floating(a.type):
            a, b = a.to_numpy(zero_copy_only=False).tobytes(), b.to_numpy(zero_copy_only=False).tobytes()
        assert a == b, name


def test_results_are_those_of_explain(model, job):
    found = job.open()(TABLE)
    assert found.schema == job.schema and found["row_id"].to_pylist() == list(FRAME["row_id"])
    said = dict(pool=FRAME[FEATURES], background="pool:10", target="predicted")
    members = []
    for method in ("kernel_shap", "gradient"):
        options = {"samples": 12} if method == "kernel_shap" else {}
        made = assay.explain(model, FRAME[FEATURES], method, **said, **options)
        members.append(made)
        columns = np.stack([found[f"{method}_{name}"].to_numpy() for name in FEATURES], axis=1)
        assert columns.tobytes() == made.values.tobytes()
        assert found[f"{method}_output"].to_numpy().tobytes() == made.output.tobytes()
        assert found[f"{method}_target"].to_pylist() == list(made.target)
        scores = assay.evaluate(made, ["complexity", "faithfulness"])
        for name in scores:
            assert found[f"{method}_{name}"].to_numpy().tobytes() == scores[name].values.tobytes()
    errors = np.stack([found[f"kernel_shap_{name}_stderr"].to_numpy() for name in FEATURES], axis=1)
    assert errors.tobytes() == members[0].standard_error.tobytes()
    mean = assay.aggregate(members, "mean")
    columns = np.stack([found[f"mean_{name}"].to_numpy() for name in FEATURES], axis=1)
    assert columns.tobytes() == mean.values.tobytes()


@pytest.mark.parametrize("rows", [1, 7, 64, 65_536])
@pytest.mark.parametrize("threads", [1, 2])
def test_parts_do_not_matter(job, rows, threads):
    session = pickle.loads(pickle.dumps(job)).open(threads)
    parts = [session(batch) for batch in TABLE.to_batches(max_chunksize=rows)]
    same_bits(pa.Table.from_batches(parts), job.open()(TABLE))


@pytest.mark.parametrize(
    "method", [each.name for each in assay.methods() if each.name not in ("tree_shap", "tree_shap_path")]
)
def test_every_method_has_one_result(model, method):
    made = assay.batch.job(model, method, pool=FRAME[FEATURES], background="pool:5", id="row_id")
    parts = [made.open()(batch) for batch in TABLE.slice(0, 12).to_batches(max_chunksize=5)]
    same_bits(pa.Table.from_batches(parts), pickle.loads(pickle.dumps(made)).open(2)(TABLE.slice(0, 12)))


def test_another_process_finds_the_same(job, tmp_path):
    (tmp_path / "job").write_bytes(job.to_bytes())
    with pa.OSFile(str(tmp_path / "rows.arrow"), "wb") as file, pa.ipc.new_file(file, TABLE.schema) as writer:
        writer.write_table(TABLE)
    script = (
        "import assay.batch, pyarrow as pa\n"
        "job = assay.batch.Job.from_bytes(open('job', 'rb').read())\n"
        "made = job.open()(pa.ipc.open_file('rows.arrow').read_all())\n"
        "with pa.OSFile('made.arrow', 'wb') as file, pa.ipc.new_file(file, made.schema) as writer:\n"
        "    writer.write_table(made)\n"
        "print(job.hash)\n"
    )
    package = str(pathlib.Path(assay.__file__).parents[1])
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": package})  # fmt: skip
    assert done.stdout.strip() == job.hash
    same_bits(pa.ipc.open_file(str(tmp_path / "made.arrow")).read_all(), job.open()(TABLE))


def test_frames_give_frames(job):
    made = job.open()(FRAME)
    assert isinstance(made, pd.DataFrame)
    same_bits(pa.Table.from_pandas(made, schema=job.schema, preserve_index=False), job.open()(TABLE))


def test_a_file_and_one_method(model, tmp_path):
    model.save(tmp_path / "m.onnx")
    made = assay.batch.job(
        tmp_path / "m.onnx", "occlusion", pool=FRAME[FEATURES], baseline="mean", target=1, id="row_id"
    )
    assert made.schema.names[:3] == ["row_id", "output", "base"] and set(FEATURES) < set(made.schema.names)
    assert made.ddl.startswith("`row_id` BIGINT, `output` DOUBLE, `base` DOUBLE, ")
    named = assay.batch.job(model, "gradient", id="row_id", prefix="phi_")
    assert "phi_petal_width" in named.schema.names


def test_empty_batches_have_the_schema(job):
    for empty in (TABLE.slice(0, 0), TABLE.slice(0, 0).to_batches() or [pa.RecordBatch.from_pylist([], TABLE.schema)]):
        made = job.open()(empty if isinstance(empty, pa.Table) else empty[0])
        assert made.num_rows == 0 and made.schema == job.schema


WITHOUT = TABLE.slice(0, 4)
NAMES = pa.array(["a", "b", "c", "d"])


@pytest.mark.parametrize(
    ("batch", "sentence"),
    [
        (WITHOUT.drop(["row_id"]), "batch: expected a column 'row_id', found 'sepal_length'"),
        (WITHOUT.drop(["petal_width"]), "batch: expected a column 'petal_width', found 'row_id'"),
        (
            WITHOUT.set_column(0, "row_id", NAMES),
            "batch, column 'row_id': expected int64, as the job has it, found string",
        ),
        (
            WITHOUT.set_column(0, "row_id", pa.array([1, None, 3, 4])),
            "batch, row 2, column 'row_id': expected the name of the row, found none",
        ),
        (
            WITHOUT.set_column(0, "row_id", pa.array([1, 2, 3, 2])),
            "batch, column 'row_id': expected a name of its own for each row, found 2 twice",
        ),
        (WITHOUT.set_column(2, "sepal_width", NAMES), "'sepal_width': expected a number, found 'a'"),
        (
            WITHOUT.set_column(2, "sepal_width", pa.array([0, 1, 2, 3], pa.date32())),
            "expected numbers, booleans or text, found dates; the first row of this batch has row_id 100",
        ),
        (WITHOUT.append_column("row_id", NAMES), "batch: expected one column 'row_id', found 2"),
        (np.zeros((2, 5)), "batch: expected an Arrow record batch, a table or a DataFrame, found ndarray"),
    ],
    ids=["no id", "no feature", "type", "null", "double", "text", "dates", "columns", "array"],
)
def test_bad_batches_get_a_sentence(job, batch, sentence):
    with pytest.raises(ValueError) as problem:
        job.open()(batch)
    assert sentence in str(problem.value) and "\n" not in str(problem.value)


def test_a_missing_cell_is_what_explain_makes_of_it(model, job):
    missing = WITHOUT.set_column(1, "sepal_length", pa.array([5.0, None, 5.0, 5.0]))
    expected = assay.explain(model, missing.select(FEATURES), "gradient", target="predicted")
    found = job.open()(missing)
    assert found["gradient_petal_width"].to_numpy().tobytes() == np.array(expected["petal_width"]).tobytes()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"id": "petal_width"}, "id: expected a column that is no feature, found 'petal_width', which the model takes"),
        ({"id": ""}, "id: expected the name of a column, found ''"),
        ({"methods": []}, "methods: expected one or more, found none"),
        ({"methods": "magic"}, "magic"),
        (
            {"methods": ["kernel_shap:samples=12", "kernel_shap:samples=14"]},
            "methods: expected each method once, found kernel_shap twice; make a job for each",
        ),
        ({"criteria": "complexity"}, "pool: expected two rows or more, to try whether criteria"),
        ({"aggregators": "mean"}, "aggregators: expected two methods or more to aggregate, found 1 method"),
        ({"id_type": "float"}, "column 'row_id': expected int64 or int32 or string, found float"),
        ({"id": "output"}, "prefix: expected one that keeps all columns apart, found 'output' twice"),
    ],
)
def test_bad_jobs_get_a_sentence(model, arguments, sentence):
    said = {"methods": "gradient", "id": "row_id", **arguments}
    with pytest.raises(ValueError) as problem:
        assay.batch.job(model, said.pop("methods"), **said)
    assert sentence in str(problem.value)


def test_a_model_that_python_runs_cannot_be_sent():
    made = assay.batch.job(
        assay.wrap(lambda rows: rows.sum(axis=1)), "occlusion", pool=FRAME[FEATURES], id="row_id", features=FEATURES
    )
    with pytest.raises(assay.UnsupportedError, match="which Python runs"):
        made.to_bytes()


TOGETHER = "expected what can be told from one row alone, found"


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"criteria": "max_sensitivity"}, f"criteria: {TOGETHER} max_sensitivity, which looks at the other rows"),
        ({"criteria": "max_sensitivity"}, "; with a number for radius it does not"),
        ({"criteria": ["complexity", "separability"]}, f"criteria: {TOGETHER} separability, which"),
        ({"aggregators": ["mean", "pareto"]}, f"aggregators: {TOGETHER} pareto, which"),
        ({"aggregators": "convex_min"}, "; with per=row and a number for radius it does not"),
    ],
)
def test_what_looks_at_other_rows_is_refused(model, said, sentence):
    methods = ["gradient", "occlusion", "deeplift"]
    with pytest.raises(ValueError) as problem:
        assay.batch.job(model, methods, pool=FRAME[FEATURES], id="row_id", target="predicted", **said)
    assert sentence in str(problem.value)


def test_with_options_they_look_at_one_row(model):
    said = dict(pool=FRAME[FEATURES], id="row_id", target="predicted")
    made = assay.batch.job(
        model,
        ["gradient", "occlusion"],
        criteria="max_sensitivity:radius=0.7",
        aggregators="convex_min:per=row:radius=0.7",
        **said,
    )
    session, rows = made.open(), TABLE.slice(40, 20)
    parts = [session(batch) for batch in rows.to_batches(max_chunksize=1)]
    same_bits(pa.Table.from_batches(parts), session(rows))


def as_type(name, kind):
    column = TABLE[name].cast(kind) if not pa.types.is_dictionary(kind) else TABLE[name].dictionary_encode()
    return TABLE.set_column(TABLE.schema.get_field_index(name), name, column)


@pytest.mark.parametrize("kind", [pa.decimal128(5, 1), pa.decimal256(50, 1), pa.dictionary(pa.int32(), pa.float64())])
def test_numbers_of_databases_are_numbers(job, kind):
    as_double = as_type("sepal_width", pa.float64())
    rounded = as_double.set_column(2, "sepal_width", pa.array(np.round(as_double["sepal_width"].to_numpy(), 1)))
    expected = job.open()(rounded)
    same_bits(job.open()(as_type("sepal_width", kind) if "dict" in str(kind) else rounded.set_column(
        2, "sepal_width", rounded["sepal_width"].cast(kind))), expected)  # fmt: skip


def test_ids_may_be_texts_of_any_arrow_type(job):
    texts, names = pa.array([f"r{i}" for i in range(len(FRAME))]), job.with_id_type("string")
    expected = names.open()(TABLE.set_column(0, "row_id", texts))
    assert expected["row_id"].to_pylist()[:2] == ["r0", "r1"]
    for kind in (texts.cast(pa.large_string()), texts.cast(pa.string_view()), texts.dictionary_encode()):
        same_bits(names.open()(TABLE.set_column(0, "row_id", kind)), expected)
    frame = FRAME.assign(row_id=pd.Categorical(texts.to_pylist()))
    assert names.open()(frame)["row_id"].tolist() == texts.to_pylist()
    small = job.with_id_type("int32").open()(as_type("row_id", pa.int32()))
    assert small.schema.field("row_id").type == pa.int32()


@pytest.mark.parametrize("ids", [pd.array([1, None, 3, 4], "Int64"), [1.0, np.nan, 3.0, 4.0], ["a", None, "c", "d"]])
def test_a_frame_whose_id_is_missing(job, ids):
    with pytest.raises(ValueError, match="batch, row 2, column 'row_id': expected the name of the row, found none"):
        job.open()(FRAME.head(4).assign(row_id=ids))


def test_a_batch_without_rows_may_have_no_columns(job):
    assert job.open()(pa.table({})).schema == job.schema


def test_the_model_is_sent_once(model):
    said = dict(pool=FRAME[FEATURES], id="row_id")
    one = assay.batch.job(model, "gradient", **said)
    four = assay.batch.job(model, ["gradient", "occlusion", "deeplift", "kernel_shap"], **said)
    kept = one.explainers[0].model._kept
    assert four.to_bytes().count(kept) == 1 == one.to_bytes().count(kept)
    again = assay.batch.Job.from_bytes(four.to_bytes())
    assert len({id(each.model) for each in again.explainers}) == 1


def test_the_hash_is_that_of_any_process(tmp_path, job, model):
    """Made again from the same arguments where texts hash otherwise, after a pickle, and of another job."""
    model.save(tmp_path / "m.onnx")
    script = (
        "import assay, assay.batch\n"
        "train = assay.dataset('iris', split='train')\n"
        "print(assay.batch.job('m.onnx', ['gradient', 'lime'], pool=train, id='row' + '_id', seed=3).hash)\n"
    )
    found = set()
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONPATH": str(pathlib.Path(assay.__file__).parents[1]), "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True, env=env
        )
        found.add(done.stdout)
    assert len(found) == 1 and len(found.pop()) == 65
    assert pickle.loads(pickle.dumps(job)).hash == job.hash == pickle.loads(job.to_bytes()).hash
    assert job.with_id_type("string").hash != job.hash

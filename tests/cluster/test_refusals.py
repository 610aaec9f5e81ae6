"""What is wrong with a table is one sentence, wherever an engine finds it; what is only unusual is explained.

Engines wrap our sentence in traces of theirs: it must be found in the text of what they raise."""

import numpy as np
import pyarrow as pa
import pytest
from tables import FEATURES, assert_same_bits, by_ray, by_spark, flowers, job_of_one

import assay.spark

BY = {"spark": by_spark, "ray": by_ray}
TABLE = flowers(12)


def with_column(name, column):
    return TABLE.set_column(TABLE.schema.get_field_index(name), name, pa.array(column))


TWICE = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 3]
BAD = {
    "id there twice": (
        with_column("row_id", TWICE),
        "'row_id': expected a name of its own for each row, found 3 twice",
    ),
    "id null": (with_column("row_id", [None, *range(11)]), "column 'row_id': expected the name of the row, found none"),
    "no id": (TABLE.drop(["row_id"]), "expected a column 'row_id', found|expected one column 'row_id', found 0 in"),
    "no feature": (TABLE.drop(FEATURES[:1]), f"expected (a|one) column '{FEATURES[0]}', found"),
    "id of another type": (
        with_column("row_id", np.arange(12) + 0.5),
        "column 'row_id': expected int64 or int32 or string, found double",
    ),
    "texts": (
        with_column("petal_width", ["wide"] * 12),
        "column 'petal_width': expected a number, found 'wide'; the first row of this batch has row_id 0",
    ),
    "dates": (
        with_column("petal_width", pa.array(range(12), pa.date32())),
        "column 'petal_width': expected numbers, booleans or text, found dates",
    ),
}


@pytest.mark.parametrize("engine", BY)
@pytest.mark.parametrize("case", BAD)
def test_bad_tables_get_a_sentence(engine, case, request):
    table, sentence = BAD[case]
    with pytest.raises(Exception, match=sentence):
        BY[engine](request.getfixturevalue(engine), table, job_of_one(), 1, 100)


UNUSUAL = {
    "a null column": with_column("sepal_width", pa.nulls(12, pa.float64())),
    "nulls": with_column("sepal_width", [None, 3.0] * 6),
    "whole numbers": with_column("sepal_width", [2, 3, 4] * 4),
    "decimal numbers": with_column("sepal_width", pa.array([2, 3, 4] * 4).cast(pa.decimal128(20, 1))),
    "int32 ids": with_column("row_id", pa.array(range(12), pa.int32())),
    "text ids": with_column("row_id", [f"r{i:02}" for i in range(12)]),
    "another column": TABLE.append_column("note", pa.array([None, "x"] * 6)),
    "another order": TABLE.select(TABLE.schema.names[::-1]),
    "one row": TABLE.slice(5, 1),
}


@pytest.mark.parametrize("engine", BY)
@pytest.mark.parametrize("case", UNUSUAL)
def test_unusual_tables_are_explained(engine, case, request):
    """In seven partitions, of which some have one row and some none."""
    table = UNUSUAL[case]
    job = job_of_one().with_id_type(str(table.schema.field("row_id").type))
    found = BY[engine](request.getfixturevalue(engine), table, job_of_one(), 7, 5)
    assert_same_bits(found, job.open()(table))


def test_ids_of_ray_may_be_a_dictionary(ray):
    ids = pa.array([f"r{i:02}" for i in range(12)])
    found = by_ray(ray, with_column("row_id", ids.dictionary_encode()), job_of_one(), 2, 5)
    assert_same_bits(found, job_of_one().with_id_type("string").open()(with_column("row_id", ids)))


def test_ids_of_pandas_may_be_texts(ray):
    table = with_column("row_id", [f"r{i:02}" for i in range(12)])
    made = assay.ray.explain(ray.data.from_pandas(table.to_pandas()), job_of_one(), concurrency=1)
    assert sorted(row["row_id"] for row in made.take_all()) == table["row_id"].to_pylist()


def test_spark_compares_the_ids_of_all_partitions(spark):
    """With check_ids; without it both rows have a result, each its own."""
    df = spark.createDataFrame(with_column("row_id", TWICE)).repartition(2, "petal_width")
    with pytest.raises(ValueError) as problem:
        assay.spark.explain(df, job_of_one(), check_ids=True)
    assert str(problem.value) == "df, column 'row_id': expected a name of its own for each row, found 3 2 times"
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 1)
    assert sorted(assay.spark.explain(df, job_of_one()).toArrow()["row_id"].to_pylist()) == sorted(TWICE)


def test_spark_takes_names_of_any_kind(spark):
    """With dots and backticks, and beside others that differ only in upper case."""
    name = "the.`row` id"
    table = TABLE.rename_columns([name, *FEATURES]).append_column("PETAL_WIDTH", pa.array(["x"] * 12))
    found = by_spark(spark, table, job_of_one(id=name), 2, 5)
    assert_same_bits(found, job_of_one(id=name).open()(table))


def test_spark_takes_one_column_of_a_name(spark):
    df = spark.createDataFrame(TABLE)
    with pytest.raises(ValueError, match="df: expected one column 'row_id', found 2 in"):
        assay.spark.explain(df.select("*", "row_id"), job_of_one())


def test_spark_may_use_large_texts(spark):
    table = with_column("row_id", [f"r{i:02}" for i in range(12)])
    spark.conf.set("spark.sql.execution.arrow.useLargeVarTypes", "true")
    try:
        made = assay.spark.explain(spark.createDataFrame(table), job_of_one()).collect()
    finally:
        spark.conf.set("spark.sql.execution.arrow.useLargeVarTypes", "false")
    assert [row["row_id"] for row in made] == table["row_id"].to_pylist()

"""The tables and jobs of these tests, the engines as functions of a table, and the comparison of bits."""

import functools
import itertools
import pathlib

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv

import assay
import assay.batch
import assay.ray
import assay.spark

TREES = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "trees"
TRAIN = assay.dataset("iris", split="train")
FEATURES = TRAIN.features
FOR_TREES = ("tree_shap", "tree_shap_path")
METHODS = [each.name for each in assay.methods() if each.name not in FOR_TREES]


def flowers(rows):
    """So many rows, all different."""
    count = np.arange(rows)
    columns = {name: np.resize(np.asarray(TRAIN[name], float), rows) + count * 1e-4 for name in FEATURES}
    return pa.table({"row_id": count, **columns})


@functools.cache
def network():
    return assay.train(TRAIN)


@functools.cache
def job_of_methods():
    """Every method that explains a network."""
    pool = flowers(150).select(FEATURES)
    return assay.batch.job(network(), METHODS, pool=pool, background="pool:5", target="predicted", id="row_id", seed=3)


@functools.cache
def job_of_one(id="row_id"):
    return assay.batch.job(network(), "gradient", pool=flowers(150).select(FEATURES), target="predicted", id=id)


@functools.cache
def job_of_scores():
    """An aggregate and scores beside two methods."""
    return assay.batch.job(
        network(),
        ["kernel_shap:samples=12", "occlusion"],
        pool=flowers(150).select(FEATURES),
        target="predicted",
        id="row_id",
        aggregators=["mean"],
        criteria=["complexity", "faithfulness", "max_sensitivity:radius=0.5"],
    )


@functools.cache
def job_of_trees():
    """Trees whose categories come as texts and whose cells may be missing."""
    model = str(TREES / "lightgbm_categories" / "model.txt")
    return assay.batch.job(model, list(FOR_TREES), background=table_of_trees("background"), id="row_id")


def table_of_trees(name):
    empty = pa.csv.ConvertOptions(strings_can_be_null=True)
    return pa.csv.read_csv(TREES / "lightgbm_categories" / f"{name}.csv", convert_options=empty)


def rows_of_trees(rows):
    table = table_of_trees("rows")
    table = table.take(np.resize(np.arange(table.num_rows), rows))
    return table.append_column("row_id", pa.array(np.arange(rows)))


def by_plain(engine, table, job, partitions, batch):
    """Batch after batch in this process."""
    session, made = job.open(), []
    bounds = np.linspace(0, table.num_rows, partitions + 1).astype(int)
    for first, last in itertools.pairwise(bounds):
        made += [session(part) for part in table.slice(first, last - first).to_batches(max_chunksize=batch)]
    return pa.Table.from_batches(made, schema=job.schema)


def by_spark(spark, table, job, partitions, batch):
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", batch)
    df = spark.createDataFrame(table).repartition(partitions)
    return assay.spark.explain(df, job).toArrow()


def by_ray(ray, table, job, partitions, batch):
    ds = ray.data.from_arrow(table).repartition(partitions)
    made = assay.ray.explain(ds, job, batch_size=batch, concurrency=1)
    return pa.concat_tables([each for each in ray.get(made.to_arrow_refs()) if each.num_rows])


BY = {"plain": by_plain, "spark": by_spark, "ray": by_ray}


def assert_same_bits(found, expected):
    """Each row once, and the bits of each column, whatever the order of rows."""
    found = found.sort_by(expected.schema.names[0])
    assert found.schema.names == expected.schema.names and found.num_rows == expected.num_rows
    for name in expected.schema.names:
        a, b = (each[name].combine_chunks() for each in (found, expected))
        assert a.type == b.type, name
        if pa.types.is_floating(a.type):
            a, b = (each.to_numpy(zero_copy_only=False).tobytes() for each in (a, b))
        assert a == b, name

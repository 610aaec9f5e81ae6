"""Spark Connect, whose sessions have no SparkContext and so no broadcasts: in a process of its own, as it must be."""

import os
import pathlib
import subprocess
import sys

import pyarrow.parquet as pq
from tables import assert_same_bits, flowers, job_of_one

import assay

SCRIPT = """
import pathlib
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
import assay.batch, assay.spark

spark = SparkSession.builder.remote("local[2]").getOrCreate()
job = assay.batch.Job.from_bytes(pathlib.Path("job").read_bytes())
df = spark.createDataFrame(pq.read_table("rows.parquet")).repartition(2)
made = assay.spark.explain(df, job, check_ids=True)
print(type(made).__module__)
pq.write_table(made.toArrow(), "made.parquet")
spark.stop()
"""


def test_a_session_without_a_context(tmp_path):
    pq.write_table(flowers(50), tmp_path / "rows.parquet")
    (tmp_path / "job").write_bytes(job_of_one().to_bytes())
    package = str(pathlib.Path(assay.__file__).parents[1])
    left = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "SPARK"))}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        env={**left, "PYTHONPATH": package, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip() == "pyspark.sql.connect.dataframe"
    assert_same_bits(pq.read_table(tmp_path / "made.parquet"), job_of_one().open()(flowers(50)))

"""A worker that is killed in the middle is replaced, without rows that are lost or there twice; one that always dies is
an error. The wrapped workers kill their own process, once, by the signal that kernels use when memory runs out."""

import os
import signal
import sys

import pytest
from tables import assert_same_bits, by_ray, by_spark, flowers, job_of_one

import assay.ray
import assay.spark

ROWS = 300


def kill_once(marker):
    """Kills this process unless another did before, which then left a file."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def dying_spark_worker(real, marker, kill):
    def worker(*arguments):
        run = real(*arguments)

        def dies(batches):
            for i, batch in enumerate(run(batches)):
                yield batch
                if i == 1:  # two batches are done and handed on
                    kill(marker)

        return dies

    return worker


def dying_ray_worker(real, marker, kill):
    class Dies(real):
        def __call__(self, batch):
            self.calls = getattr(self, "calls", 0) + 1
            if self.calls == 3:
                kill(marker)
            return super().__call__(batch)

    return Dies


@pytest.fixture(autouse=True)
def with_code():
    """Workers cannot import this module: what it defines is sent with its code."""
    import pyspark.cloudpickle
    import ray.cloudpickle

    for pickle in (pyspark.cloudpickle, ray.cloudpickle):
        pickle.register_pickle_by_value(sys.modules[__name__])


def always(marker):
    os.kill(os.getpid(), signal.SIGKILL)


def test_spark_replaces_a_killed_worker(spark, monkeypatch, tmp_path):
    marker = str(tmp_path / "killed")
    monkeypatch.setattr(assay.spark, "_worker", dying_spark_worker(assay.spark._worker, marker, kill_once))
    found = by_spark(spark, flowers(ROWS), job_of_one(), 2, 40)
    assert os.path.exists(marker)
    assert_same_bits(found, job_of_one().open()(flowers(ROWS)))


def test_ray_replaces_a_killed_actor(ray, monkeypatch, tmp_path):
    marker = str(tmp_path / "killed")
    monkeypatch.setattr(assay.ray, "_Worker", dying_ray_worker(assay.ray._Worker, marker, kill_once))
    found = by_ray(ray, flowers(ROWS), job_of_one(), 2, 40)
    assert os.path.exists(marker)
    assert_same_bits(found, job_of_one().open()(flowers(ROWS)))


def test_spark_gives_up_a_task_that_always_dies(spark, monkeypatch):
    monkeypatch.setattr(assay.spark, "_worker", dying_spark_worker(assay.spark._worker, "", always))
    with pytest.raises(Exception, match=r"failed 4 times"):
        by_spark(spark, flowers(ROWS), job_of_one(), 1, 40)


def test_ray_gives_up_a_batch_that_always_dies(ray, monkeypatch):
    """Without a bound it would start actors forever."""
    monkeypatch.setattr(assay.ray, "RETRIES", 1)
    monkeypatch.setattr(assay.ray, "_Worker", dying_ray_worker(assay.ray._Worker, "", always))
    with pytest.raises(Exception, match=r"(?i)actor.*(died|dead|unavailable|restart)"):
        by_ray(ray, flowers(ROWS), job_of_one(), 1, 40)

"""Real engines, on this machine alone: `make test-cluster` installs them and passes --run-cluster."""

import os
import pathlib
import sys

import pytest

# Test modules share tables and jobs.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))


def pytest_addoption(parser):
    parser.addoption("--run-cluster", action="store_true", help="run what needs Spark and Ray")


class NotRun(pytest.Module):
    """A test module that is not even imported, because what it imports may not be installed."""

    def collect(self):
        raise pytest.skip.Exception("run by `make test-cluster`", allow_module_level=True)


def pytest_pycollect_makemodule(module_path, parent):
    # Below another folder this file is read after the command line, and the option is not known.
    if parent.config.getoption("run_cluster", False):
        return None
    return NotRun.from_parent(parent, path=module_path)


@pytest.fixture(scope="session")
def spark():
    """Two workers, and a task that fails is tried four times."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Queries are small and many: what the compilers of Java and Spark would make of them is never used.
    os.environ["PYSPARK_SUBMIT_ARGS"] = "--driver-java-options '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' pyspark-shell"
    from pyspark.sql import SparkSession

    made = (
        SparkSession.builder.master("local[2,4]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", 2)
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .config("spark.sql.codegen.wholeStage", "false")
        .getOrCreate()
    )
    yield made
    made.stop()


@pytest.fixture(scope="session")
def ray():
    """Two cores. Ray waits 30 seconds for itself to start, which a busy machine may not keep."""
    import ray

    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    for tries_left in (2, 1, 0):
        try:
            ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=200 * 2**20)
            break
        except Exception as problem:
            if "timed out during startup" not in str(problem) or not tries_left:
                raise
            ray.shutdown()
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray
    ray.shutdown()

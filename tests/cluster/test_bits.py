"""The bits of one process, whatever the engine, the partitions and the batches: every method, scores and aggregates."""

import pyarrow as pa
import pytest
import tables
from tables import BY, assert_same_bits, flowers, job_of_methods, job_of_scores, job_of_trees, rows_of_trees


@pytest.mark.parametrize("partitions", [1, 2, 7])
@pytest.mark.parametrize("batch", [1, 1_000, 65_536])
@pytest.mark.parametrize("engine", BY)
def test_every_method_has_the_bits_of_one_process(engine, partitions, batch, request):
    """tree_shap and tree_shap_path on trees, all others on a network; few rows where each is a batch."""
    running = None if engine == "plain" else request.getfixturevalue(engine)
    for job, rows in ((job_of_methods(), flowers), (job_of_trees(), rows_of_trees)):
        table = rows(30 if batch == 1 else 2_500)
        expected = job.open(2)(table)
        assert_same_bits(BY[engine](running, table, job, partitions, batch), expected)


@pytest.mark.parametrize("engine", BY)
def test_scores_and_aggregates_too(engine, request):
    running = None if engine == "plain" else request.getfixturevalue(engine)
    table = flowers(60)
    assert_same_bits(BY[engine](running, table, job_of_scores(), 2, 13), job_of_scores().open(2)(table))


def test_every_method_is_among_them():
    import assay

    assert {*tables.METHODS, *tables.FOR_TREES} == {each.name for each in assay.methods()}


def test_the_comparison_can_fail():
    table = flowers(4)
    twice = pa.concat_tables([table, table.slice(0, 1)])
    lost = table.slice(1)
    other = table.set_column(1, tables.FEATURES[0], pa.array([1.0, 2.0, 3.0, 4.0]))
    for wrong in (twice, lost, other):
        with pytest.raises(AssertionError):
            assert_same_bits(wrong, table)
    assert_same_bits(table.take([3, 1, 0, 2]), table)

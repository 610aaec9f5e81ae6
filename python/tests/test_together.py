"""Several calls at once: threads that share explanations, functions that call assay, forks, the end of a process."""

import gc
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import numpy as np
import pytest

import assay

ROWS = np.random.default_rng(0).normal(size=(60, 6)).astype(np.float32)
POOL = np.random.default_rng(1).normal(size=(200, 6)).astype(np.float32)


class Slow:
    """A function that takes its time once it is told to, so that other threads come in between."""

    def __init__(self):
        self.nap = 0.0

    def __call__(self, rows):
        time.sleep(self.nap)
        return np.tanh(rows[:, 0] * rows[:, 1]) + rows.sum(axis=1)


def members_of(model):
    return [assay.explain(model, ROWS, method, pool=POOL) for method in ("exact_shapley", "occlusion")]


def test_threads_that_share_members_get_the_same_aggregate():
    slow = Slow()
    model = assay.wrap(slow, batch=4000)
    alone = assay.aggregate(members_of(model), "convex_min", radius=1.5, per="row").values
    members, made = members_of(model), {}
    slow.nap = 0.05

    def work(which):
        time.sleep(0.12 * which)
        made[which] = assay.aggregate(members, "convex_min", radius=1.5, per="row").values

    threads = [threading.Thread(target=work, args=(which,)) for which in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for values in made.values():
        np.testing.assert_array_equal(values, alone)


def test_pool_rows_are_explained_once_for_members_of_separate_calls():
    seen = []

    def counted(rows):
        seen.append(len(rows))
        return rows.sum(axis=1) ** 2

    members = members_of(assay.wrap(counted))
    assay.aggregate(members, "convex_min", radius=1.5, per="row")
    first = sum(seen)
    seen.clear()
    assay.aggregate(members, "convex_min", radius=1.5, per="row")
    assert sum(seen) < 0.2 * first


def test_a_function_may_evaluate_what_is_being_evaluated():
    state = {}

    def curious(rows):
        if "explanations" in state:
            explanations = state.pop("explanations")
            state["inner"] = assay.evaluate(explanations, "max_sensitivity")["max_sensitivity"].mean
        return (rows**2).sum(axis=1)

    explanations = assay.explain(assay.wrap(curious), ROWS, "exact_shapley", pool=POOL)
    state["explanations"] = explanations
    outer = assay.evaluate(explanations, "max_sensitivity")["max_sensitivity"].mean
    assert state["inner"] == outer


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forks in processes with threads, which is the point
def test_a_fork_while_another_thread_evaluates():
    slow = Slow()
    explanations = assay.explain(assay.wrap(slow), ROWS, "exact_shapley", pool=POOL)
    slow.nap = 0.3
    thread = threading.Thread(target=lambda: assay.evaluate(explanations, "max_sensitivity"))
    thread.start()
    time.sleep(0.2)
    child = os.fork()
    if child == 0:
        slow.nap = 0
        assay.evaluate(explanations, "max_sensitivity")
        os._exit(7)
    thread.join()
    for _ in range(600):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.1)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
        pytest.fail("the child never ended")
    assert os.waitstatus_to_exitcode(status) == 7


def test_the_end_of_a_process_stops_what_threads_have_begun():
    script = """
        import threading, time, numpy as np, assay
        rows = np.random.default_rng(0).normal(size=(4000, 12)).astype("f")
        model = assay.wrap(lambda rows: time.sleep(0.01) or (rows ** 2).sum(1), batch=1000)
        threading.Thread(target=lambda: assay.explain(model, rows, pool=rows, samples=4096), daemon=True).start()
        time.sleep(0.3)
        print("the end")
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (result.returncode, result.stdout) == (0, "the end\n"), result.stderr


def test_the_end_of_a_process_refuses_calls_that_begin():
    """A thread of a service that makes short calls for ever does not abort the process when that ends."""
    code = (
        "import assay, threading, time\n"
        "iris = assay.dataset('iris')\n"
        "model, few = assay.train(iris, progress=False), iris[:2]\n"
        "def calls():\n"
        "    while True: assay.explain(model, few, 'gradient', progress=False)\n"
        "threading.Thread(target=calls, daemon=True).start()\n"
        "time.sleep(0.5)\n"
    )
    for _ in range(5):
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        assert result.returncode == 0, (result.returncode, result.stderr)


def test_circles_through_explanations_are_collected():
    class Audit:
        """Explains its own method, and keeps the result."""

        def __init__(self, evaluated):
            self.explanations = assay.explain(assay.wrap(self.predict), ROWS, "occlusion", pool=POOL)
            if evaluated:
                assay.evaluate(self.explanations, "max_sensitivity")

        def predict(self, rows):
            return rows.sum(axis=1)

    for evaluated in (False, True):
        audits = [Audit(evaluated) for _ in range(3)]
        kept = audits[0].explanations  # from outside of the circle
        watched = [weakref.ref(audit) for audit in audits]
        del audits
        gc.collect()
        assert [each() is None for each in watched] == [False, True, True]
        gc.collect()
        assert np.isfinite(assay.evaluate(kept, "faithfulness")["faithfulness"].mean)
        del kept
        gc.collect()
        assert watched[0]() is None


def test_labels_are_for_one_call():
    train, test = (assay.dataset("iris", split=part) for part in ("train", "test"))
    explanations = assay.explain(assay.train(train), test.to_pandas().drop(columns="species"), "lime", pool=train)
    right = assay.evaluate(explanations, "roar", y=test.labels)
    wrong = assay.evaluate(explanations, "roar", y=["setosa"] * 30)
    assert right["roar"].mean != wrong["roar"].mean
    with pytest.raises(assay.UnsupportedError, match="labels of the rows; give y="):
        assay.evaluate(explanations, "roar")


def test_slices_remember_their_rows():
    model = assay.wrap(lambda rows: np.tanh(rows[:, 0] * rows[:, 1]) + rows.sum(axis=1))
    whole = assay.explain(model, ROWS, "occlusion", pool=POOL)
    part = whole[[3, 50, 7]]
    assert part._core.subject.data.x.tobytes() == ROWS[[3, 50, 7]].tobytes()
    for criterion in ("faithfulness", "max_sensitivity:radius=1.5"):
        scores, of_all = assay.evaluate(part, criterion), assay.evaluate(whole, criterion)
        np.testing.assert_array_equal(scores[criterion].values, of_all[criterion].values[[3, 50, 7]])
    assert whole[:0].values.shape == (0, 6) and whole[:0][:0].values.shape == (0, 6)


def test_models_and_tables_can_be_pickled():
    train = assay.dataset("iris", split="train")
    model = assay.train(train)
    again, table = pickle.loads(pickle.dumps((model, train)))
    assert table.to_pandas().equals(train.to_pandas()) and table.label == train.label and repr(table) == repr(train)
    assert again.predict(table).tobytes() == model.predict(train).tobytes()

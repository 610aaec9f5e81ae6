"""How calls run: the GIL, threads, signals, exceptions, progress and forks. No test asserts seconds."""

import contextlib
import multiprocessing
import os
import pty
import signal
import subprocess
import sys
import textwrap
import threading
import time
import types

import numpy as np
import pytest

import assay
from assay import _run

ROWS = np.random.default_rng(0).normal(size=(600, 12)).astype(np.float32)
WEIGHTS = np.random.default_rng(1).normal(size=12).astype(np.float32)
MANY = np.random.default_rng(2).normal(size=(200_000, 12)).astype(np.float32)
POOL = ROWS[:100]


def slow(rows):
    """So that there is progress to show on a fast machine."""
    time.sleep(0.01)
    return smooth(rows)


def smooth(rows):
    """A black box: what it is called with is all that is known of it."""
    return np.tanh(rows @ WEIGHTS) + rows[:, 0] * rows[:, 1]


@pytest.fixture(scope="module")
def model():
    """A network that the engine runs itself."""
    pandas = pytest.importorskip("pandas", reason="pandas makes the table that the network is trained on")
    table = pandas.DataFrame(ROWS[:200], columns=[f"x{j}" for j in range(12)])
    table["label"] = np.where(smooth(ROWS[:200]) > 0, "yes", "no")
    return assay.train(table, label="label")


def values_of(model, rows=ROWS, method="shapley_sampling", **options):
    return assay.explain(model, rows, method, pool=POOL, **options).values.tobytes()


def endless(model, rows=MANY, progress=False):
    """Work of minutes, if nobody stops it."""
    return assay.explain(model, rows, "shapley_sampling", pool=POOL, permutations=1000, progress=progress)


@pytest.fixture(scope="module")
def stops_early(model):
    """A context in which the processor must do less than half of the endless work."""
    begin = time.process_time()
    endless(model, MANY[: len(MANY) // 50])
    whole = 50 * (time.process_time() - begin)

    @contextlib.contextmanager
    def context():
        begin = time.process_time()
        yield
        assert time.process_time() - begin < whole / 2

    return context


@pytest.fixture
def interruptible():
    """A test run in the background inherits ignored signals, and so would the engine."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def signal_soon(number):
    """Sends the signal to this process while the engine works."""
    timer = threading.Timer(0.3, os.kill, (os.getpid(), number))
    timer.start()
    try:
        yield
    finally:
        timer.join()


class Recorder:
    """What a progress object of one's own sees."""

    def __init__(self):
        self.seen = []
        self.threads = set()

    def update(self, task, done, total):
        self.seen.append((task, done, total))
        self.threads.add(threading.get_ident())


# Threads ----------------------------------------------------------------------------------------------------------


def test_other_threads_run_while_the_engine_works(model):
    count = 0
    over = threading.Event()

    def work():
        nonlocal count
        while not over.is_set():
            count += 1
            time.sleep(0.001)

    counts = []

    class Watch:
        def update(self, task, done, total):
            counts.append(count)

    other = threading.Thread(target=work)
    other.start()
    try:
        assay.explain(model, MANY[:20_000], "shapley_sampling", pool=POOL, permutations=2400, progress=Watch())
    finally:
        over.set()
        other.join()
    # Between two looks at the progress, every twentieth of a second, this thread is inside the engine alone. Were the
    # GIL held there, the other one could count once when this one runs Python to look.
    assert len(counts) > 3
    assert counts[-1] - counts[0] > 3 * len(counts)


@pytest.mark.parametrize("method", ["kernel_shap", "shapley_sampling", "occlusion", "lime"])
def test_functions_are_called_on_the_calling_thread(method):
    seen = set()

    def watched(rows):
        seen.add(threading.get_ident())
        return smooth(rows)

    wrapped = assay.wrap(watched)
    for caller in (None, "another thread"):
        seen.clear()
        idents = []

        def call(idents=idents):
            idents.append(threading.get_ident())
            explained = assay.explain(wrapped, ROWS[:50], method, pool=POOL, threads=4)
            assay.evaluate(explained, ["faithfulness", "complexity"], threads=4)

        if caller is None:
            call()
        else:
            thread = threading.Thread(target=call)
            thread.start()
            thread.join()
        assert seen == set(idents)


def test_functions_are_called_with_many_rows_at_once():
    sizes = []

    def watched(rows):
        sizes.append(len(rows))
        return smooth(rows)

    explained = assay.explain(assay.wrap(watched), ROWS[:100], "kernel_shap", pool=POOL, samples=256)
    assert sum(sizes) >= explained.evaluations >= 100 * 200
    assert sum(sizes) / len(sizes) > 500
    sizes.clear()
    assay.explain(assay.wrap(watched, batch=50), ROWS[:100], "kernel_shap", pool=POOL, samples=256)
    assert max(sizes) == 50


@pytest.mark.parametrize("method", ["gradient", "shapley_sampling", "kernel_shap", "lime", "deeplift"])
def test_the_same_bits_on_any_number_of_threads(model, method):
    assert len({values_of(model, method=method, threads=threads) for threads in (1, 2, 7)}) == 1


def test_a_function_gives_the_same_bits_on_any_number_of_threads():
    wrapped = assay.wrap(smooth)
    assert len({values_of(wrapped, ROWS[:60], threads=threads) for threads in (1, 2, 7)}) == 1


@pytest.mark.parametrize("kind", ["network", "function"])
def test_several_threads_at_once_get_what_one_gets(model, kind):
    subject = model if kind == "network" else assay.wrap(smooth)
    pieces = [ROWS[i : i + 50] for i in range(0, 300, 50)]
    alone = [values_of(subject, piece) for piece in pieces]
    together = [b""] * len(pieces)

    def work(i):
        together[i] = values_of(subject, pieces[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(pieces))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


def test_a_function_may_call_the_engine_itself(model):
    inner_values = []

    def nested(rows):
        if not inner_values:
            inner_values.append(values_of(model, ROWS[:20], threads=2))
        return smooth(rows)

    outer = values_of(assay.wrap(nested), ROWS[:40], threads=2)
    assert inner_values == [values_of(model, ROWS[:20])]
    assert outer == values_of(assay.wrap(smooth), ROWS[:40])


def test_the_engine_works_in_a_forked_process(model):
    expected = values_of(model, threads=2)
    functions = values_of(assay.wrap(smooth), ROWS[:40], threads=2)
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()

    def child():
        theirs.send((values_of(model, threads=2), values_of(assay.wrap(smooth), ROWS[:40])))

    process = context.Process(target=child)
    process.start()
    try:
        assert ours.poll(60), "the forked process does not answer"
        assert ours.recv() == (expected, functions)
    finally:
        process.kill()
        process.join()
    assert values_of(model, threads=2) == expected  # and the parent is as it was


# Signals and exceptions -------------------------------------------------------------------------------------------


def test_control_c_stops_the_engine(model, interruptible, stops_early):
    before = values_of(model)
    with stops_early(), pytest.raises(KeyboardInterrupt), signal_soon(signal.SIGINT):
        endless(model)
    assert values_of(model) == before


def test_control_c_stops_a_function(interruptible):
    wrapped = assay.wrap(smooth)
    with pytest.raises(KeyboardInterrupt), signal_soon(signal.SIGINT):
        endless(wrapped)
    assert values_of(wrapped, ROWS[:20]) == values_of(assay.wrap(smooth), ROWS[:20])


def test_what_a_signal_handler_raises_reaches_the_caller(model, stops_early):
    class Enough(Exception):
        pass

    raised = Enough("no more")

    def handler(number, frame):
        raise raised

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with stops_early(), pytest.raises(Enough) as caught:
            endless(model)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert caught.value is raised
    assert values_of(model) == values_of(model, threads=1)


def test_a_handler_that_returns_lets_the_engine_go_on(model):
    calls = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: calls.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.01)
        found = values_of(model, MANY[:20_000], permutations=100)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert calls
    assert found == values_of(model, MANY[:20_000], permutations=100)


class Mine(Exception):
    """With something that only the same object has."""

    def __init__(self, cargo):
        super().__init__(cargo)
        self.cargo = cargo


@pytest.mark.parametrize("raised", [Mine({"a": 1}), ZeroDivisionError("x"), SystemExit(3), KeyboardInterrupt()])
@pytest.mark.parametrize("call", [1, 3])
def test_what_a_function_raises_reaches_the_caller(raised, call):
    count = 0

    def failing(rows):
        nonlocal count
        count += 1
        if count == call:
            raise raised
        return smooth(rows)

    with pytest.raises(type(raised)) as caught:
        assay.explain(assay.wrap(failing, batch=500), ROWS[:100], "kernel_shap", pool=POOL, samples=256)
    assert caught.value is raised
    assert any(entry.name == "failing" for entry in caught.traceback)
    assert count == call  # nothing is called any more


def test_what_a_function_raises_reaches_the_caller_of_evaluate():
    raised = Mine("later")
    armed = False

    def failing(rows):
        if armed:
            raise raised
        return smooth(rows)

    explained = assay.explain(assay.wrap(failing), ROWS[:30], "occlusion", pool=POOL)
    armed = True
    with pytest.raises(Mine) as caught:
        assay.evaluate(explained, "faithfulness")
    assert caught.value is raised
    armed = False
    assert len(assay.evaluate(explained, "faithfulness")["faithfulness"]) == 30


# Progress ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["network", "function"])
def test_progress_grows_and_ends(model, kind):
    recorder = Recorder()
    subject = model if kind == "network" else assay.wrap(slow, batch=20_000)
    rows = MANY[:20_000] if kind == "network" else MANY[:2000]
    permutations = 600 if kind == "network" else 100
    assay.explain(subject, rows, "shapley_sampling", pool=POOL, permutations=permutations, progress=recorder)
    assert len(recorder.seen) > 2
    assert recorder.seen[-1][0] == ""  # the end
    assert all(task for task, _, _ in recorder.seen[:-1])
    assert all(done <= total for _, done, total in recorder.seen)
    for (task, done, total), (later, more, of) in zip(recorder.seen, recorder.seen[1:-1], strict=False):
        assert task != later or total != of or more >= done
    assert len({done for _, done, _ in recorder.seen}) > 2
    assert recorder.threads == {threading.get_ident()}


def test_watching_changes_no_bits(model):
    rows = MANY[:5000]
    assert values_of(model, rows, progress=Recorder()) == values_of(model, rows, progress=False)


def test_what_a_progress_object_raises_stops_the_work(model, stops_early):
    raised = Mine("seen enough")

    class Impatient(Recorder):
        def update(self, task, done, total):
            super().update(task, done, total)
            if task:
                raise raised

    impatient = Impatient()
    with stops_early(), pytest.raises(Mine) as caught:
        endless(model, progress=impatient)
    assert caught.value is raised
    assert [task for task, _, _ in impatient.seen][-1] == ""  # it is told of the end all the same
    assert len(impatient.seen) == 2


@pytest.mark.parametrize("progress", ["bar", 3, object()])
def test_progress_must_be_something_to_tell(model, progress):
    with pytest.raises(ValueError, match="progress: expected"):
        assay.explain(model, ROWS, "gradient", pool=POOL, progress=progress)


@pytest.mark.parametrize(
    ("argument", "value"),
    [("seed", -1), ("seed", 0.5), ("seed", 2**64), ("threads", -1), ("threads", "2"), ("seed", True)],
)
def test_seed_and_threads_are_whole_numbers(model, argument, value):
    with pytest.raises(ValueError, match=f"{argument}: expected a whole number"):
        assay.explain(model, ROWS, "gradient", pool=POOL, **{argument: value})


SCRIPT = textwrap.dedent(
    """
    import sys, time
    import numpy, assay
    from assay import _run
    _run._Bar.patience = 0
    rows = numpy.random.default_rng(0).normal(size=(2000, 12)).astype("f")
    # Slow, so that there is progress to show on a fast machine.
    model = assay.wrap(lambda rows: time.sleep(0.01) or numpy.tanh(rows).sum(1), batch=10_000)
    assay.explain(model, rows, "shapley_sampling", pool=rows[:50], permutations=50, progress={progress})
    print("done")
    """
)


def run_script(progress, terminal):
    """What the script writes to standard error, which is a terminal or not."""
    command = [sys.executable, "-c", SCRIPT.format(progress=progress)]
    if not terminal:
        found = subprocess.run(command, capture_output=True, timeout=120, check=True)
        assert found.stdout == b"done\n"
        return found.stderr.decode()
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        written = b""
        # The end of a terminal whose other side is closed is an error on Linux.
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 65536):
                written += piece
        os.close(ours)
        assert process.stdout.read() == b"done\n"
    assert process.returncode == 0
    return written.decode()


@pytest.mark.parametrize(("progress", "terminal", "shown"), [
    (None, True, True), (True, True, True), (False, True, False), (None, False, False), (True, False, True),
])  # fmt: skip
def test_a_bar_shows_where_somebody_watches(progress, terminal, shown):
    written = run_script(progress, terminal)
    if not shown:
        assert written == ""
        return
    states = [state for state in written.split("\r") if "[" in state]
    assert len(states) > 1
    shares = [int(state.split("]")[1].split("%")[0]) for state in states]
    assert shares == sorted(shares) and shares[-1] <= 100
    assert all(state.count("#") + state.count(".") == 24 for state in states)
    assert written.endswith("\r" + " " * 88 + "\r")  # gone at the end


class Notebook:
    """IPython as far as the bar uses it."""

    def __init__(self):
        self.shown = []

    def module(self):
        fake = types.ModuleType("IPython")
        fake.get_ipython = lambda: types.SimpleNamespace(kernel=object())
        fake.display = types.SimpleNamespace(HTML=lambda text: text, display=self.display)
        return fake

    def display(self, content, display_id):
        assert display_id is True
        self.shown.append(content)
        return types.SimpleNamespace(update=self.shown.append)


@pytest.mark.parametrize("progress", [None, True])
def test_notebooks_show_an_element_that_is_replaced(monkeypatch, progress):
    notebook = Notebook()
    monkeypatch.setitem(sys.modules, "IPython", notebook.module())
    monkeypatch.setattr(_run._Bar, "patience", 0)
    model = assay.wrap(slow, batch=20_000)
    assay.explain(model, MANY[:2000], "shapley_sampling", pool=POOL, permutations=100, progress=progress)
    assert len(notebook.shown) > 2
    assert notebook.shown[-1] == ""  # gone at the end
    assert all(text.startswith('<progress max="1" value="') for text in notebook.shown[:-1])


def test_notebooks_show_tasks_as_text(monkeypatch):
    notebook = Notebook()
    monkeypatch.setitem(sys.modules, "IPython", notebook.module())
    bar = _run.NotebookBar()
    bar.show("<script>alert(1)</script>", 0.5, 61.0)
    assert "<script" not in notebook.shown[0] and "&lt;script" in notebook.shown[0]


def test_a_plain_ipython_terminal_is_no_notebook(monkeypatch):
    fake = types.ModuleType("IPython")
    fake.get_ipython = lambda: types.SimpleNamespace()
    monkeypatch.setitem(sys.modules, "IPython", fake)
    assert not _run.in_notebook()


def test_short_work_shows_nothing(capsys):
    bar = _run.TerminalBar()
    bar.update("work", 1, 10)
    bar.update("", 10, 10)
    assert capsys.readouterr().err == ""

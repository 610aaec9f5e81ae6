"""How calls into the engine run: seeds, threads, progress, and the spelling of methods and options."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from . import _core
from ._catalogue import Entry
from ._text import in_quotes


class Progress(Protocol):
    """Is told the progress a few times a second, on the calling thread. An empty task means the end."""

    def update(self, task: str, done: int, total: int) -> None: ...


# None: a bar in a terminal or a notebook. True, False: always, never. Or an object with update().
ProgressLike = bool | Progress | None

SpecLike = str | Entry | tuple[str | Entry, Mapping[str, Any]]


def run_of(seed: int, threads: int, progress: ProgressLike) -> _core.Run:
    """The run of one call; a ValueError names the wrong argument."""
    whole_number("seed", seed, 2**64 - 1)
    whole_number("threads", threads, 4096)
    return _core.Run(int(seed), int(threads), _progress_of(progress))


def whole_number(argument: str, value: Any, most: int) -> None:
    """Checks that it is a whole number from 0 to `most`, or raises a ValueError."""
    try:
        known = not isinstance(value, bool) and value == int(value) and 0 <= int(value) <= most
    except (TypeError, ValueError, OverflowError):
        known = False
    if not known:
        raise ValueError(f"{argument}: expected a whole number from 0 to {most}, found {value!r}")


def count_of(argument: str, value: Any, least: int = 0) -> int:
    """A whole number of things, or a ValueError."""
    whole_number(argument, value, 2**32)
    if int(value) < least:
        raise ValueError(f"{argument}: expected {least} or more, found {value!r}")
    return int(value)


def text_of(argument: str, said: Any) -> str:
    """Checks that it is text that the engine can take, or raises a ValueError."""
    if not isinstance(said, str):
        raise ValueError(f"{argument}: expected text, found {type(said).__name__}")
    if any("\ud800" <= letter <= "\udfff" for letter in said):
        raise ValueError(f"{argument}: expected text of whole characters, found {in_quotes(said)}")
    return said


def yes_or_no(argument: str, said: Any) -> bool:
    """Checks that it is a bool, or raises a ValueError: any text would count as true."""
    plain = said.item() if type(said).__module__ == "numpy" and getattr(said, "ndim", 1) == 0 else said
    if not isinstance(plain, bool):
        raise ValueError(f"{argument}: expected True or False, found {said!r}")
    return plain


def option_text(value: Any) -> str:
    """An option's value as the engine reads it: true, 0.5, [0.2,0.8], word."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:  # a NumPy scalar
        return option_text(value.item())
    if isinstance(value, Iterable):
        return "[" + ",".join(option_text(each) for each in value) + "]"
    return repr(value)


def spec_of(
    argument: str, said: SpecLike, known: Sequence[Any], options: Mapping[str, Any] | None = None
) -> _core.Spec:
    """Converts to the engine's form: a name, "name:option=value" or (name, {option: value}). The name may also be an
    entry of assay.methods(), criteria() or aggregators().

    known: the engine's methods, criteria or aggregators. options: keyword arguments beside it; one that it does
    not have is a TypeError."""
    more = dict(options or {})
    if isinstance(said, tuple):
        if len(said) != 2 or not isinstance(said[0], (str, Entry)) or not isinstance(said[1], Mapping):
            raise ValueError(f"{argument}: expected a name and a dict of options, found {said!r}")
        name = said[0].name if isinstance(said[0], Entry) else said[0]
        pairs = [(str(key), option_text(value)) for key, value in said[1].items()]
    elif isinstance(said, Entry):
        name, pairs = said.name, []
    elif isinstance(said, str):
        name, pairs = _core.parse_spec(argument, text_of(argument, said))
    else:
        raise ValueError(f"{argument}: expected a name, found {type(said).__name__}")
    info = next((each for each in known if each.name == name), None)
    if info is None:
        names = ", ".join(each.name for each in known)
        raise ValueError(f"{argument}: expected one of {names}, found {name!r}")
    allowed = [option.name for option in info.options]
    for key, value in more.items():
        if key not in allowed:
            has = f"its options are {', '.join(allowed)}" if allowed else "it has no options"
            raise TypeError(f"unexpected keyword argument {key!r}: {name} does not take it; {has}")
        if any(key == given for given, _ in pairs):
            raise TypeError(f"{key!r} is given twice: in {argument} and as a keyword argument")
        pairs.append((key, option_text(value)))
    for key, text in pairs:
        if key not in allowed:
            raise ValueError(f"{argument}: {name} has no option {key!r}; it has {', '.join(allowed) or 'none'}")
        text_of(f"{name}, option {key}", text)
    return name, pairs


def spec_list(argument: str, said: Any, known: Sequence[Any]) -> list[_core.Spec]:
    """Several of them: a list, or one text joined by commas."""
    if said is None:
        return []
    if isinstance(said, str):
        text = text_of(argument, said)
        said = [(name, dict(options)) for name, options in _core.parse_specs(argument, text)]
    elif isinstance(said, Entry) or (isinstance(said, tuple) and len(said) == 2 and isinstance(said[1], Mapping)):
        said = [said]
    if not isinstance(said, Iterable):
        raise ValueError(f"{argument}: expected names, found {type(said).__name__}")
    specs = [spec_of(argument, each, known) for each in said]
    for position, spec in enumerate(specs):
        if spec in specs[:position]:
            raise ValueError(f"{argument}: expected each once, found {spec_text(spec)!r} twice")
    return specs


def spec_text(spec: _core.Spec) -> str:
    """As the command line writes it: "faithfulness:subset=2"."""
    return ":".join([spec[0], *(f"{key}={value}" for key, value in spec[1])])


def in_notebook() -> bool:
    """Whether this is a Jupyter kernel, which can show and replace HTML."""
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    running = shell.get_ipython()
    return running is not None and hasattr(running, "kernel")


def _progress_of(said: ProgressLike) -> Progress | None:
    if said is None:
        said = in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
    if said is False:
        return None
    if said is True:
        return NotebookBar() if in_notebook() else TerminalBar()
    if not callable(getattr(said, "update", None)):
        raise ValueError(
            f"progress: expected True, False, None or an object with update(task, done, total), found {said!r}"
        )
    return said


class _Bar:
    """A progress bar that appears only after half a second."""

    patience = 0.5

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._task = ""
        self._shown = False

    def update(self, task: str, done: int, total: int) -> None:
        now = time.monotonic()
        if task != self._task:
            self._task = task
            self._begin = now if not self._shown else self._begin
        if task == "":  # the end
            if self._shown:
                self.clear()
            return
        if not self._shown and now - self._begin < self.patience:
            return
        self._shown = True
        share = done / total if total else 0.0
        left = (now - self._begin) * (1 - share) / share if share > 0 else float("nan")
        self.show(task, share, left)

    def show(self, task: str, share: float, left: float) -> None:
        raise NotImplementedError

    def clear(self) -> None:
        raise NotImplementedError


def _time_left(seconds: float) -> str:
    if seconds != seconds:
        return ""
    if seconds < 60:
        return f"{seconds:.0f} s left"
    return f"{seconds / 60:.0f} min left"


class TerminalBar(_Bar):
    """One line on standard error that is overwritten, and removed at the end."""

    def show(self, task: str, share: float, left: float) -> None:
        filled = int(share * 24)
        bar = "#" * filled + "." * (24 - filled)
        line = f"{task[:40]} [{bar}] {share:4.0%} {_time_left(left)}"
        print(f"\r{line:<88}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        print("\r" + " " * 88 + "\r", end="", file=sys.stderr, flush=True)


class NotebookBar(_Bar):
    """A progress element that is replaced in place, and removed at the end."""

    def __init__(self) -> None:
        super().__init__()
        self._handle: Any = None

    def _html(self, task: str, share: float, left: float) -> str:
        import html

        return (
            f'<progress max="1" value="{share:.3f}" style="width:24em"></progress> '
            f"{html.escape(task)} {share:.0%} {_time_left(left)}"
        )

    def show(self, task: str, share: float, left: float) -> None:
        display = sys.modules["IPython"].display
        content = display.HTML(self._html(task, share, left))
        if self._handle is None:
            self._handle = display.display(content, display_id=True)
        else:
            self._handle.update(content)

    def clear(self) -> None:
        self._handle.update(sys.modules["IPython"].display.HTML(""))
        self._handle = None

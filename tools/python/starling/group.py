"""One learner's side of the application protocol (proto/APPLICATION.md)."""
from __future__ import annotations

import contextlib
import enum
import hashlib
import math
import os
import socket
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from starling import tree
from starling.connection import Connection, Garbled
from starling.dp import Privacy

VERSION = 1
RETRY_SECONDS = 0.2
SAY_SECONDS = 5.0
STOP = "stop"  # the metric by which `stop` is agreed on
NO_STOP = ("join(stop=...) needs the setting metrics: aggregate at all learners: --set metrics=aggregate of `starling launch`, "
           'metrics="aggregate" of starling.local, or a line of starlingd.yaml')
DP_NO_STOP = "with dp there is no join(stop=...): what the learners agree on would be a mean without noise"
NAMED = 3  # the most tensors of integers that a message names
TERMS = ("unit", "clip", "noise", "sampling", "delta", "epsilon")  # of differential privacy, in `joined`


class Error(RuntimeError):
    """The learner cannot be used, or ended the connection; the text says why."""


class Timeout(Error, TimeoutError):
    """No learner was there in time; the text says what to do."""


class Refused(ValueError):
    """The learner did not accept the model, its weight or its metrics; the text says why. `mean` may be called again."""


class State(enum.Enum):
    """What the learner expects of the application.

        SHARED  -- train, refused -->             ASKED
        ASKED   -- trained, connection lost -->   SHARED
        SHARED  -- done -->                       DONE
    """

    SHARED = enum.auto()  # nothing: it has the model of the round, or there is no round yet
    ASKED = enum.auto()  # the model of `round`
    DONE = enum.auto()  # nothing more


_open: weakref.WeakValueDictionary[str, Group] = weakref.WeakValueDictionary()  # those of this program, by the path of the socket


def _hash_of(program: str | None) -> str | None:
    """Return the SHA-256 of a file, of the main program if it is not named; None: there is no file."""
    path = program if program is not None else getattr(sys.modules.get("__main__"), "__file__", None)
    try:
        with open(path or "", "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        if program is not None:
            raise
        return None


class Group:
    """The group of learners, seen by one application. Use `join` to make one.

    Attributes:
        learner: id of the own learner; learners: number of learners in the roster.
        rounds: rounds of the run.
        round: the round whose model is to be trained, from 1; 0 before it is known.
        committed: the last committed round that this application has heard of; 0: none.
        participants: learners that took part in it; total_weight: the sum of their weights; 0: not known.
        cut: values of the own change that were beyond the ranges of their tensors, and are cut in it; 0 where the log has no warning (ROUND.md 4.8).
        metrics: its metrics, averaged over the learners; empty without `metrics: aggregate`.
        decimals, clipping_range: decimals that models are rounded to, limit of their values; None: they are not, or it is not known.
        dp: the terms of differential privacy, a `starling.dp.Privacy`; None: without it, or not known.
        noise: with dp, the standard deviation of the noise in each value of the mean; spent: the epsilon that the own learner
            has spent so far; None: not known.
        repeatable: the same model may be given when a round comes again: the learner sees to it that sums tell none alone.
        stopped: the learners have agreed to end after the round `committed`.
        waiting: why the round waits, a sentence of the learner; "" if it does not.
    """

    clips = False  # a command of this package, which clips records

    def __init__(self, path: str, model: Any = None, metrics: Sequence[str] = (), values: str = "update",
                 nonnegative: Sequence[str] = (), integers: str | None = None, timeout: float | None = None,
                 stop: bool | Callable[[dict[str, float]], bool] = False, program: str | None = None) -> None:
        if values not in ("update", "model"):
            raise ValueError(f'values is "update" or "model", not {values!r}')
        if integers not in (None, "keep"):
            raise ValueError(f'integers is None or "keep", not {integers!r}')
        if timeout is not None and not (isinstance(timeout, (int, float, np.number)) and 0 <= timeout <= threading.TIMEOUT_MAX):
            raise ValueError(f"timeout is a number of seconds, or None to wait, not {timeout!r}")
        if not (callable(stop) or stop in (True, False, None)):
            raise ValueError(f"stop is True, False or a function of the means of the metrics, not {stop!r}")
        self.learner = self.learners = self.rounds = 0
        self.round = self.committed = self.participants = self.total_weight = self.cut = 0
        self.metrics: dict[str, float] = {}
        self.decimals: int | None = None
        self.clipping_range: float | None = None
        self.dp: Privacy | None = None
        self.noise: float | None = None
        self.spent: float | None = None
        self._refused: dict[str, str] = {}  # by what dp hides: why this program cannot be used with it
        self.repeatable = False
        self.waiting = ""
        self._path = path
        # Of a local group: the first raises Error if no learner will come, the second ends the learners.
        self._check_learner, self._fail = getattr(path, "check", lambda: None), getattr(path, "fail", lambda cause: None)
        if not tree.is_list_of_texts(metrics) or len({*metrics}) != len(metrics) or (stop and STOP in metrics):
            raise ValueError(f'metrics is a list of different names, such as ("loss",), not {metrics!r}' +
                             (f'; "{STOP}" is that of join(stop=...)' if stop else ""))
        self._names = list(metrics) + [STOP] * bool(stop)
        self._rule, self._stop = stop, 0.0  # _stop: the value of the metric STOP; 1: this application asks for it
        self.stopped = False
        self._values = values
        self._patterns = nonnegative
        self._nonnegative: set[str] = set()  # names of tensors
        self._keep = integers == "keep"
        self._program = _hash_of(program)
        self._timeout = timeout
        self._template: tree.Template | None = None  # of the last model of the application; None: none is declared
        self._initial: tree.Arrays | None = None  # the values of the model of join, until they are told
        self._connection: Connection | None = None
        self._closed = False
        self._weighted = False
        self._state = State.SHARED
        self._held = 0  # the committed round whose model was given to the application
        self._calls = 0  # of mean
        self._warned = self._warned_of_cut = False  # _warned: of tensors that came back as float64
        # Held by the thread that hears the learner. If an exception of a signal handler comes before it is given back, the thread can go on.
        self._busy = threading.RLock()
        older = _open.pop(os.path.realpath(path), None)
        if older is not None:  # of a cell of a notebook that is run again
            older.close()
        _open[os.path.realpath(path)] = self
        if model is not None:
            self._declare(model, initial=True)

    def __enter__(self) -> Group:
        return self

    def __exit__(self, kind: type[BaseException] | None, cause: BaseException | None, trace: object) -> None:
        self.close()
        if cause is not None:
            self._fail(cause)

    def __repr__(self) -> str:
        if self._closed:
            state = "closed"
        elif self._template is None:
            state = "not joined"
        elif self._state is State.SHARED:
            state = self.waiting or "waiting for the learner"
        else:
            state = "to be trained" if self._state is State.ASKED else "done"
        return f"<starling.Group: learner {self.learner} of {self.learners}, round {self.round} of {self.rounds}, {state}>"

    def close(self) -> None:
        """Leave. The learner goes on without an application until one joins again."""
        self._closed = True
        self._drop()

    # ---- the connection ----

    def _declare(self, model: Any, initial: bool = False) -> None:
        """Join with the tensors of `model`. `initial`: its values are those before training."""
        template, arrays = tree.take_apart(model)
        if template.bytes == 0:
            raise ValueError("the model has no floats to average")
        self._nonnegative = tree.nonnegative(template.tensors, self._patterns)
        self._tell_of_integers(template.integers, sum(tensor.elements for tensor in template.tensors))
        tree.check_names([tensor.name for tensor in template.tensors])
        for name in sorted(self._nonnegative):
            if (arrays[name] < 0).any():
                raise ValueError(f"{name} is declared non-negative, by its name or to join, and has values below 0: the mean would "
                                 "be 0 there; set them to 0, or give it another name")
        template.check(arrays)  # a model that could not come back would lose a round of all
        self._template, self._initial = template, arrays if initial else None
        try:
            self._connect(self._timeout)
        except Exception:
            self._template = None  # `mean` may be called with another model
            raise

    def _tell_of_integers(self, kept: list[tree.Tensor], averaged: int) -> None:
        """Print which tensors are not averaged. Raise ValueError if they have most values, unless the application knows it."""
        if not kept:
            return
        values = sum(tensor.elements for tensor in kept)
        percent = 100 * values // (values + averaged) or "less than 1"
        names = ", ".join(f"{tensor.name} {tensor.dtype}" for tensor in kept[:NAMED])
        more = f" and {len(kept) - NAMED} more" if len(kept) > NAMED else ""
        text = (f"not averaged: {len(kept)} tensor{'s' if len(kept) > 1 else ''} of integers with {percent} % of the values, "
                f"each learner keeps its own ({names}{more})")
        if values > averaged and not self._keep:
            raise ValueError(f'{text}; pass integers="keep" to join if each learner is to keep its own, or dequantize the model')
        print(f"starling: {text}", file=sys.stderr, flush=True)

    def _connect(self, timeout: float | None = None) -> None:
        """Connect and join; wait as long as the learner is not there, at most `timeout` seconds."""
        self._drop()
        begun = said = time.monotonic()
        while True:
            self._check_open()
            self._check_learner()
            try:
                self._connection = Connection(self._path)
                self._connection.set_timeout(None if timeout is None else begun + timeout - time.monotonic())
                self._join()
                self._connection.set_timeout(None)
                return
            except (Garbled, KeyError) as wrong:
                self._drop()
                raise self._unusable(wrong) from None
            except (ConnectionError, FileNotFoundError, TimeoutError, socket.timeout):
                self._drop()
            except OSError as flaw:  # waiting does not help
                self._drop()
                raise Error(f"{self._path}: {flaw.strerror or flaw}") from None
            except BaseException:
                self._drop()
                raise
            now = time.monotonic()
            if timeout is not None and now - begun >= timeout:
                raise Timeout(f"{self._path}: no learner within {timeout:g} s: start it, by `starling launch` or starlingd with "
                              "`trainer: application`, or give join the path of its socket")
            if now - said >= SAY_SECONDS:
                print(f"starling: waiting for a learner on {self._path}, {now - begun:.0f} s so far", file=sys.stderr, flush=True)
                said = now
            time.sleep(RETRY_SECONDS)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Raise Error where another thread hears the learner: each would take messages from the other."""
        if not self._busy.acquire(blocking=False):
            raise Error("another thread of this program waits in mean, or for the next round, of the same group: call them in one thread; "
                        "several learners need a socket and a group each, as of starling.local")
        try:
            yield
        finally:
            self._busy.release()

    def _check_open(self) -> None:
        if self._closed:
            raise Error("this group is closed: join again")

    def _drop(self) -> None:
        """End the connection. The next use of the group connects again."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _unusable(self, wrong: Garbled | KeyError) -> Error:
        return Error(f"{self._path}: " + (f"a message of the learner has no {wrong}" if isinstance(wrong, KeyError) else str(wrong)))

    def _join(self) -> None:
        assert self._connection is not None and self._template is not None
        described = [{"name": t.name, "shape": t.shape, "dtype": t.dtype} |
                     ({"nonnegative": True} if t.name in self._nonnegative else {}) for t in self._template.tensors]
        self._connection.send({"type": "join", "version": VERSION, "tensors": described, "metrics": self._names,
                               "values": self._values, "initial": self._initial is not None, "token": os.environ.get("STARLING_TOKEN"),
                               "program": self._program})
        answer = self._connection.receive()
        if answer["type"] != "joined":
            raise Error(answer.get("text", "the learner refused the application"))
        if self._rule and not answer.get("averages_metrics", True):
            raise Error(DP_NO_STOP if answer.get("dp") else NO_STOP)
        self.learner, self.learners, self.rounds = answer["learner"], answer["learners"], answer["rounds"]
        self._weighted = answer["weighted"]
        self.decimals, self.clipping_range = answer.get("decimals"), answer.get("clipping_range")
        self.repeatable = answer.get("repeatable", False)
        self._up, self._down = self._connection.vectors(self._template.bytes)
        self._take_privacy(answer.get("dp"))
        if answer.get("initial", False) and self._initial is not None:
            tree.fill(self._up, self._template.tensors, self._initial)
            self._connection.send({"type": "initial"})
        if self.dp is None:
            self._initial = None
        self._state = State.SHARED

    def _take_privacy(self, terms: dict[str, Any] | None) -> None:
        """Take the terms of `joined`, and say at the first one what they ask of this program."""
        told = self.dp is not None
        self.dp = None if terms is None else Privacy(**{name: terms[name] for name in TERMS})
        self._check_unit()
        if self.dp is not None and self._initial is not None and not told:  # the base of differences until a round is committed
            self._initial = {name: array.copy() for name, array in self._initial.items()}
        launched = os.path.exists(os.path.join(os.environ.get("STARLING_RUN_DIR", os.devnull), "schedule.txt"))  # by `starling launch`, with all others
        if self.dp is not None and self.dp.unit == "record" and not told and not self.clips and not (launched and self.learner > 1):
            print(f"starling: dp: record: each record may add a vector of norm {self.dp.clip:g} at most (dp_clip), and only this program can "
                  "see to that, as starling.dp does", file=sys.stderr, flush=True)

    def refuse(self, unit: str, text: str) -> None:
        """Raise ValueError with this text if records or learners are what dp hides: now, or at join."""
        self._refused[unit] = text
        self._check_unit()

    def _check_unit(self) -> None:
        if self.dp is not None and self.dp.unit in self._refused:
            self.close()
            raise ValueError(self._refused[self.dp.unit])

    def is_base(self, arrays: tree.Arrays) -> bool:
        """Return true if `arrays` are the model to which the learner takes differences, or `mean` will return another one."""
        base = self._initial
        if self.committed > 0:
            if self._held < self.committed or self._template is None:
                return True
            base = tree.places(self._template.tensors, self._down)
        return base is not None and all(np.array_equal(arrays[name], array) for name, array in base.items())

    def is_wide(self, name: str) -> bool:
        """Return true if the tensor was declared as float64."""
        return self._template is not None and any(t.name == name and t.dtype == "float64" for t in self._template.tensors)

    def _next(self) -> dict[str, Any]:
        """Receive one message and return it. If there is no connection, or it is lost, connect and return {"type": "lost"}."""
        try:
            if self._connection is None:
                raise ConnectionError
            message = self._connection.receive()
        except OSError:
            if self.stopped:  # as agreed: no learner will come
                self._state = State.DONE
            else:
                self._connect()
            return {"type": "lost"}
        except Garbled as wrong:
            raise self._unusable(wrong) from None
        except BaseException:  # KeyboardInterrupt: a message may be lost, and is sent again to a program that joins
            self._drop()
            raise
        try:
            self._take(message)
        except KeyError as wrong:
            raise self._unusable(wrong) from None
        return message

    def _take(self, message: dict[str, Any]) -> None:
        kind = message["type"]
        if kind == "mean" or (kind == "train" and message["committed"] > 0):
            self._initial = None
        if kind == "train":
            if message["committed"] != self.committed:  # its mean was not heard of
                self.participants, self.total_weight = message.get("learners", 0), message.get("total_weight", 0)
                self.noise, self.cut = None, 0
            self._state, self.round, self.committed = State.ASKED, message["round"], message["committed"]
            if "metrics" in message:
                self._decide(kind, message["metrics"])
        elif kind == "mean":
            self.committed, self.participants = message["round"], message["learners"]
            self.total_weight, self.waiting = message["total_weight"], ""
            self._decide(kind, message.get("metrics", {}))
            self.decimals, self.clipping_range = message.get("decimals"), message.get("clipping_range")
            self.noise, self.spent, self.cut = message.get("noise"), message.get("spent"), message.get("cut", 0)
            self._warn_of_cut()
        elif kind == "waiting":
            self.waiting = message["text"]
        elif kind == "done":
            self._state = State.DONE
        elif kind == "refused":
            self._state = State.ASKED
            raise Refused(message["text"])
        elif kind == "error":
            raise Error(message["text"])

    def _decide(self, kind: str, means: dict[str, float]) -> None:
        """Take the means of the metrics. They are the same at all learners, so all of them end after the same round: the first
        one for which a learner has asked to stop."""
        self.metrics = {name: value for name, value in means.items() if name != STOP or not self._rule}
        if not self._rule:
            return
        if STOP not in means:
            raise Error(NO_STOP)
        self.stopped = means[STOP] > 0
        if self.stopped:
            assert self._connection is not None
            try:
                self._connection.send({"type": "stop", "round": self.committed})
            except ConnectionError:  # the others have told their learners, and the launcher has ended this one
                self._state = State.DONE
        elif callable(self._rule) and kind == "mean" and self._rule(self.metrics):
            self.stop()

    def stop(self) -> None:
        """Have all learners end after the round of the next `mean`. They learn how many ask for it, not who."""
        if not self._rule:
            raise Error("join(stop=True) allows stop, at all learners")
        self._stop = 1.0

    def _await_request(self) -> None:
        while self._state is State.SHARED or (self.stopped and self._state is not State.DONE):
            self._next()

    def _send(self, model: Any, weight: int, metrics: dict[str, float]) -> None:
        assert self._connection is not None and self._template is not None
        try:
            self._connection.check_process()  # a forked child shares the vector with its parent
        except Garbled as wrong:
            raise self._unusable(wrong) from None
        template, arrays = tree.take_apart(model, self._template)
        if not template.has_types_of(self._template):
            template.check(arrays)
        self._warn_of_narrowed(template.narrowed)
        self._template = template
        tree.fill(self._up, template.tensors, arrays)
        self._state = State.SHARED
        try:
            self._connection.send({"type": "trained", "round": self.round, "weight": int(weight), "metrics": metrics})
        except OSError:
            self._connect()
        except Garbled as wrong:
            raise self._unusable(wrong) from None
        except BaseException:  # KeyboardInterrupt: half of a line may be sent
            self._drop()
            raise

    # ---- for applications ----

    def __iter__(self) -> Iterator[int]:
        """Yield the number of each round to train, until the run is done.

        A round comes again if its attempt failed in a way that forbids to use the same model twice."""
        while True:
            if self._template is not None and self._state is not State.DONE:
                self._check_open()
                with self._alone():
                    self._await_request()
            if self._state is State.DONE:
                return
            calls = self._calls
            yield self.round or 1
            if self._calls == calls:
                raise Error("the loop over the rounds must call mean in each of them: with weight=0 (and weighting: samples) if this learner has nothing to add")

    @property
    def model(self) -> Any:
        """The last committed model, of the structure of the application's; None before the first commit.

        Reading it counts as receiving it: the next `mean` takes its argument as trained from it, also after a restart of the program.
        Leaves that are not averaged, such as integers, are those of the model that was given to `mean` last."""
        if self.committed == 0 or self._template is None:
            return None
        self._held = self.committed
        return self._template.build(tree.places(self._template.tensors, self._down))

    def mean(self, model: Any, weight: int = 1, metrics: dict[str, float] | None = None) -> Any:
        """Return the weighted mean of the models of all learners, as soon as the round is committed.

        `weight`: a whole number, such as the number of samples; it counts only with `weighting: samples`. With weight 0
        the learner takes part, and its model does not count: it may evaluate the mean. With `dp: record` it is the number of records of
        this learner, and Refused says if the setting dp_delta is too large for as many.
        `metrics`: numbers for the log of the own learner; "loss" is shown. Those that `join` named are averaged.

        If the learner asks for another training of this round, or goes on from a committed model that this application
        did not train from, the result is that committed model (before the first commit, `model` itself, and with dp the model of join): the loop
        then yields the round again. So it does with `dp: record` if dp_clip or dp_sampling has changed since the model was given.
        The mean has the dtypes of the model that was declared; float64 is narrowed to its float32, with one warning.
        Raises Refused if a value is not finite, or beyond the setting `clipping_range`, ValueError if names or shapes changed, Error if
        another thread waits in `mean`, or for a round, of this group."""
        self._check_open()
        with self._alone():
            self._calls += 1
            if self._template is None:
                self._declare(model)
            self._check_weight(weight)
            numbers = self._numbers(metrics or {})
            asked = self._asked
            self._await_request()
            if self._held < self.committed:
                return self.model
            if self._state is State.DONE:
                raise Error("the run is done")
            if self._asked != asked:
                return self._start(model)
            tried = self.round
            self._send(model, weight, numbers)
            while self.committed < tried:
                message = self._next()
                if self._state is State.DONE:  # no learner has a budget of privacy for this round
                    return self.model if self.committed > 0 else model
                if message["type"] == "train" and self.committed < tried:
                    if message["again"] or self._asked != asked:
                        return self._start(model)
                    self._send(model, weight, numbers)  # the learner was started again before it had the vector
            return self.model

    @property
    def _asked(self) -> tuple[float, float] | None:
        """What `dp: record` asks of a sum: one that was made for another clip or sampling is made again."""
        return (self.dp.clip, self.dp.sampling) if self.dp is not None and self.dp.unit == "record" else None

    def _start(self, model: Any) -> Any:
        """Return what a round that comes again is trained from: the committed model. Before the first commit, it is `model`; with dp, the one of
        join, to which sums are added."""
        if self.committed > 0:
            return self.model
        if self.dp is None or self._initial is None or self._template is None or self._values != "update":
            return model
        return self._template.build(self._initial)

    def _warn_of_narrowed(self, narrowed: list[tree.Tensor]) -> None:
        if not narrowed or self._warned:
            return
        self._warned = True
        warnings.warn(f"{narrowed[0].name} came back as float64 and was float32 at join: it is averaged as float32. numpy 2 makes "
                      "float64 of float32 * np.float64; use Python floats or .astype(np.float32)", stacklevel=4)

    def _warn_of_cut(self) -> None:
        values = self.cut
        if values == 0 or self._warned_of_cut:
            return
        self._warned_of_cut = True
        warnings.warn(f"the mean lacks what this learner has cut: round {self.committed}: {values} value{'s' * (values != 1)} of the update "
                      f"{'is' if values == 1 else 'are'} beyond the ranges of their tensors: this learner changes more than the others (train it less in a round, or join with "
                      'values="model"), or all more than before; then the ranges follow', stacklevel=5)

    def _check_weight(self, weight: int) -> None:
        try:
            whole = weight == int(weight) and weight >= 0
        except (TypeError, ValueError, OverflowError):  # None, NaN, infinity
            whole = False
        if not whole:
            raise ValueError(f"a weight is a whole number from 0, such as len(data), not {weight!r}")
        if weight != 1 and not self._weighted and (self.dp is None or self.dp.unit != "record"):
            warnings.warn("the weight does not count: the learner has not set weighting: samples", stacklevel=3)

    def _numbers(self, metrics: dict[str, float]) -> dict[str, float]:
        """Return the metrics that can be sent: all that `join` named, and the finite ones of the others."""
        if not isinstance(metrics, Mapping):
            raise ValueError(f'metrics is a dict of numbers, such as {{"loss": 0.5}}, not {metrics!r}')
        if self._rule:
            metrics = {**metrics, STOP: self._stop}
        numbers = {name: _number(name, value) for name, value in metrics.items()}
        for name in self._names:
            if not math.isfinite(numbers.get(name, math.nan)):
                raise ValueError(f"the metric {name} of join is {numbers.get(name, 'missing')}: it cannot be averaged")
        return {name: value for name, value in numbers.items() if math.isfinite(value)}


def _number(name: str, value: Any) -> float:
    try:
        return float(value + 0)  # text of digits is no number, either
    except (TypeError, ValueError, OverflowError, RuntimeError):  # torch has the last one, for a tensor of several values
        raise ValueError(f"a metric is a number, and {name} is a {type(value).__name__}: leave it out, or give mean its float") from None


def join(model: Any = None, path: str | None = None, metrics: Sequence[str] = (), values: str = "update",
         nonnegative: Sequence[str] = (), integers: str | None = None, timeout: float | None = None,
         stop: bool | Callable[[dict[str, float]], bool] = False, program: str | None = None) -> Group:
    """Join the learner on the socket `path` (default: $STARLING_SOCKET) and wait until it is there.

    `model` states names, shapes and dtypes. Its values are those before training: if they are the same at all learners, such
    as with the same seed, the first round averages what training adds to them, else whole models. Without it, the model of
    the first `mean` states the tensors.
    Its leaves are arrays of numpy, torch, JAX, TensorFlow, MLX, CuPy and pandas, and numbers. What is no float is not averaged: each
    learner keeps its own integers, None, and the `param_groups` of a torch optimizer, which has to have taken a step. Masked arrays are refused. A module counts
    as its `state_dict()`; tied tensors of torch, the same memory under two names, are sent once. A model that could not be built again
    from its mean is refused with a TypeError before anything is shared.
    A later model has the same names and shapes; a tensor of another float dtype is averaged with the dtype stated here.
    `metrics`: names of the numbers that every learner passes to every `mean`, to be averaged with `metrics: aggregate`.
    `values`: "update", for models that are trained from the last mean, averages what each learner adds to it. Each
    tensor is rounded to 2^-12 of a range, two to four times its change in the round before, and small tensors to 2^-60, other non-negative ones to 2^-36; what
    rounding leaves out goes into the next change. "model", for numbers that are not trained from the last mean, averages them
    exactly, as multiples of 2^-128 below 2^128 (in models of more than 65,536 values 2^-64 and 2^64, of more than 2^24 2^-40 and 2^24), and rounds the mean once;
    it takes four (very large models) to seventeen (small ones) times as many bytes. The same at all learners. It counts with the setting `values: auto`. Metrics that are averaged are exact in both.
    `nonnegative`: patterns of names, such as "*.var": mean values of these tensors that rounding or the others' updates take
    below 0 become 0. running_var, exp_avg_sq and max_exp_avg_sq of torch are so without being named. The same at all learners.
    `integers`: tensors of integers and booleans are not averaged, each learner keeps its own; those of more than one element
    are named on stderr. If they have more than half of the values, as in a quantized model, the result is a ValueError,
    unless `integers` is "keep".
    `stop`: True allows `group.stop()`, by which all learners end after the same round. A function gets the means of the metrics
    of each committed round, and returns whether to stop: then it is as if `group.stop()` was called. Whether any learner asks for
    it is a private mean, too, a metric named "stop": so this needs the setting `metrics: aggregate`. A learner of weight 0 does not
    count. All learners pass True or a function, or none does.
    `program`: the file of the training program, by default the one that Python was started with; the account of the rounds has its
    SHA-256. Of a notebook or a prompt it has none.
    `timeout`: seconds until a learner that is not there is a Timeout. Without it, `join` waits, and says so from time to time.
    With the setting `dp: record`, only this program can clip records: see `starling.dp`.
    A group that this program has joined on the same socket before is closed: a cell of a notebook may be run again."""
    path = path or os.environ.get("STARLING_SOCKET")
    if not isinstance(path, (str, bytes, os.PathLike, type(None))):
        raise ValueError(f"path is that of the socket of a learner, not {path!r}")
    if not path:
        raise Error("STARLING_SOCKET is not set: start this program by `starling launch -- ...`, or give join a path")
    return Group(os.fsdecode(path), model, metrics, values, nonnegative, integers, timeout, stop, program)

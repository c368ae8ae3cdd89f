"""Read a short PyFlink program without running it: which objects its lines make, by PyFlink's rules, and what they get.

The lines of ``build`` are followed by Python's ``ast``. A strategy is what it is in PyFlink 2.3.0: the assigner is kept
beside the Java part, ``with_timestamp_assigner`` changes the object, and ``with_idleness`` makes a new one.
"""

from __future__ import annotations

import ast
import copy
import datetime
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from wmviz.course.answers import AnswerError

UNITS = {"of_millis": 1, "of_seconds": 1_000, "of_minutes": 60_000, "of_hours": 3_600_000, "of_days": 86_400_000}
PLAIN = (ast.Import, ast.ImportFrom, ast.Pass, ast.If)
"""Statements that are passed over; the only ``if`` that is, is the one at the end that starts the program."""
MOST_CALLS = 20


@dataclass(eq=False)
class Made:
    """What a call gives that is no stream and no strategy: type information, a tag, a function of the job."""

    callee: str
    args: tuple[Any, ...] = ()

    def parts(self) -> Iterator[Made]:
        """Give the objects inside, at any depth."""
        todo = list(self.args)
        while todo:
            each = todo.pop()
            if isinstance(each, Made):
                yield each
                todo += each.args
            elif isinstance(each, (list, tuple)):
                todo += each


@dataclass(eq=False)
class Strategy:
    """A watermark strategy as PyFlink keeps it: lengths in ms, and the assigner beside them."""

    factory: str
    bound: Any = None
    idleness: Any = None
    alignment: Any = None
    assigner: Any = None
    lost_by: str | None = None
    """The call that left the assigner behind."""

    def after(self, method: str, args: tuple[Any, ...]) -> Strategy:
        """Call a method of it."""
        if method == "with_timestamp_assigner":
            self.assigner = args[0] if args else None
            return self
        lost_by = method if self.assigner is not None else self.lost_by
        made = replace(self, assigner=None, lost_by=lost_by)
        if method == "with_idleness":
            made.idleness = args[0] if args else None
        elif method == "with_watermark_alignment":
            made.alignment = args
        else:
            raise AnswerError(f"A watermark strategy has no method {method} in PyFlink.")
        return made


@dataclass(frozen=True)
class Call:
    """A call on a stream."""

    method: str
    args: tuple[Any, ...]


@dataclass(eq=False)
class Stream:
    """A stream, as the calls that made it."""

    calls: tuple[Call, ...]

    def then(self, method: str, args: tuple[Any, ...]) -> Stream:
        """Call a method of it."""
        return Stream((*self.calls, Call(method, args)))

    def branches(self) -> list[Stream]:
        """Give the streams that it unites, itself if it is one."""
        for at, call in enumerate(self.calls):
            if call.method == "union":
                united = [Stream(self.calls[:at]), *(each for each in call.args if isinstance(each, Stream))]
                return [b for each in united for b in Stream((*each.calls, *self.calls[at + 1 :])).branches()]
        return [self]


@dataclass(eq=False)
class Code:
    """A function or a lambda of the program."""

    node: ast.FunctionDef | ast.Lambda


class Anything:
    """Stands for what PyFlink would give, where a piece of a program is tried without PyFlink."""

    def __getattr__(self, name: str) -> Anything:
        """Have everything."""
        return self

    def __call__(self, *_: object, **__: object) -> Anything:
        """Take everything."""
        return self


class Tag:
    """Stands for an OutputTag there."""

    def __init__(self, tag_id: str, type_info: object = None) -> None:
        """Keep the name."""
        self.tag_id = tag_id


@dataclass
class Reading:
    """What a program makes.

    Attributes
    ----------
    streams
        Every stream, in the order in which the lines make them.
    timed
        What each ``assign_timestamps_and_watermarks`` gets: a stream, and the strategy as it was then.
    on_source
        The strategy that each ``from_source`` gets.
    tags
        Every OutputTag.
    returned
        What ``build`` gives.
    """

    streams: list[Stream] = field(default_factory=list)
    timed: list[tuple[Stream, Strategy]] = field(default_factory=list)
    on_source: list[Strategy] = field(default_factory=list)
    tags: list[Made] = field(default_factory=list)
    returned: Any = None
    tree: ast.Module = field(default_factory=lambda: ast.Module([], []))

    def piece(self, code: object) -> Callable[..., Any]:
        """Give a function of the program as one that can be called here.

        Raises
        ------
        AnswerError
            If it is none.
        """
        names = self._names()
        if isinstance(code, Code) and isinstance(code.node, ast.Lambda):
            return _guarded(eval(compile(ast.Expression(code.node), "<program>", "eval"), names), "lambda")  # noqa: S307
        if isinstance(code, Code) and code.node.name in names:  # type: ignore[union-attr]
            return _guarded(names[code.node.name], code.node.name)  # type: ignore[union-attr]
        raise AnswerError("A function of the stream is neither a lambda nor a function of the program.")

    def method(self, made: object, name: str) -> Callable[..., Any]:
        """Give a method of an object of one of the program's classes."""
        maker = self._names().get(made.callee) if isinstance(made, Made) else None
        found = getattr(maker(), name, None) if isinstance(maker, type) else None
        if found is None:
            raise AnswerError(f"There is no class of yours with a method {name} where one is needed.")
        return _guarded(found, name)

    def _names(self) -> dict[str, Any]:
        """Run the definitions of the program, without PyFlink; what needs PyFlink is passed over."""
        stand_ins = {"OutputTag": Tag, "Types": Anything(), "Duration": Anything()}
        names: dict[str, Any] = {"time": time, "datetime": datetime, "math": math, "copy": copy, **stand_ins}
        for node in self.tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)):
                own = copy.deepcopy(node)
                if isinstance(own, ast.ClassDef):
                    own.bases = []
                try:
                    exec(compile(ast.Module([own], []), "<program>", "exec"), names)  # noqa: S102
                except Exception:  # noqa: BLE001, S112 - a line that needs PyFlink makes nothing here
                    continue
        return names


def _guarded(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def call(*args: object) -> Any:
        try:
            found = function(*args)
            return list(found) if isinstance(found, Iterator) else found
        except Exception as error:  # noqa: BLE001 - it is the learner's code, anything may come out of it
            shown = ", ".join("the context" if isinstance(each, Anything) else repr(each) for each in args)
            raise AnswerError(f"{name} stops with {type(error).__name__} for {shown}: {error}") from None

    return call


def read(text: object) -> Reading:
    """Follow the lines of a program.

    Raises
    ------
    AnswerError
        If it is no program with ``build``, or does what is not followed here; the message names the line.
    """
    if not isinstance(text, str):
        raise AnswerError("Give the program as text.")
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise AnswerError(f"Line {error.lineno} is no Python: {error.msg}.") from None
    reader = _Reader()
    reader.found.tree = tree
    reader.follow(tree.body)
    build = reader.names.get("build")
    if not isinstance(build, Code):
        raise AnswerError("The program has no function build. Change the program that is given.")
    reader.found.returned = reader.call(build, (Made("env"),))
    return reader.found


class _Reader:
    """Follows statements, and knows what each name is."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self.found = Reading()
        self._depth = 0

    def follow(self, body: Iterable[ast.stmt]) -> Any:
        """Follow statements up to the first return, and give what that gives."""
        for node in body:
            if isinstance(node, ast.Return):
                return self.value(node.value)
            if isinstance(node, ast.Assign):
                value = self.value(node.value)
                for target in node.targets:
                    self._name(target, value)
            elif isinstance(node, ast.AnnAssign):
                self._name(node.target, self.value(node.value))
            elif isinstance(node, ast.Expr):
                self.value(node.value)
            elif isinstance(node, ast.FunctionDef):
                self.names[node.name] = Code(node)
            elif isinstance(node, ast.ClassDef):
                self.names[node.name] = node
            elif not isinstance(node, PLAIN) or (isinstance(node, ast.If) and self._depth):
                raise AnswerError(f"Line {node.lineno}: this check follows assignments and calls only. Write it so.")
        return None

    def _name(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (tuple, list)):
            for each, part in zip(target.elts, value, strict=False):
                self._name(each, part)

    def call(self, code: Code, args: tuple[Any, ...]) -> Any:
        """Follow a function of the program."""
        if self._depth >= MOST_CALLS or isinstance(code.node, ast.Lambda):
            raise AnswerError("This check cannot follow so many functions. Write the lines into build.")
        outer, self._depth = self.names, self._depth + 1
        self.names = {**outer, **dict(zip((arg.arg for arg in code.node.args.args), args, strict=False))}
        try:
            return self.follow(code.node.body)
        finally:
            self.names, self._depth = outer, self._depth - 1

    def value(self, node: ast.expr | None) -> Any:
        """Give what an expression makes."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, Made(node.id))
        if isinstance(node, ast.Lambda):
            return Code(node)
        if isinstance(node, (ast.Tuple, ast.List)):
            return [self.value(each) for each in node.elts]
        if isinstance(node, ast.Call):
            return self._called(node)
        if isinstance(node, ast.NamedExpr):
            self._name(node.target, self.value(node.value))
            return self.names[node.target.id]
        if isinstance(node, ast.BinOp):
            return self._number(node)
        if isinstance(node, ast.Attribute):
            return Made(ast.unparse(node))
        return node.value if isinstance(node, ast.Constant) else None

    def _number(self, node: ast.BinOp) -> Any:
        names = {name: value for name, value in self.names.items() if isinstance(value, (int, float))}
        try:
            return eval(compile(ast.Expression(node), "<program>", "eval"), {"__builtins__": {}}, names)  # noqa: S307
        except Exception:  # noqa: BLE001 - what is no number is not needed
            return None

    def _called(self, node: ast.Call) -> Any:
        args = (*map(self.value, node.args), *(self.value(each.value) for each in node.keywords))
        if isinstance(node.func, ast.Attribute):
            on = self.value(node.func.value)
            return self._of(on, node.func.attr, args)
        name = ast.unparse(node.func)
        known = self.names.get(name)
        if isinstance(known, Code):
            return self.call(known, args)
        return self._made(Made(name, args))

    def _of(self, on: Any, method: str, args: tuple[Any, ...]) -> Any:
        """Call a method by PyFlink's rules."""
        if isinstance(on, Strategy):
            return on.after(method, args)
        if isinstance(on, Stream):
            return self._stream(on, method, args)
        name = on.callee if isinstance(on, Made) else ""
        if name == "WatermarkStrategy":
            return Strategy(method, args[0] if args else None)
        if name.endswith("Duration") and method in UNITS and args and isinstance(args[0], (int, float)):
            return args[0] * UNITS[method]
        if name == "env" and method.startswith("from_"):
            return self._source(method, args)
        if name == "copy" and method == "deepcopy" and args:
            return copy.deepcopy(args[0])
        return self._made(Made(f"{name}.{method}", args))

    def _source(self, method: str, args: tuple[Any, ...]) -> Stream:
        self.found.on_source += [copy.copy(each) for each in args if isinstance(each, Strategy)]
        stream = Stream((Call(method, args),))
        self.found.streams.append(stream)
        return stream

    def _stream(self, on: Stream, method: str, args: tuple[Any, ...]) -> Stream:
        if method == "assign_timestamps_and_watermarks":
            if not args or not isinstance(args[0], Strategy):
                raise AnswerError("assign_timestamps_and_watermarks needs a watermark strategy.")
            self.found.timed.append((on, copy.copy(args[0])))
        stream = on.then(method, args)
        self.found.streams.append(stream)
        return stream

    def _made(self, made: Made) -> Made:
        if made.callee == "OutputTag":
            self.found.tags.append(made)
        return made


# ------------------------------------------------------------------------------------------------------ rows that flow

SAME = frozenset({"name", "uid", "set_parallelism", "disable_chaining", "start_new_chain", "key_by", "rebalance"})


def flow(reading: Reading, stream: Stream, row: object) -> list[Any]:
    """Let a row go through the filters and maps of a stream, and give what comes out.

    Raises
    ------
    AnswerError
        If the stream has a call that is not tried here.
    """
    rows = [row]
    side: list[tuple[str, Any]] = []
    for call in stream.calls[1:]:
        if call.method == "filter":
            keeps = reading.piece(call.args[0])
            rows = [each for each in rows if keeps(each)]
        elif call.method == "map":
            makes = reading.piece(call.args[0])
            rows = [makes(each) for each in rows]
        elif call.method == "process":
            given = reading.method(call.args[0], "process_element")
            out = [made for each in rows for made in given(each, Anything()) or []]
            side = [(made[0].tag_id, made[1]) for made in out if _is_tagged(made)]
            rows = [made for made in out if not _is_tagged(made)]
        elif call.method == "get_side_output":
            tag = call.args[0]
            rows = [each for tag_id, each in side if isinstance(tag, Made) and tag.args[:1] == (tag_id,)]
        elif call.method not in SAME:
            raise AnswerError(f"This check cannot try a stream with {call.method}; filter, map and process it can.")
    return rows


def _is_tagged(made: object) -> bool:
    return isinstance(made, tuple) and len(made) == 2 and isinstance(made[0], Tag)

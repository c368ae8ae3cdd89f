"""docs/your-own-events.md: each example runs, and gives what stands below it."""

import ast
import re
from pathlib import Path

import wmviz
from wmviz import own

PAGE = (Path(wmviz.__file__).parents[1] / "docs" / "your-own-events.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(code, names, capsys):
    """Run an example as a notebook does: what its last line comes to is shown."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "page", "exec"), names)
    value = eval(compile(ast.Expression(last.value), "page", "eval"), names) if last else None
    printed = capsys.readouterr().out
    return printed if value is None else f"{printed}{value!r}\n"


def test_each_example_gives_what_stands_below_it(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(PAGE)
    kinds = [kind for kind, _ in blocks]
    assert kinds == ["python", "text"] * (len(kinds) // 2)
    assert len(kinds) >= 14
    names = {}
    for (_, code), (_, shown) in zip(blocks[::2], blocks[1::2], strict=True):
        assert run(code, names, capsys) == shown


def test_the_page_names_what_there_is():
    for name in re.findall(r"`wmviz\.own\.(\w+)`", PAGE):
        assert hasattr(own, name)
    advice = own.flights().choose()
    for name in re.findall(r"`advice\.(\w+)", PAGE):
        assert hasattr(advice, name)
    for name in re.findall(r"`(?:Scenario\.)?(from_\w+)`", PAGE):
        assert hasattr(wmviz.Scenario, name)

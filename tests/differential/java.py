"""A Java class beside this file, compiled on the spot: text in, text out."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from wmviz.flink import startup


@cache
def java_function(name: str) -> Callable[[str], str]:
    """Return the method `apply` of an object of a class; py4j takes a class compiled twice for the same one."""
    gateway = startup.job().get_gateway()
    compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
    compiler.cook(Path(__file__).with_name(f"{name}.java").read_text(encoding="utf-8"))
    made = compiler.getClassLoader().loadClass(f"differential.{name}")
    none = gateway.new_array(gateway.jvm.Class, 0)
    made_one = made.getConstructor(none).newInstance(gateway.new_array(gateway.jvm.Object, 0))
    return made_one.apply

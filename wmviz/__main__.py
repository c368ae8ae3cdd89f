"""What wmviz does in a terminal: ``python -m wmviz diagnose http://localhost:8081``, ``python -m wmviz doctor``."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence

from wmviz.diagnosis import DiagnosisError, diagnose
from wmviz.doctor import command as doctor

HEALTHY, FAULT, NOT_READ = 0, 1, 2
CERTAINTIES = ("possible", "likely", "certain")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code."""
    chosen = _parser().parse_args(arguments)
    code: int = chosen.run_command(chosen)
    return code


def _diagnose(chosen: argparse.Namespace) -> int:
    """Diagnose a job: 0 healthy, 1 a fault was found, 2 the job could not be read."""
    try:
        found = diagnose(
            chosen.where,
            chosen.job,
            wait=_wait(chosen.wait),
            token=chosen.token or os.environ.get("WMVIZ_TOKEN"),
            user=chosen.user or os.environ.get("WMVIZ_USER"),
            password=chosen.password or os.environ.get("WMVIZ_PASSWORD"),
            ca=chosen.ca,
            acceptable_delay=chosen.acceptable_delay,
            acceptable_silence=chosen.acceptable_silence,
            limit_s=chosen.limit,
            tell=None if chosen.json or chosen.quiet else lambda sentence: print(sentence, file=sys.stderr, flush=True),
        )
        if chosen.save:
            found.save(chosen.save)
    except DiagnosisError as error:
        if chosen.json:
            doctor.show(json.dumps({"error": str(error)}, indent=2))
        print(f"wmviz: {error}", file=sys.stderr)
        return NOT_READ
    except KeyboardInterrupt:
        print("wmviz: stopped before the second reading.", file=sys.stderr)
        return NOT_READ
    told = json.dumps(found.to_json(), indent=2) if chosen.json else found.text(chosen.language)
    doctor.show(found.headline if chosen.quiet and not chosen.json else told)
    counted = CERTAINTIES[CERTAINTIES.index(chosen.fail_on) :]
    return FAULT if any(cause.certainty in counted for cause in found.causes) else HEALTHY


def _wait(text: str | None) -> float | str | None:
    """Read a number as seconds; leave other text to `diagnose`."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m wmviz", description="See how Apache Flink handles time.")
    commands = parser.add_subparsers(required=True, metavar="command")
    _add_diagnose(
        commands.add_parser(
            "diagnose",
            help="say why a running job gives no results, or loses some",
            description="Read a running job over Flink's REST interface, twice, and name the likely cause of a fault. "
            "It only reads.",
            epilog="Exit code: 0 no fault found, 1 a fault was found, 2 the job could not be read.",
        )
    )
    examined = commands.add_parser("doctor", help=doctor.HELP, description=doctor.DESCRIPTION, epilog=doctor.EPILOG)
    examined.set_defaults(run_command=doctor.run)
    doctor.add_options(examined)
    return parser


def _add_diagnose(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run_command=_diagnose)
    command.add_argument("where", metavar="URL", help="as http://localhost:8081, or a file that --save wrote")
    command.add_argument("--job", help="name or id of the job; needed where several run")
    command.add_argument("--wait", metavar="TIME", help="from reading to reading: seconds, or text as 15s")
    command.add_argument("--token", help="bearer token; better in the environment variable WMVIZ_TOKEN")
    command.add_argument("--user", help="user, for basic authentication; or the environment variable WMVIZ_USER")
    command.add_argument("--password", help="password; better in the environment variable WMVIZ_PASSWORD")
    command.add_argument("--ca", metavar="FILE", help="certificate of your own authority, for TLS")
    command.add_argument("--acceptable-delay", metavar="TIME", help="how far a watermark may trail the events")
    command.add_argument("--acceptable-silence", metavar="TIME", help="how long no source at all may read a record")
    command.add_argument(
        "--fail-on",
        choices=CERTAINTIES,
        default=CERTAINTIES[0],
        help="exit code 1 only from such a certainty on (possible)",
    )
    command.add_argument("--limit", metavar="SECONDS", type=float, default=10.0, help="for one answer (10)")
    command.add_argument("--language", choices=("PyFlink", "Java", "SQL"), help="of the fix (that of the job)")
    command.add_argument("--save", metavar="FILE", help="keep all that was read, for later or for somebody else")
    command.add_argument("--json", action="store_true", help="for machines")
    command.add_argument("--quiet", action="store_true", help="one line only")


if __name__ == "__main__":
    raise SystemExit(main())

"""All measures, each in a process of its own: ``python -m benchmarks [NAME…]``, or ``make bench``."""

import subprocess
import sys

NAMES = ("engine_speed", "jobs_speed", "flink_speed", "stage_speed", "own_events")


def main(names: list[str]) -> int:
    """Run measures by name; 1 if one misses its aim or fails."""
    worst = 0
    for name in names or NAMES:
        print(f"--- {name}", flush=True)
        worst |= subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode != 0
    return int(worst)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

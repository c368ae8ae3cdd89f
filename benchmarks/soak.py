"""Many random scenarios on both engines: ``make soak``, or ``python -m benchmarks.soak 1000 SEED``.

Half of them have one stream, half have several inputs. Prints how many agree and how many scenarios a second that
took; ends with 1 if any differ, and lists those. Without a seed a new one is drawn; the line that names it is enough to
run the same again.
"""

import random
import sys
import time

from tests.random_scenarios import random_inputs, random_scenarios
from wmviz.comparison import Comparison, compare
from wmviz.flink import replay, run_many

NUMBER = 1000


def main(number: int, seed: int) -> int:
    """Compare scenarios, a job at a time; give the exit code."""
    print(f"{number} random scenarios, seed {seed}", flush=True)
    half = number // 2
    scenarios = [*random_scenarios(half, seed), *random_inputs(number - half, seed)]
    began = time.perf_counter()
    different: list[Comparison] = []
    for first in range(0, number, replay.MOST_PIPELINES):
        some = scenarios[first : first + replay.MOST_PIPELINES]
        comparisons = [compare(scenario, trace) for scenario, trace in zip(some, run_many(some), strict=True)]
        different += [comparison for comparison in comparisons if not comparison.same]
        done, seconds = first + len(some), time.perf_counter() - began
        print(f"  {done} compared, {len(different)} differ, {done / seconds:.1f} a second", flush=True)
    for comparison in different:
        print(comparison)
    return 1 if different else 0


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    sys.exit(main(given[0] if given else NUMBER, given[1] if len(given) > 1 else random.randrange(10**9)))

"""Work out the sums of times that stand in a text."""

import re

from wmviz.times import duration_ms, time_ms, time_text

SUM = re.compile(r"(\d+:[\d:.]+) ([−+]) (\d+ (?:min|s))(?: − (1) ms)? = (\d+:[\d:.]*\d)")


def check_sums(text: str) -> int:
    """Work out every sum such as "7:02 − 2 min − 1 ms = 6:59:59.999".

    Returns
    -------
    int
        How many there are; a wrong one fails the test.
    """
    sums = SUM.findall(text)
    for start, sign, length, less, result in sums:
        due_ms = time_ms(start) + (1 if sign == "+" else -1) * duration_ms(length) - int(less or 0)
        assert time_text(due_ms) == time_text(time_ms(result)), f"{start} {sign} {length} is not {result}"
    return len(sums)

"""Is this machine ready for the course? ``python -m wmviz doctor`` looks before the workshop begins.

Each check is a function that takes what it judges, and gives a `Finding`; `look` is where the machine itself is looked
at. All of it is the standard library alone and runs on Python 3.8 too, so that it can say what else is missing.
"""

from wmviz.doctor.finding import Finding

__all__ = ["Finding"]

"""The doctor on a Python that is too old for wmviz itself: ``python3 wmviz/doctor``.

``python -m wmviz doctor`` imports wmviz first, which Python 3.9 cannot. Here an empty package stands for it.
"""

import sys
from pathlib import Path
from types import ModuleType

PACKAGE = Path(__file__).resolve().parents[1]

if __name__ == "__main__":
    sys.path[0] = str(PACKAGE.parent)
    stand_in = ModuleType("wmviz")
    stand_in.__path__ = [str(PACKAGE)]
    sys.modules["wmviz"] = stand_in
    from wmviz.doctor.command import main

    sys.exit(main())

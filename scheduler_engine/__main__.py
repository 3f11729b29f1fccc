"""The engine on the command line: ``python -m scheduler_engine COMMAND``, or ``scheduler-sandbox COMMAND``.

``python …/scheduler_engine COMMAND`` does the same in any folder, because the package's folder is a program, too.
"""

import sys
from pathlib import Path

if not __package__:
    # Python has put the package itself on the path, whose modules would hide those of the standard library.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from scheduler_engine.cli import main

if __name__ == "__main__":
    sys.exit(main())

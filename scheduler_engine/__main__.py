"""The engine on the command line: ``python -m scheduler_engine COMMAND``, or ``scheduler-sandbox COMMAND``."""

import sys

from scheduler_engine.cli import main

if __name__ == "__main__":
    sys.exit(main())

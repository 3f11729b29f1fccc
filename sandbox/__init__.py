"""Scheduler Sandbox: the Django site around the scheduler engine."""

import os

# NumPy's linear algebra, which the engine does not use, takes memory for each of its threads: as many as there are
# cores. That counts against the limits of the engine's processes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

"""Set how many random histories to try: a few by default. With HYPOTHESIS_EXAMPLES=2000 or the profile ``thorough``
(``--hypothesis-profile=thorough``), try 2,000. If CI is set, Hypothesis tries the same ones each time. None has a
deadline: the machine may be busy.
"""

from __future__ import annotations

import os

import hypothesis

EXAMPLES = os.environ.get("HYPOTHESIS_EXAMPLES")

hypothesis.settings.register_profile(
    "thorough",
    max_examples=int(EXAMPLES or 2000),
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile("patient", deadline=None)
if EXAMPLES:
    hypothesis.settings.load_profile("thorough")
elif hypothesis.settings.get_current_profile_name() == "default":
    hypothesis.settings.load_profile("patient")

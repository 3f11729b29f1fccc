"""The site's settings, with clocks around the functions of a step."""

from sandbox.settings import *  # noqa: F403
from sandbox.settings import INSTALLED_APPS as OF_THE_SITE

INSTALLED_APPS = [*OF_THE_SITE, "tests.bench.ui.timing.Timing"]

"""The site's settings as it is served, for a server that runs beside other tests."""

from sandbox.settings import *  # noqa: F403

# Engines get only a slightly lower priority: a sandbox that works for long would get a thirtieth of the CPU beside each
# busy process, and its command would reach the time limit.
ENGINE_NICE, ENGINE_NICER = 1, 0

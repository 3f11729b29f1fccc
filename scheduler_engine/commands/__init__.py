"""What a person can do to a sandbox. The log of these commands is the truth; everything else follows from it.

Each command is a row of one table (``table``): a small frozen class (``kinds``) with its fields, their bounds and one
line for people. It has a JSON form ``{"kind": …, …}`` (``forms``).
"""

from scheduler_engine.commands.forms import check_bounds as check_bounds
from scheduler_engine.commands.forms import ended_early as ended_early
from scheduler_engine.commands.forms import field_of as field_of
from scheduler_engine.commands.forms import from_json as from_json
from scheduler_engine.commands.forms import to_json as to_json

# Import all rows at once, so that a new one needs no entry here.
from scheduler_engine.commands.kinds import *  # noqa: F403
from scheduler_engine.commands.table import COMMANDS as COMMANDS
from scheduler_engine.commands.table import SPELLED as SPELLED
from scheduler_engine.commands.table import Command as Command
from scheduler_engine.commands.table import wrong_field as wrong_field

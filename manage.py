#!/usr/bin/env python
"""Django's command line for the site."""

import os
import sys

from django.core.management import execute_from_command_line

from sandbox.server.startup import CannotStart

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
    try:
        execute_from_command_line(sys.argv)
    except CannotStart as error:
        sys.exit(str(error))

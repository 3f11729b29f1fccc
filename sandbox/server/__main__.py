"""Serve the site: ``python -m sandbox.server --bind 127.0.0.1 --port 8000``."""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time

import django
from django.core.exceptions import ImproperlyConfigured

from sandbox.runtime import hosts, memory
from sandbox.server import startup

STUCK_SECONDS = 3
SWITCH_SECONDS = 0.001


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m sandbox.server", description="Serve the site.")
    parser.add_argument("--bind", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8000, help="(default: %(default)s)")
    parser.add_argument("--prepare", action="store_true", help="update the database and static files first")
    options = parser.parse_args()
    try:
        serve(options)
    except (startup.CannotStart, ImproperlyConfigured) as error:
        sys.exit(str(error))


def serve(options: argparse.Namespace) -> None:
    memory.return_freed_memory()
    limits = startup.limits()
    listener = startup.listener(options.bind, options.port)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
    # A server that listens on all addresses is meant for others in the network, so allow its names.
    os.environ.setdefault("ALLOWED_HOSTS", ",".join([*hosts.LOOPBACK, *hosts.own_hosts(options.bind)]))
    django.setup(set_prefix=False)
    # These imports need the settings.
    from django.conf import settings

    from sandbox.server import combinations, holding, local, site

    combinations.check()
    local.start(options.bind)
    lock = site.hold()
    startup.check_neighbours(lock, settings.WEB_PROCESSES)
    site.check_database(migrate=options.prepare)
    if options.prepare:
        site.collect()
    site.check_static()
    holder = holding.Holder(lock, site.hold)

    from sandbox.asgi import application
    from sandbox.pool.engines import started
    from sandbox.runtime import layers
    from sandbox.server import pruning
    from sandbox.server.metrics import Metrics
    from sandbox.server.probes import Probes
    from sandbox.server.requests import Requests
    from sandbox.server.serve import Server
    from sandbox.server.staticfiles import StaticFiles

    memory.freeze_loaded(memory.OF_THE_SITE)
    # Reading a large body takes a thread many milliseconds. Python's default of 5 ms would delay the others each time.
    sys.setswitchinterval(SWITCH_SECONDS)
    engines = started()

    def ready() -> None:
        host, others = hosts.served_hosts(options.bind)
        print(f"Scheduler Sandbox: http://{host}:{options.port}/   (stop with Ctrl-C)", flush=True)
        if others:
            print(f"For others in this network: http://{others}:{options.port}/", flush=True)

    site_with_logs = Requests(StaticFiles(application), settings.TRUSTED_PROXIES)
    server = Server(site_with_logs, limits, settings.TRUSTED_PROXIES)
    server.application = Probes(site_with_logs, server, Metrics(server, engines), settings.METRICS_FROM)
    server.serve(listener, layers.begin, ready, pruning.chore)
    engines.close()
    holder.close()
    # A running command must not keep the process alive: what is not answered is not in the log.
    seconds = 0 if server.hurry.is_set() else STUCK_SECONDS
    threading.Thread(target=_end_in_any_case, args=(seconds,), daemon=True).start()


def _end_in_any_case(seconds: float) -> None:
    time.sleep(seconds)
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()

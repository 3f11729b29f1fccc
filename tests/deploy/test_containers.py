"""The Dockerfile and the compose file agree with the site, and their commands run.

Nothing here builds an image or starts a container.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.limits.server import from_environment
from tests.deploy.image import DATA, DOCKERFILE, IN_IMAGE, build, is_sent, placed
from tests.sandbox.served import ROOT, Served
from tests.sandbox.server.test_probes import ALONE, fetch
from tests.servers import Postgres, RedisServer
from tests.waiting import PATIENCE, free_port, until

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
WEB = DOCKERFILE["web"]
KEY = "k" * 50


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with ``srv`` and ``data``, as the image has them."""
    folder = tmp_path_factory.mktemp("image")
    build(folder)
    return folder


def environment(image: Path, **settings: str) -> dict[str, str]:
    """Return the environment of the image with these settings."""
    pairs = (pair.split("=", 1) for line in WEB.all("ENV") for pair in line.split())
    return {"PATH": "/usr/bin:/bin", **{name: placed(value, image) for name, value in pairs}, **settings}


def run(image: Path, command: list[str], **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=image / "srv",
        env=environment(image, **settings),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@contextmanager
def started(image: Path, **settings: str) -> Iterator[Served]:
    """Run the image's command. Yield the site once it is ready, and stop it after the block."""
    port = free_port()
    command = [word.replace("8000", str(port)) for word in WEB.words("CMD")]
    process = subprocess.Popen(command, cwd=image / "srv", env=environment(image, **settings), text=True)
    try:
        site = Served(port, process, image)
        until(lambda: process.poll() is not None or _is_ready(site))
        assert process.poll() is None
        yield site
    finally:
        process.terminate()
        assert process.wait(PATIENCE) == 0


def _is_ready(site: Served) -> bool:
    try:
        return fetch(site, "/readyz")[0] == 200
    except ConnectionError:
        return False


@pytest.fixture
def running(image: Path) -> Iterator[Served]:
    """Run the image's command, with SQLite."""
    settings = {"SECRET_KEY": KEY, "ALLOWED_HOSTS": "*", **ALONE}
    assert run(image, [".venv/bin/python", "manage.py", "migrate", "-v0"], **settings).returncode == 0
    with started(image, **settings) as site:
        yield site


def health(site: Served) -> list[str]:
    """Return the command of HEALTHCHECK for this port."""
    options, _, _ = WEB.all("HEALTHCHECK")[-1].partition("CMD")
    assert set(re.findall(r"--(\w[\w-]*)=", options)) == {"interval", "timeout", "start-period", "retries"}
    words = yaml.safe_load(WEB.all("HEALTHCHECK")[-1].partition("CMD")[2])
    return [word.replace("8000", str(site.port)) for word in words]


def test_everything_that_is_copied_exists_and_is_sent_to_the_build() -> None:
    sources = [source for stage in DOCKERFILE.values() for sources, _ in stage.copies() for source in sources]
    assert len(sources) > 8
    for source in sources:
        assert (ROOT / source).exists(), source
        assert is_sent(source), source
    assert is_sent("sandbox/server/serve.py")
    for path in (".git/config", "var/secret_key", "deploy/.env", "tests/conftest.py", "sandbox/__pycache__/a.pyc"):
        assert not is_sent(path), path


def test_the_image_runs_as_a_user_who_owns_only_its_data() -> None:
    (user,) = WEB.all("USER")
    assert user.isdigit()
    assert int(user) > 0
    assert f"--uid {user} " in WEB.all("RUN")[0]
    assert WEB.all("VOLUME") == [DATA]
    assert not any("chown" in step for step in WEB.all("COPY"))


def test_requirements_are_installed_with_hashes_and_bases_have_versions() -> None:
    installs = [step for step in DOCKERFILE["build"].all("RUN") if "pip install" in step]
    assert len(installs) == 1
    assert "--require-hashes --requirement requirements.txt" in installs[0]
    bases = {stage.base for stage in DOCKERFILE.values()}
    assert all(re.search(r":\d", base) for base in bases), bases


def files(folder: Path) -> dict[str, tuple[int, int]]:
    """Return path → size and time of change of all files below a folder."""
    found = [path for path in folder.rglob("*") if path.is_file() and ".venv" not in path.parts]
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in found}


def test_the_site_runs_from_the_image_and_writes_only_its_data(image: Path, running: Served) -> None:
    before = files(image / "srv")
    base = running.sandbox(nodes=2)
    assert fetch(running, base)[0] == 200
    page = fetch(running, "/course/")[1]
    for script in re.findall(r'src="(/static/[^"]+)"', page):
        assert fetch(running, script)[0] == 200
    assert run(image, health(running)).returncode == 0
    assert files(image / "srv") == before
    assert (image / "data" / "db.sqlite3").exists()
    running.process.terminate()
    assert running.process.wait(PATIENCE) == 0
    assert run(image, health(running)).returncode == 1


def test_the_image_of_nginx_has_the_static_files_of_the_same_build(image: Path) -> None:
    proxy = DOCKERFILE["proxy"]
    (copied,) = [rest.split()[1:] for rest in proxy.all("COPY") if rest.startswith("--from=build")]
    assert (Path(placed(copied[0], image)) / "staticfiles.json").is_file()
    assert f"alias {copied[1]}/;" in (ROOT / "deploy" / "nginx.conf").read_text()
    assert not list((image / "srv" / "var").glob("db.sqlite3*"))
    assert not (image / "srv" / "var" / "secret_key").exists()


# --- compose ---


def settings_of(service: str, **values: str) -> dict[str, str]:
    """Return the environment of a service, with ``values`` in place of its variables."""

    def filled(match: re.Match[str]) -> str:
        return values.get(match["name"], match["default"] or "")

    variable = re.compile(r"\$\{(?P<name>\w+)(?::(?:\?[^}]*|-(?P<default>[^}]*)))?\}")
    return {name: variable.sub(filled, str(value)) for name, value in SERVICES[service]["environment"].items()}


def test_the_services_refer_to_what_exists() -> None:
    for name, service in SERVICES.items():
        for other, condition in service.get("depends_on", {}).items():
            assert other in SERVICES
            healthy = "healthcheck" in SERVICES[other] or SERVICES[other].get("build", {}).get("target") == "web"
            assert condition["condition"] != "service_healthy" or healthy
        for mount in service.get("volumes", ()):
            assert mount.split(":")[0] in COMPOSE["volumes"], name
        if "build" in service:
            assert service["build"]["target"] in DOCKERFILE
            assert (ROOT / "deploy" / service["build"]["context"]).resolve() == ROOT
            assert service["image"] == f"scheduler-sandbox-{service['build']['target']}"
        assert "privileged" not in service
        assert [port for port in service.get("ports", ()) if name != "proxy"] == []
    upstream = re.findall(r"server (\w+):8000 max_fails=3 .*;", COMPOSE["configs"]["upstream"]["content"])
    assert upstream == ["web1", "web2"]
    (pool,) = COMPOSE["networks"]["default"]["ipam"]["config"]
    addresses = {ip_address(SERVICES[name]["networks"]["default"]["ipv4_address"]) for name in upstream}
    assert len(addresses) == len(upstream)
    assert all(address in ip_network(pool["subnet"]) for address in addresses)


@pytest.mark.parametrize("name", ["web1", "web2", "migrate", "proxy"])
def test_our_containers_need_no_rights(name: str) -> None:
    service = SERVICES[name]
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert service["security_opt"] == ["no-new-privileges:true"]


def test_somebody_collects_the_ends_of_workers() -> None:
    assert [SERVICES[name]["init"] for name in ("web1", "web2")] == [True, True]


def test_a_container_has_time_to_stop() -> None:
    limits = from_environment(settings_of("web1"))
    assert limits.drain_seconds + limits.stop_seconds < int(SERVICES["web1"]["stop_grace_period"].removesuffix("s"))


def test_the_site_runs_with_the_settings_of_the_file(
    image: Path, postgres_server: Postgres, redis_server: RedisServer
) -> None:
    settings = settings_of("web1", SECRET_KEY=KEY, POSTGRES_PASSWORD="secret", ALLOWED_HOSTS="sandbox.example")
    assert settings["DATABASE_URL"] == "postgres://sandbox:secret@postgres/sandbox"
    assert settings["REDIS_URL"] == "redis://redis/0"
    settings |= {"DATABASE_URL": postgres_server.new_database(), "REDIS_URL": redis_server.url}
    migrated = run(image, SERVICES["migrate"]["command"], **settings)
    assert migrated.returncode == 0, migrated.stderr
    with started(image, **settings) as site:
        assert fetch(site, "/", Host="sandbox.example", X_Forwarded_For="203.0.113.5")[0] == 200
        assert fetch(site, "/", Host="other.example")[0] == 400


def test_what_the_file_says_of_commands_is_what_the_dockerfile_builds() -> None:
    said = (ROOT / "deploy" / "Dockerfile").read_text().split("\nFROM")[0]
    targets = re.findall(r"--file deploy/Dockerfile --target (\w+) --tag (\S+) \.", said)
    assert targets == [(name, f"scheduler-sandbox-{name}") for name in ("web", "proxy")]
    assert WEB.all("WORKDIR") == [IN_IMAGE]

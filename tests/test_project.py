"""The project's own promises: targets have explanations, locks are portable, settings are strict."""

import json
import os
import re
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.db import ConnectionHandler
from django.test import Client, override_settings

from sandbox.server.startup import secret_key
from sandbox.settings import SQLITE_OPTIONS

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("requirements.txt", "requirements-dev.txt")


def test_make_lists_every_target_with_its_purpose() -> None:
    declared = re.search(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert declared
    listed = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert sorted(re.findall(r"^  make ([a-z-]+) +\w", listed, re.MULTILINE)) == sorted(declared[1].split())


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_file_names_versions_and_hashes_but_no_host(name: str) -> None:
    lines = (ROOT / name).read_text().splitlines()
    allowed = re.compile(r"[a-z0-9-]+==[\w.]+( ; .+)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?")
    assert [line for line in lines if not allowed.fullmatch(line)] == []


def test_the_lock_files_hold_every_declared_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = {
        "requirements.txt": project["project"]["dependencies"] + project["project"]["optional-dependencies"]["sandbox"],
        "requirements-dev.txt": project["dependency-groups"]["dev"],
    }
    for name, requirements in declared.items():
        locked = set(re.findall(r"^([a-z0-9-]+)==", (ROOT / name).read_text(), re.MULTILINE))
        names = {re.split(r"[\[<>=]", requirement)[0] for requirement in requirements}
        assert {re.sub(r"[-_.]+", "-", one).lower() for one in names} - locked == set()


def test_the_development_lock_agrees_with_the_one_users_install() -> None:
    runtime, development = ((ROOT / name).read_text() for name in LOCKS)
    pins = re.compile(r"^[a-z0-9-]+==[\w.]+", re.MULTILINE)
    assert set(pins.findall(runtime)) <= set(pins.findall(development))


def test_every_page_has_a_policy_without_inline_scripts_and_sets_no_cookie() -> None:
    with override_settings(FRAME_ANCESTORS="https://school.example"):
        response = Client().get("/no-such-page")
    policy = dict(directive.split(" ", 1) for directive in response["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert policy["connect-src"] == "'self' ws://testserver wss://testserver"
    assert policy["frame-ancestors"] == "https://school.example"
    assert response["Referrer-Policy"] == "no-referrer"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "X-Frame-Options" not in response
    assert not response.cookies


def test_settings_are_safe_without_any_environment_variable() -> None:
    assert settings.DEBUG is False
    assert "*" not in settings.ALLOWED_HOSTS
    assert settings.DATA_UPLOAD_MAX_MEMORY_SIZE == 2 * 1024 * 1024


def test_the_secret_key_is_created_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "secret_key"
    key = secret_key(path)
    assert len(key) >= 50
    assert secret_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def check_deployment(tmp_path: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run Django's checks of a deployment with only these settings."""
    ours = {"PATH": os.environ["PATH"], "VAR_DIR": str(tmp_path)}
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    return subprocess.run(command, cwd=ROOT, env=ours | more, capture_output=True, text=True, check=False)


def test_django_has_nothing_to_say_about_a_site_with_tls(tmp_path: Path) -> None:
    done = check_deployment(tmp_path, TRUSTED_PROXIES="1", HSTS_SECONDS="31536000")
    assert (done.returncode, done.stdout) == (0, "System check identified no issues (3 silenced).\n"), done.stderr


def test_django_notices_a_site_without_tls(tmp_path: Path) -> None:
    done = check_deployment(tmp_path, SECRET_KEY="short", DEBUG="1")
    ids = {"security.W004", "security.W008", "security.W009", "security.W016", "security.W018"}
    assert done.returncode == 1
    assert set(re.findall(r"security\.W\d+", done.stderr)) == ids


def test_with_tls_browsers_are_sent_to_https_and_told_to_stay_there() -> None:
    tls = override_settings(
        SECURE_HSTS_SECONDS=60, SECURE_SSL_REDIRECT=True, SECURE_PROXY_SSL_HEADER=("HTTP_X_FORWARDED_PROTO", "https")
    )
    with tls:
        plain, safe = Client().get("/course/?a=b"), Client().get("/course/", headers={"X-Forwarded-Proto": "https"})
    assert (plain.status_code, plain["Location"]) == (301, "https://testserver/course/?a=b")
    assert (safe.status_code, safe["Strict-Transport-Security"]) == (200, "max-age=60")


def test_the_list_of_dependencies_is_that_of_the_lock_file(tmp_path: Path) -> None:
    """Run what ``make sbom`` runs."""
    dry = subprocess.run(["make", "sbom", "--dry-run"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (line,) = [line for line in dry.splitlines() if "cyclonedx-py" in line]
    path = tmp_path / "sbom.json"
    written = line.replace("dist/sbom.json", str(path)).replace(".venv/bin", f"{sys.prefix}/bin")
    subprocess.run(["/bin/sh", "-c", written], cwd=ROOT, check=True, capture_output=True)
    document = json.loads(path.read_text())
    assert document["bomFormat"] == "CycloneDX"
    parts = {(part["name"], part["version"]) for part in document["components"]}
    pins = re.findall(r"^([a-z0-9-]+)==([\w.]+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert parts == set(pins)
    assert all(part["externalReferences"][0]["hashes"] for part in document["components"])


def test_the_threat_model_names_tests_that_exist() -> None:
    section = (ROOT / "docs/security.md").read_text().split("## Threat model")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
    named = [re.findall(r"`(tests/[\w/]+\.py)`", row) for row in rows]
    assert len(rows) >= 9
    assert all(named)
    assert [path for paths in named for path in paths if not (ROOT / path).is_file()] == []


@pytest.mark.django_db
def test_sqlite_keeps_answered_commands_and_readers_work_beside_the_writer(tmp_path: Path) -> None:
    database = {"ENGINE": "django.db.backends.sqlite3", "NAME": tmp_path / "db.sqlite3", "OPTIONS": SQLITE_OPTIONS}
    connection = ConnectionHandler({"default": database})["default"]
    pragmas = ("journal_mode", "synchronous", "busy_timeout")
    with connection.cursor() as cursor:
        values = [cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas]
    connection.close()
    assert values == ["wal", 2, 20_000]


@pytest.mark.parametrize(
    ("path", "served"),
    [
        ("plotly/plotly.min.js", True),
        ("plotly/templates/plotly.json", False),
        ("plotly/no-such.js", False),
        ("dagre/dagre.min.js", True),
        ("dagre/dagre.js", False),
        ("django_ace/ace/ace.js", True),
        ("django_ace/ace/ext-searchbox.js", True),
        ("django_ace/ace/mode-python.js", False),
        ("django_ace/ace/../ace/ace.js", False),
    ],
)
def test_packages_serve_only_the_files_that_pages_request(path: str, served: bool) -> None:
    assert bool(finders.find(path)) is served


@pytest.mark.parametrize(
    ("fact", "place"),
    [
        (r'"Pod was rejected: ', "scheduler_engine/api/rejected_pods.py"),
        (r'"system-cluster-critical": (?!\()', "scheduler_engine/api/priorities.py"),
        (r"\b2_?000_?00[01]_?000\b", ""),
    ],
)
def test_a_fact_is_stated_in_one_place(fact: str, place: str) -> None:
    files = [path for folder in ("scheduler_engine", "sandbox") for path in sorted((ROOT / folder).rglob("*.py"))]
    places = [str(path.relative_to(ROOT)) for path in files if re.search(fact, path.read_text())]
    assert places == ([place] if place else [])


@pytest.mark.parametrize("processes", ["0", "1"])
@pytest.mark.parametrize(("ci", "status"), [("false", 0), ("true", 1)])
def test_tests_that_need_a_missing_program_are_left_out_but_not_in_ci(processes: str, ci: str, status: int) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    files = ["tests/test_project.py", "tests/sandbox/scaled/test_servers.py"]
    command = [sys.executable, "-m", "pytest", "-q", "-k", "without_any_environment or redis_counts", "-n", processes]
    run = subprocess.run(
        [*command, *files], cwd=ROOT, env=kept | {"PATH": "/nowhere", "CI": ci}, capture_output=True, text=True
    )
    assert "This machine has no Redis. Tests that did not run: 1." in run.stdout
    assert "apt-get install redis-server" in run.stdout
    assert run.returncode == status

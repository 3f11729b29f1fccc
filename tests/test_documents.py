"""Run every command and every example of the documents as written, in a copy of the project."""

from __future__ import annotations

import compileall
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

from scheduler_engine.scenario import ASSERTIONS, load_scenario
from tests.waiting import free_port, until

ROOT = Path(__file__).resolve().parents[1]
PLACES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md")
DOCUMENTS = tuple(str(path.relative_to(ROOT)) for place in PLACES for path in sorted(ROOT.glob(place)))
OTHER_FOLDERS = (".git", ".venv", "var", "__pycache__", ".*_cache", "images")
SECONDS = 600
"""Most seconds until a command ends, and a server answers, on however busy a machine."""

COMMAND = re.compile(r"(?:[A-Z]+=\S+ )*(?:make|python|\.venv/bin/\S+|\.ci/run|apt-get)(?: .*)?")
"""A command inside a sentence. Other inline code is a name, a key or a field."""
SERVES = re.compile(r"make run$|sandbox\.server")
PORT = re.compile(r"(?<=PORT=)\d+|(?<=--port )\d+")
LEFT_OUT = {
    "make test": "it would run this test again",
    "make test lint types contracts": "it would run this test again",
    ".ci/run": "it would run this test again",
    ".venv/bin/python -m pytest": "it would run this test again",
    "make golden": "it rewrites the golden files",
    "make bench": "it measures for minutes",
    "make bench ARGS='--only preemption'": "it measures for minutes",
    "make bench-figures": "it measures for minutes",
    "make bench-ui": "it measures for minutes",
    "make bench-ui ARGS='--nodes 100'": "it measures for minutes",
    "make scale-test": "it measures for minutes",
    "make scale-test ARGS='--cores 1'": "it measures for minutes",
    "make scale-test ARGS='--beside 5000 --people 40 --only SQLite'": "it measures for minutes",
    "make scale-test ARGS='--cores 1 --people 300 --seconds 120 --only three --all-levels'": "it measures for minutes",
    "make hostile": "it runs for two hours",
    "make screens": "tests/browser/test_screens.py measures the same states",
    "make questions": "tests/browser/test_every_lesson.py does a part of it",
    "make thorough": "it runs for an hour",
    "make edits": "tests/browser/test_edits.py does a part of it",
    '.venv/bin/python -m tests.hostile.attack --alone --only "300 MB"': "tests/hostile runs it, for a shorter time",
    "make dist": "tests/engine/test_distribution.py builds it",
    "make audit": "it asks a service of PyPI that mirrors lack",
    "make lock": "it asks a package index for the newest versions",
    "UPGRADE=--upgrade make lock": "it asks a package index for the newest versions",
    "apt-get install chromium-headless-shell": "only root may",
    "apt-get install postgresql redis-server nginx": "only root may",
    "export DATABASE_URL=postgres://sandbox@db/sandbox REDIS_URL=redis://cache/0 SECRET_KEY=… "
    "ALLOWED_HOSTS=sandbox.example": "it names machines that do not exist",
}
"""Commands that do not run, with the reason. Those of make must succeed with `--dry-run`."""
SHORTENED = {
    # tests/engine/test_conformance.py compares all recordings.
    ".venv/bin/python -m scheduler_engine conformance fixtures/conformance": " --family priority",
    # The suite runs the tests themselves.
    "make pythons": " ARGS=tests/engine/test_quantity.py",
}
BEFORE = {
    # A site that has run has a database.
    ".venv/bin/python manage.py prune --days 30": ".venv/bin/python manage.py migrate --verbosity 0 && ",
    ".venv/bin/python manage.py backup copy.sqlite3": ".venv/bin/python manage.py migrate --verbosity 0 && ",
}
DIFF = (
    ".venv/bin/python -m scheduler_engine diff fixtures/scenarios/14-spread-cluster-default.yaml --config packed.yaml"
)
EXIT_STATUS = {
    ".venv/bin/python -m scheduler_engine validate cluster.yaml pods.yaml": 1,
    ".venv/bin/python -m scheduler_engine diff fixtures/scenarios/01-node-affinity-two-zones.yaml "
    "fixtures/scenarios/02-node-affinity-weights.yaml": 1,
    ".venv/bin/python -m scheduler_engine diff fixtures/scenarios/02-node-affinity-weights.yaml "
    "--config scheduler.yaml": 1,
    ".venv/bin/python -m scheduler_engine diff fixtures/scenarios/22-taint-no-execute.yaml --kubernetes 1.34,1.36": 1,
    ".venv/bin/python -m scheduler_engine diff fixtures/versions/scores_image_volumes.yaml --kubernetes 1.35,1.36": 1,
    **dict.fromkeys((f"{DIFF}{option}" for option in ("", " --seeds 10", " --output json")), 1),
}
"""Exit status of commands that should report an error."""
READ_ELSEWHERE = {
    "json": "log.json, which `replay` reads, and a line of the log, in tests/sandbox/server/test_probes.py",
    "text": "outputs of commands, which are compared, and commands for a real cluster",
    "html": "tests/browser/test_embedding.py drives the examples, which are files",
    "console": "tests/engine/test_distribution.py, where the engine is installed alone",
    "toml": "tests/engine/test_distribution.py",
    "bash": "tests/sandbox/web/test_api_document.py and tests/sandbox/kube/test_kubectl.py, with a server",
    "py": "tests/sandbox/web/test_api_document.py, with a server",
}
"""Languages of blocks that do not run, with the reason."""

CLUSTER = """\
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {capacity: {cpu: "4", memory: 8Gi, pods: "110"}}
"""
PACKED = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}]}}
"""
PODS = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
  labels:
    app: web

spec:
  tolerationz: []
  containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
---
apiVersion: v1
kind: Pod
metadata: {name: db}
spec:
  containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]
  nodeSelector:
    beta.kubernetes.io/os: linux
"""
SMALL_POD = """\
apiVersion: v1
kind: Pod
metadata: {name: small}
spec:
  containers: [{name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: "1"}}}]
"""


@dataclass(frozen=True)
class Example:
    """A fenced block, with its marked language; or ``sh`` for a command in a sentence."""

    language: str
    text: str
    place: str


def examples(document: str) -> list[Example]:
    results = []
    for token in MarkdownIt("commonmark").parse((ROOT / document).read_text()):
        assert token.map or not token.content
        place = f"{document}:{token.map[0] + 1}" if token.map else document
        if token.type == "fence":
            results.append(Example(token.info, token.content, place))
        for part in token.children or ():
            if part.type == "code_inline" and COMMAND.fullmatch(part.content):
                results.append(Example("sh", part.content, place))
    return results


def commands(example: Example) -> list[str]:
    """Return the commands, one a line, without comments."""
    lines = (re.sub(r"(^|\s+)#.*", "", line).strip().removesuffix(" &") for line in example.text.splitlines())
    return [line for line in lines if line]


EXAMPLES = {document: examples(document) for document in DOCUMENTS}


def first_commands() -> dict[str, list[str]]:
    """Return document → its commands that no earlier document has."""
    messages: dict[str, list[str]] = {}
    for document, examples in EXAMPLES.items():
        lines = [line for example in examples if example.language == "sh" for line in commands(example)]
        messages[document] = [
            line for line in dict.fromkeys(lines) if not any(line in before for before in messages.values())
        ]
    return messages


COMMANDS = first_commands()
IN_PYTHON = [example for examples in EXAMPLES.values() for example in examples if example.language == "python"]
IN_YAML = [example for example in EXAMPLES["docs/scenarios.md"] if example.language == "yaml"]


def block(document: str, language: str) -> str:
    """Return the first block of the document in this language."""
    return next(example.text for example in EXAMPLES[document] if example.language == language)


@dataclass(frozen=True)
class Copy:
    """The project of a visitor who has just set it up, with the files that examples read."""

    folder: Path

    def environment(self) -> dict[str, str]:
        """Return an environment without the tests' settings and virtual environment."""
        return {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "HOME": str(self.folder), "LANG": "C.UTF-8"}

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
        )

    @contextmanager
    def started(self, command: str, **more: str) -> Iterator[Path]:
        """Run the command in the background. Yield its log, and stop it at the end."""
        log = self.folder / "log"
        with log.open("w") as output:
            process = subprocess.Popen(
                ["/bin/sh", "-c", command],
                cwd=self.folder,
                env=self.environment() | more,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                yield log
            finally:
                os.killpg(process.pid, signal.SIGTERM)  # a background process may not get Ctrl-C
                process.wait(SECONDS)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the project without generated files, but with bytecode: each copy would compile it all again."""
    folder = tmp_path_factory.mktemp("compiled") / "project"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*OTHER_FOLDERS))
    for package in ("sandbox", "scheduler_engine"):
        compileall.compile_dir(folder / package, quiet=1)
    return folder


@pytest.fixture
def copy(tmp_path: Path, compiled: Path) -> Copy:
    folder = tmp_path / "project"
    shutil.copytree(compiled, folder)
    (folder / ".venv").symlink_to(sys.prefix)
    # The installed packages are those of these files: make need not check again.
    for lock in folder.glob("requirements*.txt"):
        os.utime(lock, (0, 0))
    files = {
        "cluster.yaml": CLUSTER,
        "pods.yaml": PODS,
        "small-pod.yaml": SMALL_POD,
        "log.json": block("docs/command-line.md", "json"),
        "packed.yaml": PACKED,
        "policy.yaml": block("docs/command-line.md", "yaml"),
        "my-scenario.yaml": block("docs/scenarios.md", "yaml"),
        "my-lesson.yaml": block("docs/lessons.md", "yaml"),
        "bin/kubectl": f"#!/bin/sh\ncat <<'END'\n{CLUSTER}END\n",
    }
    (folder / "bin").mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "bin/kubectl").chmod(0o755)
    return Copy(folder)


def serve(copy: Copy, command: str) -> None:
    port = str(free_port())

    def answers() -> bool:
        assert "Traceback" not in log.read_text()
        return f"http://127.0.0.1:{port}/ " in log.read_text()

    with copy.started(PORT.sub(port, command), PORT=port) as log:
        until(answers)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=SECONDS) as page:
            assert page.status == 200


def run_line(copy: Copy, line: str) -> None:
    if SERVES.search(line):
        serve(copy, line)
        return
    done = copy.run(BEFORE.get(line, "") + line + SHORTENED.get(line, ""))
    assert done.returncode == EXIT_STATUS.get(line, 0), f"{line}\n{done.stdout}"


@pytest.mark.parametrize("document", [document for document, lines in COMMANDS.items() if lines])
def test_the_commands_of_a_document_work(document: str, copy: Copy) -> None:
    for line in COMMANDS[document]:
        if line not in LEFT_OUT:
            run_line(copy, line)
        elif "make " in line:
            run_line(copy, f"{line} --dry-run")


@pytest.mark.parametrize("example", IN_PYTHON, ids=lambda example: example.place)
def test_an_example_in_python_works(example: Example, copy: Copy) -> None:
    (copy.folder / "example.py").write_text(example.text)
    runner = "-m pytest -p no:cacheprovider" if "def test_" in example.text else ""
    done = copy.run(f".venv/bin/python {runner} example.py")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("example", IN_YAML, ids=lambda example: example.place)
def test_an_example_of_a_scenario_is_valid_or_a_part_of_one(example: Example, tmp_path: Path) -> None:
    whole = yaml.safe_load(block("docs/scenarios.md", "yaml"))
    path = tmp_path / "part.yaml"
    path.write_text(yaml.safe_dump({**whole, **yaml.safe_load(example.text)}))
    load_scenario(path)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_block_names_a_language_that_these_tests_know(document: str) -> None:
    known = {"sh", "python", "yaml", *READ_ELSEWHERE}
    assert [example.place for example in EXAMPLES[document] if example.language not in known] == []


def test_every_exception_is_for_a_command_of_a_document() -> None:
    assert {*LEFT_OUT, *SHORTENED, *BEFORE, *EXIT_STATUS} - {
        line for lines in COMMANDS.values() for line in lines
    } == set()


def outputs(document: str) -> dict[str, str]:
    """Return command → the output that the document shows after its block; of several commands, the first."""
    following = zip(EXAMPLES[document], EXAMPLES[document][1:], strict=False)
    return {
        commands(one)[0]: other.text for one, other in following if (one.language, other.language) == ("sh", "text")
    }


@pytest.mark.parametrize("line", outputs("docs/command-line.md"))
def test_a_command_prints_the_output_in_the_document(copy: Copy, line: str) -> None:
    shown = outputs("docs/command-line.md")[line]
    printed = copy.run(line).stdout
    # Of a long output, the document shows the beginning.
    assert printed.startswith(shown.removesuffix("…\n"))
    assert printed == shown or shown.endswith("…\n")


def test_the_example_of_the_engine_alone_prints_the_node(copy: Copy) -> None:
    (copy.folder / "example.py").write_text(block("README.md", "python"))
    assert copy.run(".venv/bin/python example.py").stdout == "n1\n"


def anchors(document: Path) -> set[str]:
    """Return the anchors of its headings, as GitHub creates them."""
    titles = re.findall(r"^#+ (.+)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_link_leads_to_an_existing_file_and_heading(document: str) -> None:
    tokens = MarkdownIt("commonmark").parse((ROOT / document).read_text())
    parts = [part for token in tokens for part in token.children or ()]
    targets = [str(part.attrs.get("href") or part.attrs.get("src") or "") for part in parts]
    for target in targets:
        if not target or "://" in target:
            continue
        name, _, anchor = target.partition("#")
        path = (ROOT / document).parent / name if name else ROOT / document
        assert path.is_file(), target
        assert not anchor or anchor in anchors(path), target


def test_the_table_of_expectations_names_all_of_them_and_their_modifiers() -> None:
    """Compare order and fields in the second column."""
    rows = re.findall(r"^\| `((\w+): .*?)` \|([^|]*)\|", (ROOT / "docs/scenarios.md").read_text(), re.MULTILINE)
    modifiers = {name: re.findall(r"`(\w+)`", beside) for _, name, beside in rows}
    for example, name, _ in rows:
        value = yaml.safe_load(f"{{{example}}}")[name]
        assert [str(problem) for problem in ASSERTIONS[name].main.problems(value, name)] == []
    assert modifiers == {name: [*assertion.beside] for name, assertion in ASSERTIONS.items()}

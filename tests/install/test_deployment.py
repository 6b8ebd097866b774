"""Image, units, compose and manifests: what can be had of them without a container or a cluster.

No test builds an image or starts a cluster. The checkers of others read the files, the setup of the
image is executed in an empty environment, and our own command line reads each command.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import psycopg
import pytest
import yaml
from psycopg.conninfo import make_conninfo

from omd import __version__
from omd.programs.cli.main import cli
from omd.programs.worker.worker import Worker
from support.programs import BIN

if TYPE_CHECKING:
    from collections.abc import Iterator

DEPLOY = Path(__file__).parents[2] / "deploy"
UNITS = sorted((DEPLOY / "systemd").iterdir())
MANIFESTS = sorted((DEPLOY / "kubernetes").iterdir())
SETUP = DEPLOY / "setup.sh"
ACCOUNT = 65532


def checker(name: str) -> str:
    """Return the program of others that checks something; CI must have it."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        assert not os.environ.get("CI"), f"CI lacks {name}"
        pytest.skip(f"there is no {name}")
    return found


def module(name: str) -> Any:
    return importlib.import_module(name) if os.environ.get("CI") else pytest.importorskip(name)


def run(*command: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, check=False, capture_output=True, text=True, **options)


# The image --------------------------------------------------------------------------------------


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Containerfile, with what they say."""
    text = re.sub(r"(?m)^#.*\n", "", (DEPLOY / "Containerfile").read_text())
    lines = text.replace("\\\n", "").splitlines()
    return [tuple(line.split(None, 1)) for line in lines if line.strip()]


def test_hadolint_finds_nothing():
    done = run(checker("hadolint"), DEPLOY / "Containerfile")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_image_is_as_promised():
    said = dict(instructions())
    assert said["ENTRYPOINT"] == '["omd"]'
    assert said["STOPSIGNAL"] == "SIGTERM"
    assert said["USER"] == f"{ACCOUNT}:{ACCOUNT}"
    assert said["HEALTHCHECK"].endswith('CMD ["omd", "doctor", "--health"]')
    assert ("ARG", "EXTRAS=web") in instructions()
    runs = [what for instruction, what in instructions() if instruction == "RUN"]
    assert runs == [
        'sh /setup.sh build /dist "$EXTRAS"',
        'sh /setup.sh system "$EXTRAS"',
    ]


@pytest.mark.parametrize("extras", ["", "web"])
def test_the_setup_of_the_image_is_executed_in_an_empty_environment(wheel, tmp_path, extras):
    dist, prefix = tmp_path / "dist", tmp_path / "omd"
    dist.mkdir()
    shutil.copy(wheel, dist)
    # A pin with hashes, as constraints.txt has them, is taken, and asks nothing of our own wheel.
    pin = f"click==8.4.0 \\\n    --hash=sha256:{'0' * 64}\n"
    (dist / "constraints.txt").write_text(f"# locked\n{pin}")
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "PREFIX": str(prefix),
        "PYTHON": os.path.realpath(sys.executable),
    }
    done = run("sh", SETUP, "build", dist, extras, env=environment, cwd="/")
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"omd \d+\.\d+\.\d+\S*\n", done.stdout)
    bare = {"PATH": f"{prefix}/bin"}
    has_web = run(prefix / "bin/python", "-c", "import uvicorn, starlette", env=bare)
    assert (has_web.returncode == 0) == (extras == "web")
    click_version = "import importlib.metadata as m; print(m.version('click'))"
    assert run(prefix / "bin/python", "-c", click_version, env=bare).stdout == "8.4.0\n"
    # The same program as in HEALTHCHECK, where there is no database.
    health = run(
        "omd", "doctor", "--health", "--dsn", "host=/nowhere",
        env=bare, executable=prefix / "bin/omd",
    )  # fmt: skip
    assert health.returncode == 1
    assert "/nowhere" in health.stderr


def test_the_setup_says_what_it_lacks(tmp_path):
    environment = {"PATH": "/usr/bin:/bin", "PREFIX": str(tmp_path / "omd")}
    done = run("sh", SETUP, "build", tmp_path, env=environment)
    assert (done.returncode, done.stdout) == (1, "")
    assert "make dist" in done.stderr
    for name in ("pgomd-1.0.0-py3-none-any.whl", "pgomd-1.0.1-py3-none-any.whl"):
        (tmp_path / name).touch()
    done = run("sh", SETUP, "build", tmp_path, env=environment)
    assert done.returncode == 1
    assert "several" in done.stderr
    assert not (tmp_path / "omd").exists()
    for arguments in ([], ["build"], ["nothing"], ["system", "web", "more"]):
        assert run("sh", SETUP, *arguments, env=environment).returncode == 2


@pytest.mark.parametrize(
    ("extras", "needs_java"),
    [("", False), ("web", False), ("spark", True), ("web,spark,lake", True), ("sparkle", False)],
)
def test_the_system_gets_an_account_and_java_for_spark(tmp_path, extras, needs_java):
    """It changes the machine, so what it calls only writes down how."""
    log = tmp_path / "log"
    for name in ("apt-get", "groupadd", "useradd", "rm"):
        stub = tmp_path / name
        stub.write_text(f'#!/bin/sh\necho {name} "$@" >>{log}\n')
        stub.chmod(0o755)
    done = run("sh", SETUP, "system", extras, env={"PATH": str(tmp_path)}, executable="/bin/sh")
    assert (done.returncode, done.stderr) == (0, "")
    called = log.read_text()
    assert ("default-jre-headless" in called) == needs_java
    assert f"groupadd --gid {ACCOUNT} omd" in called
    assert f"useradd --uid {ACCOUNT} --gid omd --no-create-home" in called


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_the_setup_is_plain_shell(shell):
    found = shutil.which(shell)
    assert found is None or run(found, "-n", SETUP).returncode == 0


# The units --------------------------------------------------------------------------------------


def settings(unit: Path) -> dict[str, list[str]]:
    text = re.sub(r"\\\n\s*", "", unit.read_text())
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_finds_nothing_and_little_is_exposed(unit):
    program = checker("systemd-analyze")
    done = run(program, "verify", unit)
    assert (done.stdout, done.stderr) == ("", "")  # its exit code is 0 even for errors
    done = run(program, "security", "--offline=yes", "--no-pager", unit)
    exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
    assert exposure is not None, done.stdout + done.stderr
    assert float(exposure[1]) <= 2.0


def test_the_checker_of_units_does_find_something(tmp_path):
    broken = tmp_path / UNITS[0].name
    broken.write_text(UNITS[0].read_text().replace("DynamicUser=yes", "DynamicUsers=yes"))
    assert "DynamicUsers" in run(checker("systemd-analyze"), "verify", broken).stderr


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_is_as_promised(unit):
    said = settings(unit)
    assert said["Type"] == ["notify"]
    assert said["DynamicUser"] == ["yes"]
    assert said["RestartPreventExitStatus"] == ["2"]
    # Twice the poll of what waits longest, and above the grace with what is stopped after it.
    assert int(said["WatchdogSec"][0]) >= 60
    grace = re.search(r"--grace (\d+)", said["ExecStart"][0])
    assert int(said["TimeoutStopSec"][0]) > (2 * int(grace[1]) if grace else 5)


def test_there_are_the_two_units():
    assert [unit.name for unit in UNITS] == ["omd-web.service", "omd-worker@.service"]


# Compose and Kubernetes -------------------------------------------------------------------------


def compose() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def documents() -> Iterator[tuple[Path, dict[str, Any]]]:
    for file in MANIFESTS:
        for document in yaml.safe_load_all(file.read_text()):
            yield file, document


def test_compose_is_of_the_specification():
    checked = module("compose_spec").PyCompose.from_json(json.dumps(compose()))
    checked.validate()
    checked.to_spec()
    assert checked.service_names() == ["postgres", "install", "worker", "web"]


def test_compose_has_probes_limits_secrets_and_no_root():
    names = set(compose()["secrets"])
    for name, service in compose()["services"].items():
        assert service["user"] in (f"{ACCOUNT}:{ACCOUNT}", "999:999"), name
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert {"cpus", "memory", "pids"} <= service["deploy"]["resources"]["limits"].keys()
        assert {secret["source"] for secret in service["secrets"]} <= names
        assert ("test" in service["healthcheck"]) == (name != "install")
        if name != "postgres":
            assert service["read_only"]
        # No password is in the file, nor in a variable of a container.
        assert not [n for n in service.get("environment", {}) if n.endswith("PASSWORD")]
    assert all(set(secret) == {"environment"} for secret in compose()["secrets"].values())


def test_the_logins_of_compose_run_the_worker(server, new_database, tmp_path, psql):
    """Its script is executed on a real server: what a worker and the page log in as."""
    script = compose()["configs"]["logins"]["content"].replace("$$", "$")
    for name in ("worker", "web"):
        (tmp_path / f"pgpass_{name}").write_text(f"postgres:5432:omd:omd_{name}:it's {name}\n")
    with new_database() as dsn, psycopg.connect(dsn, autocommit=True) as conn:
        # The database has OMD already, so its roles are there; on a new server they are not.
        script = re.sub(r"CREATE ROLE omd_(reader|runner) NOLOGIN;\n", "", script)
        script = script.replace("/run/secrets", str(tmp_path))
        script = script.replace("--username postgres --dbname omd", f"-d {shlex.quote(dsn)}")
        done = run("sh", "-c", f'PATH="{BIN}:$PATH"\n{script}')
        assert done.returncode == 0, done.stderr
        try:
            rights = conn.execute(
                "SELECT pg_has_role('omd_worker', 'omd_runner', 'USAGE'),"
                " pg_has_role('omd_web', 'omd_reader', 'USAGE'),"
                " pg_has_role('omd_web', 'omd_runner', 'USAGE')"
            ).fetchone()
            assert rights == (True, True, False)
            worker = Worker(make_conninfo(dsn, user="omd_worker"), until_quiet=True)
            worker.run()
        finally:
            conn.execute("DROP ROLE omd_worker, omd_web")


@pytest.mark.parametrize("file", MANIFESTS, ids=lambda file: file.name)
def test_kubernetes_validate_accepts_the_manifests(file):
    validate = module("kubernetes_validate")
    for document in yaml.safe_load_all(file.read_text()):
        validate.validate(document, validate.latest_version(), strict=True)


def test_kubernetes_validate_does_find_something():
    validate = module("kubernetes_validate")
    document = next(d for _, d in documents() if d["kind"] == "Deployment")
    document["spec"]["template"]["spec"]["containers"][0]["readinessProbes"] = {}
    with pytest.raises(validate.ValidationError):
        validate.validate(document, validate.latest_version(), strict=True)


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    for _, document in documents():
        if document["kind"] in ("Deployment", "Job"):
            yield document["kind"], document["spec"]["template"]["spec"]


def test_the_pods_have_probes_limits_secrets_and_no_root():
    secrets = {d["metadata"]["name"] for _, d in documents() if d["kind"] == "Secret"}
    assert [kind for kind, _ in pods()] == ["Job", "Deployment", "Deployment"]
    for kind, pod in pods():
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] == ACCOUNT
        assert pod["automountServiceAccountToken"] is False
        [container] = pod["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["limits"].keys() == {"cpu", "memory"}
        assert container["envFrom"][0]["secretRef"]["name"] in secrets
        if kind == "Deployment":
            assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
            assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
            ports = {port["name"] for port in container["ports"]}
            assert container["readinessProbe"]["httpGet"]["port"] in ports


def test_a_selector_finds_its_pods():
    for _, document in documents():
        if document["kind"] == "Deployment":
            labels = document["spec"]["template"]["metadata"]["labels"]
            assert document["spec"]["selector"]["matchLabels"] == labels


def commands() -> Iterator[tuple[str, list[str]]]:
    """Yield every command of OMD that something here starts."""
    for unit in UNITS:
        words = shlex.split(settings(unit)["ExecStart"][0])
        assert words[:2] == ["/usr/bin/env", "omd"]
        url = {"${OMD_WEB_URL}": "https://omd.example.org", "%i": "WORKER"}
        yield unit.name, [url.get(word, word) for word in words[2:]]
    for name, service in compose()["services"].items():
        if name != "postgres":
            yield name, [re.sub(r"\$\{.*\}", "https://x.example", w) for w in service["command"]]
            if "test" in service["healthcheck"]:
                assert service["healthcheck"]["test"][:2] == ["CMD", "omd"]
                yield f"{name}, probe", service["healthcheck"]["test"][2:]
    for _, pod in pods():
        yield pod["containers"][0]["name"], pod["containers"][0]["args"]


@pytest.mark.parametrize(("name", "words"), list(commands()))
def test_the_command_line_takes_each_command(name, words, monkeypatch, tmp_path):
    monkeypatch.setenv("OMD_DSN", "host=db.example.org dbname=dwh")
    for path in {word.partition("=")[2] for word in words if "/run/secrets/" in word}:
        file = tmp_path / Path(path).name
        file.touch()
        words = [word.replace(path, str(file)) for word in words]
    command: click.Command = cli
    while isinstance(command, click.Group):
        command = command.get_command(click.Context(command), words[0])
        assert command is not None, words
        words = words[1:]
    with command.make_context(name, words) as context:
        assert context.params


def test_everything_names_one_image_and_one_version():
    images = {pod["containers"][0]["image"] for _, pod in pods()}
    images |= {s["image"] for n, s in compose()["services"].items() if n != "postgres"}
    page = DEPLOY.parent / "docs/how-to/operate/run-as-a-service.md"
    files = itertools.chain([DEPLOY / "Containerfile", DEPLOY / "compose.yaml", page], MANIFESTS)
    texts = [file.read_text() for file in files]
    images |= {i for t in texts for i in re.findall(r"\bpgomd:[\d.]+\d\b", t)}
    assert images == {f"pgomd:{__version__}"}
    jobs = {j for t in texts for j in re.findall(r"\bomd-install-[\d-]*\d", t)}
    assert jobs == {f"omd-install-{__version__.replace('.', '-')}"}

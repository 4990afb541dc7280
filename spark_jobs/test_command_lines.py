"""What people type: the commands of the READMEs, and mistakes."""

import os
import shlex
import shutil
import socket
import subprocess
import sys
from contextlib import closing
from importlib import import_module
from pathlib import Path

import pyspark
import pytest

from spark_jobs.session import packages

ROOT = Path(__file__).parent.parent
JOBS = sorted(path.parent.name for path in (ROOT / "spark_jobs").glob("*/main.py"))

# Options that a job asks for, each with a value that makes sense.
NEEDED = {
    "audit": "--topic t",
    "dead_letter_replay": "--topics t --parking-topic p --checkpoint c",
    "enrich": "--topics t --reference-topic r --to o --dead-letter-topic d --checkpoint c",
    "lake_to_topic": "--lake l --topic t",
    "topic_to_lake": "--topics t --payload binary --lake l --dead-letter-topic d --checkpoint c",
    "windowed_counts": "--topics t --to o --checkpoint c",
}


def read_me_command(job):
    """The words of the first command in a job's README."""
    lines = iter((ROOT / "spark_jobs" / job / "README.md").read_text().splitlines())
    command = next(line for line in lines if line.startswith("    .venv/bin/python"))
    while command.endswith("\\"):
        command = command[:-1] + next(lines)
    return shlex.split(command)


def test_every_job_is_known_here():
    assert sorted(NEEDED) == JOBS


@pytest.mark.parametrize("job", JOBS)
def test_the_command_of_the_readme_is_one_the_job_takes(job):
    python, module_option, module, *arguments = read_me_command(job)

    assert (python, module_option, module) == (".venv/bin/python", "-m", f"spark_jobs.{job}.main")
    options = import_module(module).parser().parse_args(arguments)
    assert options.bootstrap == "127.0.0.1:9092"


@pytest.mark.parametrize("job", JOBS)
def test_a_topic_that_is_not_there_is_told_in_one_line(job, bootstrap, topic, capsys, run_command):
    words = [word.replace("t", topic) if word == "t" else word for word in NEEDED[job].split()]

    assert run_command(job, ["--bootstrap", bootstrap, *words]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{job}: {topic}: there is no such topic")


@pytest.mark.parametrize("job", JOBS)
def test_a_broker_that_is_not_there_is_told_in_one_line(job, capsys, run_command):
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        nobody = f"127.0.0.1:{probe.getsockname()[1]}"

    assert run_command(job, ["--bootstrap", nobody, *NEEDED[job].split()]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line == f"{job}: cannot connect to {nobody}: Connection refused"


@pytest.mark.parametrize(
    ("job", "mistake", "complaint"),
    [
        ("audit", "--bootstrap a:b:c", "--bootstrap: 'a:b:c' is not HOST:PORT"),
        ("audit", "--frobnicate", "unrecognized arguments: --frobnicate"),
        ("audit", "--kafka-option x", "'x' is not NAME=VALUE"),
        ("lake_to_topic", "--rate 0", "'0' is not a number above 0"),
        ("lake_to_topic", "--from noon", "'noon' is not a time such as"),
        ("lake_to_topic", "--from 2026-02-01 --until 2026-01-01", "--from is not before --until"),
        ("topic_to_lake", "--once --every 5", "not allowed with argument"),
        ("topic_to_lake", "--payload json", "--payload json needs --schema or --schema-file"),
        ("topic_to_lake", "--topics ,", "no names in it"),
        ("topic_to_lake", "--max-offsets-per-trigger many", "'many' is not a whole number"),
        ("windowed_counts", "--key-path user", "user is no path such as $.user"),
        ("enrich", "--key-path user", "user is no path such as $.customer"),
        ("dead_letter_replay", "--parking-topic t", "one of the topics that are read"),
        ("dead_letter_replay", "--max-retries 0", "'0' is not a whole number from 1 on"),
    ],
)
def test_bad_input_is_told_in_one_line(job, mistake, complaint, bootstrap, capsys, run_command):
    words = ["--bootstrap", bootstrap, *NEEDED[job].split(), *mistake.split()]

    assert run_command(job, words) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{job}: ")
    assert complaint in line


def test_the_connector_fits_the_installed_spark():
    version = pyspark.__version__

    assert packages() == (
        f"org.apache.spark:spark-sql-kafka-0-10_2.13:{version},"
        f"org.apache.spark:spark-avro_2.13:{version}"
    )


def test_spark_submit_runs_a_job(scene, topic, bootstrap, tmp_path):
    """As on a cluster: the master from spark-submit, the modules from a zip file."""
    scene.create(topic)
    scene.send(topic, [("k", "v")])
    archive = shutil.make_archive(
        str(tmp_path / "spark_jobs"), "zip", root_dir=ROOT, base_dir="spark_jobs"
    )

    ended = subprocess.run(
        [
            *(str(Path(sys.executable).parent / "spark-submit"), "--master", "local[1]"),
            *("--py-files", archive, "--packages", packages(), "--driver-memory", "512m"),
            *("--driver-java-options", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"),
            *("--conf", f"spark.jars.ivy={ROOT / '.cache' / 'ivy'}"),
            *("--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=1"),
            str(ROOT / "spark_jobs" / "audit" / "main.py"),
            *("--bootstrap", bootstrap, "--topic", topic, "--report", str(tmp_path / "report")),
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable},
        timeout=110,
        check=False,
    )

    # What Python says comes out where Java's own output does.
    assert ended.returncode == 0, ended.stdout + ended.stderr[-3000:]
    assert f"audit: {topic} is proven" in ended.stdout
    assert list((tmp_path / "report").glob("*.parquet"))

#!/usr/bin/env python3
"""Records our scenarios with the real scheduler code of a release of SGLang, on a CPU.

Owns the command line: scenarios in, one recording each out (`OUT/NAME.VERSION.RULE.jsonl`). What a scenario asks of
the real code that it cannot do is refused with a line on standard error, and the others still run. Standard library
only: the release runs in an environment of its own, in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from harness import environment, jobs, scenario_map  # noqa: E402
from harness.environment import Unusable, say  # noqa: E402
from harness.jobs import Refused  # noqa: E402


def add_environment_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--version", required=True, help="release of SGLang, such as 0.5.23; with --source what it is like"
    )
    parser.add_argument("--source", type=Path, help="a checkout to run in place of the released package")
    parser.add_argument("--venv", type=Path, help="where the environment is or will be (default: a cache directory)")
    parser.add_argument("--no-venv", action="store_true", help="use this interpreter and PYTHONPATH as they are")


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_environment_options(parser)
    parser.add_argument(
        "--scenarios",
        nargs="+",
        type=Path,
        required=True,
        metavar="PATH",
        help="files, or directories with all that lies below them",
    )
    parser.add_argument(
        "--any-release", action="store_true", help="also record scenarios whose release is not that of --version"
    )
    parser.add_argument("--out", type=Path, required=True, help="directory of the recordings")
    parser.add_argument("--rule", default="release", help=f"one of {', '.join(jobs.POLICIES)} (default: release)")
    parser.add_argument("--overlapsim", default=None, help="the overlapsim binary (default: the built one, then PATH)")
    parser.add_argument("--capture", type=Path, help="also capture every run with capture.py, into this directory")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    try:
        policy = jobs.policy(options.rule, options.version)
        files = find_scenarios(options.scenarios)
        work, skipped = prepare(files, options, policy)
        if not work:
            say(f"0 recorded, {len(skipped)} skipped")
            return 2
        options.out.mkdir(parents=True, exist_ok=True)
        request: dict[str, Any] = dict(policy=policy, jobs=work)
        if options.capture:
            options.capture.mkdir(parents=True, exist_ok=True)
            request["capture"] = str(options.capture.resolve())
        answers = run_worker(request, options)
    except (Refused, Unusable) as error:
        say(f"error: {error}")
        return 2
    for answer in answers:
        if "skipped" in answer:
            skip(skipped, answer["name"], answer["skipped"])
    missing = {job["name"] for job in work} - {answer["name"] for answer in answers}
    for name in sorted(missing):
        skip(skipped, name, "the run ended before it")
    recorded = len(files) - len(skipped)
    print(f"{recorded} recorded, {len(skipped)} skipped")
    return 0 if recorded else 2


def find_scenarios(paths: list[Path]) -> dict[str, Path]:
    """The files by the name of their recording: the path below the given directory, with `-` for `/`, less the suffix."""
    files: dict[str, Path] = {}
    for path in paths:
        if path.is_dir():
            found = [("-".join(file.relative_to(path).with_suffix("").parts), file) for file in below(path)]
        elif path.is_file():
            found = [(path.stem, path)]
        else:
            raise Unusable(f"{path}: no such file or directory")
        for name, file in found:
            if files.setdefault(name, file) != file:
                raise Unusable(
                    f"{files[name]} and {file} would both be recorded as {name}: record them in two runs, with another --out"
                )
    if not files:
        raise Unusable("no scenarios: give .ron files or directories that hold some")
    return files


def below(directory: Path) -> list[Path]:
    """Every scenario file below a directory, in order; hidden directories and links to directories are left out."""
    files: list[Path] = []
    for folder, folders, names in os.walk(directory):
        folders[:] = [name for name in folders if not name.startswith(".")]
        files += [Path(folder) / name for name in names if Path(name).suffix in (".ron", ".json")]
    return sorted(files)


def prepare(files: dict[str, Path], options: argparse.Namespace, policy: str) -> tuple[list[dict], list[str]]:
    """The jobs of all scenarios that can be run; prints why the others cannot."""
    work: list[dict] = []
    skipped: list[str] = []
    other_releases: list[str] = []
    for name, path in files.items():
        try:
            scenario = read_scenario(path, options.overlapsim)
            mapped = scenario_map.to_harness(scenario, options.version, policy)
            if scenario_map.is_of_another_release(scenario, options.version):
                if not options.any_release:
                    raise scenario_map.another_release(scenario, options.version)
                other_releases.append(name)
        except Refused as reason:
            skip(skipped, name, str(reason))
            continue
        out = options.out.resolve() / f"{name}.{options.version}.{options.rule}.jsonl"
        work.append(dict(name=name, scenario=mapped, out=str(out)))
    if other_releases:
        say(f"note: recorded on {options.version} and written for another release: {', '.join(other_releases)}")
    return work, skipped


def read_scenario(path: Path, binary: str | None) -> dict[str, Any]:
    """A `.ron` file through `overlapsim scenario`; a `.json` file is what that printed."""
    if path.suffix == ".json":
        text = path.read_text()
    else:
        command = [binary or find_binary(), "scenario", str(path), "--format", "json"]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except OSError as error:
            raise Unusable(f"cannot run {command[0]}: {error}; build it, or give --overlapsim PATH") from error
        if done.returncode != 0:
            if "unrecognized subcommand" in done.stderr:
                raise Unusable(f"{command[0]} has no command `scenario`: give a newer one with --overlapsim PATH")
            raise Refused(" ".join(done.stderr.split())[:300] or f"overlapsim ended with {done.returncode}")
        text = done.stdout
    try:
        return json.loads(text)
    except ValueError as error:
        raise Refused(f"not JSON: {error}") from error


def find_binary() -> str:
    built = HERE.parent.parent / "target" / "release" / "overlapsim"
    return str(built) if built.exists() else "overlapsim"


def run_worker(request: dict[str, Any], options: argparse.Namespace, module: str = "harness.worker") -> list[dict]:
    """Runs the jobs in the environment of the release; returns what became of each."""
    source = environment.source_path(options.source) if options.source else None
    if options.no_venv:
        python = sys.executable
    else:
        if source is None and options.version not in jobs.VERSIONS:
            raise Unusable(
                f"version {options.version} is not modelled: give one of {', '.join(jobs.VERSIONS)}, or --source DIR"
            )
        venv = options.venv or environment.default_dir("source" if source else options.version)
        python = str(environment.make(options.version, venv, source is not None))
    environ = environment.run_environ(source, HERE)
    with tempfile.TemporaryDirectory() as scratch:
        check_version(python, environ, Path(scratch), options, source is not None)
        path = Path(scratch) / "jobs.json"
        path.write_text(json.dumps(request))
        child = subprocess.run([python, "-m", module, str(path)], env=environ, stdout=subprocess.PIPE, text=True)
    answers = [json.loads(line) for line in child.stdout.splitlines() if line.startswith("{")]
    if child.returncode != 0 and not answers:
        raise Unusable(f"the worker ended with {child.returncode}; its last words are above")
    return answers


def check_version(
    python: str, environ: dict[str, str], scratch: Path, options: argparse.Namespace, source: bool
) -> None:
    path = scratch / "check.json"
    path.write_text(json.dumps(dict(check=True)))
    child = subprocess.run([python, "-m", "harness.worker", str(path)], env=environ, capture_output=True, text=True)
    found = [line for line in child.stdout.splitlines() if line.startswith("{")]
    if child.returncode != 0 or not found:
        last = (child.stderr.strip().splitlines() or ["no output"])[-1]
        where = "this interpreter (--no-venv)" if options.no_venv else "the environment; remove it to have it made anew"
        raise Unusable(f"SGLang cannot be imported in {where}: {last}")
    version = json.loads(found[-1])["version"]
    if not source and version != options.version:
        raise Unusable(f"the environment has SGLang {version}, not {options.version}")


def skip(skipped: list[str], name: str, reason: str) -> None:
    skipped.append(name)
    say(f"skipped {name}: {reason}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

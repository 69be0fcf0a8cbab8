"""Makes a virtual environment with a release of SGLang in it, once, and finds it again. Standard library only.

The packages that the import needs are the same for every release and large. They go into one environment next to
that of the release (`deps-HASH`, by the content of `requirements.txt`), which the latter sees through a `.pth`
file.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent.parent / "requirements.txt"
NEEDED_PYTHON = (3, 11)


class Unusable(Exception):
    """There is no environment to run in; the message says what to do."""


def default_dir(version: str) -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "overlapsim" / f"sglang-{version}"


def python_of(venv: Path) -> Path:
    return venv / "bin" / "python"


def ready(venv: Path) -> bool:
    return (venv / "overlapsim-ready").exists() and python_of(venv).exists()


def make(version: str, venv: Path, source: bool) -> Path:
    """The interpreter of an environment for `version`; with `source` the release itself is not installed."""
    if ready(venv):
        return python_of(venv)
    deps = _make_deps(venv.parent)
    say(f"making {venv}")
    _fresh(venv)
    site = _site_packages(venv)
    (site / "overlapsim-deps.pth").write_text(f"{_site_packages(deps)}\n")
    if not source:
        _pip(deps, ["--no-deps", "--target", str(site), f"sglang=={version}"], f"install sglang {version}")
    (venv / "overlapsim-ready").write_text(f"{version}\n")
    return python_of(venv)


def source_path(source: Path) -> Path:
    """The directory that holds the package `sglang` of a checkout."""
    for candidate in (source / "python", source):
        if (candidate / "sglang" / "srt").is_dir():
            return candidate.resolve()
    raise Unusable(f"{source} holds no sglang: give a checkout whose `python/` has `sglang/`, or that directory itself")


def run_environ(source: Path | None, package_root: Path) -> dict[str, str]:
    """Variables of the worker: no accelerator, the checkout first, then this package."""
    environ = dict(os.environ, CUDA_VISIBLE_DEVICES="", PYTHONHASHSEED="0")
    paths = [str(package_root)]
    if source is not None:
        paths.insert(0, str(source))
    if environ.get("PYTHONPATH"):
        paths.append(environ["PYTHONPATH"])
    environ["PYTHONPATH"] = os.pathsep.join(paths)
    return environ


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _make_deps(parent: Path) -> Path:
    digest = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:8]
    deps = parent / f"deps-{digest}"
    if ready(deps):
        return deps
    say(f"making {deps}: torch and what else the import needs, some gigabytes, once")
    _fresh(deps)
    # The list is complete and was taken from an environment that works; some packages ask for older ones than it has.
    _pip(deps, ["--no-deps", "-r", str(REQUIREMENTS)], "install the packages of requirements.txt")
    (deps / "overlapsim-ready").write_text(f"{digest}\n")
    return deps


def _fresh(venv: Path) -> None:
    if sys.version_info[:2] != NEEDED_PYTHON:
        need = ".".join(map(str, NEEDED_PYTHON))
        raise Unusable(f"the pinned packages are for Python {need}: start this with python{need}, or give --no-venv")
    if venv.exists():
        shutil.rmtree(venv)
    venv.parent.mkdir(parents=True, exist_ok=True)
    _run([sys.executable, "-m", "venv", str(venv)], "make a virtual environment (on Debian: install python3-venv)")


def _pip(venv: Path, arguments: list[str], what: str) -> None:
    _run([str(python_of(venv)), "-m", "pip", "install", "--quiet", "--no-input", *arguments], what)


def _run(command: list[str], what: str) -> None:
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except OSError as error:
        raise Unusable(f"could not {what}: {error}") from error
    if done.returncode != 0:
        tail = "\n".join(done.stdout.strip().splitlines()[-5:])
        raise Unusable(
            f"could not {what}:\n{tail}\n"
            "check that pip reaches a package index and that there is room on the disk, or use --no-venv with an "
            "interpreter that can import sglang"
        )


def _site_packages(venv: Path) -> Path:
    found = sorted(venv.glob("lib/python*/site-packages"))
    if not found:
        raise Unusable(f"{venv} is no virtual environment; remove it and try again")
    return found[0]

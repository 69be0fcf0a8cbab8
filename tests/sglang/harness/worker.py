"""`python -m harness.worker JOBS.json`: runs in an environment with SGLang, one rule a process.

Input: `{"policy", "jobs": [{"name", "scenario", "out"}], "archive"?: FILE.jsonl.gz, "capture"?: DIR}`. With
`archive` all runs go into one compressed file, each after a line with its scenario. With `capture` every run is
also captured by `capture.py`, as a server would be. Output: one JSON object a line for each job.
"""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

from . import importing
from . import hooks, rules, scripted
from .arrivals import Receiver
from .jobs import Refused
from .run import run_scenario

# What a scheduler does not tell of its configuration.
SWITCHES = ("script", "test_retract", "lazy_alloc_fail", "disable_consecutive_prefill_overlap")


def main(path: str) -> int:
    work = json.loads(Path(path).read_text())
    if work.get("check"):
        print(json.dumps(dict(version=importing.version())), flush=True)
        return 0
    capture = _capture(work.get("capture"))
    hooks.install()
    scripted.install()
    rules.apply(work["policy"])
    archive = _archive(work["archive"]) if work.get("archive") else None
    for job in work["jobs"]:
        print(json.dumps(_one(job, archive, capture, work.get("capture"))), flush=True)
    if archive is not None:
        archive.close()
    return 0


def _one(job: dict[str, Any], archive: Any, capture: Any, capture_dir: str | None) -> dict[str, Any]:
    out = io.StringIO()
    run = refused = None
    if capture is not None:
        known = {k: v for k, v in job["scenario"]["config"].items() if k in SWITCHES}
        capture.install(out_dir=capture_dir, prefix=job["name"], receiver=Receiver, limit_bytes=1 << 40, known=known)
    try:
        run = run_scenario(job["scenario"], out)
    except Refused as reason:
        refused = str(reason)
    finally:
        if capture is not None:
            capture.uninstall()
    if refused is not None:
        for path in Path(capture_dir).glob(f"{job['name']}.[0-9]*.jsonl") if capture_dir else ():
            path.unlink()
        return dict(name=job["name"], skipped=refused)
    if archive is not None:
        archive.write(json.dumps(dict(scenario=job["scenario"])) + "\n" + out.getvalue())
    if job.get("out"):
        Path(job["out"]).write_text(out.getvalue())
    return dict(name=job["name"], events=out.getvalue().count("\n"), asserts=run.asserts)


def _archive(path: str) -> io.TextIOWrapper:
    """The same bytes whatever the name and the time."""
    return io.TextIOWrapper(gzip.GzipFile("", "wb", fileobj=open(path, "wb"), mtime=0))


def _capture(wanted: str | None) -> Any:
    if not wanted:
        return None
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    import capture

    return capture


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

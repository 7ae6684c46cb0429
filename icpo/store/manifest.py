"""A cell's manifest: configuration, code and machine, written once."""

import logging
import os
import platform
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from icpo.errors import OtherResults, RecordsError
from icpo.safe_text import masked, masked_text
from icpo.store.json_files import Seal, read_json, replace_json
from icpo.store.storage import now_text

MANIFEST_NAME = "manifest.json"
FORMAT = 3  # of a cell; 1, which is not named, has no checksums; 2 counts its extent as configuration
_PACKAGES = (
    "icpo", "torch", "transformers", "tokenizers", "vllm", "openai", "trl", "numpy", "hydra-core",
    "omegaconf", "math-verify", "latex2sympy2_extended", "sympy",
)  # fmt: skip

log = logging.getLogger(__name__)


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest, or None. Raises RecordsError if it is damaged."""
    path = folder / MANIFEST_NAME
    way_out = (
        "Nothing else says what the results come from: restore it, or delete the cell with "
        f"`icpo remove {folder}`."
    )
    try:
        return read_json(path, Seal(is_required=True), way_out=way_out)
    except RecordsError:
        found = read_json(path, way_out=way_out)
        if found is None or not is_version_1(found):
            raise
        return found


def check_cell(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Raises RecordsError where a manifest names another cell than the folder's; one may name none."""
    cell = (manifest.get("config") or {}).get("cell")
    if cell not in (None, masked_text(Path(os.path.abspath(folder)).name)):
        raise RecordsError(
            f"{folder} is the folder of cell {cell!r}, copied or renamed: its results would pass as another "
            "cell's. Give it that name again, or delete it."
        )


def is_version_1(manifest: Mapping[str, Any]) -> bool:
    """Whether a cell was written before its files had checksums."""
    return "format" not in manifest


def seal_of(folder: Path) -> Seal:
    """How the lines and files of a cell are checked."""
    return seal_in(read_manifest(folder) or {})


def seal_in(manifest: Mapping[str, Any]) -> Seal:
    """How the lines and files of a cell are checked.

    It takes the cell's manifest, {} for none.
    """
    return Seal(str(manifest.get("config_digest", "")), bool(manifest) and not is_version_1(manifest))


def claim(
    folder: Path, stored: Iterable[Path], *, config: Mapping[str, Any], config_digest: str
) -> dict[str, Any]:
    """Write a new cell's manifest, or check that it is the same.

    Called under the cell's lock, so that check and write are one. `stored` are the files that hold what a
    manifest speaks of. Returns the manifest that holds.

    Raises:
        OtherResults: the folder holds results of another configuration.
        RecordsError: the folder holds results and no manifest.
    """
    path = folder / MANIFEST_NAME
    found = read_manifest(folder)
    if found is None:
        if left := [one.name for one in stored if one.exists()]:
            raise RecordsError(
                f"{folder} holds {', '.join(left)} but no {MANIFEST_NAME}, so that nothing says what "
                f"they come from. Restore it; look with `icpo verify {folder}`, delete "
                f"the cell with `icpo remove {folder}`, or choose another run_name."
            )
        manifest = describe(config, config_digest)
        replace_json(path, manifest)
        return manifest
    if found.get("config_digest") != config_digest:
        raise OtherResults(_difference(folder, found, config))
    code = code_version()
    if found.get("code") != code:
        log.warning("%s was begun with other code: %s then, %s now", folder, found.get("code"), code)
    return found


def refuse_older(folder: Path, config: Mapping[str, Any]) -> None:
    """Raises OtherResults for a run with cells of older formats.

    One cell is looked at, since no run holds cells of two formats.
    """
    for path in folder.parent.glob(f"*/{MANIFEST_NAME}"):
        try:
            manifest = read_manifest(path.parent)
        except RecordsError:  # the cell's own command reports it
            continue
        if manifest is None:  # deleted meanwhile
            continue
        if (found := manifest.get("format", 1)) == FORMAT:
            return
        run_name = config.get("run_name", folder.parent.name)
        raise OtherResults(
            f"{folder.parent} holds cells of version {found} ({path.parent.name}), and this is version "
            f"{FORMAT}. They can be reported, graded again and verified, but not continued: choose "
            f"run_name={run_name}_v{FORMAT}."
        )


def note_resolved(
    folder: Path,
    manifest: Mapping[str, Any],
    facts: Mapping[str, Any],
    *,
    way_out: str = "",
    accepts_changes: bool = False,
) -> dict[str, Any]:
    """The stored manifest with facts known after loading.

    Such as digests and revisions. A change that is accepted is an entry of `accepted_changes`, with what the
    fact was and is.

    Raises:
        OtherResults: a fact stored earlier is another one now; `way_out` ends the message.
    """
    known = dict(manifest.get("resolved", {}))
    stored: dict[str, Any] = masked(facts)
    changes = [
        {"since": now_text(), "what": key, "was": known[key], "is": value}
        for key, value in stored.items()
        if known.get(key, value) != value
    ]
    if changes and not accepts_changes:
        key, was, now = (changes[0][name] for name in ("what", "was", "is"))
        raise OtherResults(
            f"{folder} holds results with {key} {was!r}, but it is {now!r} now. "
            f"Bring back what it was, choose another run_name, or delete {folder}.{way_out}"
        )
    changed = {**manifest, "resolved": known | stored}
    if changes:
        changed["accepted_changes"] = [*manifest.get("accepted_changes", ()), *changes]
    if changed != manifest:
        replace_json(folder / MANIFEST_NAME, changed)
    return changed


def describe(config: Mapping[str, Any], config_digest: str) -> dict[str, Any]:
    """All that a manifest says."""
    return {
        "format": FORMAT,
        "config_digest": config_digest,
        "config": with_references(masked(config)),
        "code": code_version(),
        "packages": dict(_package_versions()),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "started": now_text(),
    }


def with_references(config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration whose job refers to the groups beside it."""
    job = config.get("job")
    if not isinstance(job, Mapping):
        return dict(config)
    referring = {key: _reference(key) if config.get(key) == value else value for key, value in job.items()}
    return {**config, "job": referring}


def job_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """The job's settings in a stored configuration, references resolved."""
    job = config.get("job")
    if not isinstance(job, Mapping):
        return {}
    return {key: config.get(key) if value == _reference(key) else value for key, value in job.items()}


def _reference(key: str) -> str:
    return f"${{{key}}}"


def code_version() -> dict[str, Any]:
    """The commit and whether files differ, as a process finds them first; else the package's version."""
    return dict(_code_version())


@cache
def _code_version() -> Mapping[str, Any]:
    root = Path(__file__).resolve().parents[2]
    if not (root / "pyproject.toml").is_file():
        return {"version": _package_versions().get("icpo")}
    try:
        commit = _git(root, "rev-parse", "HEAD")
        is_dirty = bool(_git(root, "status", "--porcelain", "--untracked-files=no", "--", "icpo", "conf"))
    except (OSError, subprocess.SubprocessError):
        return {"version": _package_versions().get("icpo")}
    return {"commit": commit, "is_dirty": is_dirty}


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()


@cache
def _package_versions() -> Mapping[str, str]:
    found = {}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _difference(folder: Path, found: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    stored = found.get("config", {})
    old, new = dict(_flat({**stored, "job": job_settings(stored)})), dict(_flat(config))
    changes = {
        key: f"{old.get(key, 'absent')!r} stored, {new.get(key, 'absent')!r} now"
        for key in sorted(old.keys() | new.keys())
        if old.get(key, "absent") != new.get(key, "absent")
    }
    lines = [f"  {key}: {change}" for key, change in changes.items() if not _is_copy(key, changes)]
    return "\n".join(
        [
            f"{folder} holds results of another configuration:",
            *(lines or ["  the settings look alike, but the code or the weights behind them changed"]),
            f"Choose another run_name, or delete {folder} to start it afresh.",
        ]
    )


def _is_copy(key: str, changes: Mapping[str, str]) -> bool:
    """Whether a change repeats one of a group under a longer key."""
    ends = (key.split(".", n)[-1] for n in range(1, key.count(".") + 1))
    return any(changes.get(end) == changes[key] for end in ends)


def _flat(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of nested mappings, by dotted key."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _flat(inner, f"{prefix}.{key}" if prefix else str(key))
    else:
        yield prefix, list(value) if isinstance(value, tuple) else value

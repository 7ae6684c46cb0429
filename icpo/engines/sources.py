"""Where a backbone's weights and tokenizer are, and which ones they are."""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from icpo.errors import EngineError

if TYPE_CHECKING:
    from icpo.backbones import Backbone

UNUSED_FILES = ("*.bin", "*.pth", "*.pt", "*.gguf", "*.onnx", "*.h5", "*.msgpack", "original/*")
A_WHOLE_FOLDER = (
    "Give one that holds config.json, tokenizer files and *.safetensors as backbone.model_id=FOLDER."
)
OTHER_PLACES = "Give a local folder as backbone.model_id=FOLDER, or set HF_HOME to where it was downloaded."
WEIGHTS = "weights (*.safetensors)"
PARTS = {  # of a model's folder, with the files of which one is enough
    "config.json": ("config.json",),
    "a tokenizer (tokenizer.json)": ("tokenizer*", "vocab*", "*.model", "*.tiktoken", "tekken.json"),
    WEIGHTS: ("*.safetensors", "*.bin"),
}
DIGESTED_SUFFIXES = (".safetensors", ".json", ".model", ".txt", ".jinja")


@dataclass(frozen=True, slots=True)
class Source:
    """A local folder with a model; `revision` is commit or digest."""

    folder: Path
    revision: str


def locate(backbone: "Backbone") -> Source:
    """The folder of a backbone: its own, or the hub's snapshot.

    The snapshot is downloaded if it is not in the cache yet.

    Raises EngineError where there is none, and for a local one without configuration or tokenizer.
    """
    check_folder(backbone)
    if backbone.is_local:
        folder = Path(backbone.location)
        return Source(folder, f"sha256:{digest(folder)}")
    from huggingface_hub import constants, snapshot_download

    try:
        folder = Path(
            snapshot_download(
                backbone.model_id, revision=backbone.revision, ignore_patterns=list(UNUSED_FILES)
            )
        )
    except (OSError, ValueError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise EngineError(
            f"backbone={backbone.name}: {_named(backbone)} is neither in the cache "
            f"{constants.HF_HUB_CACHE} nor available from the hub ({reason}). {OTHER_PLACES}"
        ) from error
    return Source(folder, f"{backbone.model_id}@{folder.name}")


def check_folder(backbone: "Backbone") -> None:
    """Raises EngineError for a folder that holds no model."""
    if backbone.is_local:
        folder = Path(backbone.location)
        lacking = [part for part, names in PARTS.items() if not any(any(folder.glob(n)) for n in names)]
        if lacking and lacking != [WEIGHTS]:  # a mere shape may have random weights
            raise EngineError(
                f"backbone={backbone.name}: the folder {folder} lacks {', '.join(lacking)}. {A_WHOLE_FOLDER}"
            )
    elif _names_a_folder(backbone.model_id):
        raise EngineError(_no_folder(backbone))


def absence(backbone: "Backbone") -> str | None:
    """A note on weights that are missing on this machine; or None."""
    if backbone.is_local:
        return None
    if _names_a_folder(backbone.model_id):
        return _no_folder(backbone)
    from huggingface_hub import constants, snapshot_download

    try:
        snapshot_download(backbone.model_id, revision=backbone.revision, local_files_only=True)
    except (OSError, ValueError):
        return (
            f"backbone={backbone.name}: {_named(backbone)} is not in the cache {constants.HF_HUB_CACHE}, so "
            f"that a run has to get it from the hub. {OTHER_PLACES}"
        )
    return None


def _no_folder(backbone: "Backbone") -> str:
    missing = f"backbone={backbone.name}: there is no folder {backbone.location}."
    return f"{missing} {_made_by(backbone)}{A_WHOLE_FOLDER}"


def _named(backbone: "Backbone") -> str:
    return f"{backbone.model_id} (revision {backbone.revision or 'newest'})"


def _names_a_folder(model_id: str) -> bool:
    """Whether it can be no hub id, which is NAME or OWNER/NAME."""
    return model_id.startswith(("icpo:", "/", ".", "~")) or model_id.count("/") > 1


def _made_by(backbone: "Backbone") -> str:
    """How weights are made that this project trains, but does not ship."""
    if "train_nano" not in Path(backbone.model_id).parts:
        return ""
    return "python -m icpo.run +exp=train_nano makes it, with the overrides of experiments/nano/README.md. "


def digest(folder: Path) -> str:
    """SHA-256 over a model folder's names and contents.

    Read once a process, unless size or time of a file changes.
    """
    paths = sorted(p for p in folder.iterdir() if p.suffix in DIGESTED_SUFFIXES)
    return _digest(tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in paths))


@cache
def _digest(files: tuple[tuple[Path, int, int], ...]) -> str:
    total = hashlib.sha256()
    for path, _, _ in files:
        with path.open("rb") as file:
            content = hashlib.sha256()
            while block := file.read(1 << 20):
                content.update(block)
            total.update(path.name.encode() + b"\0" + content.digest())
    return total.hexdigest()

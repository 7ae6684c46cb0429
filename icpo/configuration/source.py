"""Where configuration files lie: conf/, and what `--config-dir` adds; which presets and keys they have."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from hydra.core.hydra_config import HydraConfig

REFERENCE = re.compile(r"\$\{\s*(\w+)")  # ${KEY.more}


def config_source() -> str:
    """Where Hydra finds conf/: beside `icpo/` in a checkout, inside the package in a wheel."""
    root = Path(__file__).resolve().parents[2]
    is_checkout = (root / "pyproject.toml").is_file() and (root / "conf/config.yaml").is_file()
    return str(root / "conf") if is_checkout else "pkg://icpo.conf"


def conf_folder() -> Path:
    """The folder conf/ of a checkout or of an installed package."""
    source = config_source()
    return Path(__file__).parents[1] / "conf" if source.startswith("pkg://") else Path(source)


def folders() -> Iterator[Path]:
    """The folder conf/ and, in a run, those given to it by `--config-dir`."""
    yield conf_folder()
    if HydraConfig.initialized():
        for source in HydraConfig.get().runtime.config_sources:
            if source.schema == "file" and Path(source.path) != conf_folder():
                yield Path(source.path)


@cache
def keys_referred_to(folder: Path) -> frozenset[str]:
    """The first parts of all keys that a configuration file below a folder refers to: `${KEY...}`."""
    texts = (path.read_text(encoding="utf-8", errors="replace") for path in folder.rglob("*.yaml"))
    return frozenset(key for text in texts for key in REFERENCE.findall(text))


def presets() -> list[str]:
    """The names that +exp= takes."""
    names = [path.stem for path in (conf_folder() / "exp").glob("*.yaml")]
    return sorted(name for name in names if not name.startswith("_"))

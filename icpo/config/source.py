"""Where configuration files are: conf/ and the folders of `--config-dir`."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from hydra import compose as hydra_compose
from hydra import initialize_config_dir, initialize_config_module
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from icpo.config.messages import HYDRA_ERRORS, one_line
from icpo.errors import ConfigError

REFERENCE = re.compile(r"\$\{\s*(?:oc\.select:\s*)?(\w+)(?![\w.]*:)")  # ${KEY.more}; no resolver's name


def config_source() -> str:
    """Where conf/ is: beside `icpo/` in a checkout, inside a wheel."""
    root = Path(__file__).resolve().parents[2]
    is_checkout = (root / "pyproject.toml").is_file() and (root / "conf/config.yaml").is_file()
    return str(root / "conf") if is_checkout else "pkg://icpo.conf"


def conf_folder() -> Path:
    """The folder conf/ of a checkout or of an installed package."""
    source = config_source()
    return Path(__file__).parents[1] / "conf" if source.startswith("pkg://") else Path(source)


def folders() -> Iterator[Path]:
    """The folder conf/ and those given by `--config-dir`."""
    yield conf_folder()
    if HydraConfig.initialized():
        for source in HydraConfig.get().runtime.config_sources:
            if source.schema == "file" and Path(source.path).resolve() != conf_folder().resolve():
                yield Path(source.path)


def files_below(folder: Path, pattern: str) -> Iterator[Path]:
    """The matching files below a folder, hidden ones left out."""
    for path in folder.rglob(pattern):
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts):
            yield path


def never_read() -> list[Path]:
    """Files of `--config-dir` that conf/ hides by having the same name."""
    project, *own = folders()
    return sorted(
        path
        for folder in own
        for path in files_below(folder, "*.yaml")
        if (project / path.relative_to(folder)).is_file() or _is_in_table(project, path.relative_to(folder))
    )


def _is_in_table(project: Path, path: Path) -> bool:
    """Whether a group's table of choices holds one of that name."""
    table = project / path.parent / "_choices.yaml"
    return table.is_file() and f"\n{path.stem}:" in table.read_text(encoding="utf-8")


@cache
def keys_referred_to(folder: Path) -> frozenset[str]:
    """First parts of all keys `${KEY...}` that files below a folder use."""
    texts = (path.read_text(encoding="utf-8", errors="replace") for path in files_below(folder, "*.yaml"))
    return frozenset(key for text in texts for key in REFERENCE.findall(text))


def presets() -> list[str]:
    """The names that +exp= takes."""
    names = [path.stem for path in files_below(conf_folder() / "exp", "*.yaml")]
    return sorted(name for name in names if not name.startswith("_"))


def compose(overrides: Sequence[str]) -> DictConfig:
    """The configuration that a single run with these overrides has. Raises ConfigError."""
    source = config_source()
    package = source.removeprefix("pkg://")
    context = (
        initialize_config_dir(source, version_base="1.3")
        if package == source
        else initialize_config_module(package, version_base="1.3")
    )
    try:
        with context:
            return hydra_compose("config", overrides=list(overrides))
    except HYDRA_ERRORS as error:
        raise ConfigError(one_line(error)) from None

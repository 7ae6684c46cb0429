"""Where conf/ lies, and which presets it has."""

from pathlib import Path


def config_source() -> str:
    """Where Hydra finds conf/: beside `icpo/` in a checkout, inside the package in a wheel."""
    root = Path(__file__).resolve().parents[2]
    is_checkout = (root / "pyproject.toml").is_file() and (root / "conf/config.yaml").is_file()
    return str(root / "conf") if is_checkout else "pkg://icpo.conf"


def conf_folder() -> Path:
    """The folder conf/ of a checkout or of an installed package."""
    source = config_source()
    return Path(__file__).parents[1] / "conf" if source.startswith("pkg://") else Path(source)


def presets() -> list[str]:
    """The names that +exp= takes."""
    names = [path.stem for path in (conf_folder() / "exp").glob("*.yaml")]
    return sorted(name for name in names if not name.startswith("_"))

"""All tables and figures of a run: python experiments/report.py RUN_NAME [--outputs FOLDER].

Makes the report that every run has, then runs the scripts of its preset, experiments/PRESET/make_*.py. Both
read stored results alone. The preset of a run is what its cells say that they were composed from.
"""

import argparse
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from icpo.cli.report import main as write_report

HERE = Path(__file__).parent
logger = logging.getLogger("icpo")


def main(scripts: Path = HERE) -> int:
    """Command line; the exit status of the first script that failed, else 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run_name", help="a folder of outputs/, e.g. main_table")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"))
    args = parser.parse_args()
    outputs = ["--outputs", str(args.outputs)]
    failed = write_report([args.run_name, *outputs])
    for preset in sorted(set(presets_of(args.outputs / args.run_name))):
        for script in scripts_of(preset, scripts):
            sys.stdout.write(f"\n{script.relative_to(scripts.parent)}\n")
            sys.stdout.flush()
            done = subprocess.run([sys.executable, str(script), args.run_name, *outputs], check=False)
            failed = failed or done.returncode
    return failed


def presets_of(run: Path) -> Iterator[str]:
    """The preset (+exp=...) of each cell; a cell that was killed before it could write it down has none."""
    for path in sorted(run.glob("*/.hydra/hydra.yaml")):
        try:
            yield str(OmegaConf.select(OmegaConf.load(path), "hydra.runtime.choices.exp"))
        except (OmegaConfBaseException, YAMLError, UnicodeDecodeError):
            logger.warning("%s is damaged: run its cell again for what its preset has of its own.", path)


def scripts_of(preset: str, scripts: Path = HERE) -> list[Path]:
    """make_table.py, then the figures, which may read what it writes; none for a preset without scripts."""
    found = (scripts / preset).glob("make_*.py")
    return sorted(found, key=lambda path: (path.stem != "make_table", path.name))


if __name__ == "__main__":
    sys.exit(main())

"""Packs what tables are made of from measured cells into few files: pack.py FOLDER [RUN_NAME ...].

Everything but the journals and what points into them. FOLDER/cells_00, _01, ... together are the outputs:
`cat FOLDER/cells_* | tar -xJ --ignore-zeros -C outputs`.
"""

import argparse
import io
import sys
import tarfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from pathlib import Path

from icpo.store import MANIFEST_NAME, METRICS_NAME, RESULTS_NAME
from icpo.store.json_files import encode_line, read_lines
from icpo.store.manifest import seal_of

PART_BYTES = 15_000_000


def main() -> None:
    """Command line; fails at the end if a run that was named has no cell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("run_names", nargs="*", help="all runs if none is named")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"))
    args = parser.parse_args()
    runs = args.run_names or ["*"]
    begun = sorted(path.parent for run in runs for path in args.outputs.glob(f"{run}/*/{MANIFEST_NAME}"))
    cells = [cell for cell in begun if (cell / METRICS_NAME).is_file()]
    args.folder.mkdir(parents=True, exist_ok=True)
    for part in args.folder.glob("cells_*"):  # of an earlier call, which may have had more of them
        part.unlink()
    with ProcessPoolExecutor() as pool:
        content = b"".join(pool.map(packed, cells))
    for i, start in enumerate(range(0, len(content), PART_BYTES)):
        (args.folder / f"cells_{i:02}").write_bytes(content[start : start + PART_BYTES])
    sys.stdout.writelines(f"not finished: {cell}\n" for cell in begun if cell not in cells)
    sys.stdout.write(f"{len(cells)} cells, {len(content):,} bytes in {args.folder}\n")
    if absent := sorted({*args.run_names} - {cell.parent.name for cell in begun}):
        raise SystemExit(f"No cell of {', '.join(absent)} under {args.outputs}.")


def packed(cell: Path) -> bytes:
    """A cell's folder, below its run's, as a compressed archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:xz") as archive:
        for path in sorted([*cell.glob("*.json*"), *cell.glob(".hydra/*")]):
            data = b"".join(slim(path)) if path.name == RESULTS_NAME else path.read_bytes()
            entry = tarfile.TarInfo(str(path.relative_to(cell.parents[1])))
            entry.size, entry.mtime = len(data), int(path.stat().st_mtime)
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def slim(results: Path) -> Iterator[bytes]:
    """The lines of results.jsonl without the places of texts in the journal."""
    seal = seal_of(results.parent)
    for row in read_lines(results, seal):
        if row is None:
            raise SystemExit(
                f"{results} has a damaged line. See python -m icpo.records verify {results.parent}"
            )
        groups = [step["candidates"] for step in row["trace"]] + [finals for _, finals in row["finals"]]
        for candidate in chain.from_iterable(groups):
            candidate["draw"] = ""
        yield encode_line(row, seal.key)


if __name__ == "__main__":
    main()

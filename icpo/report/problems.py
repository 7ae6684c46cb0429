"""What is missing from a run's tables, and why."""

from collections.abc import Sequence

from icpo.report.cells import Cell


def gaps(cells: Sequence[Cell]) -> tuple[list[Cell], list[Cell]]:
    """The cells that are not done: gaps in tables, and others.

    A gap is a cell whose backbone, benchmark and arm all have scores in other cells, or one that cannot be
    read. A failed command beside a complete table, such as one with a mistyped path, leaves none.
    """
    keys = [arm.key for cell in cells for arm in cell.arms]
    scored = [{getattr(key, name) for key in keys} for name in ("backbone", "benchmark", "arm")]
    left = [cell for cell in cells if cell.state != "done"]

    def is_gap(cell: Cell) -> bool:
        named = [(cell.job.get(group) or {}).get("name") for group in ("backbone", "benchmark")]
        return cell.state == "unreadable" or all(map(set.__contains__, scored, [*named, cell.job.get("arm")]))

    return [cell for cell in left if is_gap(cell)], [cell for cell in left if not is_gap(cell)]


def line_of(cell: Cell) -> str:
    """`CELL is failed: why`, on one line."""
    return f"`{cell.folder.name}` is {cell.state}" + (
        f": {' '.join(cell.reason.split())}" if cell.reason else ""
    )

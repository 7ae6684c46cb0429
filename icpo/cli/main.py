"""The command `icpo`; `python -m icpo` is the same."""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from icpo.cli.output import CANNOT_START, INTERRUPTED, without_traceback

# Command: the module that holds its main(arguments), words put before the user's, and one line of help.
COMMANDS: dict[str, tuple[str, tuple[str, ...], str]] = {
    "run": ("icpo.cli.run", (), "run a preset: icpo run +exp=quickstart (`icpo +exp=NAME` for short)"),
    "list": ("icpo.cli.listing", (), "list presets, groups with their choices, and stored runs"),
    "status": ("icpo.cli.status", (), "show how far each cell of a run is"),
    "report": ("icpo.cli.report", (), "write a run's tables and figures from what is stored"),
    "dashboard": ("icpo.cli.dashboard", (), "write pages that compare runs; --serve shows them"),
    "regrade": ("icpo.cli.regrade", (), "grade stored texts again"),
    "grade": ("icpo.grading.__main__", (), "explain why an answer is right or wrong"),
    "verify": ("icpo.cli.verify", ("verify",), "check that stored cells are whole: RUN or RUN/CELL"),
    "salvage": ("icpo.cli.verify", ("salvage",), "keep what is whole of damaged cells"),
    "compact": ("icpo.cli.verify", ("compact",), "make the journals of cells smaller"),
    "remove": ("icpo.cli.verify", ("remove",), "delete a cell or a run after asking"),
}


@without_traceback()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command: 0 fine, 1 failed, 2 wrong usage, 130 interrupted."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("-h", "--help", "help"):
        print(_help())
        return 0 if words else CANNOT_START
    command, rest = (words[0], words[1:]) if words[0] in COMMANDS else ("run", words)
    if command == "run" and words[0] != "run" and not _looks_like_a_setting(words[0]):
        print(f"icpo: there is no command {words[0]!r}. Commands: {', '.join(COMMANDS)}.", file=sys.stderr)
        return CANNOT_START
    module, prefix, _ = COMMANDS[command]
    main_of: Callable[..., int | None] = import_module(module).main
    if command == "run":  # Hydra reads the process's own arguments
        sys.path.insert(0, "")  # packages in the folder where it is started, as `python -m` has them
        sys.argv = ["icpo run", *rest]
        return main_of() or 0
    try:
        return main_of([*prefix, *rest]) or 0
    except KeyboardInterrupt:
        return INTERRUPTED


def _looks_like_a_setting(word: str) -> bool:
    """Whether a word is for Hydra: an option, an override, a deletion."""
    return word.startswith(("-", "+", "~")) or "=" in word


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  icpo {name:<{width}}  {text}" for name, (_, _, text) in COMMANDS.items()]
    head = "ICPO: in-context policy optimization, its theory and its test-time scaling experiments."
    tail = "`icpo COMMAND --help` says more. Start with: icpo run +exp=quickstart"
    return "\n".join([head, "", *lines, "", tail])


if __name__ == "__main__":
    sys.exit(main())

"""`python -m icpo COMMAND ...`: the command `icpo`."""

import sys

from icpo.cli.main import main

if __name__ == "__main__":
    sys.exit(main())

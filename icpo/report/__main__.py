"""`python -m icpo.report`: an alias of icpo.cli.report."""

import sys

from icpo.cli.report import main

if __name__ == "__main__":
    sys.exit(main())

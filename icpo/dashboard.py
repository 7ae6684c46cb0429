"""`python -m icpo.dashboard`: an alias of icpo.cli.dashboard."""

import sys

from icpo.cli.dashboard import main

if __name__ == "__main__":
    sys.exit(main())

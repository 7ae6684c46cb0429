"""`python -m icpo.status`: an alias of icpo.cli.status."""

import sys

from icpo.cli.status import main

if __name__ == "__main__":
    sys.exit(main())

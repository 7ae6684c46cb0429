"""`python -m icpo.regrade`: an alias of icpo.cli.regrade."""

import sys

from icpo.cli.regrade import main

if __name__ == "__main__":
    sys.exit(main())

"""`python -m icpo.records`: an alias of icpo.cli.verify."""

import sys

from icpo.cli.verify import main

if __name__ == "__main__":
    sys.exit(main())

"""`python -m icpo.run +exp=NAME ...`: composes, checks, builds and runs a job or a sweep."""

from icpo.cli.run import main

if __name__ == "__main__":
    main()

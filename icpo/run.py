"""`python -m icpo.run +exp=NAME ...`: run a job or a sweep."""

from icpo.cli.run import main

if __name__ == "__main__":
    main()

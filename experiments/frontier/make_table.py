"""The paper's table of frontier models, beside ours: python experiments/frontier/make_table.py [RUN_NAME]."""

from pathlib import Path

from icpo.lab.scripts.comparison import main

if __name__ == "__main__":
    main(Path(__file__).parent)

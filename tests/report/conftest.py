import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # stored_runs is shared with tests/browser

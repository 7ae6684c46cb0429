#!/usr/bin/env bash
# The measurements of this folder on one host, each on a GPU of its own, in order of value:
#   bash experiments/throughput/run_gpu.sh OUT_DIR [PART...]
#   bash experiments/throughput/run_gpu.sh OUT_DIR graphs long_tailed vllm_own     # two GPUs, ten minutes
#   bash experiments/throughput/run_gpu.sh OUT_DIR eager wide two_gpus             # two GPUs, twelve minutes: DEADLINE=720
#   bash experiments/throughput/run_gpu.sh OUT_DIR uniform racing                  # two GPUs, nine minutes
#   GPUS=0 DEADLINE=900 bash experiments/throughput/run_gpu.sh OUT_DIR in_process served racing   # one GPU, fifteen minutes
#   DRY=1 bash experiments/throughput/run_gpu.sh OUT_DIR                           # prints the commands, needs no GPU
# Needs python3 with vllm and the project's dependencies. GPUS (0,1) are shared out among the parts; none is started
# that could not end within DEADLINE (600) seconds. A row is printed as it is found; OUT_DIR/rows.csv holds them all
# with card, versions and date, OUT_DIR/runs/quickstart_*/report/table.csv nano's scores. A run that fails says why in
# a line, and the others go on; the exit status is 1 then. Compiled graphs are kept in VLLM_CACHE_ROOT.
set -u
out=${1:?usage: run_gpu.sh OUT_DIR [PART...]}
shift

declare -A expected=([long_tailed]=560 [graphs]=300 [eager]=490 [vllm_own]=150 [wide]=165 [nano]=190 [two_gpus]=210
  [uniform]=480 [racing]=330 [in_process]=280 [served]=290)
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(graphs long_tailed eager vllm_own wide nano two_gpus)
for part in "${parts[@]}"; do
  [ -n "${expected[$part]-}" ] || { echo "unknown part: $part; there are ${!expected[*]}" >&2; exit 2; }
done
IFS=, read -ra gpus <<<"${GPUS:-0,1}"
deadline=${DEADLINE:-600}
rm -rf "$out/claims" "$out/failed"
mkdir -p "$out/claims" "$out/logs"

describe() { # card,vllm,torch,date: what every row is of
  python3 - <<'PYTHON'
import datetime
from importlib.metadata import PackageNotFoundError, version


def of(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


try:
    import torch

    card = torch.cuda.get_device_name(0) if torch.cuda.is_available() else "no GPU"
except ImportError:
    card = "no torch"
print(card.replace(",", " "), of("vllm"), of("torch"), datetime.date.today(), sep=",")
PYTHON
}

run() { # GPUS NAME PRESET [OVERRIDE...]: prints rows as they are found; a folder of results for each name
  local cards=$1 name=$2 preset=$3 start=$SECONDS status
  shift 3
  if [ -n "${DRY-}" ]; then
    echo "$name: CUDA_VISIBLE_DEVICES=$cards python3 -m icpo.run +exp=$preset run_name=$name $*"
    return
  fi
  CUDA_VISIBLE_DEVICES=$cards VLLM_CACHE_ROOT=${VLLM_CACHE_ROOT:-/tmp/icpo_vllm_cache} \
    timeout --kill-after=10 "$((deadline - SECONDS + 60))" \
    python3 -u -m icpo.run "+exp=$preset" tracking=none output_root="$out/runs" run_name="$name" "$@" 2>&1 |
    tee "$out/logs/$name.log" | grep --line-buffered -E 'decode ceiling|schedule |Error' | sed -u "s/^/$name: /"
  status=${PIPESTATUS[0]}
  echo "$name: status $status, $((SECONDS - start)) s, ended after $SECONDS s"
  [ "$status" -eq 0 ] && return
  [ "$status" -eq 124 ] && why="it ran out of time" || why=$(grep -v '^[[:space:]]*$' "$out/logs/$name.log" | tail -n 1)
  echo "$name: failed: ${why:-nothing was said}" | tee -a "$out/failed"
}

measure() { # GPUS NAME ROUNDS MEASUREMENTS [OVERRIDE...]
  local cards=$1 name=$2 rounds=$3 measurements=$4
  shift 4
  run "$cards" "$name" throughput "job.measurements=[$measurements]" "job.work.num_rounds=$rounds" "$@"
}

graphs() { measure "$1" graphs 2 authors/fixed/1,pipelined/fixed/16; }
long_tailed() { measure "$1" long_tailed 2 pipelined/long_tailed/32; }
eager() { measure "$1" eager 1 authors/fixed/1,pipelined/fixed/32 engine.enforce_eager=true; }
vllm_own() { # vLLM's own scheduler, CUDA graphs and step size
  measure "$1" vllm_own 1 pipelined/long_tailed/8 engine.admission_burst=1 engine.max_num_batched_tokens=2048 \
    '+engine.options.compilation_config={}'
}
uniform() { measure "$1" uniform 2 pipelined/fixed/32; }
racing() { measure "$1" racing 2 pipelined/fixed/32 selector=entropy_racing; }
in_process() { measure "$1" in_process 2 pipelined/fixed/16; }
listens() { # SERVER: waits until it does; fails where it ended, or at the deadline
  until python3 -c 'import urllib.request as r; r.urlopen("http://127.0.0.1:8000/health")' 2>/dev/null; do
    kill -0 "$1" 2>/dev/null && [ $SECONDS -lt "$deadline" ] || return
    sleep 2
  done
}
served() { # the same work through vLLM's server and engine=openai
  local shape=$out/shape log=$out/logs/server.log server
  if [ -z "${DRY-}" ]; then
    CUDA_VISIBLE_DEVICES=$1 python3 experiments/throughput/serve.py "$shape" >"$log" 2>&1 &
    server=$!
    { listens "$server" && python3 experiments/throughput/serve.py --weights >>"$log" 2>&1; } || {
      echo "served: failed: $(tail -n 1 "$log")" | tee -a "$out/failed"
      kill "$server" 2>/dev/null
      return
    }
  fi
  measure "$1" served 2 pipelined/fixed/16 engine=openai "backbone.model_id=$shape" engine.base_url=http://127.0.0.1:8000/v1 \
    engine.api_key_env=null engine.supports_n=true engine.supports_seed=true engine.supports_extras=true engine.max_concurrency=512
  [ -n "${DRY-}" ] || { kill "$server"; wait "$server" 2>/dev/null; }
}
wide() { measure "$1" wide 1 pipelined/fixed/8 engine.max_num_seqs=1024; }
two_gpus() { measure "$1" two_gpus 1 pipelined/fixed/8 backbone.tensor_parallel=2; }
nano() {
  run "$1" quickstart_transformers quickstart engine=transformers engine.max_batch_rows=4096 &
  run "$1" quickstart_vllm quickstart engine=vllm backbone.dtype=bfloat16 engine.gpu_memory_utilization=0.5
  wait
}

fits() { # PART: whether it could end in time
  [ $((SECONDS + expected[$1])) -le "$deadline" ] || { echo "$1: left out, ${expected[$1]} s would not fit"; false; }
}

worker() { # GPU: parts that no other worker has taken
  local part
  for part in "${parts[@]}"; do
    [ "$part" != two_gpus ] && mkdir "$out/claims/$part" 2>/dev/null && fits "$part" && "$part" "$1"
  done
}

for gpu in "${gpus[@]}"; do worker "$gpu" & done
wait
case " ${parts[*]} " in
  *" two_gpus "*) [ ${#gpus[@]} -ge 2 ] && fits two_gpus && two_gpus "${gpus[0]},${gpus[1]}" ;;
esac
[ -z "${DRY-}" ] || exit 0
place=$(describe)
find "$out/runs" -name throughput.csv | sort | while read -r file; do
  name=$(basename "$(dirname "$(dirname "$file")")")
  sed -e "1s/^/run,card,vllm,torch,date,/" -e "2,\$s/^/$name,$place,/" "$file"
done | awk 'NR == 1 || !/^run,/' >"$out/rows.csv"
cat "$out/rows.csv"
[ ! -e "$out/failed" ]

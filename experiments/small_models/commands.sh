#!/usr/bin/env bash
# Every cell on a small pretrained model as a list of commands for scripts/on_gpus.sh, the longest first:
#   bash experiments/small_models/commands.sh MODEL [OVERRIDE...] | scripts/on_gpus.sh -p 10 LOG_FOLDER
#   PART=controls bash experiments/small_models/commands.sh MODEL ...      controls, best-of-n, sweeps of k and m: 100 questions
# MODEL is a folder (scripts/real_backbone.sh) or a hub's id; overrides are added to each line. Without vLLM:
# engine=transformers engine.block_questions=200 engine.max_batch_rows=8192. Each process starts an engine of its own,
# whose cache has a fixed size: memory that others take meanwhile would spoil what vLLM measures.
set -euo pipefail
model=${1:?the folder or the id of the model}
shift
engine=(engine=vllm engine.max_num_seqs=1024 engine.gpu_memory_utilization=0.1
        +engine.options.kv_cache_memory_bytes=9000000000)
case " $* " in *" engine="*) engine=() ;; esac
settings=("backbone.model_id=$model" "${engine[@]}" max_in_flight=256 tracking=none "$@")

cells() { # BENCHMARK ARMS [OVERRIDE...]
  echo "python3 -c 'from icpo.cli.run import main; main(makes_report=False)' +exp=small_models" \
    "benchmark=$1 arm=$2 ${*:3} ${settings[*]}"
}
few() { # RUN_NAME PRESET [OVERRIDE...]
  echo "python3 -m icpo.run +exp=$2 run_name=$1 benchmark=words_l1 benchmark.limit=100 seeds=[0] ${*:3} ${settings[*]}"
}
if [ "${PART-}" = controls ]; then
  few small_controls controls backbone=smollm2_135m backbone.chat_template=none protocol=worked_example
  few small_k small_models arm=full budget.num_candidates=2,4,16
  few small_m small_models arm=full budget.num_lookaheads=2,4,16
  few small_bon small_models "'~arms'" method=best_of_n budget.num_samples=16
  exit
fi
[ -z "${PART-}" ] || { echo "PART may be controls, got '$PART'" >&2; exit 2; }
for benchmark in words_l1 words_l2; do
  cells "$benchmark" chat_full
  cells "$benchmark" full,base
  cells "$benchmark" oracle,without_both
  cells "$benchmark" without_reward,without_entropy
  cells "$benchmark" self_consistency,chat_base
done
for benchmark in words_l1 words_l2; do
  cells "$benchmark" chat_random
  cells "$benchmark" foreign
done

#!/usr/bin/env bash
# Every cell on a small pretrained model as a list of commands for scripts/on_gpus.sh, the longest first:
#   bash experiments/small_models/commands.sh MODEL [OVERRIDE...] | scripts/on_gpus.sh -g 2 -p 6 LOG_FOLDER
# MODEL is a folder (scripts/real_backbone.sh) or a hub's id; overrides are added to each line. Without vLLM:
# engine=transformers engine.block_questions=200 engine.max_batch_rows=8192. Each process starts an engine of its own,
# whose cache has a fixed size: memory that others take meanwhile would spoil what vLLM measures.
set -euo pipefail
model=${1:?the folder or the id of the model}
shift
engine=(engine=vllm engine.max_num_seqs=1024 engine.gpu_memory_utilization=0.15
        +engine.options.kv_cache_memory_bytes=13000000000)
case " $* " in *" engine="*) engine=() ;; esac

cells() { # BENCHMARKS ARMS SEEDS
  echo "python3 -c 'from icpo.cli.run import main; main(makes_report=False)' +exp=small_models benchmark=$1 arm=$2" \
    "seeds=$3 backbone.model_id=$model ${engine[*]} max_in_flight=256 tracking=none ${overrides[*]}"
}
overrides=("$@")
for benchmark in words_l1 words_l2; do
  cells "$benchmark" chat_full "[0]"
  cells "$benchmark" full,base "[0,1,2]"
  cells "$benchmark" without_entropy,oracle "[0]"
  cells "$benchmark" self_consistency,without_both "[0]"
done
for arms in without_reward foreign chat_random,chat_base; do cells words_l1,words_l2 "$arms" "[0]"; done

#!/usr/bin/env bash
# Every experiment on nano as a list of commands for scripts/on_gpus.sh, one a line, the most wanted first:
#   bash experiments/nano/commands.sh [PRESET] [OVERRIDE...]      those of one preset; overrides are added to each line
# Reports are left out: they are made where the tables are made, from what is packed (pack.py).
set -euo pipefail
preset=
if [[ ${1-} != *=* ]]; then preset=${1-} && shift $(($# > 0)); fi
overrides=("$@")
every="arith_l1 arith_l2 arith_l3 arith_l4 arith_l5 arith_heldout_templates arith_heldout_operands arith_heldout_length"
levels="arith_l5 arith_l4 arith_l3"
controls=(base,full,majority_hint,majority_random,max_entropy,shuffled,inverted
          constant,answer_only,no_answer,foreign,repeated_error,one_candidate,one_round)
racers=(uniform_m16,racing_halving,racing_merged_halving,racing_uniform_m4 # the reference first: all share its round 1
        uniform_m8,racing_forced_answer,racing_early_stop merged,racing_bound,racing_exact)

icpo() { # PRESET OVERRIDE...: a process of its own, whose cells share what they draw in common
  [[ -z $preset || $1 == "$preset" ]] || return 0
  echo "python3 -c 'from icpo.run import main; main(makes_report=False)' +exp=$* tracking=none engine=transformers" \
    "engine.block_questions=600 engine.max_batch_rows=${rows:-8192} ${overrides[*]}"
}
baselines() { # LEVEL ARM...
  local level=$1 arms
  printf -v arms ',%s' "${@:2}"
  icpo baselines "benchmark=$level" "arm=${arms:1}"
}

for set in $every; do
  icpo nano_tables "benchmark=$set" arm=plain,empty_history,authors,by_round
done
for level in $levels; do
  icpo nano_ablation "benchmark=$level" arm=base,full,without_entropy,without_both,keep_all
  icpo nano_ablation "benchmark=$level" arm=without_reward,oracle
  for arms in "${controls[@]}"; do icpo controls "benchmark=$level" "arm=$arms"; done
done
for set in $every; do icpo nano_paper "benchmark=$set"; done
for backbone in nano_shuffled nano_plain nano; do icpo nano_backbones "backbone=$backbone"; done
for backbone in nano_shuffled nano_plain; do
  for level in $levels; do
    icpo controls "backbone=$backbone" "run_name=controls_$backbone" "benchmark=$level" \
      arm=base,full,inverted,shuffled,constant,majority_random
  done
done
for set in $every; do icpo nano_tables "benchmark=$set" arm=self_consistency,self_consistency_one; done
for level in $levels; do
  baselines "$level" direct me_icpo_{small,medium,large} me_icpo_racing_{medium,large}
  baselines "$level" {self_consistency,best_of_n}_{small,medium,large,largest}
  for method in tot_self_eval tot_majority mctsr; do baselines "$level" "$method"_{small,medium,large}; done
done
for level in $levels; do
  icpo nano_nk_sweep "benchmark=$level" "run_name=nano_nk_sweep_$level" budget.num_candidates=64
  icpo nano_nk_sweep "benchmark=$level" "run_name=nano_nk_sweep_$level" budget.num_candidates=32,16,8,4,2
done
rows=4096 # at 8192 a process that draws 16 x 16 look-aheads takes up to 15 GB
for arms in "${racers[@]}"; do
  for level in $levels; do icpo racing "benchmark=$level" "arm=racing_$arms"; done
done
for level in $levels; do icpo racing_reference "benchmark=$level" arm=full,racing_forced_answer; done

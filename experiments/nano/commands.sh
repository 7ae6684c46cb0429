#!/usr/bin/env bash
# Every experiment on nano as a list of commands for scripts/on_gpus.sh, one a line, the most wanted first:
#   bash experiments/nano/commands.sh [OVERRIDE...]      the overrides are added to each line
# Reports are left out: they are made where the tables are made, from what is packed (pack.py).
set -euo pipefail
overrides=("$@")
every="arith_l1 arith_l2 arith_l3 arith_l4 arith_l5 arith_heldout_templates arith_heldout_operands arith_heldout_length"
levels="arith_l5 arith_l4 arith_l3"
controls=(base,full,majority_hint,majority_random,max_entropy,shuffled,inverted
          constant,answer_only,no_answer,foreign,repeated_error,one_candidate,one_round)
rivals=(rivals/{direct,me_icpo_{small,medium,large},{self_consistency,best_of_n}_{small,medium,large,largest}}
        rivals/tot_self_eval_{small,medium,large} rivals/tot_majority_{small,medium,large} rivals/mctsr_{small,medium,large})

icpo() { # PRESET OVERRIDE...: a process of its own, whose cells share what they draw in common
  echo "python3 -c 'from icpo.run import run_job; run_job()' +exp=$* tracking=none engine=transformers" \
    "engine.block_questions=600 engine.max_batch_rows=8192 ${overrides[*]}"
}
joined() { local IFS=,; echo "$*"; }

for set in $every; do
  icpo nano_tables "benchmark=$set" variant=tables/plain,tables/empty_history,tables/authors,tables/by_round
done
for level in $levels; do
  icpo nano_ablation "benchmark=$level" variant=full,without_entropy,without_both,keep_all
  icpo nano_ablation "benchmark=$level" variant=without_reward,oracle
  for arms in "${controls[@]}"; do icpo controls "benchmark=$level" "variant=$arms"; done
done
for set in $every; do icpo nano_paper "benchmark=$set"; done
for backbone in nano_shuffled nano_plain nano; do icpo nano_backbones "backbone=$backbone"; done
for backbone in nano_shuffled nano_plain; do
  for level in $levels; do
    icpo controls "backbone=$backbone" "benchmark=$level" variant=base,full,inverted,shuffled,constant,majority_random
  done
done
for set in $every; do icpo nano_tables "benchmark=$set" variant=tables/polls,tables/one_poll; done
for level in $levels; do
  icpo baselines "benchmark=$level" "variant=$(joined "${rivals[@]:0:12}")"
  for first in 12 15 18; do icpo baselines "benchmark=$level" "variant=$(joined "${rivals[@]:first:3}")"; done
done
for level in $levels; do
  icpo nano_nk_sweep "benchmark=$level" "run_name=nano_nk_sweep_$level" method.num_candidates=64
  icpo nano_nk_sweep "benchmark=$level" "run_name=nano_nk_sweep_$level" method.num_candidates=32,16,8,4,2
done
for level in $levels; do
  icpo racing "benchmark=$level" variant=racing_uniform_m16
  icpo racing_reference "benchmark=$level" variant=full,racing_forced_answer
done
for level in $levels; do # the candidates of round 1 stand in the journals of the cells above
  icpo racing "benchmark=$level" variant=racing_exact,racing_forced_answer
  icpo racing "benchmark=$level" variant=racing_uniform_m8,racing_uniform_m4,racing_early_stop
  icpo racing "benchmark=$level" variant=racing_halving,racing_bound,racing_merged,racing_merged_halving
done

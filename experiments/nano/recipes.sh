#!/usr/bin/env bash
# Recipes of nano, and doses of one: prints commands for scripts/on_gpus.sh, one a line. Stages, one after the other:
#   bash experiments/nano/recipes.sh base FOLDER [OVERRIDE...]              phases 1 and 2, which all recipes share
#   bash experiments/nano/recipes.sh train FOLDER [MODEL...] [OVERRIDE...]  phase 3 and exam of each model
#   bash experiments/nano/recipes.sh probe FOLDER [MODEL...] [OVERRIDE...]
#   bash experiments/nano/recipes.sh ablate FOLDER [MODEL...] [OVERRIDE...] base, ME-ICPO with and without entropy
#   bash experiments/nano/recipes.sh measure FOLDER [MODEL...]              both
# Everything goes into FOLDER. WORKERS are the processes that make a training's batches: 14 for the base, which is
# alone, 3 for each of the others.
set -euo pipefail
doses=(dose_1 dose_1_4 dose_1_16 dose_1_64 dose_0)
recipes=(coin coin_half coin_steeper coin_more coin_hard coin_hard_more)
stage=${1-}
[[ -n ${2-} ]] || { sed -n 2,9p "$0" >&2; exit 2; }
folder=$(printf %q "$2")
models=() overrides=()
for word in "${@:3}"; do
  case $word in
    *=*) overrides+=("$(printf %q "$word")") ;;
    *) [[ " ${doses[*]} ${recipes[*]} " == *" $word "* ]] || { echo "No model $word." >&2; exit 2; }
       models+=("$word") ;;
  esac
done
((${#models[@]})) || models=("${recipes[@]}" "${doses[@]}")
workers=${WORKERS:-3}
third=job.training.phases.2

answers_alone=$third.mixture.policy.update.error_weight=0.0 # wrong steps say nothing of other answers
mostly_tagged="'$third.mixture.tasks={tagged:0.8,direct:0.08,untagged:0.02,forced:0.02,summary:0.05,judge:0.03}'"

settings() { # MODEL: what distinguishes its third phase from the shipped recipe's
  case $1 in
    dose_*) # the share of contexts with tags; examples without ideas take the rest
      awk -v dose="${1#dose_}" -v tasks="$third.mixture.tasks" 'BEGIN {
        split(dose, part, "_"); s = part[1] / (part[2] ? part[2] : 1)
        printf "%s.tagged=%.10g %s.forced=%.10g %s.direct=%.10g", tasks, .5 * s, tasks, .06 * s, tasks, .24 + .56 * (1 - s)
      }' ;;
    coin) echo "$third.mixture.coin_share=1.0" ;;
    coin_more) # 82% of the examples have tags: tagged and forced
      echo "$third.mixture.coin_share=1.0 $third.mixture.policy.update.step_size=4.0 $answers_alone $mostly_tagged" ;;
    coin_hard) # an answer tagged 0 hardly ever occurs again
      echo "$third.mixture.coin_share=1.0 $third.mixture.policy.update.step_size=8.0 $answers_alone" ;;
    coin_hard_more)
      echo "$(settings coin_hard) $mostly_tagged" ;;
    coin_half) echo "$third.mixture.coin_share=0.5" ;;
    coin_steeper) # an answer moves by 4; a wrong step as before, by 0.5
      echo "$third.mixture.coin_share=0.5 $third.mixture.policy.update.step_size=4.0" \
        "$third.mixture.policy.update.error_weight=0.125" ;;
  esac
}
icpo() { # OVERRIDE...
  echo "python3 -c 'from icpo.run import main; main(makes_report=False)' output_root=$folder tracking=none $* ${overrides[*]}"
}
training() { # CELL OVERRIDE...
  icpo +exp=train_nano run_name=train "cell=$1" "job.training.num_workers=$workers" "${@:2}"
}
measuring() { # MODEL OVERRIDE...
  icpo "${@:2}" "backbone.name=$1" "backbone.model_id=$folder/train/$1/model" engine=transformers \
    engine.block_questions=200 engine.max_batch_rows=4096
}
probe() { for model in "${models[@]}"; do measuring "$model" +exp=probe run_name=probe benchmark=arith_l3; done; }
ablate() {
  for model in "${models[@]}"; do
    measuring "$model" +exp=nano_ablation run_name=ablation arm=base,full,without_entropy "seeds=[0]"
  done
}

case $stage in
  base)
    workers=${WORKERS:-14}
    training base $third.num_steps=0 job.exam.num_questions=1 "job.exam.rehearsal_levels=[]" ;;
  train)
    for model in "${models[@]}"; do
      cell=$folder/train/$model
      echo "mkdir -p $cell && { [ -e $cell/checkpoint.pt ] || cp -r $folder/train/base/{model,checkpoint.pt} $cell; } && exec" \
        "$(training "$model" "$(settings "$model")" "job.exam.rehearsal_levels=[l3,l4,l5]")"
    done ;;
  probe | ablate) "$stage" ;;
  measure) probe && ablate ;;
  *) echo "No stage $stage." >&2; exit 2 ;;
esac

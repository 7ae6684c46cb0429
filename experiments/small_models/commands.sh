#!/usr/bin/env bash
# Every cell on a small pretrained model as a list of commands for scripts/on_gpus.sh, the most wanted first:
#   bash experiments/small_models/commands.sh FOLDER [OVERRIDE...] | scripts/on_gpus.sh -p 2 LOG_FOLDER
# FOLDER holds the model (scripts/real_backbone.sh); overrides are added to each line. rows=N sets the batch.
set -euo pipefail
folder=${1:?the folder of the model}
shift
arms=(chat_full full chat_base base chat_random without_entropy self_consistency oracle foreign without_reward without_both)
for benchmark in words_l1 words_l2; do
  for arm in "${arms[@]}"; do
    echo "python3 -c 'from icpo.cli.run import main; main(makes_report=False)' +exp=small_models arm=$arm benchmark=$benchmark" \
      "backbone.model_id=$folder engine.block_questions=200 engine.max_batch_rows=${rows:-16384} tracking=none $*"
  done
done

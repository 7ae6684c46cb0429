#!/usr/bin/env bash
# All measurements of this folder on one host with four GPUs, in about eight minutes:
#   bash experiments/throughput/run_gpu.sh OUT_DIR
# Needs vllm and the project's dependencies. Runs stand side by side, each on a GPU of its own.
set -u
out=${1:?usage: run_gpu.sh OUT_DIR}
mkdir -p "$out"

run() { # GPUS NAME PRESET [OVERRIDE...]
  local gpus=$1 name=$2 preset=$3 start=$SECONDS status file
  shift 3
  CUDA_VISIBLE_DEVICES=$gpus VLLM_CACHE_ROOT="/tmp/vllm_cache_$name" python3 -m icpo.run "+exp=$preset" \
    tracking=none output_root="$out/runs" run_name="$name" "$@" >"$out/$name.log" 2>&1
  status=$?
  echo "$name: status $status, $((SECONDS - start)) s, ended after $SECONDS s"
}

measure() { # GPUS NAME MEASUREMENTS [OVERRIDE...]
  local gpus=$1 name=$2 measurements=$3
  shift 3
  run "$gpus" "$name" throughput job.measurements="[$measurements]" "$@"
}

one() { measure 0 graphs authors/fixed/1,pipelined/fixed/16,lockstep/fixed/4; }
two() { measure 1 eager authors/fixed/1,pipelined/fixed/8 engine.enforce_eager=true; }
three() {
  measure 2 long_tailed pipelined/long_tailed/32 job.work.num_rounds=1
  measure 2 wide pipelined/fixed/4 job.work.num_rounds=1 engine.max_num_seqs=1024 \
    '+engine.options.compilation_config.cudagraph_capture_sizes=[1,2,4,8,16,32,64,128,256,384,512,640,768,896,1024]'
}
four() {
  run 3 quickstart_transformers quickstart engine=transformers engine.max_batch_rows=4096 &
  run 3 quickstart_vllm quickstart engine=vllm backbone.dtype=bfloat16 engine.gpu_memory_utilization=0.5
  wait
  measure 3 fp8_cache pipelined/fixed/4 job.work.num_rounds=1 +engine.options.kv_cache_dtype=fp8
}
one &
three &
four &
fourth=$!
two
wait "$fourth"
measure 1,3 two_gpus pipelined/fixed/4 job.work.num_rounds=1 backbone.tensor_parallel=2
wait

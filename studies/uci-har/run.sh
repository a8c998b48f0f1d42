#!/usr/bin/env bash
# The study of UCI-HAR, stage by stage; every stage may be stopped and started again, finished cells stay.
#
#   studies/uci-har/run.sh DATA OUT            all stages, then the report and the pack
#   studies/uci-har/run.sh DATA OUT equal      one stage: equal, published, ablation, normalisation, controls, report
#
# DATA holds uci-har/UCI HAR Dataset/...; OUT receives records. JOBS (default 2) cells run at once, one thread each.
set -euo pipefail

data=${1:?usage: run.sh DATA OUT [STAGE...]}
out=${2:?usage: run.sh DATA OUT [STAGE...]}
shift 2
stages=("$@")
[ ${#stages[@]} -gt 0 ] || stages=(equal published ablation normalisation controls report)

export OMP_NUM_THREADS=1
bench=${BENCH:-bench}
grid=(--datasets uci-har --data "$data" --out "$out" --jobs "${JOBS:-2}" --no-efficiency)

# The budget, the same for every model: see README.md.
budget=(--recipe equal --configurations 3 --set epochs=5)
quick_models=medmamba,medformer,crossformer,itransformer,inceptiontime,resnet1d,tcn,mamba
slow_models=transformer,nonformer,patchtst,fedformer,informer,autoformer,mtst,reformer

equal() {
    "$bench" run "${grid[@]}" "${budget[@]}" --seeds 41-43 --models "$quick_models,linear,spectral,dummy,minirocket"
    "$bench" run "${grid[@]}" "${budget[@]}" --seeds 41-43 --models "$slow_models"
}

# The whole published protocol of the two models whose epochs are cheap enough for it.
published() {
    "$bench" run "${grid[@]}" --recipe published --seeds 41-43 --models medmamba,itransformer
}

ablation() {
    "$bench" run "${grid[@]}" "${budget[@]}" --seeds 41-43 \
        --models medmamba-unidirectional,medmamba-single-scale,medmamba-no-channel-mixing
}

# Scaling by training channels is the data's own and part of the stage equal.
normalisation() {
    for scaling in none window; do
        "$bench" run "${grid[@]}" "${budget[@]}" --seeds 41-43 \
            --models medmamba,transformer,inceptiontime --set normalisation=$scaling
    done
}

controls() {
    controlled=medmamba,medformer,transformer,inceptiontime
    "$bench" run "${grid[@]}" "${budget[@]}" --seeds 41,42 --control shuffled-labels --models "$controlled"
    # The probe trains nothing and reads the weights that the stage equal left in OUT.
    "$bench" run --datasets uci-har --data "$data" --out "$out" --recipe equal --control subject-probe \
        --models "$controlled"
}

report() {
    "$bench" report --out "$out"
    "$bench" pack --out "$out" --archive "$out/uci-har.zip"
    "$bench" pack --verify --archive "$out/uci-har.zip"
}

for stage in "${stages[@]}"; do
    echo "stage $stage" >&2
    "$stage"
done

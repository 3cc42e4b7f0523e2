#!/usr/bin/env bash
# Runs compiled examples on a CUDA GPU: results for many lengths, then speed.
#
#   tests/gpu/run.sh FOLDER [check|bench]
#
# FOLDER holds `pipeline-run` and NAME.TARGET[.VARIANT].ptx with their manifests, as
# `./dev gpu-pack FOLDER` leaves them, so that the machine with the GPU needs neither
# LLVM nor Rust. Exit code 1 if any result is wrong.
set -u
folder=${1:?usage: tests/gpu/run.sh FOLDER [check|bench]}
what=${2:-all}
run=$folder/pipeline-run
failed=0

# The tile and stage count of the packed kernels; lengths straddle them.
lengths=0,1,2,3,5,997,2047,2048,2049,14335,14337,65537,1000003,100000000
shapes=0x4,1x4,1x64,31x64,32x60,33x68,127x136,1000x1048,4096x4096

expectation() {
    case $1 in
        stream_add* | handwritten_ring*) echo 'C = A + B' ;;
        stream_scale_2d*) echo 'B = alpha * A' ;;
        *) echo '' ;;
    esac
}

for ptx in "$folder"/*.ptx; do
    name=$(basename "$ptx" .ptx)
    expect=$(expectation "$name")
    [ -n "$expect" ] || continue
    case $name in
        stream_scale_2d*) sizes=$shapes; arguments=(--arg alpha=2); big=16384x16384 ;;
        *) sizes=$lengths; arguments=(); big=268435456 ;;
    esac
    if [ "$what" != bench ]; then
        echo "== $name: results"
        "$run" "$ptx" --lengths "$sizes" "${arguments[@]}" --expect "$expect" || failed=1
    fi
    if [ "$what" != check ]; then
        echo "== $name: speed"
        "$run" "$ptx" --size "$big" "${arguments[@]}" --bench --bench-copy || failed=1
    fi
done
exit $failed

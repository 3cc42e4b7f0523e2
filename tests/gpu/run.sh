#!/usr/bin/env bash
# Runs compiled examples on a CUDA GPU: results for many lengths, then speed.
#
#   tests/gpu/run.sh FOLDER [check|bench]
#
# FOLDER holds `pipeline-run` and NAME.TARGET[.VARIANT].ptx with their manifests, as
# `./dev gpu-pack FOLDER` leaves them, so that the machine with the GPU needs neither
# LLVM nor Rust; matrix products among them need Python with torch and Triton. Exit code 1 if
# any result is wrong.
set -u
folder=${1:?usage: tests/gpu/run.sh FOLDER [check|bench]}
what=${2:-all}
run=$folder/pipeline-run
failed=0

# Lengths straddle tiles (1024 and 2048 elements) and rings (4 to 8 slots). With one
# CTA each ring goes round several times.
lengths=0,1,2,3,5,997,1023,1024,1025,2047,2049,16385,65537,1000003,100000000
ring_lengths=0,1,997,1023,1025,2049,16383,16384,16385,24577,65537
shapes=0x4,1x1,1x64,31x63,32x64,33x65,32x60,33x68,127x136,257x64,997x997,1000x1048,10000x10000
ring_shapes=1x1,31x63,33x65,127x136,257x64,192x320,1031x64

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
        stream_scale_2d*) sizes=$shapes; rings=$ring_shapes; arguments=(--arg alpha=2); big=16384x16384 ;;
        *) sizes=$lengths; rings=$ring_lengths; arguments=(); big=268435456 ;;
    esac
    if [ "$what" != bench ]; then
        echo "== $name: results"
        "$run" "$ptx" --lengths "$sizes" "${arguments[@]}" --expect "$expect" || failed=1
        "$run" "$ptx" --lengths "$rings" --grid 1,1,1 "${arguments[@]}" --expect "$expect" || failed=1
    fi
    if [ "$what" != check ]; then
        echo "== $name: speed"
        "$run" "$ptx" --size "$big" "${arguments[@]}" --bench --bench-copy || failed=1
    fi
done

# Matrix products are compared and measured beside other compilers' kernels, in one run.
if compgen -G "$folder/gemm*.ptx" >/dev/null; then
    echo "== matrix products"
    python3 "$(dirname "$0")/gemm.py" "$folder" --what "$what" --json "$folder/gemm-report.json" || failed=1
fi

# A wait that never ends must trap, and the launcher must say who waited for what.
if [ "$what" != bench ]; then
    for ptx in "$folder"/hang.*.ptx; do
        [ -e "$ptx" ] || continue
        echo "== $(basename "$ptx" .ptx): wait report"
        report=$("$run" "$ptx" --size 64 2>&1)
        echo "$report"
        grep -q 'role stuck, barrier ring\[2\], parity 0' <<<"$report" || failed=1
    done
fi
exit $failed

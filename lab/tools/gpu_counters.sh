#!/usr/bin/env bash
# usage: lab/tools/gpu_counters.sh [--build FOLDER]
# What the papers read from a profiler about 010! by PTTWAC (thesis, figures 4.11 and 4.13): how evenly branches go, and
# conflicts of shared memory, for each way in which the flags may lie. On an NVIDIA GPU, with Nsight Compute (ncu), from a
# built tree; through CUDA, since ncu does not see the kernels of OpenCL. One line a layout: branches that did not diverge
# in percent; atomics on shared memory, in millions of warps' instructions; conflicts of banks, in millions; microseconds.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build
[ "${1:-}" != --build ] || build=${2:?}
metrics=(smsp__sass_average_branch_targets_threads_uniform.pct smsp__sass_inst_executed_op_shared_atom.sum
    l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum gpu__time_duration.sum)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for tiles in 373x32x40 540x32x62 1112x32x197 1394x32x215; do
    RESTRIDE_WISDOM='' ncu --csv --kernel-name claims_010 --metrics "$(IFS=, && echo "${metrics[*]}")" \
        --log-file "$work/counters" "$build/tests/engine/run_claims" cuda --runs 0 "$tiles" >"$work/layouts"
    /usr/bin/env python3 - "$work/layouts" "$work/counters" "${metrics[@]}" <<'END'
import csv, sys
layouts = [line.strip() for line in open(sys.argv[1]) if line[0].isdigit()]
rows = list(csv.DictReader(line for line in open(sys.argv[2]) if line.startswith('"')))
launches = {}
for row in rows:
    launches.setdefault(int(row["ID"]), {})[row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
if len(launches) != len(layouts):
    sys.exit(f"{len(layouts)} layouts, but {len(launches)} launches were profiled")
for layout, (_, counted) in zip(layouts, sorted(launches.items())):
    uniform, atomics, conflicts, time = (counted[name] for name in sys.argv[3:])
    print(f"{layout}: {uniform:.1f} %, {atomics / 1e6:.2f}, {conflicts / 1e6:.2f}, {time / 1e3:.1f}")
END
done

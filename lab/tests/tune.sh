#!/usr/bin/env bash
# tune.sh LAB RESTRIDE EMULATED: restride-lab tune on small matrices, on the host, on a CPU through OpenCL, and on an emulated
# CUDA device (EMULATED is its folder, or empty).
lab=$1
restride=$2
emulated=$3
source "$(dirname "$0")/../../tests/cli/expect.sh"
cd "$work" || exit 1
export RESTRIDE_WISDOM=''

expect 2 "$lab" tune --shape 12
says err '"12" is no list of shapes'
expect 2 "$lab" tune --shape 0x12
expect 2 "$lab" tune --bytes 4M
expect 2 "$lab" tune --bytes 4M,2M
expect 2 "$lab" tune extra
expect 1 "$lab" tune --engine opencl --device "no such device" --shape 12x12

# What a report says must follow from the plans in it.
consistent='all(
    p["tried"] == len(p["plans"]) and p["plans"][0] == p["chosen"] and p["best"] in p["plans"]
    and p["best"]["seconds_in_turns"] == min(q["seconds_in_turns"] for q in p["plans"] if "seconds_in_turns" in q)
    and "seconds_in_turns" in min(p["plans"], key=lambda q: q["seconds"])
    and abs(p["ratio"] * p["chosen"]["seconds_in_turns"] / p["best"]["seconds_in_turns"] - 1) < 1e-6
    and abs(p["expected"] * p["chosen"]["seconds_in_turns"] / p["copy_seconds"] / p["chosen"]["expected_passes"] - 1) < 1e-6
    for p in r["results"])'
counted='r["summary"]["choice_within_10_percent"] == sum(p["ratio"] >= 0.9 for p in r["results"])
    and r["summary"]["expected_within_25_percent"] == sum(abs(p["expected"] - 1) <= 0.25 for p in r["results"])
    and r["summary"]["worst_ratio"] == min(p["ratio"] for p in r["results"])'

tune_on() { # ENGINE COUNT
    expect 0 "$lab" tune --engine "$1" --count "$2" --seed 3 --bytes 2K,9K --most 3 --repeat 2 --all --json
    cp out report.json
    holds report.json "$consistent"
    holds report.json "(${counted//$'\n'/ })"
    holds report.json 'r["summary"]["problems"] == r["summary"]["measured"] == len(r["results"]) == '"$2"
}
tune_on host 2
expect 0 "$lab" tune --threads 2 --shape 60x48,33x20x3 --type u16 --exhaustive --repeat 1 --state kept.json --plot choice.svg \
    --plot-expected expected.svg
says out '^ +60x48x2 +[0-9]+ .* [01]\.[0-9]{3} '
says out '^ +33x20x3 +[0-9]+ '
[[ $(tail -n 1 out) =~ ^[0-2]\ of\ 2\ choices\ within\ 10\ %\ of\ the\ best\ plan\ tried ]] || complain "the last line is not the count"
for picture in choice expected; do
    grep -q '</svg>' $picture.svg || complain "$picture.svg is no picture"
done
# What is in the state's file is not measured again; the seed's first problems are the same, however many are asked for.
cp out first
expect 0 "$lab" tune --threads 2 --shape 60x48,33x20x3 --type u16 --exhaustive --state kept.json
cmp -s first out || complain "the same command measured again"
expect 0 "$lab" tune --threads 2 --count 2 --seed 5 --bytes 2K,4K --most 2 --state seed.json
cp out first
expect 0 "$lab" tune --threads 2 --count 3 --seed 5 --bytes 2K,4K --most 2 --state seed.json
[ "$(sed -n 3,4p first)" = "$(sed -n 3,4p out)" ] || complain "other problems of the same seed"
# Counts and the status of --goal, of times that are made up.
/usr/bin/python3 - <<'END'
import json
state = json.load(open("kept.json"))
for row, ratio, expected in zip(state["results"].values(), (0.92, 0.89), (1.24, 1.26)):
    row["ratio"], row["expected"] = ratio, expected
json.dump(state, open("kept.json", "w"))
END
expect 0 "$lab" tune --threads 2 --shape 60x48x2 --goal --state kept.json
expect 1 "$lab" tune --threads 2 --shape 60x48x2,33x20x3 --goal --state kept.json
says out '^expected time within 25 % of the measured one: 1 of 2$'
says out '^1 of 2 choices within 10 % of the best plan tried; the worst 0.890$'
echo '{"results": 3}' >kept.json
expect 1 "$lab" tune --shape 60x48 --state kept.json
says err 'kept.json has no results of this program'
echo '{"device": "another", "results": {}}' >kept.json
expect 1 "$lab" tune --shape 60x48 --state kept.json
says err 'has results of another; this is '

if "$restride" bench transpose --engine opencl --shape 2x3 --repeat 1 >/dev/null 2>&1; then
    tune_on opencl 2
fi
if [ -n "$emulated" ]; then
    export LD_LIBRARY_PATH=$emulated EMULATED_FOLDER=$emulated XDG_CACHE_HOME=$emulated/cache
    tune_on cuda 1
fi
finish

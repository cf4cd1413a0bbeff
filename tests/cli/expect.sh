# Sourced by the test scripts: what they expect of a command, counted.
failures=0
export RESTRIDE_WISDOM= # what somebody has tuned must not change what is tested
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# expect STATUS COMMAND... runs the command; its output is left in $work/out and $work/err.
expect() {
    local wanted=$1 status=0
    shift
    "$@" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -eq "$wanted" ] || complain "status $status instead of $wanted: $*"
}

# says FILE PATTERN expects a line in $work/FILE.
says() {
    grep -qE -- "$2" "$work/$1" || complain "no \"$2\" in std$1"
}

# holds FILE EXPRESSION expects that a Python expression over the report `r`, the JSON of a file, is true.
holds() {
    /usr/bin/python3 -S -c 'import json, sys; r = json.load(open(sys.argv[1])); sys.exit(not eval(sys.argv[2]))' "$1" "$2" ||
        complain "not so in $1: $2"
}

complain() {
    failures=$((failures + 1))
    echo "FAILED: $*"
    sed 's/^/    out: /' "$work/out" | head -n 20
    sed 's/^/    err: /' "$work/err" | head -n 20
}

finish() {
    echo "$failures failures"
    [ "$failures" -eq 0 ]
}

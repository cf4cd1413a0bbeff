#!/usr/bin/env bash
# tune.sh RESTRIDE: restride tune measures, keeps, exports, imports and forgets, and refuses bad usage.
restride=$1
source "$(dirname "$0")/expect.sh"
export RESTRIDE_WISDOM=$work/cache/wisdom.json

expect 0 "$restride" tune --shape 720x600,601x607 --seconds 0.05 --threads 2
says out '^ +720 x 600 +f32 '
says out '^ +601 x 607 +f32 '
[ -s "$RESTRIDE_WISDOM" ] || complain "no wisdom was kept"
[ ! -s "$work/err" ] || complain "something is written to standard error, which is no terminal"
[ "$(grep -c '"problem"' "$RESTRIDE_WISDOM")" = 2 ] || complain "not two records"

expect 0 "$restride" tune --shape 400x400 --type f64 --batch 2 --seconds 0.05 --json --export "$work/exported.json"
for member in '"rows": 400' '"batch": 2' '"best": \{' '"planner": \{' '"gain": [0-9]' '"kept": true'; do
    says out "$member"
done
[ "$(grep -c '"problem"' "$work/exported.json")" = 3 ] || complain "not three records were exported"

expect 0 "$restride" tune --forget
[ ! -e "$RESTRIDE_WISDOM" ] || complain "wisdom is still there"
expect 0 "$restride" tune --import "$work/exported.json"
[ "$(grep -c '"problem"' "$RESTRIDE_WISDOM")" = 3 ] || complain "not three records were imported"

# A file that is not wisdom: said, and left alone; the measurement is shown all the same.
echo '{"mine": 1}' >"$RESTRIDE_WISDOM"
expect 0 "$restride" tune --shape 720x600 --seconds 0.02
says err 'is not a file of wisdom'
says out '^ +720 x 600 '
grep -q mine "$RESTRIDE_WISDOM" || complain "a foreign file was changed"
expect 1 "$restride" tune --forget
expect 1 "$restride" tune --import "$work/exported.json"
export RESTRIDE_WISDOM=
expect 1 "$restride" tune --import "$work/exported.json"
says err 'switched off'
export RESTRIDE_WISDOM=$work/cache/other.json
expect 1 "$restride" tune --import "$work/no-such-file"
says err 'no-such-file'
expect 1 "$restride" tune --export "$work/no/such/folder"

expect 0 "$restride" tune --help
expect 2 "$restride" tune
says err 'Which shape'
for wrong in '--shape 640' '--shape 640x480x3' '--shape 0x5' '--shape 5x5,' '--shape 9x9 --type f33' \
    '--shape 9x9 --seconds no' '--shape 9x9 --engine abacus' '--shape 9x9 --threads 0' '--shape 9x9 --batch 0'; do
    # shellcheck disable=SC2086
    expect 2 "$restride" tune $wrong
    says err 'cannot be'
done
expect 2 "$restride" tune --shape 9x9 extra
expect 1 "$restride" tune --shape 100x100
says err 'at least 1048576 bytes'
expect 1 "$restride" tune --shape 99999999999x99999999999
says err 'more bytes than a size can hold'
finish

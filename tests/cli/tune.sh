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

# Wisdom that others could have written is not used.
chmod g+w "$RESTRIDE_WISDOM"
expect 1 "$restride" tune --import "$work/exported.json"
says err "is not used: it belongs to another user, or others may write to it; make it yours alone"
chmod g-w "$RESTRIDE_WISDOM"
(umask 002 && expect 0 "$restride" tune --import "$work/exported.json")
[ "$(stat -c %A "$RESTRIDE_WISDOM" | cut -c6)" = - ] || complain "the group may write to what was kept"
if [ "$(id -u)" -eq 0 ]; then
    chown 12345 "$RESTRIDE_WISDOM"
    expect 1 "$restride" tune --import "$work/exported.json"
    says err "is not used: it belongs to another user"
    chown 0 "$RESTRIDE_WISDOM"
fi

# The axes of a tensor, and conversions, in the words of bench permute and convert.
export RESTRIDE_WISDOM=$work/cache/tensors.json
expect 0 "$restride" tune --dims 60x70x80 --axes 210,021 --seconds 0.05 --threads 2
says out '^ +60x70x80 to 210 +f32 '
says out '^ +60x70x80 to 021 +f32 '
grep -q '"exchanges"' "$RESTRIDE_WISDOM" || complain "no order of axes was kept"
expect 0 "$restride" tune --dims 60x70x80 --axes 021 --type f64 --seconds 0.05 --threads 2 --json
for member in '"dims": \[' '"axes": \[' '"type": "f64"' '"planner": \{' '"best": \{' '"kept": true'; do
    says out "$member"
done
expect 0 "$restride" tune --dims 'i:65536 f:7' --from 'i f' --to 'f i' --seconds 0.05 --threads 2 --json
for member in '"dims": "i:65536 f:7"' '"from": "i f"' '"to": "f i"' '"kept": true'; do
    says out "$member"
done
head -c 1835008 /dev/zero >"$work/array"
expect 0 "$restride" convert "$work/array" --dims 'i:65536 f:7' --from 'i f' --to 'f i' --dtype f32 --threads 2 --explain
says out 'Wisdom of measurements'
expect 0 "$restride" convert "$work/array" --dims 'i:65536 f:7' --from 'i f' --to 'f i' --dtype f32 --threads 1 --explain
if grep -q Wisdom "$work/out"; then complain "the wisdom of another number of threads was followed"; fi
chmod o+w "$RESTRIDE_WISDOM"
expect 0 "$restride" convert "$work/array" --dims 'i:65536 f:7' --from 'i f' --to 'f i' --dtype f32 --threads 2 --explain
if grep -q Wisdom "$work/out"; then complain "wisdom that others could have written was followed"; fi
chmod o-w "$RESTRIDE_WISDOM"
expect 1 "$restride" tune --dims 'i:99999 f{ float x; float y; }' --from 'i f' --to 'i/32 f i%32'
says err 'at least 1048576 bytes'
expect 1 "$restride" tune --dims 'i:999999 f{ float x; float y; }' --from 'i f' --to 'i/32 f i%32'
says err 'has one way'

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
for wrong in '--dims 9x9 --axes 00' '--dims 9x9 --axes 012' '--dims 9x0 --axes 10' '--dims 9x9 --axes 10,' '--dims 9xa --axes 10'; do
    # shellcheck disable=SC2086
    expect 2 "$restride" tune $wrong
    says err 'cannot be'
done
for wrong in '--dims 9x9' '--axes 10' '--from i' '--dims i:9 --to i' '--shape 9x9 --axes 10 --dims 9x9' \
    '--shape 9x9 --dims 9x9' '--dims 9x9 --axes 10 --batch 2' '--dims i:9 --from i --to j' \
    '--dims f{float_x;} --from f --to f --type f32'; do
    # shellcheck disable=SC2086
    expect 2 "$restride" tune $wrong
    says err '^restride tune: '
done
expect 2 "$restride" tune --shape 9x9 extra
expect 1 "$restride" tune --shape 100x100
says err 'at least 1048576 bytes'
expect 1 "$restride" tune --shape 99999999999x99999999999
says err 'more bytes than a size can hold'
finish

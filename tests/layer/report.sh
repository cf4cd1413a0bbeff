#!/usr/bin/env bash
# report.sh RESTRIDE SEQUENCE MADE_UP_GPU: the HTML report in a browser. Every section is there with the facts of the
# JSON report, nothing is loaded from outside, nothing is wider than the window, and neither the light nor the dark page
# nor the print is empty. Without a browser the test is skipped (77).
restride=$1
sequence=$2
gpu=$3
source "$(dirname "$0")/../cli/expect.sh"

browser=$(command -v chromium || command -v chromium-browser) || { echo "there is no chromium here"; exit 77; }
# In a container the browser can make no sandbox of its own, and the page is ours.
browse() {
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/browser" \
        --window-size=1000,2000 "$@" 2>/dev/null
}

export MADE_UP_TIMES="grow 400 80, aos_to_asta 520 520, asta_to_aos 520 520, plain 200 200"
OPENCL_LAYERS=$gpu expect 0 "$restride" run --report "$work/report.html" --report "$work/report.json" -- \
    "$sequence" wzzzzzzzzzzlfllllllllsllllllllr 32768
says err '^restride: 1 kernel argument in the ASTA layout, 1 possible, 1 kept; 18 launches'
[ "$(wc -l <"$work/err")" -eq 2 ] || complain "the summary has another number of lines"
grep -q '"conversion": "there"' "$work/report.json" || complain "the JSON has no time line"

# What the browser made of the page, with a measurement of its width.
cp "$work/report.html" "$work/measured.html"
cat >>"$work/measured.html" <<'END'
<script>document.body.setAttribute('data-fits', document.documentElement.scrollWidth <= window.innerWidth);</script>
END
browse --dump-dom "file://$work/measured.html" >"$work/out"
says out 'data-fits="true"'
says out 'id="time-line"'
says out 'id="before-and-after"'
says out 'id="break-even"'
says out '<code>grow</code></td><td class="number">400.0 µs</td><td class="number">80.0 µs</td><td class="number">5.00×'
says out 'paid back after 3.2 launches'
says out '<b>1 of 3</b>pointer arguments in the ASTA layout'
says out 'shrink</code></td>.*the kernel was not launched'
says out 'measured to be faster'
says out '<pre>__kernel void plain|it is not an array of structures'
grep -qE '(src|href)="?(http|//|file)' "$work/report.html" && complain "the page loads something from outside"

# What was tried and found to be slower is nowhere said to be in another layout.
MADE_UP_TIMES="grow 300 900, aos_to_asta 90 90, asta_to_aos 90 90" OPENCL_LAYERS=$gpu \
    expect 0 "$restride" run --report "$work/slow.html" --report "$work/slow.json" -- "$sequence" wzzzzzzzzzzlflflfllllllllllllllllr 32768
says err '^restride: 0 kernel arguments in another layout, 1 tried, 1 possible, 1 kept'
cp "$work/slow.html" "$work/out"
says out '<b>0 of 3</b>pointer arguments in another layout'
says out '<span class="chip tried">tried</span></td><td><code>i/32 f i%32</code>.*measured to be no faster'
says out '<span class="chip possible">possible</span>'
grep -q 'break-even\|paid back\|How the structures lie' "$work/slow.html" && complain "a trial that was given up is said to pay"

# Long names wrap in tables, and are shortened in figures.
OPENCL_LAYERS=$gpu expect 0 "$restride" run --policy asta --report "$work/names.html" -- "$sequence" wnlsfr 32768
sed "s|</body>|<script>document.body.setAttribute('data-fits', document.documentElement.scrollWidth <= window.innerWidth);</script>&|" \
    "$work/names.html" >"$work/measured.html"
browse --dump-dom "file://$work/measured.html" >"$work/out"
says out 'data-fits="true"'
says out '<title>n{200}</title>n{14}…n{13}</text>'
grep -q '<details open' "$work/names.html" || complain "the pictures of the structures are not printed"

# A blank page makes a far smaller picture.
echo '<!doctype html><title>blank</title>' >"$work/blank.html"
browse --screenshot="$work/blank.png" "file://$work/blank.html"
browse --screenshot="$work/light.png" "file://$work/report.html"
browse --force-dark-mode --blink-settings=preferredColorScheme=0 --screenshot="$work/dark.png" "file://$work/report.html"
browse --print-to-pdf="$work/print.pdf" "file://$work/report.html"
blank=$(stat -c %s "$work/blank.png")
for picture in light dark; do
    [ "$(stat -c %s "$work/$picture.png" || echo 0)" -gt $((blank * 4)) ] || complain "the $picture page is blank"
done
cmp -s "$work/light.png" "$work/dark.png" && complain "the dark page is the light one"
[ "$(stat -c %s "$work/print.pdf" || echo 0)" -gt 10000 ] || complain "the print is empty"
[ -z "${KEEP_PICTURES:-}" ] || cp "$work"/*.png "$work/print.pdf" "$KEEP_PICTURES"
finish

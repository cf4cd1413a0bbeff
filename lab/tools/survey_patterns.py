#!/usr/bin/env python3
"""survey_patterns.py ANALYZER FOLDER...: runs restride-analyze over every .cl, .cu and .c file below the folders.

Prints, for each folder, how many kernels were analyzed and how their references are classified; then every file that
ended badly (a crash, more than 60 s, nothing readable). --list shows the files with unknown references too, --kernels
leaves .c files out.
"""
import collections
import json
import pathlib
import subprocess
import sys
import time

ENDINGS = {".cl", ".cu", ".c"}
SECONDS = 60


def analyze(analyzer, path, root):
    folders = sorted({str(p.parent) for p in root.rglob("*.h")} | {str(p.parent) for p in root.rglob("*.cl")})
    near = [f for f in folders if f.startswith(str(path.parent.parent))][:30]
    begin = time.monotonic()
    try:
        done = subprocess.run([analyzer, str(path), "--json", "--"] + ["-I" + f for f in near],
                              capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "more than %d s" % SECONDS, None, SECONDS
    seconds = time.monotonic() - begin
    if done.returncode not in (0, 1):
        return "status %d" % done.returncode, None, seconds
    try:
        reply = json.loads(done.stdout)
    except ValueError:
        return "no reply: " + done.stderr.decode(errors="replace").strip()[-200:], None, seconds
    return None if reply["readable"] else "not readable", reply, seconds


def survey(analyzer, root, show, endings):
    classes, bad, slowest = collections.Counter(), [], (0, "")
    files = kernels = loops = 0
    for path in sorted(p for p in root.rglob("*") if p.suffix in endings and p.is_file()):
        files += 1
        problem, reply, seconds = analyze(analyzer, path, root)
        slowest = max(slowest, (seconds, str(path)))
        if problem:
            bad.append((problem, path))
        unknown = 0
        for unit in reply["units"] if reply else []:
            if unit["kernel"]:
                kernels += 1
            else:
                loops += 1
            for r in unit["references"]:
                name = "unknown" if r["classes"] == "unknown" else "random" if "random" in r["classes"] else \
                    "approximated" if r["approximated"] else "affine"
                classes["kernel" if unit["kernel"] else "loop", name] += 1
                unknown += name == "unknown"
        if show and unknown:
            print(f"  {unknown} unknown: {path}")
    print(f"{root.name}: {files} files, {kernels} kernels, {loops} functions with loops; slowest {slowest[0]:.1f} s")
    for kind in ("kernel", "loop"):
        total = sum(n for (k, _), n in classes.items() if k == kind)
        parts = ", ".join(f"{classes[kind, c]} {c}" for c in ("affine", "approximated", "random", "unknown"))
        if total:
            print(f"  {kind}: {total} references: {parts}; known {100 * (1 - classes[kind, 'unknown'] / total):.1f} %")
    for problem, path in bad:
        print(f"  {problem}: {path}")
    return kernels, classes, len(bad)


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    endings = ENDINGS - {".c"} if "--kernels" in sys.argv else ENDINGS
    if len(arguments) < 2:
        sys.exit(__doc__)
    kernels, classes, bad = 0, collections.Counter(), 0
    for folder in arguments[1:]:
        k, c, b = survey(arguments[0], pathlib.Path(folder), "--list" in sys.argv, endings)
        kernels, classes, bad = kernels + k, classes + c, bad + b
    total = sum(n for (k, _), n in classes.items() if k == "kernel")
    known = total - classes["kernel", "unknown"]
    print(f"together: {kernels} kernels, {total} references, {100 * known / max(total, 1):.1f} % known, {bad} bad ends")


if __name__ == "__main__":
    main()

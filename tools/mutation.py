#!/usr/bin/env python3
"""Mutation testing: flips operators in the source, one at a time, and says which flips no test notices.

    tools/mutation.py --sample 1000 --rooms layout transpose engine --tests 'layout|plan|choose'

All flips of the sample are compiled into one copy of the tree, each behind a condition on its number, so the tree is built
once, and for another sample only the files of both are built again. A first run of every test says which flips it reaches;
then each flip is switched on by RS_MUTANT and only the tests that reach it run, the quickest first, until one fails or takes
ten times as long as it should. A flip that survives is a line without a test, or one that changes nothing.
Needs python3-clang-19; the copy is in --folder, build-mutation by default.
"""
import argparse
import collections
import concurrent.futures
import json
import mmap
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from clang.cindex import CursorKind, Index, StorageClass, TypeKind

ROOT = Path(__file__).resolve().parent.parent
FLIPS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "*": "+", "/": "*", "%": "/",
    "&&": "||", "||": "&&", "&": "|", "|": "&", "<<": ">>", ">>": "<<", "+=": "-=", "-=": "+=",
}
NUMBERS_ONLY = {"+", "-", "*", "/", "%", "&", "|", "<<", ">>", "+=", "-="}
HEADER = """
#ifndef RS_MUTATION
#define RS_MUTATION
/* No headers: their names would meet those of the sources. */
extern char *rs_mutant_getenv(const char *) __asm__("getenv");
extern int rs_mutant_atoi(const char *) __asm__("atoi");
extern int rs_mutant_open(const char *, int, ...) __asm__("open");
extern int rs_mutant_ftruncate(int, long) __asm__("ftruncate");
extern void *rs_mutant_mmap(void *, unsigned long, int, int, int, long) __asm__("mmap");
__attribute__((weak, visibility("hidden"))) int rs_mutant_on = -1;
__attribute__((weak, visibility("hidden"))) unsigned char rs_mutant_unseen[%(count)d];
__attribute__((weak, visibility("hidden"))) unsigned char *rs_mutant_reached = rs_mutant_unseen;
__attribute__((constructor(101), unused)) static void rs_mutant_begin(void)
{
    const char *number = rs_mutant_getenv("RS_MUTANT"), *path = rs_mutant_getenv("RS_MUTANT_REACHED");
    if (number != 0)
        rs_mutant_on = rs_mutant_atoi(number);
    if (path == 0 || rs_mutant_reached != rs_mutant_unseen)
        return;
    int file = rs_mutant_open(path, %(flags)d, 0600);
    if (file >= 0 && rs_mutant_ftruncate(file, %(count)d) == 0)
        rs_mutant_reached = rs_mutant_mmap(0, %(count)d, %(access)d, %(shared)d, file, 0);
}
static inline __attribute__((unused)) int rs_mutant(int n)
{
    rs_mutant_reached[n] = 1;
    return n == rs_mutant_on;
}
#endif
"""


class Flip:
    """One operator: where the expression, its operands and the operator lie in the file, as byte offsets."""

    def __init__(self, path, line, column, start, left_end, right_start, end, operator):
        self.path, self.line, self.column, self.operator = path, line, column, operator
        self.start, self.left_end, self.right_start, self.end = start, left_end, right_start, end
        self.number = -1

    def __str__(self):
        return f"{self.path.relative_to(ROOT)}:{self.line}:{self.column}: {self.operator} -> {FLIPS[self.operator]}"


def is_number(cursor):
    kind = cursor.type.get_canonical().kind
    return kind not in (TypeKind.POINTER, TypeKind.INCOMPLETEARRAY, TypeKind.CONSTANTARRAY, TypeKind.RECORD, TypeKind.INVALID)


def flips_of(path, arguments):
    """Every operator of the functions of a file that could be flipped."""
    unit = Index.create().parse(str(path), args=arguments)
    text = path.read_bytes()
    found = []

    def inside(cursor):
        start, end = cursor.extent.start, cursor.extent.end
        return start.file is not None and start.file.name == str(path) and start.offset < end.offset

    def is_smaller_or_larger(cursor):
        """a < b ? a : b, which is the same with <=."""
        parts = [text[c.extent.start.offset : c.extent.end.offset].decode() for c in cursor.get_children()]
        match = re.fullmatch(r"(.*?)\s+[<>]=?\s+(.*)", parts[0], re.DOTALL)
        return match is not None and {match[1], match[2]} == {parts[1], parts[2]}

    def walk(cursor):
        for child in cursor.get_children():
            if child.kind == CursorKind.CONDITIONAL_OPERATOR and is_smaller_or_larger(child):
                for operand in list(child.get_children())[0].get_children():
                    take(operand)
                    walk(operand)
                continue
            if child.kind in (CursorKind.ENUM_DECL, CursorKind.CXX_UNARY_EXPR, CursorKind.STATIC_ASSERT):
                continue  # constants
            if child.kind == CursorKind.CASE_STMT:
                for part in list(child.get_children())[1:]:
                    take(part)
                    walk(part)
                continue
            if child.kind == CursorKind.VAR_DECL and (
                child.storage_class == StorageClass.STATIC
                or child.type.get_canonical().kind in (TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.VARIABLEARRAY)
            ):
                continue
            take(child)
            walk(child)

    def take(cursor):
        if cursor.kind not in (CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR) or not inside(cursor):
            return
        operands = list(cursor.get_children())
        if len(operands) != 2 or not all(inside(o) for o in operands):
            return
        left_end, right_start = operands[0].extent.end.offset, operands[1].extent.start.offset
        operator = text[left_end:right_start].decode(errors="replace").strip()
        if operator not in FLIPS or (operator in NUMBERS_ONLY and not all(is_number(o) for o in operands)):
            return
        spelled = text[cursor.extent.start.offset : cursor.extent.end.offset]
        if operands[0].extent.start.offset != cursor.extent.start.offset or spelled.count(b"(") != spelled.count(b")"):
            return  # a macro in between
        found.append(Flip(path, cursor.extent.start.line, operands[1].extent.start.column, cursor.extent.start.offset, left_end,
                          right_start, cursor.extent.end.offset, operator))

    for function in unit.cursor.get_children():
        if function.kind == CursorKind.FUNCTION_DECL and function.is_definition() and inside(function):
            for body in function.get_children():
                if body.kind == CursorKind.COMPOUND_STMT:
                    walk(body)
    return found


def mutated(text, flips):
    """The text with every flip behind its number. Only one is ever on, so the flipped form has its operands as written."""
    by_start = sorted(flips, key=lambda f: (f.start, -f.end))

    def render(start, end, inner):
        out, at = [], start
        while inner:
            flip = inner[0]
            nested = [f for f in inner[1:] if f.end <= flip.end]
            inner = [f for f in inner[1:] if f.end > flip.end]
            left = text[flip.start : flip.left_end].decode()
            right = text[flip.right_start : flip.end].decode()
            kept = (render(flip.start, flip.left_end, [f for f in nested if f.end <= flip.left_end]) + " " + flip.operator + " "
                    + render(flip.right_start, flip.end, [f for f in nested if f.start >= flip.right_start]))
            out += [text[at : flip.start].decode(),
                    f"(rs_mutant({flip.number}) ? ({left} {FLIPS[flip.operator]} {right}) : ({kept}))"]
            at = flip.end
        return "".join(out) + text[at:end].decode()

    return render(0, len(text), by_start)


def compile_errors(command, folder):
    run = subprocess.run(command + ["-fsyntax-only", "-w"], cwd=folder, capture_output=True, text=True)
    return run.returncode, {int(n) for n in re.findall(r"\.c:(\d+):\d+: error", run.stderr)}


def copy_tree(folder):
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, names):
        target = folder / "tree" / name
        if (ROOT / name).is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or target.read_bytes() != (ROOT / name).read_bytes():
                shutil.copy(ROOT / name, target)


def plant(folder, sample, commands):
    """Writes the sample into the copy; flips that do not compile (constants, mostly) leave it. Returns what stays."""
    by_file = collections.defaultdict(list)
    for flip in sample:
        by_file[flip.path].append(flip)
    kept = []
    for path, flips in by_file.items():
        target = folder / "tree" / path.relative_to(ROOT)
        command, where = commands[path]
        command = [c.replace(str(path), str(target)) for c in command]
        while flips:
            target.write_text(f'#include "{folder}/mutation.h"\n#line 1 "{target}"\n' + mutated(path.read_bytes(), flips))
            status, lines = compile_errors(command, where)
            if status == 0:
                break
            lines = lines or {f.line for f in flips}
            flips = [f for f in flips if not any(f.line <= n <= f.line + 3 for n in lines)]
        if not flips:
            shutil.copy(path, target)
        kept += flips
    return kept


def tests_of(build, pattern):
    shown = subprocess.run(["ctest", "--show-only=json-v1", "-R", pattern, "-LE", "long"], cwd=build, capture_output=True, check=True)
    tests = {}
    for test in json.loads(shown.stdout)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        environment = dict(e.split("=", 1) for e in properties.get("ENVIRONMENT", []))
        tests[test["name"]] = (test["command"], environment, properties.get("WORKING_DIRECTORY", str(build)))
    return tests


def run_test(test, extra, limit):
    command, environment, where = test
    process = subprocess.Popen(command, env={**os.environ, **environment, **extra}, cwd=where, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return "time"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sample", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", nargs="+", default=["layout", "transpose", "engine/host", "engine/device", "engine"])
    parser.add_argument("--files", default="", help="a pattern: of the files of these rooms, those that have it in their names")
    parser.add_argument("--tests", required=True, help="a pattern of names of tests, as for ctest -R")
    parser.add_argument("--folder", type=Path, default=ROOT / "build-mutation")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--configure", default="", help="options for cmake, in one word")
    parser.add_argument("--only", type=Path, help="the flips that an earlier output has, instead of a sample")
    parser.add_argument("--json", type=Path, help="also writes every flip and what became of it")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    copy_tree(folder)
    build = folder / "build"
    configure = ["cmake", "-S", folder / "tree", "-B", build, "-DCMAKE_C_FLAGS=-w", *options.configure.split()]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)

    commands, every = {}, []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if room_of(Path(entry["file"]), folder / "tree") not in options.rooms or not re.search(options.files, entry["file"]):
            continue
        path = ROOT / Path(entry["file"]).relative_to(folder / "tree")
        if path in commands:
            continue
        words = entry["command"].replace(str(folder / "tree"), str(ROOT)).split()
        words = [w for i, w in enumerate(words) if w not in ("-c", "-o") and words[i - 1] != "-o"]
        commands[path] = (words, entry["directory"])
        every += flips_of(path, [w for w in words[1:] if w.startswith(("-I", "-D", "-std"))] + ["-resource-dir", resources()])
    random.Random(options.seed).shuffle(every)
    sample = every[: options.sample]
    if options.only:
        wanted = set(re.findall(r"^src/\S+: \S+ -> \S+", options.only.read_text(), re.MULTILINE))
        sample = [flip for flip in every if str(flip) in wanted]
    for number, flip in enumerate(sample):
        flip.number = number
    (folder / "mutation.h").write_text(HEADER % {
        "count": len(sample), "flags": os.O_RDWR | os.O_CREAT, "access": mmap.PROT_READ | mmap.PROT_WRITE, "shared": mmap.MAP_SHARED})
    kept = plant(folder, sample, commands)
    print(f"{len(every)} operators in {len(commands)} files; {len(kept)} of a sample of {len(sample)} compile", flush=True)
    subprocess.run(["cmake", "--build", build, "--parallel", str(options.jobs), "--", "--quiet"], check=True, stdout=subprocess.DEVNULL)

    tests = tests_of(build, options.tests)
    reached, seconds = {}, {}

    def survey(name):
        path = folder / f"reached-{name}"
        path.unlink(missing_ok=True)
        start = time.monotonic()
        status = run_test(tests[name], {"RS_MUTANT_REACHED": str(path)}, 600)
        seconds[name] = time.monotonic() - start
        if status not in (0, 77):
            sys.exit(f"{name} fails without any flip ({status})")
        reached[name] = path.read_bytes() if path.exists() else b""

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(survey, tests))
    quickest = sorted(tests, key=seconds.get)

    def judge(flip):
        met = [n for n in quickest if len(reached[n]) > flip.number and reached[n][flip.number]]
        for name in met:
            if run_test(tests[name], {"RS_MUTANT": str(flip.number), "CMOCKA_TEST_ABORT": "1"}, 10 * seconds[name] + 5) not in (0, 77):
                return flip, name
        return flip, "survives" if met else "is not reached"

    fates = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for flip, fate in pool.map(judge, kept):
            fates.append((flip, fate))
            if fate in ("survives", "is not reached"):
                print(f"{flip} {fate}", flush=True)
    rooms = collections.defaultdict(collections.Counter)
    for flip, fate in fates:
        room = room_of(flip.path, ROOT)
        rooms[room][fate if fate in ("survives", "is not reached") else "noticed"] += 1
    for room, counts in sorted(rooms.items()):
        print(f"{room:20}" + "  ".join(f"{counts[k]} {k}" for k in ("noticed", "survives", "is not reached")))
    alive = sum(c["survives"] + c["is not reached"] for c in rooms.values())
    print(f"{alive} of {len(fates)} flips live ({100 * alive / max(1, len(fates)):.1f} %)")
    if options.json:
        options.json.write_text(json.dumps([{"where": str(f), "fate": fate} for f, fate in fates], indent=1))


def room_of(path, tree):
    return str(path.parent.relative_to(tree / "src")) if path.is_relative_to(tree / "src") else None


def resources():
    return subprocess.run(["clang", "-print-resource-dir"], capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""refusals.py RESTRIDE SOURCE: each example of docs/refusals.md gets the reason that stands beside it, and each reason in
the rewriter's sources stands on the page."""
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile

restride, root = sys.argv[1:]
if subprocess.run([restride, "rewrite", "--help"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
    print("skipped: the rewriter is not built")
    sys.exit(77)
page = open(os.path.join(root, "docs/refusals.md")).read()
structure = re.search(r"^    (typedef .*)$", page, re.MULTILINE)[1]
KERNEL = {"cl": "kernel void use(global P *a, global P *b, global float *o, int n)\n{{\n    int i = get_global_id(0);\n    {}\n}}",
          "cu": "__global__ void use(P *a, P *b, float *o, int n)\n{{\n    int i = threadIdx.x;\n    {}\n}}"}


def rows():
    """Reason, example and language of each row, as the page's first lines explain them."""
    for section in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        language = "cu" if section.startswith("CUDA") else "cl"
        for reason, example in re.findall(r"^\| ([^|]+) \| `((?:[^`|]|\\\|)+)` \| ", section, re.MULTILINE):
            yield reason.strip(), example.replace("\\|", "|"), language


def source(example, language):
    if example.startswith("-"):
        example = "kernel void use(global P *a) { a->x = 1; }"
    lines = example.split(" ⏎ ")
    if not re.search(r"\bkernel |__global__|^#", example):
        lines[-1] = KERNEL[language].format(lines[-1])
    if not re.search(r"\} P;|\bstruct (__attribute__\(\(packed\)\) )?P\b", example):
        lines.insert(0, structure)
    return "\n".join(lines) + "\n"


def told(row):
    reason, example, language = row
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "k." + language)
        open(file, "w").write(source(example, language))
        command = [restride, "rewrite", file, "-o", os.devnull]
        if language == "cu":
            command += ["--", "--cuda-path="]
        elif example.startswith("-"):
            command += ["--", example]
        said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    said = said.replace(file, "")
    of_argument = re.search(r"^use\.a: kept: (?::\d+: )?(.*)$", said, re.MULTILINE)
    of_source = re.search(r"^(?:restride rewrite|use: kept): (?::\d+|the build options)?: (.*)$", said, re.MULTILINE)
    match = of_argument or of_source
    return re.sub(r" \(:\d+\)|, such as the one in :\d+", "", match[1]) if match else said


failures = []
examples = list(rows())
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for (reason, example, _), said in zip(examples, pool.map(told, examples)):
        if said != reason:
            failures.append(f"{example}\n  the page: {reason}\n  restride: {said}")

plain = " ".join(page.replace("\\|", "|").split())
# How the sentences of a room begin: other texts in it are not reasons.
OPENCL = (r"(the (pointer|kernel|source|elements|structure|padding|packing|address|result|build options define)"
          r"|it(s)? |a (union|structure|member|part|function of|variable|macro|build|header|template|nested)|an (array|operator|object|expression)"
          r"|this |what |braces|something|compilers|work-items|no element|a function besides)")
CUDA = r"(the|an?|its?|several|conditional|memory|instances|functions|no|has|is|nests) "
for files, begin in (("rewrite/*.c", OPENCL), ("companion/*.c", CUDA), ("facts/element_*.c", CUDA)):
    found = 0
    for path in sorted(glob.glob(os.path.join(root, "src", files))):
        text = re.sub(r'"\s*\n\s*"', "", open(path).read())
        for call, sentence in re.findall(r'(\w*\(|return|[=?:,(])\s*"((?:[a-z#]|\\")(?:[^"\\\n]|\\")*)"', text):
            if not re.match(begin, sentence) or call.startswith("rs_fail_memory"):
                continue
            found += 1
            first = re.split(r"%|, such as", sentence)[0].replace('\\"', '"').strip(" :")
            if first not in plain:
                failures.append(f"{os.path.relpath(path, root)}: not on the page: {sentence}")
    if found < 20:
        failures.append(f"only {found} sentences were found in src/{files}")
if len(examples) < 50:
    failures.append(f"only {len(examples)} examples were found")
print("\n".join(failures))
print(f"{len(examples)} examples, {len(failures)} failures")
sys.exit(len(failures) > 0)

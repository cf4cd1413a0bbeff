#!/usr/bin/python3
"""documents.py RESTRIDE SOURCE [LAB]: what the documents name is there: options of the verbs, files, headings behind links."""
import functools
import glob
import os
import re
import subprocess
import sys

programs = {os.path.basename(path): path for path in sys.argv[1:2] + sys.argv[3:]}
source = sys.argv[2]
failures, checked = [], 0


@functools.lru_cache(None)
def usage(program, *words):
    return subprocess.run([programs[program], *words, "--help"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def usages(program, verb, words):
    """All help that may speak of the options of a command."""
    text = usage(program, verb)
    if verb == "bench" and words and words[0].isalpha():
        text = usage(program, verb, words[0])
    if (program, verb) == ("restride", "sim"):
        text += usage(program, verb, "kernel.cl")
    if verb == "check":
        text += usage("restride", "analyze")
    return text


def check(right, document, what):
    global checked
    checked += 1
    if not right:
        failures.append(f"{os.path.relpath(document, source)}: {what}")


def check_options(document, text):
    for program, verb, rest in re.findall(r"(restride(?:-lab)?) ([a-z]+)((?:\\\n|[^`\n])*)", text):
        verbs = re.findall(r"^  ([a-z]+) ", usage(program), re.MULTILINE) if program in programs else []
        rest = re.split(r"\s-- |\s#|  +", rest)[0]  # another program's options, and remarks
        help_text = usages(program, verb, rest.split()) if verb in verbs else ""
        if not help_text:
            continue  # a sentence, or a part that is not built
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", rest):
            check(option == "--help" or re.search(re.escape(option) + r"(?![a-z-])", help_text), document,
                  f"{program} {verb} has no {option}")


def anchors(text):
    """Names of the headings, as GitHub makes them."""
    for heading in re.findall(r"^#+ +(.*)", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def check_links(document, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        path = os.path.join(os.path.dirname(document), path) if path else document
        there = os.path.exists(path)
        check(there, document, f"there is no {target}")
        if there and anchor:
            check(anchor in anchors(open(path).read()), document, f"there is no heading {target}")


def check_files(document, text):
    for path in re.findall(r"`((?:src|tests|tools|docs|lab|examples|fuzz|include|cmake)/[\w./-]+\.\w+)`", text):
        check("NAME" in path or os.path.exists(os.path.join(source, path)), document, f"there is no {path}")


documents = [path for pattern in ("*.md", "docs/*.md", "examples/*/*.md", "lab/*.md", "lab/*/*.md") for path in glob.glob(os.path.join(source, pattern))]
for document in documents:
    text = open(document).read()
    check_options(document, text)
    check_links(document, text)
    check_files(document, text)
manual = os.path.join(source, "docs/restride.1")
check_options(manual, open(manual).read().replace("\\-", "-"))
check(len(documents) >= 10 and checked > 200, source, f"only {checked} names were found in {len(documents)} documents")
print("\n".join(failures))
print(f"{checked} names checked, {len(failures)} failures")
sys.exit(len(failures) > 0)

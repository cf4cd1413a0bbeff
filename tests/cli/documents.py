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
    for program, verb, rest in re.findall(r"(restride(?:-lab)?) ([a-z][a-z-]*)((?:\\\n|[^`\n])*)", text):
        verbs = re.findall(r"^  ([a-z][a-z-]*) ", usage(program), re.MULTILINE) if program in programs else []
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
    for path in re.findall(r"`((?:src|tests|tools|docs|lab|examples|fuzz|include|cmake|python)/[\w./-]+\.\w+)`", text):
        check("NAME" in path or os.path.exists(os.path.join(source, path)), document, f"there is no {path}")


def check_names(document, text, inside):
    """Files that are named without their folders are in the tree."""
    for name in re.findall(inside, text):
        check(os.path.basename(name) in names or name.startswith(("CL/", "verb_NAME", "-include")), document, f"there is no {name}")


def check_scripts(document, text):
    """Scripts that a command names are there."""
    for path in re.findall(r"(?<![\w/])((?:tools|lab|tests)/[\w./-]+\.(?:sh|py))", text):
        check(os.path.exists(os.path.join(source, path)), document, f"there is no {path}")


def check_programs(document, text):
    """Whole programs in C compile, without a warning."""
    for program in re.findall(r"^```c\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if "int main(" not in program:
            continue
        include = os.path.join(source, "include")
        done = subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{include}", "-xc", "-"],
                              input=program, stderr=subprocess.PIPE, text=True)
        check(done.returncode == 0, document, f"a program does not compile: {done.stderr}")


def check_plots(document):
    done = subprocess.run([os.path.join(source, "tools/plot_tables.py"), "--check", document], stdout=subprocess.PIPE, text=True)
    check(done.returncode == 0, document, done.stdout)


def check_sources():
    """Pages and headings that code, scripts and messages name."""
    for folder in ("src", "include", "tests", "tools", "lab", "fuzz", "python"):
        for path in glob.glob(os.path.join(source, folder, "**/*"), recursive=True):
            if not os.path.isfile(path) or path.endswith((".md", ".svg", ".png", ".npy")) or path == os.path.abspath(__file__):
                continue
            text = open(path, errors="replace").read()
            if path.endswith((".c", ".h", ".cl", ".cu", ".cpp")):
                check_names(path, " ".join(re.findall(r"/\*.*?\*/", text, re.DOTALL)), r'(?<![\w/.\-"<*])((?:[\w-]+/)*[\w-]+\.[ch])\b(?!\w)')
            for page, anchor in re.findall(r"(?<![\w/.])((?:lab/)?docs/[a-z_]+\.md)(?:#([\w-]+))?", text):
                page = os.path.join(source, page)
                check(os.path.exists(page), path, f"there is no {page}")
                if os.path.exists(page) and anchor:
                    check(anchor in anchors(open(page).read()), path, f"there is no heading {anchor} in {page}")


# Pages whose sentences are not counted: history and method.
MOST_SENTENCE, UNCOUNTED = 25, ("lab/docs/",)


def sentences(text):
    """Sentences of running text: no tables, headings, blocks of code or pictures; code in a line and links are short."""
    text = re.sub(r"^ {4,}.*$|^(?:\||#|<!--|!\[).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\s*(?:[-*]|\d+\.) ", "\n\n", text, flags=re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n", text):
        paragraph = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "CODE", " ".join(paragraph.split())))
        yield from re.split(r"(?<=[.!?:])\**\s+(?=[A-Z0-9\"*(])", paragraph)


def check_sentences(document, text):
    if not os.path.relpath(document, source).startswith(UNCOUNTED):
        for sentence in sentences(re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)):
            check(len(sentence.split()) <= MOST_SENTENCE, document, f"{len(sentence.split())} words: {sentence}")


# What a reader reads to the end: lines of a page and of some, words of the README and of all pages outside lab/.
LINES = {"CHANGELOG.md": 60, "docs/architecture.md": 200}
MOST_LINES, MOST_WORDS, MOST_README = 300, 25000, 900


def check_sizes(pages):
    words = {}
    for page in pages:
        name = os.path.relpath(page, source)
        if name.startswith("lab/"):
            continue
        text = open(page).read()
        words[name] = len(text.split())
        lines, most = text.count("\n"), LINES.get(name, MOST_LINES)
        check(lines <= most, page, f"{lines} lines, {most} at most")
    check(words["README.md"] <= MOST_README, source, f"the README has {words['README.md']} words, {MOST_README} at most")
    check(sum(words.values()) <= MOST_WORDS, source, f"{sum(words.values())} words in all pages, {MOST_WORDS} at most")
    return sum(words.values())


folders = ("src", "include", "tests", "tools", "lab", "fuzz", "python", "examples")
names = {name for folder in folders for _, _, found in os.walk(os.path.join(source, folder)) for name in found}
documents = [path for pattern in ("*.md", "docs/*.md", "examples/*/*.md", "lab/*.md", "lab/*/*.md") for path in glob.glob(os.path.join(source, pattern))]
for document in documents:
    text = open(document).read()
    check_options(document, text)
    check_links(document, text)
    check_files(document, text)
    check_names(document, text, r"`([\w.-]+\.(?:[ch]|cl|cu|cpp|py|sh))`")
    check_scripts(document, text)
    check_programs(document, text)
    check_sentences(document, text)
    if "<!-- plot:" in text:
        check_plots(document)
check_sources()
words = check_sizes(documents)
manual = os.path.join(source, "docs/restride.1")
check_options(manual, open(manual).read().replace("\\-", "-"))
check(len(documents) >= 10 and checked > 200, source, f"only {checked} names were found in {len(documents)} documents")
print("\n".join(failures))
print(f"{checked} names checked, {words} words, {len(failures)} failures")
sys.exit(len(failures) > 0)

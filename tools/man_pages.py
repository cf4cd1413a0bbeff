#!/usr/bin/python3
"""man_pages.py headers INCLUDE FOLDER VERSION DATE     a page for each public function (section 3) and each header (section 7)
man_pages.py verbs RESTRIDE FOLDER VERSION DATE       a page for each verb (section 1), of what its --help says
man_pages.py program PROGRAM FOLDER VERSION DATE      one page (section 1) for a program and all of its verbs

The first reads the comments of include/restride/*.h as text, so a cross build has these pages too; the others run the
program. A comment belongs to the declarations that follow it without an empty line."""
import glob
import os
import re
import subprocess
import sys
import textwrap


def escape(text):
    """Text as roff takes it: no line is a command and no backslash bare."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("×", "x").replace("⌈", "").replace("⌉", "")
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.MULTILINE)


def fonts(text):
    """Words between backticks in italics, names of functions in bold with their section."""
    text = escape(text)
    text = re.sub(r"`([^`]+)`", r"\\fI\1\\fR", text)
    return re.sub(r"\b(restride_\w+)\(\)", r"\\fB\1\\fR(3)", text)


def lines_of(comment):
    """The text of a comment, without stars and the space behind them."""
    text = re.sub(r"^/\*+|\*+/$", "", comment.strip())
    return [re.sub(r"^\s*\* ?", "", line).rstrip() for line in text.split("\n")]


def paragraphs(lines):
    """Kinds and texts: what is indented by four or more stays as it is."""
    kind, block = None, []
    for line in lines + [""]:
        now = None if not line.strip() else "code" if line.startswith("    ") else "text"
        if now != kind and block:
            yield kind, block
            block = []
        kind = now
        if now:
            block.append(line)


def filled(text):
    """Lines of at most 78 letters, none of which is a command."""
    lines = textwrap.wrap(text, 78, break_long_words=False, break_on_hyphens=False)
    return [re.sub(r"^(?=[.'])", r"\\&", line) for line in lines]


def body(lines):
    out = []
    for kind, block in paragraphs([line.rstrip() for line in lines]):
        if kind == "code":
            indent = min(len(line) - len(line.lstrip()) for line in block)
            out += [".PP", ".nf", ".RS 4"] + [escape(line[indent:]) for line in block] + [".RE", ".fi"]
        else:
            out += [".PP"] + filled(fonts(" ".join(line.strip() for line in block)))
    return out[1:] if out[:1] == [".PP"] else out


def like(text, before):
    """"The same" names the function before, since a page stands alone."""
    return re.sub(r"^The same\b", before + "()", text) if before else text


def first_sentence(lines, before):
    text = " ".join(line.strip() for line in next(paragraphs(lines))[1])
    text = re.sub(r"\s*\([^()]*\)", lambda match: match[0] if match[0] == "()" else "", text)
    text = re.split(r"(?<=[\w)\]\"`])(?:\.(?: |$)|; )", text)[0].rstrip(".").replace("`", "")
    if len(text) > 60:
        text = text.split(": ")[0] if len(text.split(": ")[0]) > 25 else text
    text = like(text, before)
    if re.match(r"A |[A-Z][a-z]", text):
        text = text[0].lower() + text[1:]
    return text


def synopsis(declaration):
    """A declaration with the names of its arguments in italics, in lines of at most 78 letters."""
    text = re.sub(r"\s+", " ", declaration.replace("RESTRIDE_API ", "")).replace("( ", "(").replace(" *", "\0*")
    text = textwrap.fill(text, 78, subsequent_indent="    ", break_on_hyphens=False).replace("\0*", " *")
    text = re.sub(r"\b(\w+)(\[\])?(?=[,)])", lambda m: m[0] if m[1] in ("void",) else f"\\fI{m[1]}\\fB{m[2] or ''}", text)
    return "\n".join("\\fB" + line + "\\fR" for line in text.split("\n"))


def title(name, section, version, date, manual):
    return [f'.TH {name.upper()} {section} "{date}" "restride {version}" "{manual}"']


class Header:
    """What a header declares: its own comment, its types, and groups of functions under one comment."""

    def __init__(self, path):
        text = open(path).read()
        self.name = os.path.basename(path)
        self.intro = lines_of(re.match(r"/\*.*?\*/", text, re.DOTALL)[0])
        public = text[text.index("#define"):]
        public = re.sub(r"^#.*(?:\\\n.*)*$", "", public, flags=re.MULTILINE)
        public = re.sub(r'extern "C" \{', "", public)
        pattern = r"((?:^/\*(?:(?!\*/).)*\*/\s*?\n)?)((?:RESTRIDE_API [^;]*;[^\S\n]*\n?)+|typedef (?:enum|struct) \{.*?\n\} \w+;|typedef [^;{]*;)"
        self.functions, self.types = [], []
        for comment, declared in re.findall(pattern, public, re.DOTALL | re.MULTILINE):
            if declared.startswith("typedef"):
                self.types.append((lines_of(comment) if comment else [], declared))
            else:
                found = re.findall(r"RESTRIDE_API [^;]*;", declared)
                names = [re.search(r"(restride_\w+)\(", one)[1] for one in found]
                self.functions.append((names, found, lines_of(comment) if comment else None))

    @property
    def page(self):
        return "restride-" + self.name[:-2].replace("_", "-") if self.name != "restride.h" else "restride"


def function_page(header, name, names, declared, comment, before, version, date):
    out = title(name, 3, version, date, "Restride Library")
    out += [".SH NAME", ", ".join(names) + " \\- " + escape(first_sentence(comment, before))]
    out += [".SH LIBRARY", "Restride (librestride, \\-lrestride)", ".SH SYNOPSIS", ".nf", f"\\fB#include <restride/{header.name}>\\fR", ".PP"]
    out += [synopsis(one) for one in declared] + [".fi", ".SH DESCRIPTION"]
    first = next(number for number, line in enumerate(comment) if line.strip())
    told = comment[:first] + [like(comment[first], before)] + comment[first + 1:]
    out += body(told)
    kind = re.match(r"RESTRIDE_API (.*?)\s*\brestride_\w+\(", declared[0], re.DOTALL)[1]
    if kind == "restride_status":
        out += [".SH RETURN VALUE", ".B RESTRIDE_OK",
                "or the number of an error, for which", ".BR restride_last_error (3)", "has a sentence.",
                ".BR restride\\-status (7)", "lists the numbers."]
    if names[0] != "restride_last_error" and kind != "restride_status":
        related = [before] if before else []
    else:
        related = [before] if before and before != "restride_last_error" else []
    related = sorted(set(related))
    out += [".SH SEE ALSO"] + [f".BR {name} (3)," for name in related] + [f".BR {escape(header.page)} (7)"]
    return "\n".join(out) + "\n"


def overview_page(header, version, date):
    out = title(header.page, 7, version, date, "Restride Library")
    name = escape(header.page)
    out += [".SH NAME", f"{name} \\- " + escape(first_sentence(header.intro, None))]
    out += [".SH SYNOPSIS", f".B #include <restride/{header.name}>", ".SH DESCRIPTION"] + body(header.intro)
    if header.types:
        out += [".SH TYPES"]
        for number, (comment, declared) in enumerate(header.types):
            out += ([".PP"] if number else []) + body(comment) if comment else []
            out += [".PP"] * (bool(comment) or number > 0) + [".nf"] + [escape(line) for line in declared.split("\n") if line.strip()] + [".fi"]
    if header.functions:
        out += [".SH FUNCTIONS"]
        before = None
        for names, _, comment in header.functions:
            out += [".TP", ", ".join(f"\\fB{one}\\fR(3)" for one in names), *filled(fonts(first_sentence(comment, before)))]
            before = names[0]
    return "\n".join(out) + "\n"


def write_headers(include, folder, version, date):
    headers = [Header(path) for path in sorted(glob.glob(os.path.join(include, "restride/*.h")))]
    for section in ("man3", "man7"):
        os.makedirs(os.path.join(folder, section), exist_ok=True)
    for header in headers:
        before = None
        for names, declared, comment in header.functions:
            if comment is None:
                sys.exit(f"man_pages.py: {header.name}: {names[0]}() has no comment")
            for name in names:
                put(folder, f"man3/{name}.3", function_page(header, name, names, declared, comment, before, version, date))
            before = names[0]
        put(folder, f"man7/{header.page}.7", overview_page(header, version, date))


def put(folder, name, text):
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)


def verbs_of(run):
    """Each verb's name, its sentence, its usage and the rest of its --help; but for parts that are not built."""
    for verb, sentence in re.findall(r"^  ([a-z][a-z-]*) +(.*)$", run("--help"), re.MULTILINE):
        usage, _, rest = run(verb, "--help").partition("\n\n")
        if usage:
            yield verb, sentence, escape(re.sub(r"^(usage: |       )", "", usage, flags=re.MULTILINE)), rest.rstrip()


def as_it_stands(text):
    return [".nf"] + [escape(line) if line else ".PP" for line in text.split("\n")] + [".fi"]


def write_verbs(restride, folder, version, date):
    os.makedirs(os.path.join(folder, "man1"), exist_ok=True)
    for verb, sentence, usage, rest in verbs_of(runner(restride)):
        out = title("restride\\-" + verb, 1, version, date, "User Commands")
        out += [".SH NAME", f"restride\\-{verb} \\- {escape(sentence)}", ".SH SYNOPSIS", ".nf", usage, ".fi"]
        out += [".SH DESCRIPTION"] + as_it_stands(rest)
        put(folder, f"man1/restride-{verb}.1", "\n".join(out + [".SH SEE ALSO", ".BR restride (1)"]) + "\n")


def write_program(program, folder, version, date):
    os.makedirs(os.path.join(folder, "man1"), exist_ok=True)
    run, name = runner(program), os.path.basename(program)
    verbs = list(verbs_of(run))
    out = title(escape(name), 1, version, date, "User Commands")
    out += [".SH NAME", f"{escape(name)} \\- what reproduces the papers behind Restride", ".SH SYNOPSIS", ".nf"]
    out += [usage for _, _, usage, _ in verbs] + [".fi", ".SH DESCRIPTION"] + as_it_stands(run("--help").partition("\n\n")[2].rstrip())
    for verb, _, _, rest in verbs:
        out += [f".SH {escape(verb.upper())}"] + as_it_stands(rest)
    put(folder, f"man1/{name}.1", "\n".join(out + [".SH SEE ALSO", ".BR restride (1)"]) + "\n")


def runner(restride):
    return lambda *words: subprocess.run([restride, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


if __name__ == "__main__":
    {"headers": write_headers, "verbs": write_verbs, "program": write_program}[sys.argv[1]](*sys.argv[2:])

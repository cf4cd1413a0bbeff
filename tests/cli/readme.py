#!/usr/bin/python3
"""readme.py RESTRIDE README: follows the README word by word. Each line after "$ " is run, in one folder and in order, and
must print what the README shows below it; times and rates may differ. What `cat FILE` shows becomes that file."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy  # noqa: F401 (the README's programs use it)
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(77)
for program in ("oclgrind", "pkg-config", "cc"):
    if not shutil.which(program):
        print(f"skipped: {program} is not installed")
        sys.exit(77)

restride, readme = sys.argv[1:]
build = os.path.dirname(os.path.dirname(os.path.abspath(restride)))


def examples(text):
    """Pairs of a command and the text it prints, from the indented blocks that begin with "$ "."""
    for block in re.findall(r"(?:^    .*\n(?:\n(?=    ))?)+", text, re.MULTILINE):
        lines = [line[4:] for line in block.splitlines()]
        if not lines[0].startswith("$ "):
            continue
        command, shown = None, []
        while lines:
            line = lines.pop(0)
            if line.startswith("$ "):
                if command:
                    yield command, "\n".join(shown).strip()
                command, shown = line[2:], []
                while command.endswith("\\"):
                    command += "\n" + lines.pop(0)
            else:
                shown.append(line)
        yield command, "\n".join(shown).strip()


def alike(text):
    """The text without what differs from run to run."""
    lines = re.sub(r"\d+\.\d+ (s|GB/s)\b", r"# \1", text).splitlines()
    return "\n".join(line.rstrip() for line in lines).strip()


failures, count = 0, 0
with tempfile.TemporaryDirectory() as folder:
    os.symlink(build, os.path.join(folder, "build"))
    prefix = os.path.join(folder, "installed")
    subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
    library = next(path for path, _, files in os.walk(prefix) if "librestride.so" in files)
    environment = dict(os.environ, PKG_CONFIG_PATH=f"{library}/pkgconfig", LD_LIBRARY_PATH=library, RESTRIDE_WISDOM="",
                       PYTHONPATH=os.path.join(os.path.dirname(os.path.abspath(readme)), "python"), PYTHONDONTWRITEBYTECODE="1",
                       PATH="/usr/bin:" + os.environ["PATH"])
    for command, shown in examples(open(readme).read()):
        count += 1
        written = re.fullmatch(r"cat (\S+\.(?:cl|c|py))", command)
        if written:
            with open(os.path.join(folder, written[1]), "w") as file:
                file.write(shown + "\n")
            continue
        done = subprocess.run(command, shell=True, cwd=folder, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode or alike(done.stdout) != alike(shown):
            failures += 1
            print(f"FAILED with status {done.returncode}: {command}\nthe README shows:\n{shown}\nit printed:\n{done.stdout}")
if count < 8:
    failures += 1
    print(f"FAILED: only {count} examples were found in {readme}")
print(f"{count} examples, {failures} failures")
sys.exit(failures > 0)

#!/usr/bin/python3
"""planted.py HOUSE: tools/house/check.py finds what is planted in a made-up tree, and nothing in a clean one."""
import os
import subprocess
import sys
import tempfile

HOUSE = sys.argv[1]

CLEAN = {
    "tools/house/rooms": "base:\nlayout: base # the lower\nengine: base layout/offset.h\nlayer/core: base\nlayer/cl: layer/core\n",
    "tools/house/debts": "# none\n",
    "docs/architecture.md": "| room | uses | |\n|---|---|---|\n| layout | | the lower |\n| engine | `layout/offset.h` | |\n"
                            "| layer/cl | layer/core | |\n",
    "include/restride/one.h": "/* Does one. */\nint restride_one(int a);\nint restride_two(int a);\n",
    "src/base/text.h": "typedef struct rs_text rs_text;\n",
    "src/base/text.c": '#include "base/text.h"\nstruct rs_text {\n    int size;\n};\ntypedef struct {\n    int a;\n} local;\n',
    "src/layout/offset.h": '#include "base/text.h"\n',
    "src/layout/offset.c": '#include "layout/offset.h"\ntypedef struct {\n    int a;\n} local;\n',
    "src/layout/parse.h": '#include "layout/offset.h"\n',
    "src/engine/run.c": '#include "layout/offset.h"\nint run(void)\n{\n' + "    (void)0;\n" * 57 + "}\n",
    "src/layer/cl/call.c": '#include "layer/core/state.h"\n',
    "src/layer/core/state.h": '#include "base/text.h"\n',
    "src/CMakeLists.txt": "add_library(a base/text.c) # lab/ has one too\n",
    "lab/cli/main.c": '#include "layout/offset.h"\n',
    "tests/base/test.c": "int x = restride_one(restride_two(0));\n" + "\n" * 590,
}

# (what is planted, by file, and what is said of it)
PLANTED = [
    ({"src/engine/text.c": "struct rs_text {\n    int b;\n};\n"}, "double rs_text: src/base/text.c and src/engine/text.c"),
    ({"src/engine/kinds.h": "typedef enum { A } local;\n"}, "double local: "),
    ({"src/layout/offset.c": '#include "layout/offset.h"\n#include "layout/parse.h"\n'}, "ring src/layout/offset: with src/layout/parse"),
    ({"src/layout/offset.h": '#include "parse.h"\n'}, "ring src/layout/parse: with src/layout/offset"),
    ({"src/base/up.c": '#include "layout/offset.h"\n'}, "include src/base/up.c layout/offset.h: "),
    ({"src/engine/more.c": '#  include "layout/parse.h"\n'}, "include src/engine/more.c layout/parse.h: "),
    ({"src/base/up.c": "#include <layout/offset.h>\n"}, "include src/base/up.c layout/offset.h: "),
    ({"src/layer/cl/call.h": "int x;\n", "src/layer/core/state.h": '#include "layer/cl/call.h"\n'},
     "include src/layer/core/state.h layer/cl/call.h: "),
    ({"src/new/a.c": '#include "base/text.h"\n'}, "include rooms new: src/new has no row"),
    ({"docs/architecture.md": "nothing\n"}, "include table engine: "),
    ({"tools/house/rooms": "base: layout\nlayout: base # the lower\nengine: base layout/offset.h\n"}, "include rooms base: "),
    ({"src/engine/long.c": "\n" * 601}, "long-file src/engine/long.c: 601 lines"),
    ({"tests/base/long.sh": "\n" * 601}, "long-file tests/base/long.sh: "),
    ({"src/engine/run.c": "int run(void)\n{\n" + "    (void)0;\n" * 58 + "}\n"}, "long-function src/engine/run.c run: 61 lines"),
    ({"src/engine/k.cl": "__kernel void k(__global int *a)\n{\n" + "    a[0] = 1;\n" * 58 + "}\n"}, "long-function src/engine/k.cl k: "),
    ({"src/engine/wait.c": "void wait(void)\n{\n    nanosleep(0, 0);\n}\n"}, "polling src/engine/wait.c: calls nanosleep()"),
    ({"src/engine/run.c": '#include "lab/probe/steering.h"\n'}, "lab src/engine/run.c: includes lab/probe/steering.h"),
    ({"src/CMakeLists.txt": "add_library(a ../lab/a.c)\n"}, "lab src/CMakeLists.txt: "),
    ({"include/restride/one.h": "int restride_one(int a);\n\n/* Two. */\nint restride_two(int a);\n"}, "no-page restride_one: "),
    ({"src/engine/run.c": "static CXCursor at;\n"}, "libclang src/engine/run.c: names CXCursor"),
    ({"include/restride/one.h": "/* One. */\nint restride_one(int a);\nint restride_three(void);\n"}, "no-test restride_three: "),
    ({"tools/house/debts": "long-file src/base/text.c\n"}, "long-file src/base/text.c: holds no longer"),
]


def check(changes):
    """The exit status and the output for the clean tree with these changes."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**CLEAN, **changes}.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w") as file:
                file.write(text)
        done = subprocess.run(["/usr/bin/python3", f"{HOUSE}/check.py", "--root", root], stdout=subprocess.PIPE, text=True)
        return done.returncode, done.stdout


failures = 0


def expect(right, what, output):
    global failures
    if not right:
        failures += 1
        print(f"FAILED: {what}\n{output}")


status, output = check({})
expect(status == 0 and output.count("\n") == 1 and "0 new, 0 stale" in output, "the clean tree", output)
for changes, sentence in PLANTED:
    status, output = check(changes)
    expect(status == 1 and any(line.startswith(sentence) for line in output.splitlines()), sentence, output)
    if "holds no longer" in sentence:
        continue
    # The same as known debts.
    known = {"tools/house/debts": "".join(line.split(": ")[0] + "\n" for line in output.splitlines()[:-1])}
    status, output = check({**changes, **known})
    expect(status == 0 and "0 new, 0 stale" in output, f"{sentence} as a debt", output)
print(f"{len(PLANTED)} violations planted, {failures} failures")
sys.exit(failures > 0)

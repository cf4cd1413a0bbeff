"""What random programs do, for views.py and variables.py: they run with a line of output for each access, and what
`restride analyze` states of them is counted and compared. An access is (place, size, written, i, j, text), in bytes or elements; a
program may be called several times, and has a list of accesses for each."""
import json
import os
import random
import subprocess
import sys
import tempfile


class Draw(random.Random):
    """The numbers of a run and how many programs it has, by the arguments RESTRIDE CC [SEED [COUNT]]."""

    def __init__(self, count):
        self.number = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
        self.count = int(sys.argv[4]) if len(sys.argv) > 4 else count
        super().__init__(self.number)


def run(command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout


def outcomes(analyzed, traced, calls, options=()):
    """The calls of each function f0, f1 and so on of the source `traced`, which main() makes by the text `calls`, and what is
    said of the source `analyzed`, by the functions' names."""
    restride, compiler = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        source, running, binary = (os.path.join(folder, name) for name in ("a.c", "t.c", "t"))
        with open(source, "w") as file:
            file.write(analyzed)
        with open(running, "w") as file:
            file.write(f"#include <stdio.h>\n{traced}int main(void)\n{{\n{calls}return 0;\n}}\n")
        run([compiler, "-w", "-O0", *options, "-o", binary, running])
        traces = {}
        for line in run([binary]).splitlines():
            words = line.split(" ", 5)
            if words[0] == "function":
                traces.setdefault(words[1], []).append([])
                current = traces[words[1]][-1]
            else:
                current.append(tuple(map(int, words[:5])) + (words[5],))
        reply = json.loads(run([restride, "analyze", source, "--json"]))
    return traces, {unit["name"]: unit for unit in reply["units"]}


def carries(trace, index):
    """Whether two iterations of a loop, in the same one of the loop around it, meet in a place that one of them writes."""
    touched = {}
    for place, size, written, i, j, _ in trace:
        around, own = (None, i) if index == "i" else (i, j)
        for part in range(place, place + size):
            for other, stored in touched.setdefault((around, part), set()):
                if other != own and (stored or written):
                    return True
            touched[around, part].add((own, written))
    return False


class Tally:
    """Complaints about what is stated, and how much there was: a test of nothing fails."""

    def __init__(self):
        self.wrong = self.nothing = self.carried = self.places = 0

    def loop(self, loop, calls, certain=False):
        """The complaints. Only where it is certain that a loop carries something does it have to."""
        true = any(carries(trace, loop["name"]) for trace in calls)
        nothing = loop["carried"] == "nothing"
        self.nothing += nothing
        self.carried += true
        if true and nothing:
            return [f"loop {loop['name']} carries something"]
        if not true and not nothing and certain:
            return [f"loop {loop['name']} carries nothing"]
        return []

    def program(self, text, complaints):
        if complaints:
            self.wrong += 1
            print(text + "\n".join(complaints))

    def end(self, draw):
        if min(self.nothing, self.carried) < draw.count / 20 or self.places < draw.count * 3:
            print("too little was stated:")
            self.wrong += 1
        print(f"{draw.count} programs of seed {draw.number}: {self.wrong} wrong; {self.nothing} loops carry nothing, "
              f"{self.carried} do, {self.places} places compared")
        sys.exit(self.wrong > 0)

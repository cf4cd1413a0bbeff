#!/usr/bin/env python3
"""facts.py RESTRIDE FILE...: what `restride analyze --json` says of a source, one fact a line, in words of the tests' own.

The tests look for facts, so that the sentences of the text form may change. Standard error and the status are the program's.
"""
import json
import subprocess
import sys


def numbers(row):
    return "[" + " ".join(row) + "]"


def matrix(rows, columns=None):
    order = range(len(rows[0]) if rows else 0)
    if columns is not None:  # those between threads first
        order = sorted(order, key=lambda i: not columns[i]["between"])
    return "[" + "; ".join(" ".join(row[i] for i in order) for row in rows) + "]"


def names(columns, between):
    return " ".join(("~" if c["auxiliary"] else "") + c["name"] for c in columns if c["between"] == between)


def loop_fact(loop):
    threads = " (its iterations are threads)" if loop["thread"] else ""
    if loop["carried"] == "nothing":
        carried = "nothing"
    else:
        carried = f"a {loop['carried']} through {loop['what']}" + ("" if loop["certain"] else ", perhaps")
        if loop["lines"][0] > 0:
            carried += " (lines {} and {})".format(*loop["lines"])
    return f"loop {loop['name']}{threads}: carries {carried}" + ("; can be left early" if loop["early"] else "")


def reference_facts(r):
    kind = "atom" if r["atomic"] else "rw" if r["read"] and r["write"] else "read" if r["read"] else "write"
    yield f"{kind} {r['text']}"
    yield f"M {matrix(r['matrix'], r['columns'])}  o {numbers(r['offset'])}  " \
          f"({names(r['columns'], True)} | {names(r['columns'], False)})".replace("( |", "( |")
    yield f"{r['classes']}{' (approximated)' if r['approximated'] else ''}"


def group_facts(group, references):
    along = f", along {group['target']}" if group["target"] else ""
    reason = f"; {group['reason']}" if group["reason"] else ""
    yield f"vectors {group['verdict']}{along}; Q_V = {group['qv']:.1f} %{reason}"
    for rule in group["rules"]:
        text = references[rule["reference"]]["text"]
        yield f"{text}  {rule['rule']}  T_m {matrix(rule['matrix'])}  t_v {numbers(rule['shift'])}"


def array_facts(array):
    words = [array["type"], "written" if array["written"] else "read-only"]
    words += ["same address"] if array["same_address"] else []
    words += [f"place: {array['memory']} memory"] if "memory" in array else []
    yield f"  {array['name']}: " + ", ".join(words)
    if "advice" in array:
        yield "layout: --layout '{}: {}' (over \"{}\")".format(array["name"], array["advice"]["layout"], array["advice"]["dims"])
    if "kept_advice" in array:
        kept = array["kept_advice"]
        yield "\"{layout}\" would need {then} transactions instead of {now}, but the rewriter keeps it: " \
              "{file}:{line}: {reason}".format(**kept)
    if "layout" in array.get("parallel", {}):
        yield "for concurrent accesses: '{}: {}' (over \"{}\")".format(
            array["name"], array["parallel"]["layout"], array["parallel"]["dims"])


def main():
    asked = sys.argv[2:]
    if any(word.endswith(".cu") for word in asked):  # a toolkit's headers take longer to read than all the rest
        asked += ["--cuda-path="] if "--" in asked else ["--", "--cuda-path="]
    run = subprocess.run([sys.argv[1], "analyze", "--json", *asked], stdout=subprocess.PIPE, text=True)
    if run.stdout:
        for unit in json.loads(run.stdout)["units"]:
            for loop in unit["loops"]:
                print(loop_fact(loop))
            for reference in unit["references"]:
                print(*reference_facts(reference), sep="\n")
            for group in unit["groups"]:
                print(*group_facts(group, unit["references"]), sep="\n")
            for array in unit["arrays"]:
                print(*array_facts(array), sep="\n")
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""foretell.py REWRITER: what a reply foretells of kernels in their new form."""
import json
import subprocess
import sys

TYPES = "typedef struct { float x[8]; } wide; typedef struct { float a, b, c, d, e; } option;\n"
ID = "size_t i = get_global_id(0); "
# parameters, body; the least and the most gain, a word of the reason
CASES = [
    ("__global wide *p", ID + "for (int k = 0; k < 8; k++) p[i].x[k] *= 2;", 2, 5, "spread over many lines"),
    ("__global option *p", ID + "p[i].d = p[i].a + p[i].b; p[i].e = p[i].a * p[i].c;", 1.4, 2, "spread over many lines"),
    ("__global wide *p", ID + "p[i].x[0] += 1;", 2, 8, "only some fields"),
    ("__global const wide *p, __global const int *q, __global float *o",
     ID + "int k = q[i]; o[i] = p[k].x[0] + p[k].x[1] + p[k].x[2] + p[k].x[3] + p[k].x[4] + p[k].x[5] + p[k].x[6] + p[k].x[7];", 0, 1, "picked by data"),
    ("__global const wide *p, __global float *o, int n", ID + "float s = 0; for (int k = 0; k < n; k++) s += p[k].x[1]; o[i] = s;", 0, 1.09, "one element serves"),
    ("__global const wide *p, __global wide *q, int n", ID + "int at[2] = {i == 0 ? n - 1 : (int)i - 1, i}; q[i] = p[at[0]];", 2, 5, "spread over many lines"),
]


def ask(rewriter, source, **more):
    request = {"source": source, "file": "k.cl", "options": "", "address_bits": 64, "defaults": {"*": "i/32 f i%32"}, "full": True,
               "assume_undefined": True, "macros": {}, **more}
    reply = subprocess.run([rewriter, "--request"], input=json.dumps(request), capture_output=True, check=True, text=True).stdout
    return json.loads(reply)["kernels"][0]


def main(rewriter):
    wrong = 0
    for parameters, body, least, most, word in CASES:
        foretold = ask(rewriter, f"{TYPES}__kernel void k({parameters}) {{ {body} }}\n").get("foretold", {"gain": -1, "reason": "none"})
        if not least <= foretold["gain"] <= most or word not in foretold["reason"]:
            print(f"{body}\n  expected {least} to {most}, {word}; found {foretold}")
            wrong += 1
    # What the rewriter alone can read, by answers of the device, is left to the older prediction.
    source = TYPES + "#ifndef ODD\n#error\n#endif\n__kernel void k(__global wide *p, int n) { p[get_global_id(0)].x[0] = p[n].x[1]; }\n"
    kernel = ask(rewriter, source, macros={"ODD": "1"})
    if "foretold" in kernel or kernel["arguments"][0]["status"] != "transformed":
        print("a tree with errors:", kernel)
        wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

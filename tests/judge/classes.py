#!/usr/bin/env python3
"""classes.py RESTRIDE: from a kernel's source to what its lanes do, and to the judgement."""
import json
import os
import subprocess
import sys
import tempfile

BODY = "typedef struct { float x, y, z, vx, vy, vz, m, pad; } body;\ntypedef struct { float e[18]; } matrix;\n"
ID = "int i = get_global_id(0); "
# parameters, body, then class, bytes of an element, touched bytes, members of a group, whether a layout is proposed
CASES = [
    ("__global body *p", ID + "p[i].x += p[i].vx; p[i].y += p[i].vy; p[i].z += p[i].vz; p[i].vx = p[i].vy = p[i].vz = p[i].m = p[i].pad = 0;",
     "one", 32, 32, 1, True),
    ("__global body *p, int o", ID + "p[i + o].x = p[i + o + 1].x;", "one", 32, 4, 1, True),
    ("__global body *p, __global body *q", ID + "body b = p[i]; b.x += 1; q[i] = b;", "one", 32, 32, 1, False),
    ("__global const body *p, __global float *o, int n", ID + "float s = 0; for (int j = 0; j < n; j++) s += p[j].x * p[j].m; o[i] = s;",
     "same", 32, 8, 1, False),
    ("__global const body *p, __global float *o, int n", ID + "float s = p[i].y; for (int j = 0; j < n; j++) s += p[j].x * p[j].m; o[i] = s;",
     "same", 32, 12, 1, False),
    ("__global const body *p, __global float *o", ID + "o[i] = p[i].x * p[0].m;", "one", 32, 8, 1, True),
    ("__global const body *p, __global const int *q, __global float *o",
     ID + "int k = q[i]; o[i] = p[k].x + p[k].y + p[k].z + p[k].vx + p[k].vy + p[k].vz + p[k].m + p[k].pad;", "gather", 32, 32, 1, False),
    ("__global const matrix *p, __global float *o",
     ID + "float s = 0; for (int k = 0; k < 4; k++) for (int f = 0; f < 18; f++) s += p[4 * i + k].e[f]; o[i] = s;", "group", 72, 72, 4, True),
    ("__global matrix *p", "int g = get_global_id(0), i = g / 18, f = g % 18; p[i].e[f] *= 2;", "within", 72, 72, 1, False),
    ("__global matrix *p", "int g = get_global_id(0); p[g >> 4].e[g & 15] *= 2;", "within", 72, 72, 1, False),
    ("__global const matrix *p, __global float *o, int n", ID + "float s = 0; for (int j = 0; j < n; j++) for (int f = 0; f < 18; f++) s += p[i * n + j].e[f]; o[i] = s;",
     "walk", 72, 72, 1, False),
    ("__global matrix *p", ID + "p[i].e[i % 18] *= 2;", "unknown", 72, 72, 1, False),
    ("__global const matrix *p, __global float *o", ID + "o[i] = p[i].e[3] + p[i].e[11];", "one", 72, 8, 1, True),
    ("__global float *p", ID + "for (int f = 0; f < 9; f++) p[9 * i + f] *= 2;", "one", 36, 36, 1, True),
    ("__global const float *p, __global float *o", ID + "o[i] = p[5 * i] + p[5 * i + 3];", "one", 20, 8, 1, True),
    ("__global float *p", ID + "for (int f = 0; f < 250; f++) p[250 * i + f] = f;", "one", 1000, 1000, 1, True),
    ("__global struct { float x[300]; } *p", ID + "for (int f = 0; f < 300; f++) p[i].x[f] = f;", "unknown", 1200, 1024, 1, False),
    ("__global body *p", ID + "((__global float *)p)[i] = p[i].x;", "within", 32, 32, 1, False),
]


def judge(restride, path, *options):
    reply = subprocess.run([restride, "analyze", path, "--json", *options], capture_output=True, check=True, text=True).stdout
    return [unit["judgement"] for unit in json.loads(reply)["units"]]


def main(restride):
    wrong = 0
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "k.cl")
        for parameters, body, *expected in CASES:
            with open(path, "w") as f:
                f.write(f"{BODY}__kernel void k({parameters}) {{ {body} }}\n")
            judgement = judge(restride, path)[0]
            p = judgement["arguments"][0]
            found = [p["class"], p["element"], p["touched"], p.get("group", 1), p["layout"] != "i f"]
            sound = p["reason"] and p["gain"] >= 1 and (p["layout"] == "i f" or judgement["gain"] >= 1.1) and p["candidates"][0]["gain"] == 1
            if found != expected or not sound:
                print(f"{body}\n  expected {expected}, found {found}: {p}")
                wrong += 1
        with open(path, "w") as f:
            f.write("__kernel void k(__global float *p) { p[get_global_id(0)] *= 2; }\n")
        if judge(restride, path, "--device", "h100")[0]["arguments"]:
            print("an array of floats was judged")
            wrong += 1
        text = subprocess.run([restride, "analyze", path], capture_output=True, check=True, text=True).stdout
        if "has no array of structures" not in text:
            print(text)
            wrong += 1
        bad = subprocess.run([restride, "analyze", path, "--device", "none"], capture_output=True, text=True)
        if bad.returncode == 0 or 'There is no device "none"' not in bad.stderr:
            print("an unknown device was taken:", bad.stderr)
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

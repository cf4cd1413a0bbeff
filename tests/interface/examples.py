#!/usr/bin/env python3
"""examples.py INCLUDE LIBRARY C C++ FORTRAN EMULATED [MPI MPI_LIBRARY]: the example that each public header opens with compiles and runs.

An example is the first indented block of a header's first comment. It becomes the body of main(), behind what SETUP has
for the header. A compiler that is "" or ends with NOTFOUND, and a device that is not there, leave their examples out; the
last line says which. EMULATED is a folder with a driver and an NCCL that stand in for CUDA's, or "". MPI is its compiler of C.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

include, library = map(pathlib.Path, sys.argv[1:3])
compilers = dict(zip((".h", ".hpp", ".f90"), sys.argv[3:6]))
emulated = sys.argv[6]
mpi, mpi_library = sys.argv[7:9] if len(sys.argv) > 7 else ("", "")

C_INCLUDES = "#include <assert.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"

OPENCL = """
    cl_platform_id platform;
    cl_device_id device;
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
        return 77;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
"""
ENGINE = OPENCL + """
    restride_engine *engine;
    assert(restride_engine_create_opencl(&engine, queue) == RESTRIDE_OK);
"""
BUFFER = "    cl_mem {} = clCreateBuffer(context, CL_MEM_READ_WRITE, {}, NULL, NULL);\n"

# What a program has before it comes to the example of a header.
SETUP = {
    "opencl.h": OPENCL + BUFFER.format("buffer", 24),
    "irregular_device.h": ENGINE + BUFFER.format("P", 256) + BUFFER.format("A", 4000) + BUFFER.format("slots", 4000) + """
    uint32_t indices[64];
    for (uint32_t t = 0; t < 64; t++)
        indices[t] = t * 619 % 1000;
    clEnqueueWriteBuffer(queue, P, CL_TRUE, 0, sizeof indices, indices, 0, NULL, NULL);
""",
    "transfer.h": ENGINE + BUFFER.format("buffer", 1003 * 16) + """
    static float matrix[300 * 200];
    static char array[1003 * 16];
    restride_layout *aos, *asta;
    restride_layout_parse(&aos, "i:1003 f{ float x, y, z, w; }", "i f");
    restride_layout_parse(&asta, "i:1003 f{ float x, y, z, w; }", "i/32 f i%32");
""",
    "cuda.h": """
    void *context, *stream = NULL;
    uintptr_t pointer;
    int device;
    if (cuInit(0) != 0 || cuDeviceGet(&device, 0) != 0 || cuDevicePrimaryCtxRetain(&context, device) != 0 ||
        cuCtxSetCurrent(context) != 0 || cuMemAlloc_v2(&pointer, 24) != 0)
        return 77;
""",
}
SETUP["nccl.h"] = """
    void *context, *stream = NULL, *communicator;
    int device;
    if (cuInit(0) != 0 || cuDeviceGet(&device, 0) != 0 || cuDevicePrimaryCtxRetain(&context, device) != 0 ||
        cuCtxSetCurrent(context) != 0 || ncclCommInitAll(&communicator, 1, NULL) != 0)
        return 77;
"""
DECLARATIONS = {
    "cuda.h": """
int cuInit(unsigned), cuDeviceGet(int *, int), cuDevicePrimaryCtxRetain(void **, int), cuCtxSetCurrent(void *);
int cuMemAlloc_v2(uintptr_t *, size_t), cuStreamSynchronize(void *);
""",
}
DECLARATIONS["nccl.h"] = """#include <restride/cuda.h>
int cuInit(unsigned), cuDeviceGet(int *, int), cuDevicePrimaryCtxRetain(void **, int), cuCtxSetCurrent(void *);
int ncclCommInitAll(void **, int, const int *), ncclCommDestroy(void *);
"""
FOR_CUDA = ("cuda.h", "nccl.h")
FOR_OPENCL = ("opencl.h", "irregular_device.h", "transfer.h")


def example_of(header):
    """The lines of the example, without their indentation."""
    comment = "! " if header.suffix == ".f90" else " * "
    lines = []
    for line in header.read_text().splitlines():
        if line.startswith(comment + "    "):
            lines.append(line[len(comment) + 4:])
        elif lines:
            break
    return lines


def c_program(header, lines):
    text = C_INCLUDES + "#include <restride/restride.h>\n"
    if header.name in FOR_OPENCL:
        text += "#define CL_TARGET_OPENCL_VERSION 300\n#define CL_USE_DEPRECATED_OPENCL_1_2_APIS\n#include <restride/opencl.h>\n"
    text += f"#include <restride/{header.name}>\n" + DECLARATIONS.get(header.name, "")
    directives = [line for line in lines if line.startswith("#")]
    return text + "\n".join(directives) + "\nint main(void)\n{\n" + SETUP.get(header.name, "") + "\n".join(
        line for line in lines if line not in directives) + "\n    return 0;\n}\n"


def cpp_program(header, lines):
    return ("#include <cassert>\n#include <cstdio>\n#include <vector>\n"
            f"#include <restride/{header.name}>\nint main()\n{{\n" + "\n".join(lines) + "\n}\n")


def fortran_program(header, lines):
    return ("program example\n    use, intrinsic :: iso_c_binding\n    use restride\n    implicit none\n" +
            "\n".join(lines) + "\nend program\n")


PROGRAMS = {".h": (c_program, ".c", "-std=c11 -Wall -Wextra -Wno-unused-variable -Werror"),
            ".hpp": (cpp_program, ".cpp", "-std=c++17 -fno-exceptions -fno-rtti -Wall -Wextra -Werror"),
            ".f90": (fortran_program, ".f90", "-std=f2018 -Wall -Werror")}


def compiler_of(header):
    return mpi if header.name == "mpi.h" else compilers[header.suffix]


def build(header, folder):
    make, suffix, flags = PROGRAMS[header.suffix]
    source = folder / ("example" + suffix)
    source.write_text(make(header, example_of(header)))
    command = [compiler_of(header), *flags.split(), f"-I{include}"]
    if header.suffix == ".f90":
        command += ["-J", str(folder), str(header)]
    command += [str(source), "-o", str(folder / "example"), str(library), f"-Wl,-rpath,{library.parent}"]
    if header.name in FOR_OPENCL:
        command += ["-lOpenCL"]
    if header.name == "mpi.h":
        command += [mpi_library, f"-Wl,-rpath,{os.path.dirname(mpi_library)}"]
    if header.name in FOR_CUDA:
        command += [f"-L{emulated}", "-l:libcuda.so.1"]
    if header.name == "nccl.h":
        command += ["-l:libnccl.so.2"]
    return subprocess.run(command, text=True, stderr=subprocess.STDOUT, stdout=subprocess.PIPE)


def run(header, folder):
    environment = dict(os.environ, RESTRIDE_WISDOM=str(folder / "wisdom.json"), XDG_CACHE_HOME=str(folder))
    if header.name in FOR_CUDA:
        environment.update(LD_LIBRARY_PATH=emulated, EMULATED_FOLDER=emulated)
    return subprocess.run([folder / "example"], text=True, stderr=subprocess.STDOUT, stdout=subprocess.PIPE,
                          env=environment, timeout=120)


def check(header):
    """"" when the example ran, else a word for what is wrong; None where something for it is missing."""
    if not example_of(header):
        return "does not open with an example"
    compiler = compiler_of(header)
    if compiler == "" or compiler.endswith("NOTFOUND") or (header.name in FOR_CUDA and not emulated):
        return None
    if header.name in FOR_OPENCL and b"restride_engine_create_opencl" not in library.read_bytes():
        return None
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        built = build(header, folder)
        if built.returncode != 0:
            return "does not compile:\n" + built.stdout
        ran = run(header, folder)
        if ran.returncode == 77:
            return None
        return "" if ran.returncode == 0 else f"ended with {ran.returncode}:\n{ran.stdout}"


def main():
    headers = sorted(path for path in (include / "restride").iterdir() if path.suffix in PROGRAMS)
    results = {header.name: check(header) for header in headers}
    for name, wrong in results.items():
        if wrong:
            print(f"{name}: its example {wrong}")
    left_out = [name for name, wrong in results.items() if wrong is None]
    print(f"{sum(wrong == '' for wrong in results.values())} examples ran; left out: {', '.join(left_out) or 'none'}")
    return any(results.values())


if __name__ == "__main__":
    sys.exit(main())

/* Cases of programs and kernels that are made in unusual ways. */
#include "cases.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

void case_kernels_in_program(void)
{
    cl_kernel kernels[2];
    cl_uint count;
    done(clCreateKernelsInProgram(program, 2, kernels, &count), "clCreateKernelsInProgram");
    check(count == 2, "another number of kernels");
    for (int k = 0; k < 2; k++) {
        char name[16];
        done(clGetKernelInfo(kernels[k], CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL),
             "clGetKernelInfo");
        done(clSetKernelArg(kernels[k], 0, sizeof cells, &cells), "clSetKernelArg");
        launch_on(queue, kernels[k], NULL, NULL);
        for (int i = 0; i < CELLS; i++)
            if (strcmp(name, "add") == 0)
                expected[i].a++;
            else
                expected[i].c[1] *= 2;
    }
    compare(cells);
}

void case_clone(void)
{
    cl_int error;
    cl_kernel add = make_kernel(program, "add", cells);
    cl_kernel copy = clCloneKernel(add, &error);
    if (error == CL_INVALID_OPERATION)
        exit(LACKS);
    done(error, "clCloneKernel");
    cl_mem other = make_cells(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, expected);
    done(clSetKernelArg(add, 0, sizeof other, &other), "clSetKernelArg");
    launch_on(queue, add, NULL, NULL);
    add_once(copy);
    compare(cells);
    compare(other);
}

/* The program sees its own source, arguments and counts. */
void case_queries(void)
{
    char text[sizeof cell_source + 1], name[16];
    cl_uint count;
    size_t size, kernels;
    cl_kernel add = make_kernel(program, "add", cells);
    add_once(add);
    done(clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof text, text, &size),
         "clGetProgramInfo");
    check(size == sizeof cell_source && strcmp(text, cell_source) == 0, "another source");
    done(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof kernels, &kernels, NULL),
         "clGetProgramInfo");
    check(kernels == 2, "another number of kernels");
    done(clGetKernelArgInfo(add, 0, CL_KERNEL_ARG_TYPE_NAME, sizeof name, name, NULL),
         "clGetKernelArgInfo");
    check(strcmp(name, "cell*") == 0, "another type of the argument");
    check(clGetKernelArgInfo(add, 1, CL_KERNEL_ARG_TYPE_NAME, sizeof name, name, NULL) !=
              CL_SUCCESS,
          "the kernel has a second argument");
    done(clGetKernelInfo(add, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL), "clGetKernelInfo");
    check(count == 1, "another number of arguments");
    done(clGetKernelInfo(add, CL_KERNEL_REFERENCE_COUNT, sizeof count, &count, NULL),
         "clGetKernelInfo");
    check(count == 1, "another number of references");
    compare(cells);
}

static cl_uint count_of_context(void)
{
    cl_uint count;
    done(clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, NULL),
         "clGetContextInfo");
    return count;
}

static cl_uint count_of_queue(void)
{
    cl_uint count;
    done(clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof count, &count, NULL),
         "clGetCommandQueueInfo");
    return count;
}

static cl_uint count_of_program(void)
{
    cl_uint count;
    done(clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof count, &count, NULL),
         "clGetProgramInfo");
    return count;
}

static cl_uint count_of_cells(void)
{
    cl_uint count;
    done(clGetMemObjectInfo(cells, CL_MEM_REFERENCE_COUNT, sizeof count, &count, NULL),
         "clGetMemObjectInfo");
    return count;
}

static cl_uint count_of_device(void)
{
    cl_uint count;
    done(clGetDeviceInfo(device, CL_DEVICE_REFERENCE_COUNT, sizeof count, &count, NULL),
         "clGetDeviceInfo");
    return count;
}

/* A driver may drop its own references a moment after a command is complete. */
static void settles(cl_uint (*count)(void), cl_uint wanted, const char *what)
{
    for (int i = 0; i < 1000 && count() != wanted; i++)
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    check(count() == wanted, what);
}

/* Each moment at which PoCL's own references, those of objects that the program has, are gone. */
void case_references(void)
{
    cl_kernel add = make_kernel(program, "add", cells);
    add_once(add);
    compare(cells);
    add_once(add);
    compare(cells);
    settles(count_of_cells, 1, "another number of references to a buffer");
    settles(count_of_device, 1, "another number of references to a device");
    done(clRetainCommandQueue(queue), "clRetainCommandQueue");
    done(clReleaseCommandQueue(queue), "clReleaseCommandQueue");
    check(count_of_queue() <= 2, "another number of references to a queue"); /* of an event */
    done(clReleaseKernel(add), "clReleaseKernel");
    settles(count_of_program, 1, "another number of references to a program");
    done(clReleaseMemObject(cells), "clReleaseMemObject");
    settles(count_of_queue, 1, "another number of references to an idle queue");
    done(clReleaseCommandQueue(queue), "clReleaseCommandQueue");
    done(clReleaseProgram(program), "clReleaseProgram");
    settles(count_of_context, 1, "another number of references to a context");
    done(clRetainContext(context), "clRetainContext");
    check(count_of_context() == 2, "a reference to a context is not counted");
}

static cl_program compile(const char *text)
{
    cl_int error;
    cl_program compiled = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    done(error, "clCreateProgramWithSource");
    done(clCompileProgram(compiled, 1, &device, "", 0, NULL, NULL, NULL, NULL), "clCompileProgram");
    return compiled;
}

void case_compile_and_link(void)
{
    cl_int error;
    cl_program compiled = compile(cell_source);
    cl_program linked = clLinkProgram(context, 1, &device, "", 1, &compiled, NULL, NULL, &error);
    done(error, "clLinkProgram");
    add_once(make_kernel(linked, "add", cells));
    compare(cells);
}

void case_link_two(void)
{
    cl_int error;
    cl_program parts[2] = {
        compile(cell_source),
        compile("__kernel void nothing(__global int *a) { a[0] += 0; }\n"),
    };
    cl_program linked = clLinkProgram(context, 1, &device, "", 2, parts, NULL, NULL, &error);
    done(error, "clLinkProgram");
    add_once(make_kernel(linked, "add", cells));
    compare(cells);
}

/* A header that is a program itself. */
void case_header_program(void)
{
    static const char *const header = "typedef struct { int a; float b; int c[2]; } cell;\n";
    static const char *const text =
        "#include \"cell.h\"\n"
        "__kernel void add(__global cell *cells) { cells[get_global_id(0)].a += 1; }\n";
    const char *name = "cell.h";
    cl_int error;
    cl_program headers =
        clCreateProgramWithSource(context, 1, (const char **)&header, NULL, &error);
    done(error, "clCreateProgramWithSource");
    cl_program compiled = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &error);
    done(error, "clCreateProgramWithSource");
    done(clCompileProgram(compiled, 1, &device, "", 1, &headers, &name, NULL, NULL),
         "clCompileProgram");
    cl_program linked = clLinkProgram(context, 1, &device, "", 1, &compiled, NULL, NULL, &error);
    done(error, "clLinkProgram");
    add_once(make_kernel(linked, "add", cells));
    compare(cells);
}

void case_link_options(void)
{
    cl_int error;
    cl_program compiled = compile(cell_source);
    cl_program linked = clLinkProgram(context, 1, &device, "-cl-fast-relaxed-math", 1, &compiled,
                                      NULL, NULL, &error);
    if (error == CL_INVALID_LINKER_OPTIONS)
        exit(LACKS);
    done(error, "clLinkProgram");
    add_once(make_kernel(linked, "add", cells));
    compare(cells);
}

/* Of the made-up GPU; others have no kernel of that name. */
void case_built_in(void)
{
    cl_int error;
    cl_program made = clCreateProgramWithBuiltInKernels(context, 1, &device, "twice", &error);
    if (error != CL_SUCCESS)
        exit(LACKS);
    launch_on(queue, make_kernel(made, "twice", cells), NULL, NULL);
    for (int i = 0; i < CELLS; i++)
        expected[i].c[1] *= 2;
    compare(cells);
}

/* Of the made-up GPU, whose intermediate language is OpenCL C. */
void case_il_of_source(void)
{
    cl_int error;
    cl_program made = clCreateProgramWithIL(context, cell_source, strlen(cell_source), &error);
    if (error != CL_SUCCESS)
        exit(LACKS);
    done(clBuildProgram(made, 1, &device, "", NULL, NULL), "clBuildProgram");
    add_once(make_kernel(made, "add", cells));
    compare(cells);
}

/* The program of the file SOURCE, built with OPTIONS; its kernels are made and not launched. */
void case_of_file(void)
{
    static char text[65536];
    const char *texts = text, *path = getenv("SOURCE"), *options = getenv("OPTIONS");
    cl_int error;
    cl_kernel kernels[16];
    cl_uint count = 0;
    FILE *file = path != NULL ? fopen(path, "r") : NULL;
    check(file != NULL, "SOURCE names no file");
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    cl_program made = clCreateProgramWithSource(context, 1, &texts, NULL, &error);
    done(error, "clCreateProgramWithSource");
    done(clBuildProgram(made, 1, &device, options != NULL ? options : "", NULL, NULL),
         "clBuildProgram");
    done(clCreateKernelsInProgram(made, 16, kernels, &count), "clCreateKernelsInProgram");
}

/* What it says depends on its options, which a program from its binary does not repeat. */
static const char *const step_source =
    "typedef struct { int a; float b; int c[2]; } cell;\n"
    "__kernel void add(__global cell *cells) { cells[get_global_id(0)].a += STEP; }\n";

/* A build that the driver refuses, for a command with a kernel of the program is not over yet,
 * leaves the program what it was. */
void case_refused_build(void)
{
    cl_int error;
    cl_program made =
        clCreateProgramWithSource(context, 1, (const char **)&step_source, NULL, &error);
    done(error, "clCreateProgramWithSource");
    done(clBuildProgram(made, 1, &device, "-DSTEP=1", NULL, NULL), "clBuildProgram");
    cl_event user = clCreateUserEvent(context, &error);
    cl_kernel add = make_kernel(made, "add", cells);
    launch_on(queue, add, user, NULL);
    clReleaseKernel(add);
    error = clBuildProgram(made, 1, &device, "-DSTEP=3", NULL, NULL);
    done(clSetUserEventStatus(user, CL_COMPLETE), "clSetUserEventStatus");
    clFinish(queue);
    if (error == CL_SUCCESS)
        exit(LACKS);
    add = make_kernel(made, "add", cells);
    launch_on(queue, add, NULL, NULL);
    clReleaseKernel(add);
    clFinish(queue);
    for (int i = 0; i < CELLS; i++)
        expected[i].a += 2;
    compare(cells);
    for (int i = 0; i < 6000 && error != CL_SUCCESS; i++) { /* until the command has let go of it */
        error = clBuildProgram(made, 1, &device, "-DSTEP=5", NULL, NULL);
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    done(error, "clBuildProgram");
    add = make_kernel(made, "add", cells);
    /* The layer may see only at the second one that nothing is held back any more. */
    for (int launch = 0; launch < 2; launch++) {
        launch_on(queue, add, NULL, NULL);
        clFinish(queue);
    }
    for (int i = 0; i < CELLS; i++)
        expected[i].a += 10;
    compare(cells);
}

static void CL_CALLBACK make_added(cl_program made, void *kernel)
{
    atomic_store((_Atomic(cl_kernel) *)kernel, make_kernel(made, "add", cells));
}

static void add_with(_Atomic(cl_kernel) *kernel)
{
    for (int i = 0; i < 3000 && atomic_load(kernel) == NULL; i++)
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    check(atomic_load(kernel) != NULL, "no notice");
    add_once(*kernel);
    compare(cells);
}

/* The kernel is made by the function that the driver calls when the program is built. */
void case_notified_build(void)
{
    cl_int error;
    _Atomic(cl_kernel) kernel = NULL;
    cl_program made =
        clCreateProgramWithSource(context, 1, (const char **)&step_source, NULL, &error);
    done(error, "clCreateProgramWithSource");
    done(clBuildProgram(made, 1, &device, "-DSTEP=1", make_added, (void *)&kernel),
         "clBuildProgram");
    add_with(&kernel);
}

static void CL_CALLBACK make_added_and_let_go(cl_program made, void *kernel)
{
    make_added(made, kernel);
    clReleaseProgram(made);
}

/* The same when it is linked; and that function may be the last to have the program. */
void case_notified_link(void)
{
    cl_int error;
    _Atomic(cl_kernel) first = NULL, second = NULL;
    cl_program compiled = compile(cell_source);
    clLinkProgram(context, 1, &device, "", 1, &compiled, make_added, (void *)&first, &error);
    done(error, "clLinkProgram");
    add_with(&first);
    clLinkProgram(context, 1, &device, "", 1, &compiled, make_added_and_let_go, (void *)&second,
                  &error);
    done(error, "clLinkProgram");
    add_with(&second);
    done(clReleaseKernel(second), "clReleaseKernel");
    add_with(&first);
}

void case_binary(void)
{
    size_t size;
    cl_int error, status;
    done(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL),
         "clGetProgramInfo");
    unsigned char *bytes = malloc(size);
    done(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL),
         "clGetProgramInfo");
    cl_program again = clCreateProgramWithBinary(context, 1, &device, &size,
                                                 (const unsigned char **)&bytes, &status, &error);
    done(error, "clCreateProgramWithBinary");
    free(bytes);
    done(clBuildProgram(again, 1, &device, "", NULL, NULL), "clBuildProgram");
    add_once(make_kernel(program, "add", cells));
    add_once(make_kernel(again, "add", cells));
    add_once(make_kernel(program, "add", cells));
    compare(cells);
}

/* The same without a structure: nothing to rewrite, and nothing to complain of. */
static const char *const plain_source =
    "__kernel void add(__global int *words) { words[4 * get_global_id(0)] += STEP; }\n";

static const char *binary_path(void)
{
    const char *path = getenv("BINARY");
    check(path != NULL, "BINARY names no file");
    return path;
}

void case_binary_to_file(void)
{
    size_t size;
    cl_int error;
    const char *source = getenv("PLAIN") != NULL ? plain_source : step_source;
    cl_program made = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    done(error, "clCreateProgramWithSource");
    done(clBuildProgram(made, 1, &device, " -DSTEP=1  ", NULL, NULL), "clBuildProgram");
    done(clGetProgramInfo(made, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL),
         "clGetProgramInfo");
    unsigned char *bytes = malloc(size);
    done(clGetProgramInfo(made, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL),
         "clGetProgramInfo");
    FILE *file = fopen(binary_path(), "wb");
    check(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "fwrite");
    free(bytes);
}

void case_binary_from_file(void)
{
    enum { MOST = 1 << 24 };
    cl_int error, status;
    unsigned char *bytes = malloc(MOST);
    FILE *file = fopen(binary_path(), "rb");
    check(bytes != NULL && file != NULL, "fopen");
    size_t size = fread(bytes, 1, MOST, file);
    fclose(file);
    cl_program again = clCreateProgramWithBinary(context, 1, &device, &size,
                                                 (const unsigned char **)&bytes, &status, &error);
    done(error, "clCreateProgramWithBinary");
    free(bytes);
    done(clBuildProgram(again, 1, &device, "-DSTEP=3", NULL, NULL), "clBuildProgram");
    add_once(make_kernel(again, "add", cells));
    compare(cells);
}

/* An intermediate language that is none is refused as without the layer. */
void case_il(void)
{
    static const char nonsense[] = "this is no intermediate language";
    cl_int error = CL_SUCCESS;
    cl_program from = clCreateProgramWithIL(context, nonsense, sizeof nonsense, &error);
    check(from == NULL ? error != CL_SUCCESS
                       : clBuildProgram(from, 1, &device, "", NULL, NULL) != CL_SUCCESS,
          "nonsense was built");
    add_once(make_kernel(program, "add", cells));
    compare(cells);
}

/* Macros of the device's compiler whose values are no words: tested, and used. That compiler has
 * nothing to say of this source, and so should say nothing of what the layer builds. */
void case_constant_macros(void)
{
    static const char *const text =
        "#ifndef FLT_MAX\n#define FLT_MAX 1.0f\n#endif\n#ifdef M_PI_F\n#define ADDED 3\n#else\n"
        "#define ADDED 4\n#endif\n#ifndef NULL\n#define NULL 0\n#endif\n"
        "#if INT_MIN < 0\n#define FACTOR 1\n#else\n#define FACTOR 7\n#endif\n"
        "typedef struct { int a; float b; int c[2]; } cell;\n"
        "__kernel void twice(__global cell *cells)\n"
        "{ if (get_global_id(0) > get_global_size(0)) cells[0] = cells[1];\n"
        " cells[get_global_id(0)].c[1] *= FLT_MAX > 1e30f * M_PI_F && cells != NULL ? ADDED * "
        "FACTOR : 5; }\n";
    const size_t count = CELLS;
    cl_int error;
    cl_program made = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &error);
    done(error, "clCreateProgramWithSource");
    done(clBuildProgram(made, 1, &device, "", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = make_kernel(made, "twice", cells);
    done(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL), "launch");
    for (int i = 0; i < CELLS; i++)
        expected[i].c[1] *= 3;
    compare(cells);
}

/* Programs that are built and released again and again leave next to nothing behind. */
void case_many_programs(void)
{
    enum { ROUNDS = 24, WARM = 14, KERNELS = 64, MOST_BYTES = 30000 };
    static char text[KERNELS * 80];
    const char *source = text;
    size_t before = 0;
    cl_int error;
    int length =
        snprintf(text, sizeof text, "typedef struct { int a; float b; int c[2]; } cell;\n");
    for (int i = 0; i < KERNELS; i++)
        length += snprintf(text + length, sizeof text - (size_t)length,
                           "kernel void k%d(global cell *p) { p[get_global_id(0)].a += 1; }\n", i);
    for (int i = 0; i < ROUNDS; i++) {
        cl_program built = clCreateProgramWithSource(context, 1, &source, NULL, &error);
        done(error, "clCreateProgramWithSource");
        /* Every other one of a source of its own. */
        char options[32] = "";
        if (i % 2 != 0)
            snprintf(options, sizeof options, "-DROUND=%d", i);
        done(clBuildProgram(built, 1, &device, options, NULL, NULL), "clBuildProgram");
        cl_kernel kernel = make_kernel(built, "k3", cells);
        add_once(kernel);
        done(clFinish(queue), "clFinish");
        done(clReleaseKernel(kernel), "clReleaseKernel");
        done(clReleaseProgram(built), "clReleaseProgram");
        if (i == WARM)
            before = mallinfo2().uordblks;
    }
    check(mallinfo2().uordblks < before + (size_t)(ROUNDS - 1 - WARM) * MOST_BYTES,
          "each program leaves memory behind");
    compare(cells);
}

/* Files that the program may not write are none that the layer ends it for. */
void case_no_files(void)
{
    struct rlimit limit;
    add_once(make_kernel(program, "add", cells)); /* the driver has its files */
    check(getrlimit(RLIMIT_FSIZE, &limit) == 0, "getrlimit");
    const rlim_t usual = limit.rlim_cur;
    limit.rlim_cur = 0;
    check(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
    nanosleep(&(struct timespec){1, 0}, NULL);
    done(clFinish(queue), "clFinish");
    compare(cells);
    limit.rlim_cur = usual;
    check(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
}

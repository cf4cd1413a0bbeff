/* Adds two plain arrays many times: an OpenCL program whose data already lie well. */
#include "example.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1 << 22 };

int main(int argc, char **argv)
{
    long launches = 800;
    const char *kind = "any";
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            puts("usage: nothing [--launches N] [--device cpu|gpu|any]");
            return EXIT_SUCCESS;
        }
        if (strcmp(argv[i], "--launches") == 0 && i + 1 < argc)
            launches = example_number("--launches", argv[++i], 1, 100000000);
        else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc)
            kind = argv[++i];
        else
            example_fail("nothing: \"%s\" is no option or lacks its value; see nothing --help.",
                         argv[i]);
    }

    float *a = example_allocate(COUNT, sizeof *a);
    float *b = example_allocate(COUNT, sizeof *b);
    float *c = example_allocate(COUNT, sizeof *c);
    for (int i = 0; i < COUNT; i++) {
        a[i] = (float)i;
        b[i] = 1.0f;
    }
    const size_t bytes = COUNT * sizeof(float);
    example_device device = example_open(kind);
    cl_program program = example_build(&device, "nothing.cl", "");
    cl_kernel kernel = example_kernel(program, "add");
    cl_mem buffers[3] = {example_buffer(&device, bytes, a), example_buffer(&device, bytes, b),
                         example_buffer(&device, bytes, NULL)};
    for (cl_uint i = 0; i < 3; i++)
        example_set_argument(kernel, i, sizeof(cl_mem), &buffers[i]);

    const double start = example_clock();
    const size_t global = COUNT;
    for (long i = 0; i < launches; i++)
        example_check(
            clEnqueueNDRangeKernel(device.queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL),
            "clEnqueueNDRangeKernel");
    example_check(clFinish(device.queue), "clFinish");
    const double seconds = example_clock() - start;
    example_read(&device, buffers[2], bytes, c);

    printf("launches         %ld in %.3f s, %.1f us each\n", launches, seconds,
           seconds / (double)launches * 1e6);
    for (int i = 0; i < COUNT; i++)
        if (c[i] != a[i] + b[i])
            example_fail("nothing: element %d is wrong.", i);

    for (int i = 0; i < 3; i++)
        example_check(clReleaseMemObject(buffers[i]), "clReleaseMemObject");
    example_check(clReleaseKernel(kernel), "clReleaseKernel");
    example_check(clReleaseProgram(program), "clReleaseProgram");
    example_close(&device);
    free(a);
    free(b);
    free(c);
    return EXIT_SUCCESS;
}

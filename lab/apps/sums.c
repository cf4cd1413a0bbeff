/* Structures of --width floats, all of them read and written by each launch. */
#include "app.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
    const app_options options = app_read_options(
        argc, argv,
        (app_options){.count = 1 << 20, .width = 16, .iterations = 20, .device = "any"});
    const size_t words = options.count * options.width, bytes = words * sizeof(float);
    float *aos = example_allocate(words, sizeof(float));
    float *data = example_allocate(words, sizeof(float));
    for (size_t i = 0; i < words; i++)
        aos[i] = (float)(i * 2654435761u % 1000);
    app_to_layout(&options, options.width, (const uint32_t *)aos, (uint32_t *)data);

    example_device device = app_open(&options);
    cl_program program = example_build(&device, "sums.cl", app_build_options(&options));
    cl_kernel kernel = example_kernel(program, "blend");
    cl_mem buffer = example_buffer(&device, bytes, data);
    const cl_ulong count = options.count;
    example_set_argument(kernel, 0, sizeof buffer, &buffer);
    example_set_argument(kernel, 1, sizeof count, &count);
    const app_times times = app_launch(&options, &device, kernel, options.count, NULL, NULL);
    example_read(&device, buffer, bytes, data);
    app_from_layout(&options, options.width, (const uint32_t *)data, (uint32_t *)aos);
    app_print("sums", &options, &times, 2.0 * (double)bytes, aos, bytes);

    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    example_close(&device);
    free(times.seconds);
    free(aos);
    free(data);
    return EXIT_SUCCESS;
}

/* Black-Scholes on structures of five floats (thesis, section 5.6). */
#include "app.h"

#include <stdlib.h>

enum { WIDTH = 5 };

int main(int argc, char **argv)
{
    app_options options = app_read_options(
        argc, argv, (app_options){.count = 1 << 22, .iterations = 30, .device = "any"});
    options.width = WIDTH;
    const size_t words = options.count * WIDTH, bytes = words * sizeof(float);
    float *aos = example_allocate(words, sizeof(float));
    float *data = example_allocate(words, sizeof(float));
    for (size_t i = 0; i < options.count; i++) {
        aos[i * WIDTH] = 5.0f + (float)(i * 2654435761u % 2500) / 100.0f;
        aos[i * WIDTH + 1] = 1.0f + (float)(i * 40503u % 9900) / 100.0f;
        aos[i * WIDTH + 2] = 0.25f + (float)(i % 975) / 100.0f;
    }
    app_to_layout(&options, WIDTH, (const uint32_t *)aos, (uint32_t *)data);

    example_device device = app_open(&options);
    cl_program program = example_build(&device, "blackscholes.cl", app_build_options(&options));
    cl_kernel kernel = example_kernel(program, "value");
    cl_mem buffer = example_buffer(&device, bytes, data);
    const cl_ulong count = options.count;
    const float rate = 0.02f, volatility = 0.3f;
    example_set_argument(kernel, 0, sizeof buffer, &buffer);
    example_set_argument(kernel, 1, sizeof count, &count);
    example_set_argument(kernel, 2, sizeof rate, &rate);
    example_set_argument(kernel, 3, sizeof volatility, &volatility);
    const app_times times = app_launch(&options, &device, kernel, options.count, NULL, NULL);
    example_read(&device, buffer, bytes, data);
    app_from_layout(&options, WIDTH, (const uint32_t *)data, (uint32_t *)aos);
    app_print("blackscholes", &options, &times, (double)bytes, aos, bytes);

    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    example_close(&device);
    free(times.seconds);
    free(aos);
    free(data);
    return EXIT_SUCCESS;
}

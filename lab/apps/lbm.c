/*
 * Flow in a box whose lid moves: D3Q19 lattice-Boltzmann (thesis, section 5.6), 120 x 120 x 150
 * cells as in Parboil's data set; --width 1 to 8 divides each side by so much. --input reads
 * Parboil's map of obstacles.
 */
#include "app.h"

#include <stdio.h>
#include <stdlib.h>

enum { FLUID, SOLID, LID, DIRECTIONS = 19, WIDTH };

typedef struct {
    float f[DIRECTIONS];
    uint32_t flags;
} cell;

static int nx = 120, ny = 120, nz = 150;

static void fill(cell *cells, const char *obstacles)
{
    static const float weights[3] = {1.0f / 3.0f, 1.0f / 18.0f, 1.0f / 36.0f};
    FILE *file = obstacles != NULL ? fopen(obstacles, "r") : NULL;
    if (obstacles != NULL && file == NULL)
        example_fail("%s could not be opened.", obstacles);
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++) {
                cell *here = &cells[((size_t)z * (size_t)ny + (size_t)y) * (size_t)nx + (size_t)x];
                char mark = '.';
                for (int q = 0; q < DIRECTIONS; q++)
                    here->f[q] = weights[q == 0 ? 0 : q < 7 ? 1 : 2];
                if (file != NULL && fscanf(file, " %c", &mark) != 1)
                    example_fail("%s ends too early.", obstacles);
                if (mark != '.' || x == 0 || x == nx - 1 || y == 0 || y == ny - 1 || z == 0 ||
                    z == nz - 1)
                    here->flags = SOLID;
                else if (z == nz - 2)
                    here->flags = LID;
            }
    if (file != NULL)
        fclose(file);
}

typedef struct {
    cl_kernel kernel;
    cl_mem lattices[2];
} flow;

static void swap(int iteration, void *data)
{
    flow *f = data;
    example_set_argument(f->kernel, 0, sizeof(cl_mem), &f->lattices[iteration % 2]);
    example_set_argument(f->kernel, 1, sizeof(cl_mem), &f->lattices[1 - iteration % 2]);
}

int main(int argc, char **argv)
{
    app_options options =
        app_read_options(argc, argv, (app_options){.width = 1, .iterations = 30, .device = "any"});
    nx /= (int)options.width;
    ny /= (int)options.width;
    nz /= (int)options.width;
    const size_t cells_count = (size_t)nx * (size_t)ny * (size_t)nz;
    options.width = WIDTH;
    options.count = (cells_count + APP_TILE - 1) / APP_TILE * APP_TILE;
    const size_t bytes = options.count * sizeof(cell);
    cell *cells = example_allocate(options.count, sizeof(cell));
    uint32_t *data = example_allocate(options.count, sizeof(cell));
    fill(cells, options.input);
    app_to_layout(&options, WIDTH, (const uint32_t *)cells, data);

    example_device device = app_open(&options);
    cl_program program = example_build(&device, "lbm.cl", app_build_options(&options));
    flow f = {
        .kernel = example_kernel(program, "step_cells"),
        .lattices = {example_buffer(&device, bytes, data), example_buffer(&device, bytes, data)}};
    const cl_ulong count = options.count;
    const float omega = 1.6f, lid_velocity = 0.1f;
    const int *const sides[] = {&nx, &ny, &nz};
    example_set_argument(f.kernel, 2, sizeof count, &count);
    for (cl_uint i = 0; i < 3; i++)
        example_set_argument(f.kernel, 3 + i, sizeof(int), sides[i]);
    example_set_argument(f.kernel, 6, sizeof omega, &omega);
    example_set_argument(f.kernel, 7, sizeof lid_velocity, &lid_velocity);
    const app_times times = app_launch(&options, &device, f.kernel, options.count, swap, &f);
    example_read(&device, f.lattices[options.iterations % 2], bytes, data);
    app_from_layout(&options, WIDTH, data, (uint32_t *)cells);
    app_print("lbm", &options, &times, 2.0 * (double)bytes, cells, cells_count * sizeof(cell));

    clReleaseMemObject(f.lattices[0]);
    clReleaseMemObject(f.lattices[1]);
    clReleaseKernel(f.kernel);
    clReleaseProgram(program);
    example_close(&device);
    free(times.seconds);
    free(cells);
    free(data);
    return EXIT_SUCCESS;
}

/*
 * Flow in a box whose lid moves: the D3Q19 lattice-Boltzmann method with BGK collisions, on any
 * OpenCL device.
 *
 * The lattice is an array of structures, one structure a cell: 19 populations and a word of flags.
 * Two lattices take turns as source and destination.
 */
#include "example.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The same as in lbm.cl: C centre; N and S along y, E and W along x, T and B along z. */
enum { C, N, S, E, W, T, B, NE, NW, SE, SW, NT, NB, ST, SB, ET, EB, WT, WB, DIRECTIONS };
enum { FLUID, SOLID, LID };

typedef struct {
    cl_float f[DIRECTIONS];
    cl_uint flags;
} cell;

static const struct {
    int x, y, z;
} directions[DIRECTIONS] = {
    [C] = {0, 0, 0},    [N] = {0, 1, 0},   [S] = {0, -1, 0},  [E] = {1, 0, 0},   [W] = {-1, 0, 0},
    [T] = {0, 0, 1},    [B] = {0, 0, -1},  [NE] = {1, 1, 0},  [NW] = {-1, 1, 0}, [SE] = {1, -1, 0},
    [SW] = {-1, -1, 0}, [NT] = {0, 1, 1},  [NB] = {0, 1, -1}, [ST] = {0, -1, 1}, [SB] = {0, -1, -1},
    [ET] = {1, 0, 1},   [EB] = {1, 0, -1}, [WT] = {-1, 0, 1}, [WB] = {-1, 0, -1}};

static const float omega = 1.6f;        /* relaxation rate, between 0 and 2 */
static const float lid_velocity = 0.1f; /* lattice units: cells a step */

typedef struct {
    int nx, ny, nz;
    int steps;
    const char *device;
    const char *output;
    const char *dump;
    const char *obstacles;
} settings;

static const char usage[] =
    "usage: lbm [OPTIONS]...\n"
    "  --size N | NX NY NZ   cells along each side (64)\n"
    "  --steps N             time steps (200)\n"
    "  --device KIND         cpu, gpu or any (any)\n"
    "  --obstacles FILE      solid cells: NX*NY*NZ characters, x fastest, '.' is free, spaces do "
    "not count\n"
    "  --output FILE         picture of the speed in the middle plane, FILE.ppm or FILE.pgm\n"
    "  --dump FILE           the final cells, byte for byte\n";

static settings read_settings(int argc, char **argv)
{
    settings s = {.nx = 64, .ny = 64, .nz = 64, .steps = 200, .device = "any"};
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i];
        if (strcmp(option, "--help") == 0) {
            fputs(usage, stdout);
            exit(EXIT_SUCCESS);
        }
        if (i + 1 == argc)
            example_fail("lbm: \"%s\" is no option or lacks its value; lbm --help lists them.",
                         option);
        const char *value = argv[++i];
        if (strcmp(option, "--size") == 0) {
            s.nx = s.ny = s.nz = (int)example_number(option, value, 4, 4096);
            if (i + 2 < argc && argv[i + 1][0] != '-') {
                s.ny = (int)example_number(option, argv[++i], 4, 4096);
                s.nz = (int)example_number(option, argv[++i], 4, 4096);
            }
        } else if (strcmp(option, "--steps") == 0) {
            s.steps = (int)example_number(option, value, 1, 1000000);
        } else if (strcmp(option, "--device") == 0) {
            s.device = value;
        } else if (strcmp(option, "--obstacles") == 0) {
            s.obstacles = value;
        } else if (strcmp(option, "--output") == 0) {
            s.output = value;
        } else if (strcmp(option, "--dump") == 0) {
            s.dump = value;
        } else {
            example_fail("lbm: \"%s\" is no option; lbm --help lists them.", option);
        }
    }
    return s;
}

static size_t cell_count(const settings *s)
{
    return (size_t)s->nx * (size_t)s->ny * (size_t)s->nz;
}

static size_t cell_index(const settings *s, int x, int y, int z)
{
    return ((size_t)z * (size_t)s->ny + (size_t)y) * (size_t)s->nx + (size_t)x;
}

static void load_obstacles(const settings *s, cell *cells)
{
    FILE *file = fopen(s->obstacles, "r");
    if (!file)
        example_fail("lbm: %s could not be opened.", s->obstacles);
    for (size_t i = 0; i < cell_count(s); i++) {
        char mark;
        if (fscanf(file, " %c", &mark) != 1)
            example_fail(
                "lbm: %s ends after %zu cells, but the lattice has %d x %d x %d; set --size.",
                s->obstacles, i, s->nx, s->ny, s->nz);
        if (mark != '.')
            cells[i].flags = SOLID;
    }
    fclose(file);
}

/* A fluid at rest in a solid box; the layer of cells below the top moves. */
static void fill_lattice(const settings *s, cell *cells)
{
    static const float weights[] = {1.0f / 3.0f, 1.0f / 18.0f, 1.0f / 36.0f};
    cell resting = {.flags = FLUID};
    for (int q = 0; q < DIRECTIONS; q++)
        resting.f[q] = weights[abs(directions[q].x) + abs(directions[q].y) + abs(directions[q].z)];
    for (int z = 0; z < s->nz; z++)
        for (int y = 0; y < s->ny; y++)
            for (int x = 0; x < s->nx; x++) {
                cell *here = &cells[cell_index(s, x, y, z)];
                *here = resting;
                if (x == 0 || x == s->nx - 1 || y == 0 || y == s->ny - 1 || z == 0 ||
                    z == s->nz - 1)
                    here->flags = SOLID;
                else if (z == s->nz - 2)
                    here->flags = LID;
            }
    if (s->obstacles)
        load_obstacles(s, cells);
}

static double total_mass(const settings *s, const cell *cells)
{
    double mass = 0;
    for (size_t i = 0; i < cell_count(s); i++)
        for (int q = 0; q < DIRECTIONS; q++)
            mass += (double)cells[i].f[q];
    return mass;
}

static double speed(const cell *here)
{
    double rho = 0, ux = 0, uy = 0, uz = 0;
    if (here->flags == SOLID)
        return 0;
    for (int q = 0; q < DIRECTIONS; q++) {
        const double f = (double)here->f[q];
        rho += f;
        ux += f * directions[q].x;
        uy += f * directions[q].y;
        uz += f * directions[q].z;
    }
    return sqrt(ux * ux + uy * uy + uz * uz) / rho;
}

/* The speed in the plane y = ny/2, seen from the side, the lid at the top: dark blue is at rest,
 * yellow moves fastest. */
static void write_picture(const settings *s, const cell *cells)
{
    static const double colours[5][3] = {
        {24, 20, 66}, {46, 80, 140}, {32, 144, 140}, {110, 206, 88}, {253, 231, 37}};
    const size_t length = strlen(s->output);
    const int grey = length > 4 && strcmp(s->output + length - 4, ".pgm") == 0;
    const size_t header_room = 64;
    const size_t pixels = (size_t)s->nx * (size_t)s->nz;
    unsigned char *image = example_allocate(header_room + 3 * pixels, 1);
    size_t size = (size_t)snprintf((char *)image, header_room, "P%d\n%d %d\n255\n", grey ? 5 : 6,
                                   s->nx, s->nz);
    double fastest = 1e-30;
    for (int z = 0; z < s->nz; z++)
        for (int x = 0; x < s->nx; x++)
            fastest = fmax(fastest, speed(&cells[cell_index(s, x, s->ny / 2, z)]));
    for (int z = s->nz - 1; z >= 0; z--)
        for (int x = 0; x < s->nx; x++) {
            /* The square root shows the slow vortex below the fast lid. */
            const double level =
                sqrt(speed(&cells[cell_index(s, x, s->ny / 2, z)]) / fastest) * 4 * 0.999999;
            const int low = (int)level;
            const double part = level - low;
            if (grey) {
                image[size++] = (unsigned char)(level / 4 * 255);
                continue;
            }
            for (int channel = 0; channel < 3; channel++)
                image[size++] = (unsigned char)(colours[low][channel] * (1 - part) +
                                                colours[low + 1][channel] * part);
        }
    example_write_file(s->output, image, size);
    free(image);
}

static size_t round_up(int value, size_t step)
{
    return ((size_t)value + step - 1) / step * step;
}

/* Correctly rounded division where the device has it, so that devices agree with one another. */
static const char *build_options(const example_device *device)
{
    cl_device_fp_config config;
    example_check(
        clGetDeviceInfo(device->device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL),
        "clGetDeviceInfo");
    return config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT ? "-cl-fp32-correctly-rounded-divide-sqrt"
                                                        : "";
}

/* Runs all steps on the lattices; lattices[0] is the source of the first. Returns the seconds spent
 * in kernels. */
static double run_steps(const settings *s, const example_device *device, cl_kernel kernel,
                        cl_mem lattices[2])
{
    const size_t local[3] = {32, 2, 1};
    const size_t global[3] = {round_up(s->nx, local[0]), round_up(s->ny, local[1]), (size_t)s->nz};
    cl_event *events = example_allocate((size_t)s->steps, sizeof(cl_event));
    example_set_argument(kernel, 2, sizeof(int), &s->nx);
    example_set_argument(kernel, 3, sizeof(int), &s->ny);
    example_set_argument(kernel, 4, sizeof(int), &s->nz);
    example_set_argument(kernel, 5, sizeof(float), &omega);
    example_set_argument(kernel, 6, sizeof(float), &lid_velocity);
    for (int step = 0; step < s->steps; step++) {
        example_set_argument(kernel, 0, sizeof(cl_mem), &lattices[step % 2]);
        example_set_argument(kernel, 1, sizeof(cl_mem), &lattices[1 - step % 2]);
        example_check(clEnqueueNDRangeKernel(device->queue, kernel, 3, NULL, global, local, 0, NULL,
                                             &events[step]),
                      "clEnqueueNDRangeKernel");
    }
    example_check(clFinish(device->queue), "clFinish");
    double seconds = 0;
    for (int step = 0; step < s->steps; step++) {
        seconds += example_event_seconds(events[step]);
        example_check(clReleaseEvent(events[step]), "clReleaseEvent");
    }
    free(events);
    return seconds;
}

int main(int argc, char **argv)
{
    const settings s = read_settings(argc, argv);
    const size_t bytes = cell_count(&s) * sizeof(cell);
    cell *cells = example_allocate(cell_count(&s), sizeof(cell));
    fill_lattice(&s, cells);
    const double mass_before = total_mass(&s, cells);

    example_device device = example_open(s.device);
    cl_program program = example_build(&device, "lbm.cl", build_options(&device));
    cl_kernel kernel = example_kernel(program, "step_cells");
    cl_mem lattices[2] = {example_buffer(&device, bytes, cells),
                          example_buffer(&device, bytes, NULL)};

    const double start = example_clock();
    const double kernel_seconds = run_steps(&s, &device, kernel, lattices);
    const double loop_seconds = example_clock() - start;
    example_read(&device, lattices[s.steps % 2], bytes, cells);

    const double updates = (double)cell_count(&s) * s.steps;
    const double drift = total_mass(&s, cells) / mass_before - 1;
    printf("lattice          %d x %d x %d cells of %zu bytes\n", s.nx, s.ny, s.nz, sizeof(cell));
    printf("steps            %d in %.3f s, of which %.3f s in kernels\n", s.steps, loop_seconds,
           kernel_seconds);
    printf("lattice updates  %.1f million a second\n", updates / loop_seconds * 1e-6);
    printf("total mass       %.6f, changed by a part of %.1e\n", mass_before * (1 + drift), drift);
    if (!(fabs(drift) < 1e-3))
        example_fail("lbm: mass was not conserved, so the result is wrong.");
    if (s.output)
        write_picture(&s, cells);
    if (s.dump)
        example_write_file(s.dump, cells, bytes);

    example_check(clReleaseMemObject(lattices[0]), "clReleaseMemObject");
    example_check(clReleaseMemObject(lattices[1]), "clReleaseMemObject");
    example_check(clReleaseKernel(kernel), "clReleaseKernel");
    example_check(clReleaseProgram(program), "clReleaseProgram");
    example_close(&device);
    free(cells);
    return EXIT_SUCCESS;
}

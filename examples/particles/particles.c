/*
 * Particles in a box, on any OpenCL device with double precision: one array of structures with
 * members of several sizes, and four kernels over it.
 */
#include "example.h"
#include "particle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 16, GROUP = 64 };

typedef struct {
    cl_uint count;
    long steps;
    const char *device;
    const char *dump;
} settings;

static const char usage[] = "usage: particles [OPTIONS]...\n"
                            "  --count N      particles (100003)\n"
                            "  --steps N      time steps (100)\n"
                            "  --device KIND  cpu, gpu or any (any)\n"
                            "  --dump FILE    the final particles and their bins, byte for byte\n";

static settings read_settings(int argc, char **argv)
{
    settings s = {.count = 100003, .steps = 100, .device = "any"};
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i];
        if (strcmp(option, "--help") == 0) {
            fputs(usage, stdout);
            exit(EXIT_SUCCESS);
        }
        const char *value = i + 1 < argc ? argv[++i] : NULL;
        if (value && strcmp(option, "--count") == 0)
            s.count = (cl_uint)example_number(option, value, 1, 1L << 30);
        else if (value && strcmp(option, "--steps") == 0)
            s.steps = example_number(option, value, 1, 1000000);
        else if (value && strcmp(option, "--device") == 0)
            s.device = value;
        else if (value && strcmp(option, "--dump") == 0)
            s.dump = value;
        else
            example_fail("particles: \"%s\" is no option or lacks its value; see particles --help.",
                         option);
    }
    return s;
}

/* The same numbers in [0, 1) on every machine: a linear congruential generator (Numerical Recipes,
 * section 7.1). */
static float next_random(cl_uint *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / 16777216.0f;
}

static particle *make_particles(const settings *s)
{
    particle *particles = example_allocate(s->count, sizeof(particle));
    cl_uint state = 12345;
    for (cl_uint i = 0; i < s->count; i++) {
        particle *p = &particles[i];
        p->kind = (cl_char)(i % 2);
        p->mass = p->kind == 0 ? 4.0 : 1.0;
        for (int axis = 0; axis < 3; axis++) {
            p->position[axis] = next_random(&state);
            p->velocity[axis] = next_random(&state) - 0.5f;
        }
    }
    return particles;
}

static void require_double(const example_device *device)
{
    cl_device_fp_config config = 0;
    if (clGetDeviceInfo(device->device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof config, &config, NULL) !=
            CL_SUCCESS ||
        config == 0)
        example_fail("particles: this device has no double precision (cl_khr_fp64); choose another "
                     "with --device.");
}

/* Sets the arguments in order, from (size, pointer) pairs, and launches over `count` items rounded
 * up to groups. */
typedef struct {
    size_t size;
    const void *value;
} argument;

/* Sets the arguments in order and launches `count` work items, rounded up to whole groups. */
static void launch(const example_device *device, cl_kernel kernel, cl_uint count,
                   const argument *arguments, cl_uint argument_count)
{
    const size_t local = GROUP;
    const size_t global = (count + local - 1) / local * local;
    for (cl_uint i = 0; i < argument_count; i++)
        example_set_argument(kernel, i, arguments[i].size, arguments[i].value);
    example_check(
        clEnqueueNDRangeKernel(device->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL),
        "clEnqueueNDRangeKernel");
}

static const char *const kernel_names[] = {"advance", "find_bins", "sum_groups", "fingerprint"};
enum { ADVANCE, FIND_BINS, SUM_GROUPS, FINGERPRINT, KERNEL_COUNT };

/* What the program computes, copied to the host. */
typedef struct {
    size_t group_count;
    particle *particles;
    cl_uint *keys;
    cl_uint *hashes;
    cl_double *energies;
    cl_int *bounces;
} results;

static void simulate(const settings *s, const example_device *device, cl_kernel *kernels,
                     results *r)
{
    const size_t particle_bytes = s->count * sizeof(particle);
    const size_t word_bytes = s->count * sizeof(cl_uint);
    cl_mem particles[2] = {example_buffer(device, particle_bytes, r->particles),
                           example_buffer(device, particle_bytes, r->particles)};
    cl_mem keys = example_buffer(device, word_bytes, NULL);
    cl_mem hashes = example_buffer(device, word_bytes, NULL);
    cl_mem energies = example_buffer(device, r->group_count * sizeof(cl_double), NULL);
    cl_mem bounces = example_buffer(device, r->group_count * sizeof(cl_int), NULL);
    const cl_float time_step = 0.01f;
    const argument count = {sizeof s->count, &s->count};

    for (long step = 0; step < s->steps; step++)
        launch(device, kernels[ADVANCE], s->count,
               (argument[]){{sizeof(cl_mem), &particles[step % 2]},
                            {sizeof(cl_mem), &particles[1 - step % 2]},
                            count,
                            {sizeof time_step, &time_step}},
               4);
    const argument last = {sizeof(cl_mem), &particles[s->steps % 2]};
    launch(device, kernels[FIND_BINS], s->count, (argument[]){last, count, {sizeof(cl_mem), &keys}},
           3);
    launch(device, kernels[SUM_GROUPS], s->count,
           (argument[]){last, count, {sizeof(cl_mem), &energies}, {sizeof(cl_mem), &bounces}}, 4);
    launch(device, kernels[FINGERPRINT], s->count,
           (argument[]){last, count, {sizeof(cl_mem), &hashes}}, 3);

    example_read(device, particles[s->steps % 2], particle_bytes, r->particles);
    example_read(device, keys, word_bytes, r->keys);
    example_read(device, hashes, word_bytes, r->hashes);
    example_read(device, energies, r->group_count * sizeof(cl_double), r->energies);
    example_read(device, bounces, r->group_count * sizeof(cl_int), r->bounces);
    const cl_mem buffers[] = {particles[0], particles[1], keys, hashes, energies, bounces};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        example_check(clReleaseMemObject(buffers[i]), "clReleaseMemObject");
}

/* C leaves the value of padding open, so the file gets particles whose padding is zero. */
static void dump_results(const settings *s, const results *r)
{
    const size_t size = s->count * (sizeof(particle) + sizeof(cl_uint));
    char *bytes = example_allocate(size, 1);
    particle *clean = (particle *)bytes;
    for (cl_uint i = 0; i < s->count; i++) {
        const particle *p = &r->particles[i];
        clean[i].kind = p->kind;
        memcpy(clean[i].position, p->position, sizeof p->position);
        clean[i].mass = p->mass;
        memcpy(clean[i].velocity, p->velocity, sizeof p->velocity);
        clean[i].bounces = p->bounces;
        clean[i].marked = p->marked;
    }
    memcpy(bytes + s->count * sizeof(particle), r->keys, s->count * sizeof(cl_uint));
    example_write_file(s->dump, bytes, size);
    free(bytes);
}

int main(int argc, char **argv)
{
    const settings s = read_settings(argc, argv);
    results r = {.group_count = (s.count + GROUP - 1) / GROUP, .particles = make_particles(&s)};
    r.keys = example_allocate(s.count, sizeof *r.keys);
    r.hashes = example_allocate(s.count, sizeof *r.hashes);
    r.energies = example_allocate(r.group_count, sizeof *r.energies);
    r.bounces = example_allocate(r.group_count, sizeof *r.bounces);

    example_device device = example_open(s.device);
    require_double(&device);
    char options[8192];
    snprintf(options, sizeof options, "-DBINS=%d -D GROUP=%d -I %s", BINS, GROUP, example_folder());
    cl_program program = example_build(&device, "particles.cl", options);
    cl_kernel kernels[KERNEL_COUNT];
    for (int i = 0; i < KERNEL_COUNT; i++)
        kernels[i] = example_kernel(program, kernel_names[i]);

    const double start = example_clock();
    simulate(&s, &device, kernels, &r);
    const double seconds = example_clock() - start;

    double energy = 0;
    long bounces = 0;
    for (size_t i = 0; i < r.group_count; i++) {
        energy += r.energies[i];
        bounces += r.bounces[i];
    }
    cl_uint checksum = 0;
    for (cl_uint i = 0; i < s.count; i++)
        checksum = checksum * 31 + r.hashes[i] + r.keys[i];
    printf("particles        %u of %zu bytes\n", s.count, sizeof(particle));
    printf("steps            %ld in %.3f s\n", s.steps, seconds);
    printf("kinetic energy   %.9f\n", energy);
    printf("wall contacts    %ld\n", bounces);
    printf("checksum         %08x\n", checksum);
    if (s.dump)
        dump_results(&s, &r);

    for (int i = 0; i < KERNEL_COUNT; i++)
        example_check(clReleaseKernel(kernels[i]), "clReleaseKernel");
    example_check(clReleaseProgram(program), "clReleaseProgram");
    example_close(&device);
    free(r.particles);
    free(r.keys);
    free(r.hashes);
    free(r.energies);
    free(r.bounces);
    return EXIT_SUCCESS;
}

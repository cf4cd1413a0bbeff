/*
 * An OpenCL program with one case for each unusual way to use the interface. Each knows its result;
 * test_layer.c says which of them must run in another layout.
 */
#ifndef RS_TESTS_CASES_H
#define RS_TESTS_CASES_H

#include <CL/cl.h>

typedef struct {
    int a;
    float b;
    int c[2];
} cell;

enum { CELLS = 1000, LACKS = 77 };

static const char cell_source[] =
    "typedef struct { int a; float b; int c[2]; } cell;\n"
    "__kernel void add(__global cell *cells) { cells[get_global_id(0)].a += 1; }\n"
    "__kernel void twice(__global cell *cells) { cells[get_global_id(0)].c[1] *= 2; }\n";

/* Each case finds these made, with the program of `cell_source` built. */
extern cl_platform_id platform;
extern cl_device_id device;
extern cl_context context;
extern cl_command_queue queue;
extern cl_program program;
extern cl_mem cells;
extern cell expected[CELLS]; /* what they should have */

/* End the program if something is not right. */
void check(int right, const char *what);
void done(cl_int error, const char *what);

/* Those that need as many bytes as `expected`. */
cl_mem make_cells(cl_mem_flags flags, void *host);
int as_expected(const void *bytes);
void compare(cl_mem buffer);

/* With the buffer as its argument. */
cl_kernel make_kernel(cl_program from, const char *name, cl_mem buffer);

void launch_on(cl_command_queue on, cl_kernel kernel, cl_event wait, cl_event *event);

/* Launches a kernel that adds one to all `cells`, which are then expected so. */
void add_once(cl_kernel kernel);

void case_user_event(void);
void case_held_and_slow(void);
void case_released_queue(void);
void case_many_queues(void);
void case_profiling(void);
void case_refused_native(void);
void case_many_programs(void);
void case_no_files(void);
void case_released_user_event(void);
void case_forgotten_user_event(void);
void case_kernels_in_program(void);
void case_clone(void);
void case_queries(void);
void case_references(void);
void case_several_devices(void);
void case_unequal_devices(void);
void case_views(void);
void case_view_beside_parent(void);
void case_compile_and_link(void);
void case_link_two(void);
void case_link_options(void);
void case_header_program(void);
void case_built_in(void);
void case_il_of_source(void);
void case_of_file(void);
void case_refused_build(void);
void case_notified_build(void);
void case_notified_link(void);
void case_binary(void);
void case_binary_to_file(void);
void case_binary_from_file(void);
void case_il(void);
void case_svm(void);
void case_host_pointer(void);
void case_image(void);
void case_extension(void);
void case_leak(void);
void case_threads(void);
void case_gpu_only(void);
void case_in_place(void);
void case_thread_ends(void);
void case_far_work_items(void);
void case_full_tiles(void);
void case_constant_macros(void);

#endif

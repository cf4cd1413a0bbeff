/* What `restride sim` reports of each layout, and how it runs a kernel of the user. */
#ifndef RS_CLI_SIM_H
#define RS_CLI_SIM_H

#include "base/text.h"
#include "layout/record.h"
#include "sim/memory.h"

#include <stdio.h>

/* What one layout did. */
typedef struct {
    const char *layout;
    rs_sim_counts counts;
    double *load; /* of each channel: requests */
} rs_sim_result;

typedef struct {
    const rs_sim_device *device;
    const char *key; /* of what was simulated, in JSON: "dims" or "kernel" */
    const char *subject;
    rs_sim_result *results;
    size_t count; /* 1 to RS_SIM_MOST_LAYOUTS */
} rs_sim_report;

enum { RS_SIM_MOST_LAYOUTS = 16 };

/* The device and the forms of the report that the user asked for; NULL and false: not that one. */
typedef struct {
    const char *device; /* a name or a file */
    const char *svg;
    const char *html;
    bool json;
} rs_sim_forms;

/* The rows of a table of options for them, which lie in the member `forms` of `structure`. */
#define RS_SIM_FORM_OPTIONS(structure)                                                             \
    {RS_CLI_TEXT("device", structure, forms.device)}, {RS_CLI_TEXT("svg", structure, forms.svg)},  \
        {RS_CLI_TEXT("html", structure, forms.html)},                                              \
    {                                                                                              \
        RS_CLI_FLAG("json", structure, forms.json)                                                 \
    }

/* Finishes the memory's run and takes its counts; the caller frees result->load. */
restride_status rs_sim_take_result(rs_sim_result *result, rs_sim_memory *memory);

/* Writes the files, then prints the table or JSON; the exit status. */
int rs_sim_write_report(const rs_sim_report *report, const rs_sim_forms *forms);

/* ---- a kernel's parameters, as the rewriter's libclang tells them, and their values ---- */

enum { RS_SIM_MOST_PARAMETERS = 64 };

typedef enum { RS_SIM_VALUE, RS_SIM_BUFFER, RS_SIM_LOCAL } rs_sim_parameter_kind;

typedef struct {
    char *name;
    char *type;   /* of the value or of an element; "" for a structure */
    size_t bytes; /* likewise */
    rs_sim_parameter_kind place;
    bool has_record; /* the elements are structures whose members are known */
    rs_record record;
    /* The value: bytes to start with, or zeros when NULL; of local memory only their number. */
    bool given;
    size_t size;
    unsigned char *data;
} rs_sim_parameter;

typedef struct {
    char *kernel;
    rs_sim_parameter parameters[RS_SIM_MOST_PARAMETERS];
    size_t count;
} rs_sim_signature;

/* Reads the signature of `kernel`, or of the only one in the file when it is NULL; `options` are
 * the compiler's. The caller frees the signature, also on failure. */
restride_status rs_sim_signature_read(rs_sim_signature *signature, const char *file,
                                      const char *kernel, char *const options[],
                                      size_t option_count);
void rs_sim_signature_free(rs_sim_signature *signature);

/* NULL, with a sentence, when the kernel has no such parameter. */
rs_sim_parameter *rs_sim_find_parameter(rs_sim_signature *signature, const char *name,
                                        size_t length);

/*
 * Gives a parameter its value, as written behind "NAME: ":
 *     5, -1, 0.5        a number; of a vector as many as it has, or one for all
 *     N                 a buffer or local memory of N elements, zeros
 *     N counting        0, 1, 2, ...
 *     N random M        whole numbers below M, always the same
 *     @FILE             the bytes of a file; of a .npy file those of its array
 */
restride_status rs_sim_give(rs_sim_parameter *parameter, const char *value);

/* A buffer of zeros. */
restride_status rs_sim_give_zeros(rs_sim_parameter *parameter, size_t elements);

/* ---- a kernel that runs in Oclgrind, with the recorder that writes down its accesses ---- */

typedef struct {
    const char *file;
    const rs_sim_signature *signature; /* every parameter is given */
    size_t global[3];
    size_t local[3];
    char *const *options; /* the compiler's */
    size_t option_count;
} rs_sim_launch;

typedef struct rs_sim_running rs_sim_running;

/* Starts it; the recording is read from *stream (sim/trace.h) while it runs. */
restride_status rs_sim_launch_start(rs_sim_running **running, const rs_sim_launch *launch,
                                    FILE **stream);

/* Waits for the end, and adds to the sentence of a failure what Oclgrind has to say. `status` is
 * that of reading the recording; returned, unless the launch itself failed. */
restride_status rs_sim_launch_end(rs_sim_running *running, restride_status status);

/* restride sim KERNEL.cl: recorded once and replayed in each layout. argv[1] is the file. Returns
 * the exit status. */
int rs_sim_kernel_verb(int argc, char **argv);

#endif

/* What `restride reorder` works with: plans made on the host or on a device, used in the same way,
 * and the picture of one. */
#ifndef RS_CLI_REORDER_H
#define RS_CLI_REORDER_H

#include "restride/irregular_device.h"

#include <stdbool.h>
#include <stddef.h>

/* By the numbers of restride_irregular_method. */
enum { RS_REORDER_METHODS = RESTRIDE_IRREGULAR_APPROXIMATION + 1 };
typedef struct {
    const char *name;
    bool moves_threads;
    bool on_devices;
} rs_reorder_method;
extern const rs_reorder_method rs_reorder_methods[RS_REORDER_METHODS];

/* Where plans for one reference are made. */
typedef struct {
    restride_engine *engine; /* NULL: the host */
    restride_launch launch;
    restride_reference reference; /* its index array is in host memory */
    void *index;                  /* the same on the device */
} rs_reorder_place;

typedef struct {
    const rs_reorder_place *place;
    restride_irregular *on_host;
    restride_irregular_device *on_device; /* one of the two is NULL */
    restride_irregular_method method;
    bool moves_threads;
    size_t slots;
    restride_irregular_facts facts;
    double seconds; /* that the making took; the first on a device builds its kernels, too */
} rs_reorder_plan;

/* `engine` and `device` as in rs_cli_open_engine(). The index array must live as long. */
restride_status rs_reorder_open(rs_reorder_place *place, const char *engine, const char *device,
                                const restride_launch *launch, const restride_reference *reference);
void rs_reorder_close(rs_reorder_place *place);

restride_status rs_reorder_make(rs_reorder_plan *plan, const rs_reorder_place *place,
                                const restride_irregular_options *how);
void rs_reorder_free(rs_reorder_plan *plan);

/* As restride_irregular_index(), _order() and _gather(): arrays in host memory. */
restride_status rs_reorder_index(const rs_reorder_plan *plan, void *index);
restride_status rs_reorder_order(const rs_reorder_plan *plan, size_t order[]);
restride_status rs_reorder_gather(const rs_reorder_plan *plan, const void *array, void *slots);

/* Writes an SVG document: the memory segments that some of the warps touch, before and after. */
restride_status rs_reorder_draw(const rs_reorder_plan *plan, const char *path);

/* A plan as the report tells it, or why there is none. */
typedef struct {
    restride_irregular_method method;
    char *refusal; /* NULL: there is one */
    bool moves_threads;
    size_t slots;
    restride_irregular_facts facts;
    double seconds;
} rs_reorder_told;

/* All that was planned: what is used, and with --explain each method that is possible. */
typedef struct {
    rs_reorder_told used;
    rs_reorder_told tried[RS_REORDER_METHODS];
    size_t tried_count;
    const char *engine;
    char *device; /* NULL: the host */
} rs_reorder_report;

rs_reorder_told rs_reorder_tell(const rs_reorder_plan *plan);

/* Plans by each method that `asked` allows; the plans are not kept. */
restride_status rs_reorder_try_methods(rs_reorder_report *report, const rs_reorder_place *place,
                                       const restride_irregular_options *asked);
void rs_reorder_free_report(rs_reorder_report *report);

/* Print on standard output; the exit status. */
int rs_reorder_print_json(const rs_reorder_report *report);
int rs_reorder_print_text(const rs_reorder_report *report);

#endif

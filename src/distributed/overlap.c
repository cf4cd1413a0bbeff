/* Stages beside the exchange: see overlap.h. On the host a thread runs them, while the caller's
 * thread talks to the other processes. */
#include "distributed/overlap.h"
#include "base/arithmetic.h"
#include "base/status.h"
#include "transpose/choose.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SENTENCE_BYTES = 512, MOST_AREAS = 256 };

/* The stages of one side in one area. */
typedef struct {
    restride_plan *plan;
    bool after;
    size_t move; /* before: to be done when it begins; after: so many have ended first */
    size_t bytes;
} job;

struct rs_overlap {
    size_t move_count;
    size_t job_count;
    job *jobs;            /* those before the exchange first; each side by its moves */
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    pthread_t thread;
    bool has_thread; /* else the caller's runs the jobs when they must be done */
    void *buffer;
    size_t done;  /* jobs */
    size_t ended; /* moves */
    bool stopped;
    restride_status status;
    char sentence[SENTENCE_BYTES];
};

/* ---- areas ---- */

/* Where a stage works: `count` stretches, each of which needs nothing of the others. */
typedef struct {
    size_t at;
    size_t pitch;
    size_t bytes;
    size_t count;
} stretches;

static size_t element_bytes(const rs_transpose_task *task)
{
    return task->method == RS_TRANSPOSE_FUSED ? task->inner_rows * task->inner_cols * task->unit
                                              : task->unit;
}

/* False: it is not known. */
static bool find_stretches(const rs_transpose_task *task, stretches *s)
{
    switch (task->method) {
    case RS_TRANSPOSE_PANELS:
    case RS_TRANSPOSE_CHAINS:
    case RS_TRANSPOSE_SQUARE:
    case RS_TRANSPOSE_COPY:
    case RS_TRANSPOSE_FUSED:
    case RS_TRANSPOSE_C2R_ROTATE:
    case RS_TRANSPOSE_C2R_ROWS:
    case RS_TRANSPOSE_C2R_COLUMNS:
    case RS_TRANSPOSE_R2C_COLUMNS:
    case RS_TRANSPOSE_R2C_ROWS:
    case RS_TRANSPOSE_R2C_ROTATE:
    case RS_TRANSPOSE_REORDER:
    case RS_TRANSPOSE_JOIN:
    case RS_TRANSPOSE_SPLIT:
        break;
    case RS_TRANSPOSE_UNZIP:
    case RS_TRANSPOSE_ZIP:
        if (task->tail != 0) /* of a record's tiles, the last of which is shorter */
            return false;
        break;
    default:
        return false;
    }
    const size_t block = task->rows * (task->cols + task->tail) * element_bytes(task);
    *s = (stretches){task->offset, block, block, task->count};
    if (task->outer > 1)
        *s = (stretches){task->offset, task->pitch, task->count * block, task->outer};
    if (task->repeats > 1)
        *s = (stretches){task->offset, task->repeat_pitch,
                         (task->outer - 1) * task->pitch + task->count * block, task->repeats};
    return s->bytes > 0 && s->count > 0 && s->pitch >= s->bytes;
}

/* The stretches that begin before a place. */
static size_t count_before(const stretches *s, size_t place)
{
    return place <= s->at ? 0 : rs_size_smaller((place - s->at - 1) / s->pitch + 1, s->count);
}

static bool crosses(const stretches *s, size_t border)
{
    const size_t count = count_before(s, border);
    return count > 0 && s->at + (count - 1) * s->pitch + s->bytes > border;
}

/* The stretches of a stage from `begin` to `end`, whose borders it does not cross. */
static bool cut(const rs_transpose_task *task, size_t begin, size_t end, rs_transpose_task *part)
{
    stretches s;
    if (!find_stretches(task, &s))
        return false;
    const size_t first = count_before(&s, begin);
    const size_t count = count_before(&s, end) - first;
    *part = *task;
    part->offset += first * s.pitch;
    *(task->repeats > 1 ? &part->repeats : task->outer > 1 ? &part->outer : &part->count) = count;
    return count > 0;
}

/* ---- borders ---- */

static int compare_sizes(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a;
    const size_t y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Where messages begin and end, and both ends of the buffer; without doubles. */
static size_t list_borders(const rs_overlap_task *task, size_t bytes, size_t borders[])
{
    size_t count = 0;
    borders[count++] = 0;
    borders[count++] = bytes;
    for (size_t i = 0; i < task->move_count; i++) {
        const rs_message *m = &task->moves[i];
        const size_t places[] = {m->send_at, m->send_at + m->bytes, m->receive_at,
                                 m->receive_at + m->bytes};
        for (int k = m->to >= 0 ? 0 : 2; k < (m->from >= 0 ? 4 : 2); k++)
            if (places[k] < bytes)
                borders[count++] = places[k];
    }
    qsort(borders, count, sizeof *borders, compare_sizes);
    size_t kept = 1;
    for (size_t i = 1; i < count; i++)
        if (borders[i] != borders[kept - 1])
            borders[kept++] = borders[i];
    return kept;
}

/* Leaves the borders that a stage does not cross; false, and all, when these are both ends. */
static bool keep_borders(const rs_transpose_task *task, size_t borders[], size_t *count)
{
    stretches s;
    if (!find_stretches(task, &s))
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        kept += !crosses(&s, borders[i]);
    if (kept <= 2)
        return false;
    kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (!crosses(&s, borders[i]))
            borders[kept++] = borders[i];
    *count = kept;
    return true;
}

static bool touches(const rs_message *m, size_t begin, size_t end)
{
    return (m->to >= 0 && m->send_at < end && m->send_at + m->bytes > begin) ||
           (m->from >= 0 && m->receive_at < end && m->receive_at + m->bytes > begin);
}

/* The first move that touches an area, or how many there are up to the last one. */
static size_t move_of(const rs_overlap_task *task, bool after, size_t begin, size_t end)
{
    size_t i = after ? task->move_count : 0;
    if (after)
        while (i > 0 && !touches(&task->moves[i - 1], begin, end))
            i--;
    else
        while (i < task->move_count && !touches(&task->moves[i], begin, end))
            i++;
    return i;
}

/* ---- jobs ---- */

static void destroy_jobs(job jobs[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        restride_plan_destroy(jobs[i].plan);
}

/* What stages do in an area; NULL: nothing, or it cannot be planned. */
static restride_plan *plan_area(const rs_overlap_task *task, const restride_plan *pass,
                                size_t first, size_t count, size_t begin, size_t end)
{
    rs_transpose_task *parts = calloc(count, sizeof *parts);
    restride_plan *plan = NULL;
    size_t part_count = 0;
    for (size_t i = 0; parts != NULL && i < count; i++)
        part_count += cut(&pass->tasks[first + i], begin, end, &parts[part_count]);
    const rs_engine_traits traits = task->engine->operations->traits(task->engine);
    const size_t limit = rs_choose_scratch_bound(pass->bytes, &traits, task->options);
    if (part_count > 0 &&
        rs_plan_create(&plan, task->engine, pass->bytes, pass->from, pass->to) == RESTRIDE_OK &&
        rs_plan_add_transposes(plan, parts, part_count, limit) != RESTRIDE_OK) {
        restride_plan_destroy(plan);
        plan = NULL;
    }
    free(parts);
    return plan;
}

static int compare_jobs(const void *a, const void *b)
{
    const job *x = a;
    const job *y = b;
    return (x->move > y->move) - (x->move < y->move);
}

/* Bytes of the jobs that run while messages travel. */
static size_t beside_bytes(const rs_overlap_task *task, const job jobs[], size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        if (jobs[i].after ? jobs[i].move < task->move_count : jobs[i].move > 0)
            bytes += jobs[i].bytes;
    return bytes;
}

static size_t scratch_of(const job jobs[], size_t count)
{
    size_t shared = 0;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t own = rs_plan_shared_scratch(jobs[i].plan);
        shared = rs_size_larger(shared, own);
        kept += restride_plan_scratch_bytes(jobs[i].plan) - own;
    }
    return shared + kept;
}

/* How many stages next to the exchange are cut at the same borders, which are left. */
static size_t count_stages(const restride_plan *pass, bool after, size_t borders[],
                           size_t *border_count)
{
    size_t count = 0;
    while (count < pass->stage_count &&
           keep_borders(&pass->tasks[after ? count : pass->stage_count - 1 - count], borders,
                        border_count))
        count++;
    return count;
}

/* Adds the jobs of one side, and takes their stages out of the pass. */
static void plan_side(rs_overlap *o, const rs_overlap_task *task, restride_plan **pass, bool after)
{
    size_t *borders = *pass == NULL ? NULL : calloc(4 * task->move_count + 2, sizeof *borders);
    if (borders == NULL)
        return;
    size_t border_count = list_borders(task, (*pass)->bytes, borders);
    const size_t stages = count_stages(*pass, after, borders, &border_count);
    const size_t first = after ? 0 : (*pass)->stage_count - stages;
    job *jobs = o->jobs + o->job_count;
    size_t count = 0;
    bool complete = stages > 0 && border_count <= MOST_AREAS;
    for (size_t i = 0; complete && i + 1 < border_count; i++) {
        const size_t begin = borders[i];
        const size_t end = borders[i + 1];
        jobs[count] = (job){.plan = plan_area(task, *pass, first, stages, begin, end),
                            .after = after,
                            .move = move_of(task, after, begin, end),
                            .bytes = end - begin};
        complete = jobs[count].plan != NULL;
        count += complete;
    }
    const rs_engine_traits traits = task->engine->operations->traits(task->engine);
    if (complete && beside_bytes(task, jobs, count) > task->least_bytes &&
        scratch_of(jobs, count) <=
            rs_choose_scratch_bound((*pass)->bytes, &traits, task->options)) {
        qsort(jobs, count, sizeof *jobs, compare_jobs);
        o->job_count += count;
        rs_plan_remove_stages(*pass, first, stages);
    } else {
        destroy_jobs(jobs, count);
    }
    if ((*pass)->stage_count == 0) {
        restride_plan_destroy(*pass);
        *pass = NULL;
    }
    free(borders);
}

/* Messages keep a thread busy, so it pays where they and the stages have a processor each, though
 * all processes were on this machine. */
static bool has_processors(const rs_overlap_task *task)
{
    const rs_engine_traits traits = task->engine->operations->traits(task->engine);
    cpu_set_t processors;
    return sched_getaffinity(0, sizeof processors, &processors) == 0 && traits.workers > 1 &&
           (traits.workers + 1) * task->processes <= (size_t)CPU_COUNT(&processors);
}

void rs_overlap_plan(rs_overlap **overlap, const rs_overlap_task *task, restride_plan **before,
                     restride_plan **after)
{
    *overlap = NULL;
    if (task->least_bytes > 0 && !has_processors(task))
        return;
    rs_overlap *o = calloc(1, sizeof *o);
    if (o == NULL)
        return;
    o->move_count = task->move_count;
    o->jobs = calloc(2 * (4 * task->move_count + 2), sizeof *o->jobs);
    const bool locked = pthread_mutex_init(&o->lock, NULL) == 0;
    const bool complete = o->jobs != NULL && locked && pthread_cond_init(&o->changed, NULL) == 0;
    if (complete) {
        if (before != NULL)
            plan_side(o, task, before, false);
        plan_side(o, task, after, true);
        *overlap = o;
    }
    if (complete && o->job_count > 0)
        return;
    *overlap = NULL;
    if (complete) {
        rs_overlap_close(o);
        return;
    }
    if (locked)
        pthread_mutex_destroy(&o->lock);
    free(o->jobs);
    free(o);
}

void rs_overlap_close(rs_overlap *o)
{
    if (o == NULL)
        return;
    destroy_jobs(o->jobs, o->job_count);
    pthread_cond_destroy(&o->changed);
    pthread_mutex_destroy(&o->lock);
    free(o->jobs);
    free(o);
}

size_t rs_overlap_scratch_bytes(const rs_overlap *o)
{
    return o == NULL ? 0 : scratch_of(o->jobs, o->job_count);
}

json_t *rs_overlap_describe(const rs_overlap *o)
{
    json_t *jobs = json_array();
    for (size_t i = 0; jobs != NULL && o != NULL && i < o->job_count; i++) {
        const job *j = &o->jobs[i];
        if (json_array_append_new(
                jobs, json_pack("{s:s, s:I, s:I, s:o}", "side", j->after ? "after" : "before",
                                "move", (json_int_t)j->move, "bytes", (json_int_t)j->bytes,
                                "passes", rs_plan_describe(j->plan))) != 0) {
            json_decref(jobs);
            return NULL;
        }
    }
    return jobs;
}

/* ---- a run ---- */

/* The next job, whose time has come. After a failure none does anything. */
static void run_next(rs_overlap *o)
{
    const job *next = &o->jobs[o->done];
    bool begun = false;
    restride_status status = o->status;
    if (status == RESTRIDE_OK) {
        status = rs_plan_run(next->plan, o->buffer, NULL, &begun);
        if (status != RESTRIDE_OK)
            snprintf(o->sentence, sizeof o->sentence, "%s", restride_last_error());
    }
    pthread_mutex_lock(&o->lock);
    o->status = status;
    o->done++;
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->lock);
}

static void *run_jobs(void *argument)
{
    rs_overlap *o = argument;
    for (size_t i = 0; i < o->job_count; i++) {
        pthread_mutex_lock(&o->lock);
        while (!o->stopped && o->jobs[i].after && o->ended < o->jobs[i].move)
            pthread_cond_wait(&o->changed, &o->lock);
        const bool stopped = o->stopped;
        pthread_mutex_unlock(&o->lock);
        if (stopped)
            break;
        run_next(o);
    }
    return NULL;
}

/* Signals are for the program's own threads. */
static bool start_thread(rs_overlap *o)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&o->thread, NULL, run_jobs, o) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void rs_overlap_begin(rs_overlap *o, void *buffer)
{
    if (o == NULL)
        return;
    o->buffer = buffer;
    o->done = o->ended = 0;
    o->stopped = false;
    o->status = RESTRIDE_OK;
    o->has_thread = start_thread(o);
}

void rs_overlap_wait(rs_overlap *o, size_t move)
{
    size_t needed = 0;
    while (o != NULL && needed < o->job_count && !o->jobs[needed].after &&
           o->jobs[needed].move <= move)
        needed++;
    if (needed == 0)
        return;
    while (!o->has_thread && o->done < needed)
        run_next(o);
    pthread_mutex_lock(&o->lock);
    while (o->done < needed)
        pthread_cond_wait(&o->changed, &o->lock);
    pthread_mutex_unlock(&o->lock);
}

void rs_overlap_tell(rs_overlap *o, size_t count)
{
    if (o == NULL)
        return;
    pthread_mutex_lock(&o->lock);
    o->ended = count;
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->lock);
}

restride_status rs_overlap_end(rs_overlap *o, bool failed)
{
    if (o == NULL)
        return RESTRIDE_OK;
    pthread_mutex_lock(&o->lock);
    o->stopped = failed;
    o->ended = o->move_count;
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->lock);
    if (o->has_thread)
        pthread_join(o->thread, NULL);
    while (!failed && o->done < o->job_count)
        run_next(o);
    return o->status == RESTRIDE_OK ? RESTRIDE_OK : rs_fail(o->status, "%s", o->sentence);
}

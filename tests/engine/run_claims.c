/*
 * 010! by PTTWAC with its flags in every layout of the thesis (equations 4.4 to 4.6), every element
 * verified on the host: what a profiler counts (lab/tools/gpu_counters.sh), and how fast it is.
 *
 *     run_claims opencl|cuda [--runs N] COUNTxROWSxCOLS...       tiles of 4-byte elements
 *
 * One line a layout: spreading factor, padded or remapped, and GB/s (2 x bytes / time, the median
 * of N runs; 9). With 0 runs each layout has one launch.
 */
#include "lab.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RUNS = 99, SPREADINGS = 6, WORD_BYTES = 4 };

static restride_engine *engine;
static rs_transfer *transfer;
static size_t runs = 9;

static size_t bytes_of(const rs_transpose_task *task)
{
    return task->count * task->rows * task->cols * WORD_BYTES;
}

static restride_status run(const rs_stage *stage, void *buffer)
{
    restride_status status = engine->operations->run(stage, buffer, NULL, NULL, NULL);
    return status == RESTRIDE_OK ? transfer->operations->finish(transfer) : status;
}

/* Runs the stage once on numbers that all differ. */
static restride_status verify(const rs_transpose_task *task, const rs_stage *stage, void *buffer,
                              uint32_t *words)
{
    size_t area = task->rows * task->cols;
    for (size_t i = 0; i < task->count * area; i++)
        words[i] = (uint32_t)i;
    restride_status status = lab_upload(transfer, buffer, words, bytes_of(task));
    if (status == RESTRIDE_OK)
        status = run(stage, buffer);
    if (status == RESTRIDE_OK)
        status = lab_download(transfer, words, buffer, bytes_of(task));
    for (size_t i = 0; i < task->count * area && status == RESTRIDE_OK; i++) {
        size_t place = i % area;
        size_t from = i - place + place % task->rows * task->cols + place / task->rows;
        if (words[i] != (uint32_t)from)
            status = rs_fail(RESTRIDE_DEVICE_ERROR, "Word %zu is wrong.", i);
    }
    return status;
}

static restride_status report(const rs_transpose_task *task, void *buffer, uint32_t *words)
{
    double times[MOST_RUNS] = {0};
    rs_stage *stage;
    restride_status status = engine->operations->create_transpose(engine, task, 0, &stage);
    if (status != RESTRIDE_OK)
        return status;
    status = verify(task, stage, buffer, words);
    for (size_t i = 0; i < runs && status == RESTRIDE_OK; i++) {
        double start = lab_now();
        status = run(stage, buffer);
        times[i] = lab_now() - start;
    }
    engine->operations->destroy_stage(stage);
    printf("%zux%zux%zu, spread by %zu%s%s", task->count, task->rows, task->cols, task->spreading,
           task->padded ? ", padded" : "", task->remapped ? ", remapped" : "");
    if (runs > 0)
        printf(": %.1f GB/s", 2e-6 * (double)bytes_of(task) / lab_median(times, runs));
    puts("");
    return status;
}

/* A layout that takes more local memory than there is has a line of its own. */
static bool measure(rs_transpose_task *task)
{
    uint32_t *words = malloc(bytes_of(task));
    void *buffer = NULL;
    bool good = words != NULL &&
                transfer->operations->allocate(transfer, bytes_of(task), &buffer) == RESTRIDE_OK;
    for (int layout = 0; good && layout <= 2 * SPREADINGS; layout++) {
        task->remapped = layout == 2 * SPREADINGS;
        task->padded = layout >= SPREADINGS && !task->remapped;
        task->spreading = task->remapped ? 1 : (size_t)1 << layout % SPREADINGS;
        restride_status status = report(task, buffer, words);
        if (status != RESTRIDE_OK)
            puts(restride_last_error());
        good = status == RESTRIDE_OK || status == RESTRIDE_DEVICE_LIMIT;
    }
    transfer->operations->release(transfer, buffer);
    free(words);
    return good;
}

int main(int argc, char **argv)
{
    bool good = true;
    if (argc < 2 || lab_open(&engine, argv[1]) != RESTRIDE_OK ||
        rs_transfer_open(engine, &transfer) != RESTRIDE_OK) {
        puts(argc < 2 ? "Which engine?" : restride_last_error());
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        rs_transpose_task task = {
            .method = RS_TRANSPOSE_PTTWAC_PANELS, .outer = 1, .unit = WORD_BYTES};
        if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc)
            runs = strtoull(argv[++i], NULL, 10) % MOST_RUNS;
        else if (sscanf(argv[i], "%zux%zux%zu", &task.count, &task.rows, &task.cols) == 3)
            good = measure(&task) && good;
        else
            good = false;
    }
    transfer->operations->close(transfer);
    restride_engine_destroy(engine);
    return good ? 0 : 1;
}

/* The rows of `restride-lab judge`. */
#include "lab/cli/judge.h"

#include "base/arithmetic.h"

#include <string.h>

/*
 * Accesses like those of programs that were transformed by hand and measured: a state of a random
 * number generator for each thread, groups of four SU(3) matrices, two fields of five, bodies that
 * all threads read, options, a table looked up at random, lanes that share a matrix.
 */
static const rs_judge_row programs[] = {
    {"gibbs", RS_LANES_ONE, 12, 12, 1, 1, 16, 1, 0, 0, 96},
    {"dslash", RS_LANES_GROUP, 18, 18, 4, 1, 4, 0, 0, 0, 384},
    {"projectile", RS_LANES_ONE, 5, 2, 1, 1, 24, 0, 0, 0, 320},
    {"nbody, 16 k", RS_LANES_SAME, 10, 4, 1, 16384, 4, 0, 0, 16384, 0},
    {"nbody, many threads", RS_LANES_SAME, 10, 4, 1, 4096, 4, 0, 0, 262144, 0},
    {"options in place", RS_LANES_ONE, 9, 9, 1, 1, 96, 1, 0, 0, 160},
    {"xsbench", RS_LANES_GATHER, 12, 12, 1, 1, 4, 0, 0, 0, 256},
    {"su3", RS_LANES_WITHIN, 80, 72, 1, 1, 8, 1, 0, 0, 320},
    {"particles", RS_LANES_ONE, 8, 8, 1, 1, 4, 1, 0, 0, 512},
    {"lbm", RS_LANES_ONE, 20, 20, 1, 1, 4, 1, 0, 0, 512},
    {"black-scholes", RS_LANES_ONE, 9, 9, 1, 1, 96, 0, 0, 0, 160},
};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

#define PICK(list, state) ((list)[next(state) % (sizeof(list) / sizeof(list)[0])])

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 16;
}

static rs_judge_row random_row(uint32_t state)
{
    static const int words[] = {1,  2,  3,  4,  5,  6,  8,  9,  10, 12,
                                14, 16, 18, 24, 28, 32, 40, 48, 64, 80};
    static const rs_judge_lanes lanes[] = {
        RS_LANES_ONE,    RS_LANES_ONE,  RS_LANES_ONE,    RS_LANES_GROUP,  RS_LANES_GROUP,
        RS_LANES_WITHIN, RS_LANES_SAME, RS_LANES_GATHER, RS_LANES_GATHER, RS_LANES_WALK};
    static const int groups[] = {2, 3, 4, 8}, walks[] = {8, 32, 96}, bodies[] = {256, 2048, 8192},
                     works[] = {0, 0, 1, 4, 16, 64}, local[] = {0, 0, 0, 24576, 47104},
                     megabytes[] = {8, 256, 512}, threads[] = {16384, 131072};
    rs_judge_row row = {.name = "", .group = 1, .visits = 1};
    for (int i = 0; i < 8; i++)
        next(&state);
    row.lanes = PICK(lanes, &state);
    row.words = PICK(words, &state);
    if (row.lanes == RS_LANES_GROUP || row.lanes == RS_LANES_WALK)
        row.words = row.words > 40 ? row.words / 4 : row.words;
    const int parts[] = {row.words,           row.words,           row.words,
                         (row.words + 1) / 2, (row.words + 3) / 4, 1};
    row.used = PICK(parts, &state);
    row.group = row.lanes == RS_LANES_GROUP ? PICK(groups, &state) : 1;
    row.work = PICK(works, &state);
    row.local = PICK(local, &state);
    row.megabytes = PICK(megabytes, &state);
    row.writes = row.lanes != RS_LANES_SAME && next(&state) % 2 == 0;
    row.work += row.writes && row.work == 0; /* a store of what was loaded would be left out */
    row.visits = row.lanes == RS_LANES_WALK ? PICK(walks, &state) : 1;
    if (row.lanes == RS_LANES_SAME) {
        row.visits = PICK(bodies, &state);
        row.threads = PICK(threads, &state);
        row.used = row.used > 20 ? 20 : row.used;
        row.work = row.work > 4 ? 4 : row.work;
    }
    return row;
}

size_t rs_judge_rows(size_t random_rows)
{
    return PROGRAMS + random_rows;
}

rs_judge_row rs_judge_row_at(size_t i, uint32_t seed, int shrink)
{
    rs_judge_row row =
        i < PROGRAMS ? programs[i] : random_row(seed * 7919U + (uint32_t)i * 104729U);
    if (row.lanes == RS_LANES_SAME) {
        row.threads /= shrink;
        row.visits = row.visits / shrink > 128 ? row.visits / shrink / 128 * 128 : 128;
    }
    row.megabytes = row.megabytes / shrink > 1 ? row.megabytes / shrink : 1;
    return row;
}

/* Whole tiles of 128 groups. */
int rs_judge_row_elements(const rs_judge_row *row)
{
    if (row->lanes == RS_LANES_SAME)
        return row->visits;
    int64_t unit = 128 * (int64_t)row->group * (row->lanes == RS_LANES_WALK ? row->visits : 1);
    int64_t count = ((int64_t)row->megabytes << 20) / (4 * row->words) / unit * unit;
    return (int)(count > unit ? count : unit);
}

int rs_judge_row_threads(const rs_judge_row *row)
{
    int n = rs_judge_row_elements(row);
    switch (row->lanes) {
    case RS_LANES_SAME:
        return row->threads;
    case RS_LANES_GROUP:
        return n / row->group;
    case RS_LANES_WALK:
        return n / row->visits;
    case RS_LANES_WITHIN:
        return n * row->used;
    default:
        return n;
    }
}

int rs_judge_row_layouts(const rs_judge_row *row, rs_judge_layout layouts[RS_JUDGE_MOST_LAYOUTS])
{
    int count = 0;
    layouts[count++] = rs_judge_aos;
    layouts[count++] = (rs_judge_layout){.tile = 0, .group = 1};
    layouts[count++] = (rs_judge_layout){.tile = 8, .group = 1};
    layouts[count++] = (rs_judge_layout){.tile = 32, .group = 1};
    layouts[count++] = (rs_judge_layout){.tile = 128, .group = 1};
    if (row->group > 1)
        layouts[count++] = (rs_judge_layout){.tile = 32, .group = row->group};
    if (row->lanes == RS_LANES_WALK)
        layouts[count++] = (rs_judge_layout){.tile = 32, .group = row->visits};
    if (row->used < row->words)
        layouts[count++] = (rs_judge_layout){.tile = 1, .group = 1, .split = true};
    return count;
}

static rs_judge_argument coalesced(const char *name, double count, bool writes)
{
    return (rs_judge_argument){.name = name,
                               .element = 4,
                               .count = (int64_t)count,
                               .lanes = RS_LANES_ONE,
                               .group = 1,
                               .visits = 1,
                               .reads = !writes,
                               .writes = writes,
                               .field_count = 1,
                               .fields = {{0, 4}}};
}

void rs_judge_row_kernel(const rs_judge_row *row, rs_judge_kernel *kernel)
{
    int touched = row->lanes == RS_LANES_WITHIN ? 1 : row->used * row->group;
    double rounds = row->lanes == RS_LANES_SAME || row->lanes == RS_LANES_WALK ? row->visits : 1;
    *kernel = (rs_judge_kernel){.name = row->name,
                                .threads = rs_judge_row_threads(row),
                                .group = RS_JUDGE_GROUP_ITEMS,
                                .local_bytes = row->local,
                                .instructions = rounds * touched * (row->work + 1),
                                .argument_count = 2};
    rs_judge_argument *a = &kernel->arguments[0];
    *a = (rs_judge_argument){.name = "p",
                             .element = 4 * row->words,
                             .count = rs_judge_row_elements(row),
                             .lanes = row->lanes,
                             .group = row->lanes == RS_LANES_WALK ? row->visits : row->group,
                             .visits = rounds,
                             .reads = true,
                             .writes = row->writes != 0,
                             .field_count = row->used};
    for (int u = 0; u < row->used; u++)
        a->fields[u] = (rs_judge_field){4 * (u * row->words / row->used), 4};
    kernel->arguments[1] = coalesced("out", kernel->threads, true);
    if (row->lanes == RS_LANES_GATHER)
        kernel->arguments[kernel->argument_count++] = coalesced("chosen", kernel->threads, false);
}

json_t *rs_judge_row_json(const rs_judge_row *row)
{
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "name", row->name,
                     "lanes", (int)row->lanes, "words", row->words, "used", row->used, "group",
                     row->group, "visits", row->visits, "work", row->work, "writes", row->writes,
                     "local", row->local, "threads", row->threads, "megabytes", row->megabytes);
}

static int number(const json_t *object, const char *key)
{
    return (int)json_integer_value(json_object_get(object, key));
}

rs_judge_row rs_judge_row_from(const json_t *object)
{
    const char *name = json_string_value(json_object_get(object, "name"));
    return (rs_judge_row){.name = name != NULL ? name : "",
                          .lanes = (rs_judge_lanes)number(object, "lanes"),
                          .words = number(object, "words"),
                          .used = number(object, "used"),
                          .group = number(object, "group"),
                          .visits = number(object, "visits"),
                          .work = number(object, "work"),
                          .writes = number(object, "writes"),
                          .local = number(object, "local"),
                          .threads = number(object, "threads"),
                          .megabytes = number(object, "megabytes")};
}

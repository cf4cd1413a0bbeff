/* Groups of processes: see group.h. */
#include "distributed/group.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* To start a thread takes as long as moving a tenth of OVERLAP_BYTES. */
enum { SENTENCE_BYTES = 480, OVERLAP_BYTES = 1 << 20 };

/* What each process tells all others. */
typedef struct {
    uint64_t work;
    int32_t status;
    char sentence[SENTENCE_BYTES];
} word;

restride_status restride_group_create(restride_group **group,
                                      const restride_group_functions *functions, void *context,
                                      int rank, int size)
{
    if (group == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "There is no place for the group: it is NULL.");
    *group = NULL;
    if (size < 1 || rank < 0 || rank >= size)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "A group of %d processes has no process %d; give a number below the size.",
                       size, rank);
    const bool whole = functions != NULL && functions->begin != NULL && functions->finish != NULL &&
                       functions->gather != NULL;
    if (size > 1 && !whole)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "A group of %d processes needs the functions begin, finish and gather.",
                       size);
    restride_group *created = calloc(1, sizeof *created);
    void *words = calloc((size_t)size, sizeof(word)); /* so that agreeing needs no memory */
    if (created == NULL || words == NULL) {
        free(created);
        free(words);
        return rs_fail_memory("a group of processes");
    }
    created->words = words;
    if (functions != NULL)
        created->functions = *functions;
    created->context = context;
    created->rank = rank;
    created->size = size;
    created->seconds = RS_GROUP_SECONDS;
    created->peer_memory = RS_PEER_MEMORY_OF_DEVICES;
    created->overlap_from = OVERLAP_BYTES;
    *group = created;
    return RESTRIDE_OK;
}

void restride_group_set_timeout(restride_group *group, double seconds)
{
    if (group != NULL && seconds > 0)
        group->seconds = seconds;
}

void restride_group_use_peer_memory(restride_group *group, int use)
{
    if (group != NULL)
        group->peer_memory = use;
}

int restride_group_rank(const restride_group *group)
{
    return group == NULL ? 0 : group->rank;
}

int restride_group_size(const restride_group *group)
{
    return group == NULL ? 0 : group->size;
}

void restride_group_destroy(restride_group *group)
{
    if (group == NULL)
        return;
    if (group->functions.destroy != NULL)
        group->functions.destroy(group->context);
    free(group->words);
    free(group);
}

static restride_status fail_broken(restride_group *group, const char *what)
{
    group->broken = true;
    return rs_fail(RESTRIDE_IO,
                   "Process %d of %d %s within %.0f s, or the connection failed; the group serves "
                   "no more calls.",
                   group->rank, group->size, what, group->seconds);
}

static restride_status check_whole(const restride_group *group)
{
    if (!group->broken)
        return RESTRIDE_OK;
    return rs_fail(RESTRIDE_IO, "The group of process %d failed before and serves no more calls.",
                   group->rank);
}

restride_status rs_group_gather(restride_group *group, const void *mine, size_t bytes, void *all)
{
    restride_status status = check_whole(group);
    if (status != RESTRIDE_OK)
        return status;
    if (group->functions.gather == NULL) /* there is one process */
        memcpy(all, mine, bytes);
    else if (group->functions.gather(group->context, mine, bytes, all, group->seconds) != 0)
        return fail_broken(group, "did not hear from all others");
    return RESTRIDE_OK;
}

/* What the words of all mean to a process that did not fail itself. */
static restride_status judge(const restride_group *group, const word *words)
{
    for (int p = 0; p < group->size; p++)
        if (words[p].status != RESTRIDE_OK)
            return rs_fail((restride_status)words[p].status, "Process %d failed: %.*s", p,
                           SENTENCE_BYTES, words[p].sentence);
    for (int p = 1; p < group->size; p++)
        if (words[p].work != words[0].work)
            return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                           "Process %d gives other arguments than process 0, or calls in another "
                           "order; all must give the same dimensions, layouts, sizes and options.",
                           p);
    return RESTRIDE_OK;
}

restride_status rs_group_agree(restride_group *group, restride_status own, uint64_t work)
{
    word mine = {.work = work, .status = (int32_t)own};
    if (own != RESTRIDE_OK)
        snprintf(mine.sentence, sizeof mine.sentence, "%s", restride_last_error());
    word *words = group->words;
    restride_status status = rs_group_gather(group, &mine, sizeof mine, words);
    if (status == RESTRIDE_OK && own != RESTRIDE_OK)
        return rs_fail(own, "%s", mine.sentence);
    return status == RESTRIDE_OK ? judge(group, words) : status;
}

restride_status rs_group_sum(restride_group *group, double *numbers, size_t count)
{
    double *all = group->words;
    restride_status status = rs_group_gather(group, numbers, count * sizeof *numbers, all);
    for (size_t i = 0; status == RESTRIDE_OK && i < count; i++) {
        numbers[i] = 0;
        for (size_t p = 0; p < (size_t)group->size; p++)
            numbers[i] += all[p * count + i];
    }
    return status;
}

restride_status rs_group_begin(restride_group *group, const void *send, size_t send_bytes, int to,
                               void *receive, size_t receive_bytes, int from, void **operation)
{
    restride_status status = check_whole(group);
    if (status == RESTRIDE_OK &&
        group->functions.begin(group->context, send, send_bytes, to, receive, receive_bytes, from,
                               operation) != 0)
        return fail_broken(group, "could not begin a message");
    return status;
}

restride_status rs_group_finish(restride_group *group, void *operation)
{
    restride_status status = check_whole(group);
    if (status == RESTRIDE_OK &&
        group->functions.finish(group->context, operation, group->seconds) != 0)
        return fail_broken(group, "did not get a message through");
    return status;
}

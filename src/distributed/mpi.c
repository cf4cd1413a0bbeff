/*
 * Groups over MPI: restride/mpi.h. A library of its own, which uses the public interface alone.
 *
 * Waits by testing, because MPI has no wait with a time limit. In between other processes get the
 * processor. A message that did not get through cannot be taken back: its slot, and the
 * communicator, are left as they are.
 */
#include "restride/mpi.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { AT_ONCE = 2, SENTENCE_BYTES = 256, TAG = 0, TAG_OF_THE_END = 1 };

/* A wait keeps the processor for so long, because on a busy machine it takes long to come back; not
 * as long where more processes of the group than processors wait for each other. */
static const double spin_seconds = 5e-3;
static const double short_spin_seconds = 50e-6;

/* The time-out of a group until a call says another one. */
static const double first_seconds = 300;

typedef struct {
    MPI_Request requests[2];
    bool busy;
} operation;

typedef struct {
    MPI_Comm communicator;
    operation operations[AT_ONCE];
    double spin;
    double seconds; /* that a wait may last, as last told */
    bool failed;
} connection;

static int fail(connection *c, int code)
{
    c->failed = c->failed || code != MPI_SUCCESS;
    return code;
}

static int begin(void *context, const void *send, size_t send_bytes, int to, void *receive,
                 size_t receive_bytes, int from, void **result)
{
    connection *c = context;
    operation *o = &c->operations[c->operations[0].busy ? 1 : 0];
    *result = o;
    o->busy = true;
    o->requests[0] = o->requests[1] = MPI_REQUEST_NULL;
    int code = MPI_SUCCESS;
    if (receive_bytes > 0)
        code = MPI_Irecv(receive, (int)receive_bytes, MPI_BYTE, from, TAG, c->communicator,
                         &o->requests[0]);
    if (code == MPI_SUCCESS && send_bytes > 0)
        code =
            MPI_Isend(send, (int)send_bytes, MPI_BYTE, to, TAG, c->communicator, &o->requests[1]);
    return fail(c, code);
}

static int wait_for(connection *c, MPI_Request requests[2], double seconds)
{
    const double begun = MPI_Wtime();
    c->seconds = seconds;
    MPI_Status statuses[2]; /* MPICH's header warns of MPI_STATUSES_IGNORE */
    for (;;) {
        int done = 0;
        const int code = MPI_Testall(2, requests, &done, statuses);
        if (code != MPI_SUCCESS || done != 0)
            return fail(c, code);
        const double waited = MPI_Wtime() - begun;
        if (waited > seconds)
            return fail(c, MPI_ERR_OTHER);
        if (waited > c->spin)
            sched_yield();
    }
}

static int finish(void *context, void *handle, double seconds)
{
    connection *c = context;
    operation *o = handle;
    const int code = wait_for(c, o->requests, seconds);
    o->busy = code != MPI_SUCCESS;
    return code;
}

static int gather(void *context, const void *mine, size_t bytes, void *all, double seconds)
{
    connection *c = context;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    const int code = MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
                                    c->communicator, &requests[0]);
    return code == MPI_SUCCESS ? wait_for(c, requests, seconds) : fail(c, code);
}

/* Whether all come to their end: one that failed does not. By messages, because a process that
 * failed may have left a collective operation unfinished. */
static bool meet(connection *c)
{
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(c->communicator, &rank);
    MPI_Comm_size(c->communicator, &size);
    for (int step = 1; step < size; step *= 2) {
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        if (MPI_Irecv(NULL, 0, MPI_BYTE, (rank + size - step) % size, TAG_OF_THE_END,
                      c->communicator, &requests[0]) != MPI_SUCCESS ||
            MPI_Isend(NULL, 0, MPI_BYTE, (rank + step) % size, TAG_OF_THE_END, c->communicator,
                      &requests[1]) != MPI_SUCCESS ||
            wait_for(c, requests, c->seconds) != MPI_SUCCESS)
            return false;
    }
    return true;
}

/* To free a communicator waits for all others, without a time limit. */
static void destroy(void *context)
{
    connection *c = context;
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0 && !c->failed && meet(c))
        MPI_Comm_free(&c->communicator);
    free(c);
}

static restride_status fail_call(restride_status status, const char *what, int code)
{
    char sentence[SENTENCE_BYTES + MPI_MAX_ERROR_STRING] = "";
    char reason[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code != MPI_SUCCESS)
        MPI_Error_string(code, reason, &length);
    snprintf(sentence, sizeof sentence, "%s%s%s.", what, length > 0 ? ": " : "", reason);
    return restride_set_error(status, sentence);
}

static restride_status check(MPI_Comm communicator)
{
    int initialized = 0;
    int finalized = 0;
    int inter = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (initialized == 0 || finalized != 0)
        return fail_call(RESTRIDE_INVALID_ARGUMENT,
                         "restride_group_create_mpi comes between MPI_Init and MPI_Finalize",
                         MPI_SUCCESS);
    if (communicator == MPI_COMM_NULL)
        return fail_call(RESTRIDE_INVALID_ARGUMENT, "The communicator is MPI_COMM_NULL",
                         MPI_SUCCESS);
    const int code = MPI_Comm_test_inter(communicator, &inter);
    if (code != MPI_SUCCESS || inter != 0)
        return fail_call(RESTRIDE_INVALID_ARGUMENT,
                         "A group needs an intracommunicator, and this is another one", code);
    return RESTRIDE_OK;
}

/* Whether the group has more processes on this host than that has processors. */
static int count_neighbours(connection *c, int rank)
{
    MPI_Comm host;
    int count = 0;
    int code =
        MPI_Comm_split_type(c->communicator, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_size(host, &count);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_free(&host);
    c->spin = count > sysconf(_SC_NPROCESSORS_ONLN) ? short_spin_seconds : spin_seconds;
    return code;
}

restride_status restride_group_create_mpi(restride_group **group, MPI_Comm communicator)
{
    static const restride_group_functions functions = {
        .begin = begin, .finish = finish, .gather = gather, .destroy = destroy};
    if (group == NULL)
        return fail_call(RESTRIDE_INVALID_ARGUMENT, "There is no place for the group: it is NULL",
                         MPI_SUCCESS);
    *group = NULL;
    restride_status status = check(communicator);
    if (status != RESTRIDE_OK)
        return status;
    connection *c = calloc(1, sizeof *c);
    if (c == NULL)
        return fail_call(RESTRIDE_OUT_OF_MEMORY, "There is no memory for a group of processes",
                         MPI_SUCCESS);
    c->seconds = first_seconds;
    int rank = 0;
    int size = 0;
    int code = MPI_Comm_dup(communicator, &c->communicator);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_set_errhandler(c->communicator, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_rank(c->communicator, &rank);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_size(c->communicator, &size);
    if (code == MPI_SUCCESS)
        code = count_neighbours(c, rank);
    if (code != MPI_SUCCESS) {
        free(c);
        return fail_call(RESTRIDE_IO, "The communicator cannot be duplicated", code);
    }
    status = restride_group_create(group, &functions, c, rank, size);
    if (status != RESTRIDE_OK)
        destroy(c);
    return status;
}

restride_status restride_group_create_mpi_fortran(restride_group **group, MPI_Fint communicator)
{
    return restride_group_create_mpi(group, MPI_Comm_f2c(communicator));
}

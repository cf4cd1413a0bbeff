/*
 * Stands before MPI's functions and looks at what the library does with them: each message that is
 * received has exactly the bytes that were waited for, each request is completed, no message is
 * left when a communicator is freed, and as many were sent as received in all. What is wrong ends
 * the program.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { MOST_REQUESTS = 64 };

static struct {
    MPI_Request request;
    int bytes; /* to be received; -1: this one sends */
} posted[MOST_REQUESTS];

static long long sent;
static long long received;

static void fail(const char *what)
{
    fprintf(stderr, "mpi_checked: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 3);
    exit(3);
}

static void keep(MPI_Request request, int bytes)
{
    int i = 0;
    while (i < MOST_REQUESTS && posted[i].request != 0)
        i++;
    if (i == MOST_REQUESTS)
        fail("too many requests at once");
    posted[i].request = request;
    posted[i].bytes = bytes;
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    const int code = PMPI_Isend(buffer, count, type, to, tag, comm, request);
    keep(*request, -1);
    sent += count;
    return code;
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    if (from == MPI_ANY_SOURCE || tag == MPI_ANY_TAG)
        fail("a receive takes any message");
    const int code = PMPI_Irecv(buffer, count, type, from, tag, comm, request);
    keep(*request, count);
    return code;
}

static void complete(MPI_Request request, const MPI_Status *status)
{
    for (int i = 0; i < MOST_REQUESTS; i++) {
        if (request == MPI_REQUEST_NULL || posted[i].request != request)
            continue;
        int bytes = 0;
        posted[i].request = 0;
        if (posted[i].bytes < 0)
            return;
        PMPI_Get_count(status, MPI_BYTE, &bytes);
        if (bytes != posted[i].bytes)
            fail("a message has another size than its receiver waits for");
        received += bytes;
        return;
    }
}

int MPI_Testall(int count, MPI_Request requests[], int *done, MPI_Status statuses[])
{
    MPI_Request before[2];
    MPI_Status own[2];
    (void)statuses;
    if (count != 2)
        fail("the library tests two requests at once");
    before[0] = requests[0];
    before[1] = requests[1];
    const int code = PMPI_Testall(count, requests, done, own);
    for (int i = 0; i < count && *done; i++)
        complete(before[i], &own[i]);
    return code;
}

int MPI_Comm_free(MPI_Comm *comm)
{
    int inter = 0;
    int waiting = 0;
    PMPI_Comm_test_inter(*comm, &inter);
    if (!inter) {
        PMPI_Barrier(*comm);
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, *comm, &waiting, MPI_STATUS_IGNORE);
    }
    if (waiting)
        fail("a message was sent and never received");
    return PMPI_Comm_free(comm);
}

int MPI_Finalize(void)
{
    long long mine[2] = {sent, received};
    long long all[2] = {0, 0};
    for (int i = 0; i < MOST_REQUESTS; i++)
        if (posted[i].request != 0)
            fail("a request was never completed");
    PMPI_Allreduce(mine, all, 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (all[0] != all[1])
        fail("other bytes were sent than received");
    return PMPI_Finalize();
}

/*
 * Memory of the host that processes reach in each other (engine/peer.h), where the kernel lets
 * them: process_vm_readv() and process_vm_writev(). Of a byte for each side, one is read, one
 * written, and one copied: messages through shared memory copy each of the two three times.
 */
#include "engine/peer.h"
#include "base/arithmetic.h"
#include "base/status.h"
#include "engine/host/host.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ROOM_BYTES = 124 << 10 };

/* What a handle says: the number of a process for the kernel, and where that keeps its own one. */
typedef struct {
    pid_t process;
    uint64_t number_at;
} reachable;

static reachable where_of(const rs_peer_name *name)
{
    reachable where;
    memcpy(&where, name->handle, sizeof where);
    return where;
}

static restride_status name_buffer(restride_engine *engine, void *buffer, rs_peer_name *name)
{
    (void)engine;
    uint64_t host;
    const uint64_t *process;
    *name = (rs_peer_name){0};
    if (!rs_peer_numbers(&host, &process))
        return rs_fail(RESTRIDE_UNSUPPORTED, "The host has no number of its own.");
    *name = (rs_peer_name){.host = host, .process = *process, .base = (uintptr_t)buffer};
    reachable where;
    memset(&where, 0, sizeof where);
    where.process = getpid();
    where.number_at = (uintptr_t)process;
    memcpy(name->handle, &where, sizeof where);
    return RESTRIDE_OK;
}

typedef ssize_t transfer(pid_t process, const struct iovec *own, unsigned long own_count,
                         const struct iovec *other, unsigned long other_count, unsigned long flags);

static bool carry(transfer *way, pid_t process, void *own, uint64_t other, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        const struct iovec here = {(unsigned char *)own + done, bytes - done};
        const struct iovec there = {(void *)(uintptr_t)(other + done), bytes - done};
        const ssize_t part = way(process, &here, 1, &there, 1, 0);
        if (part <= 0)
            return false;
        done += (size_t)part;
    }
    return true;
}

/* The process of a number may be another one, of another container for example. */
static restride_status map(restride_engine *engine, const rs_peer_name *name, void **buffer)
{
    (void)engine;
    uint64_t host;
    uint64_t number = 0;
    const uint64_t *process;
    const reachable where = where_of(name);
    *buffer = NULL;
    if (!rs_peer_numbers(&host, &process) || name->host != host ||
        (name->process != *process &&
         !(carry(process_vm_readv, where.process, &number, where.number_at, sizeof number) &&
           number == name->process)))
        return rs_fail(RESTRIDE_UNSUPPORTED, "The memory of another process is out of reach.");
    *buffer = (void *)(uintptr_t)name->base;
    return RESTRIDE_OK;
}

static void unmap(restride_engine *engine, const rs_peer_name *name, void *buffer)
{
    (void)engine;
    (void)name;
    (void)buffer;
}

static bool swap_part(const rs_peer_name *name, bool is_own, unsigned char *own,
                      unsigned char *other, void *room, size_t bytes)
{
    const pid_t process = where_of(name).process;
    const uint64_t at = (uintptr_t)other;
    if (is_own) { /* a thread of this process */
        memcpy(room, other, bytes);
        memcpy(other, own, bytes);
    } else if (!carry(process_vm_readv, process, room, at, bytes) ||
               !carry(process_vm_writev, process, own, at, bytes)) {
        return false;
    }
    memcpy(own, room, bytes);
    return true;
}

static restride_status swap(restride_engine *engine, const rs_peer_name *name, void *own,
                            void *other, size_t bytes)
{
    (void)engine;
    uint64_t host;
    const uint64_t *process;
    void *room = malloc(ROOM_BYTES);
    if (room == NULL || !rs_peer_numbers(&host, &process)) {
        free(room);
        return rs_fail_memory("what two processes exchange");
    }
    bool done = true;
    for (size_t at = 0; done && at < bytes; at += ROOM_BYTES)
        done =
            swap_part(name, name->process == *process, (unsigned char *)own + at,
                      (unsigned char *)other + at, room, rs_size_smaller(bytes - at, ROOM_BYTES));
    free(room);
    return done ? RESTRIDE_OK
                : rs_fail(RESTRIDE_IO, "The memory of another process went out of reach.");
}

const rs_peer_operations rs_host_peer = {
    .name = name_buffer, .map = map, .unmap = unmap, .swap = swap};

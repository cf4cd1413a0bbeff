/* Copies and fills of the made-up driver. */
#include "copying.h"
#include "made_up.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    void *to;
    const void *from;
    size_t bytes;
} copying;

static void copy(void *data)
{
    copying c;
    memcpy(&c, data, sizeof c);
    memmove(c.to, c.from != NULL ? c.from : (char *)data + sizeof c, c.bytes);
}

/* Memory of the host is read when the call is made. */
static result copy_in(made_up_stream *stream, uintptr_t to, const void *from, size_t bytes,
                      bool blocks)
{
    if (is_outside(to, bytes))
        return leave(INVALID_VALUE);
    char *data = malloc(sizeof(copying) + bytes);
    memcpy(data, &(copying){(void *)to, NULL, bytes}, sizeof(copying));
    memcpy(data + sizeof(copying), from, bytes);
    const command_id id = command_give(stream, copy, data, sizeof(copying) + bytes);
    free(data);
    if (blocks)
        command_finish(id);
    return leave(SUCCESS);
}

static result copy_later(made_up_stream *stream, void *to, const void *from, size_t bytes,
                         bool blocks)
{
    const command_id id = command_give(stream, copy, &(copying){to, from, bytes}, sizeof(copying));
    if (blocks)
        command_finish(id);
    return leave(SUCCESS);
}

static result copy_out(made_up_stream *stream, void *to, uintptr_t from, size_t bytes, bool blocks)
{
    return is_outside(from, bytes) ? leave(INVALID_VALUE)
                                   : copy_later(stream, to, (const void *)from, bytes, blocks);
}

static result copy_over(made_up_stream *stream, uintptr_t to, uintptr_t from, size_t bytes)
{
    return is_outside(from, bytes) || is_outside(to, bytes)
               ? leave(INVALID_VALUE)
               : copy_later(stream, (void *)to, (const void *)from, bytes, false);
}

#define COPIES(suffix, is_per_thread)                                                              \
    EXPORT result cuMemcpyHtoD_v2##suffix(uintptr_t to, const void *from, size_t bytes)            \
    {                                                                                              \
        BEGIN;                                                                                     \
        return copy_in(stream_of(0, is_per_thread), to, from, bytes, true);                        \
    }                                                                                              \
    EXPORT result cuMemcpyDtoH_v2##suffix(void *to, uintptr_t from, size_t bytes)                  \
    {                                                                                              \
        BEGIN;                                                                                     \
        return copy_out(stream_of(0, is_per_thread), to, from, bytes, true);                       \
    }                                                                                              \
    EXPORT result cuMemcpyDtoD_v2##suffix(uintptr_t to, uintptr_t from, size_t bytes)              \
    {                                                                                              \
        BEGIN;                                                                                     \
        return copy_over(stream_of(0, is_per_thread), to, from, bytes);                            \
    }
COPIES(, false)
COPIES(_ptds, true)

typedef struct {
    unsigned char *to;
    unsigned char value;
    size_t bytes;
} filling;

static void fill(void *data)
{
    filling f;
    memcpy(&f, data, sizeof f);
    memset(f.to, f.value, f.bytes);
}

#define LATER(suffix, is_per_thread)                                                               \
    EXPORT result cuMemcpyHtoDAsync_v2##suffix(uintptr_t to, const void *from, size_t bytes,       \
                                               uintptr_t stream)                                   \
    {                                                                                              \
        BEGIN;                                                                                     \
        return copy_in(stream_of(stream, is_per_thread), to, from, bytes, false);                  \
    }                                                                                              \
    EXPORT result cuMemcpyDtoHAsync_v2##suffix(void *to, uintptr_t from, size_t bytes,             \
                                               uintptr_t stream)                                   \
    {                                                                                              \
        BEGIN;                                                                                     \
        return copy_out(stream_of(stream, is_per_thread), to, from, bytes, false);                 \
    }                                                                                              \
    EXPORT result cuMemcpyDtoDAsync_v2##suffix(uintptr_t to, uintptr_t from, size_t bytes,         \
                                               uintptr_t stream)                                   \
    {                                                                                              \
        BEGIN;                                                                                     \
        return copy_over(stream_of(stream, is_per_thread), to, from, bytes);                       \
    }                                                                                              \
    EXPORT result cuMemsetD8Async##suffix(uintptr_t to, unsigned char value, size_t bytes,         \
                                          uintptr_t stream)                                        \
    {                                                                                              \
        BEGIN;                                                                                     \
        if (is_outside(to, bytes))                                                                 \
            return leave(INVALID_VALUE);                                                           \
        command_give(stream_of(stream, is_per_thread), fill,                                       \
                     &(filling){(unsigned char *)to, value, bytes}, sizeof(filling));              \
        return leave(SUCCESS);                                                                     \
    }
LATER(, false)
LATER(_ptsz, true)

/* ---- rows of the device's memory ---- */

static void copy_rows(void *data)
{
    copying_rows c;
    memcpy(&c, data, sizeof c);
    for (size_t row = 0; row < c.rows; row++)
        memmove((char *)c.target.device + (c.target.y + row) * c.target.pitch + c.target.x,
                (const char *)c.source.device + (c.source.y + row) * c.source.pitch + c.source.x,
                c.row_bytes);
}

EXPORT result cuMemcpy2DAsync_v2(const copying_rows *rows, uintptr_t stream)
{
    BEGIN;
    command_give(stream_of(stream, false), copy_rows, rows, sizeof *rows);
    return leave(SUCCESS);
}

EXPORT result cuMemcpy2D_v2(const copying_rows *rows)
{
    BEGIN;
    command_give(stream_of(0, false), copy_rows, rows, sizeof *rows);
    return leave(SUCCESS);
}

/* ---- between contexts ---- */

#define PEER(suffix, is_per_thread)                                                                \
    EXPORT result cuMemcpyPeer##suffix(uintptr_t to, void *to_context, uintptr_t from,             \
                                       void *from_context, size_t bytes)                           \
    {                                                                                              \
        BEGIN;                                                                                     \
        if (is_outside(from, bytes) || is_outside(to, bytes))                                      \
            return leave(INVALID_VALUE);                                                           \
        void *const contexts[] = {current_context(), to_context, from_context};                    \
        command_give_between(stream_of(0, is_per_thread), contexts, 3, copy,                       \
                             &(copying){(void *)to, (const void *)from, bytes}, sizeof(copying));  \
        return leave(SUCCESS);                                                                     \
    }
PEER(, false)
PEER(_ptds, true)

/* Of rows in one plane. */
static copying_rows rows_of(const copying_peer *c)
{
    return (copying_rows){{.device = c->source.device, .pitch = c->source.pitch},
                          {.device = c->target.device, .pitch = c->target.pitch},
                          c->row_bytes,
                          c->rows};
}

#define PEER_LATER(suffix, is_per_thread)                                                          \
    EXPORT result cuMemcpyPeerAsync##suffix(uintptr_t to, void *to_context, uintptr_t from,        \
                                            void *from_context, size_t bytes, uintptr_t stream)    \
    {                                                                                              \
        (void)to_context, (void)from_context;                                                      \
        BEGIN;                                                                                     \
        return copy_over(stream_of(stream, is_per_thread), to, from, bytes);                       \
    }                                                                                              \
    EXPORT result cuMemcpy3DPeerAsync##suffix(const copying_peer *c, uintptr_t stream)             \
    {                                                                                              \
        BEGIN;                                                                                     \
        const copying_rows rows = rows_of(c);                                                      \
        command_give(stream_of(stream, is_per_thread), copy_rows, &rows, sizeof rows);             \
        return leave(SUCCESS);                                                                     \
    }
PEER_LATER(, false)
PEER_LATER(_ptsz, true)

/* Nobody knows this one. */
EXPORT result cuMadeUpFunction(uintptr_t address, unsigned char value, size_t bytes)
{
    BEGIN;
    command_finish_all();
    memset((void *)address, value, bytes);
    return leave(SUCCESS);
}

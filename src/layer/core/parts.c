/* Parts of converted buffers: see parts.h. */
#include "layer/core/parts.h"

#include "layer/core/process_exit.h"
#include "layer/core/timing.h"

#include <stdlib.h>

/* ---- which bytes ---- */

/* The bytes around [offset, offset + size) that can be copied alone; false when they are not worth
 * a part or there are none. */
static bool find_bytes(const rs_buffer *buffer, size_t offset, size_t size, rs_part *part)
{
    if (buffer->layout == NULL || size == 0 || offset >= buffer->size ||
        size > buffer->size - offset)
        return false;
    size_t granule = rs_converter_granule(buffer->layout->converter);
    if (granule == 0)
        return false;
    part->first = offset - offset % granule;
    part->end = offset + size;
    size_t excess = part->end % granule;
    if (excess != 0)
        part->end = buffer->size - part->end < granule - excess ? buffer->size
                                                                : part->end + granule - excess;
    return part->end - part->first <= buffer->size / 2;
}

/* ---- commands on the scratch buffer ---- */

static int copy_part(const rs_command *command, const rs_part *part, rs_direction direction,
                     unsigned wait_count, const void *wait_list, rs_event *event) RS_LOCKED
{
    const rs_converter_part bytes = {part->scratch, part->first, part->end};
    rs_exit_admits(command->layer, rs_converter_has_copied(part->layout->converter, direction));
    rs_timing_count_part(command->layer, part->end - part->first);
    return rs_converter_copy_part(part->layout->converter, command->queue->handle,
                                  part->buffer->handle, part->buffer->size, &bytes, direction,
                                  wait_count, wait_list, event) == RESTRIDE_OK
               ? 0
               : rs_api_lost;
}

/* The bytes as they are now, as the program sees them; the command waits for that. False when they
 * cannot be copied. */
static bool fetch(rs_command *command, rs_part *part) RS_LOCKED
{
    rs_event copied = NULL;
    if (copy_part(command, part, RS_INVERSE, command->wait_count, command->wait_list, &copied) != 0)
        return false;
    rs_command_wait(command, copied);
    rs_api_event_release(copied);
    return true;
}

static int put_back(rs_command *command, rs_part *part, rs_event event) RS_LOCKED
{
    rs_event copied = NULL;
    int error = copy_part(command, part, RS_FORWARD, 1, &event, &copied);
    if (error == 0)
        rs_buffer_changed(part->buffer, command->queue, copied);
    return error;
}

/* ---- opening ---- */

/* Whether parts for such a use have been copied before. */
static bool has_copied(const rs_converter *converter, rs_part_use use) RS_LOCKED
{
    return rs_converter_has_copied(converter, RS_INVERSE) &&
           (use == RS_PART_READ || rs_converter_has_copied(converter, RS_FORWARD));
}

static bool make_part(rs_command *command, rs_buffer *buffer, size_t offset, size_t size,
                      size_t room, rs_part_use use, rs_part *part) RS_LOCKED
{
    *part = (rs_part){.buffer = buffer, .use = use};
    if (!find_bytes(buffer, offset, size, part))
        return false;
    part->layout = buffer->layout;
    if (part->layout->device != command->queue->device ||
        (rs_exit_has_begun(command->layer) && !has_copied(part->layout->converter, use)))
        return false;
    const size_t used = part->end - part->first, wanted = offset - part->first + room;
    part->scratch = rs_api_memory_create(buffer->context->handle,
                                         wanted > used && wanted <= buffer->size ? wanted : used,
                                         buffer->handle);
    if (part->scratch == NULL)
        return false;
    if (use == RS_PART_READ)
        rs_command_touch(command, buffer);
    else
        rs_command_wait_for_users(command, buffer);
    bool replaces = use == RS_PART_REPLACE && offset == part->first && offset + size == part->end;
    return command->error != 0 || replaces || fetch(command, part);
}

static rs_allocation open_range(rs_command *command, rs_allocation handle, size_t *offset,
                                size_t size, size_t room, rs_part_use use, rs_part *part);

/* A sub-buffer's bytes are opened as its parent's; the sub-buffer itself where the parent is in
 * AoS, or where the driver may refuse the command. */
static rs_allocation open_view(rs_command *command, rs_allocation handle, const rs_view *view,
                               size_t *offset, size_t size, size_t room, rs_part_use use,
                               rs_part *part) RS_LOCKED
{
    if (!view->host_may_access || *offset > view->size || size > view->size - *offset) {
        rs_command_use(command, view->parent, NULL);
        return handle;
    }
    size_t place = view->origin + *offset;
    rs_allocation opened = open_range(command, view->parent->handle, &place, size, room, use, part);
    if (part->scratch == NULL)
        return handle;
    *offset = place;
    return opened;
}

static rs_allocation open_range(rs_command *command, rs_allocation handle, size_t *offset,
                                size_t size, size_t room, rs_part_use use, rs_part *part) RS_LOCKED
{
    rs_buffer *buffer = rs_buffer_find(command->layer, handle);
    const rs_view *view = rs_view_find(command->layer, handle);
    *part = (rs_part){0};
    if (view != NULL)
        return open_view(command, handle, view, offset, size, room, use, part);
    if (buffer == NULL || command->queue == NULL || command->error != 0 ||
        buffer->context->handle != command->queue->context)
        return handle;
    if (make_part(command, buffer, *offset, size, room, use, part)) {
        *offset -= part->first;
        return part->scratch;
    }
    rs_part_drop(part);
    /* A few bytes would not have ended the layout. */
    command->keeps_run = size <= buffer->size / 2;
    rs_command_use(command, buffer, NULL);
    command->keeps_run = false;
    return handle;
}

rs_allocation rs_part_open(rs_command *command, rs_allocation handle, size_t *offset, size_t size,
                           rs_part_use use, rs_part *part)
{
    return open_range(command, handle, offset, size, 0, use, part);
}

/* Lets the bytes begin with a line, or some lines earlier where that is no multiple of the granule:
 * then they have their places in the lines of the part too. False when there is no such line. */
static bool begin_with_line(rs_layer *layer, rs_allocation handle, rs_part_lines *lines) RS_LOCKED
{
    enum { MOST_LINES = 16 }; /* no granule is larger */
    const rs_buffer *buffer = rs_buffer_behind(layer, handle);
    const rs_view *view = rs_view_find(layer, handle);
    const size_t origin = view != NULL ? view->origin : 0;
    size_t more = lines->offset % lines->pitch;
    size_t granule = buffer != NULL && buffer->layout != NULL
                         ? rs_converter_granule(buffer->layout->converter)
                         : 1;
    for (int i = 0; granule != 0 && i < MOST_LINES && more <= lines->offset; i++) {
        if ((origin + lines->offset - more) % granule == 0) {
            lines->offset -= more;
            lines->size += more;
            lines->room += more;
            return true;
        }
        more += lines->pitch;
    }
    return false;
}

rs_allocation rs_part_open_lines(rs_command *command, rs_allocation handle, rs_part_lines *lines,
                                 rs_part_use use, rs_part *part)
{
    const rs_part_lines all = *lines;
    if (!begin_with_line(command->layer, handle, lines)) {
        *part = (rs_part){0};
        rs_command_use(command, rs_buffer_behind(command->layer, handle), NULL);
        return handle;
    }
    const size_t more = all.offset - lines->offset;
    rs_allocation opened =
        open_range(command, handle, &lines->offset, lines->size, lines->room, use, part);
    *lines = (rs_part_lines){lines->offset + more, all.size, all.pitch, all.room};
    return opened;
}

void rs_part_drop(rs_part *part)
{
    if (part->scratch != NULL)
        rs_api_memory_release(part->scratch);
    *part = (rs_part){0};
}

int rs_part_close(rs_command *command, rs_part *part, rs_event event)
{
    int error = 0;
    if (part->scratch != NULL && part->use != RS_PART_READ)
        error = put_back(command, part, event);
    rs_part_drop(part); /* the commands hold it until they are done */
    return error;
}

/* ---- maps ---- */

bool rs_part_keep_mapped(rs_part *part, void *mapped, size_t offset, size_t size, bool writes)
{
    rs_map_part *kept = calloc(1, sizeof *kept);
    if (kept == NULL)
        return false;
    *kept = (rs_map_part){mapped, part->scratch,          part->first, offset, size,
                          writes, part->buffer->map_parts};
    part->buffer->map_parts = kept;
    *part = (rs_part){0};
    return true;
}

rs_map_part *rs_part_of_map(rs_buffer *buffer, const void *mapped)
{
    rs_map_part **place = &buffer->map_parts;
    while (*place != NULL && (*place)->mapped != mapped)
        place = &(*place)->next;
    rs_map_part *found = *place;
    if (found != NULL)
        *place = found->next;
    return found;
}

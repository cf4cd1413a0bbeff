/* The generated functions: offsets, and copies of whole structures. */
#include "rewrite/render.h"

#include "layout/layout.h"

#include <stdio.h>
#include <string.h>

static const char *const_word(bool is_const)
{
    return is_const ? "const " : "";
}

static const char *volatile_word(bool is_volatile)
{
    return is_volatile ? "volatile " : "";
}

/* The unsigned type of padding, by its size. */
static const char *padding_type(size_t size)
{
    static const struct {
        size_t size;
        const char *type;
    } types[] = {{1, "unsigned char"}, {2, "unsigned short"}, {4, "unsigned int"},
                 {8, "unsigned long"}, {16, "uint4"},         {32, "uint8"},
                 {64, "uint16"},       {128, "ulong16"}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].size == size)
            return types[i].type;
    return NULL;
}

static const rs_member *member_at(const rs_structure *s, size_t offset)
{
    for (size_t i = 0; i < s->member_count; i++)
        if (s->members[i].offset == offset)
            return &s->members[i];
    return NULL;
}

/* The copying function's own copy of some bytes of the structure. */
static void write_own(rs_text *out, const rs_member *member, const char *type, size_t offset)
{
    if (member != NULL && !member->is_union)
        rs_text_format(out, "*(%s *)&x.value.%s", type, member->path);
    else
        rs_text_format(out, "*(%s *)((char *)&x + %zu)", type, offset);
}

/* The assignment of a member, or of padding. */
static void write_copy(rs_text *out, const rs_copier *copier, const rs_structure *s,
                       const rs_leaf *leaf)
{
    const rs_member *member = leaf->padding ? NULL : member_at(s, leaf->offset);
    /* A bool moves as its byte: through its own type any byte would become 0 or 1. */
    bool as_bytes = member == NULL || member->is_union || strcmp(member->type, "bool") == 0 ||
                    strncmp(member->type, "atomic_", strlen("atomic_")) == 0;
    const char *name = as_bytes ? padding_type(leaf->size) : member->type;
    if (name == NULL) {
        out->failed = true;
        return;
    }
    char type[RS_WRITTEN_TYPE_SIZE];
    strcpy(type, name);
    if (member != NULL && member->vector3)
        type[strlen(type) - 1] = '4'; /* with the bytes behind its third lane */
    rs_text own = RS_TEXT_EMPTY, far = RS_TEXT_EMPTY;
    write_own(&own, member, type, leaf->offset);
    rs_text_format(&far, "*(%s%s%s %s *)(p + restride_layout_%d_offset(count, i, at + %zu, %zu))",
                   volatile_word(copier->is_volatile), const_word(copier->is_const),
                   copier->address_space, type, copier->accessor, leaf->offset, leaf->size);
    bool load = copier->kind == RS_ACCESS_LOAD;
    if (own.failed || far.failed)
        out->failed = true;
    else
        rs_text_format(out, "    %s = %s;\n", load ? own.data : far.data,
                       load ? far.data : own.data);
    rs_text_free(&own);
    rs_text_free(&far);
}

/*
 * A copying function takes and returns a structure as plain bytes: passed as itself, compilers may
 * drop its padding, which a plain assignment copies.
 */
static void write_members(const rs_model *model, int number, rs_text *out)
{
    const rs_copier *copier = &model->copiers[number];
    const rs_structure *s = &model->structures[copier->structure];
    for (size_t i = 0; i < s->record.leaf_count; i++)
        write_copy(out, copier, s, &s->record.leaves[i]);
}

/* The parameters of a copying function for the place: index and offset, or a distance. */
static const char *place_parameters(const rs_copier *copier)
{
    return copier->bytes ? "unsigned long from_start" : "long i, unsigned long at";
}

static void write_distance_split(const rs_model *model, const rs_copier *copier, rs_text *out)
{
    size_t size = model->structures[model->accessors[copier->accessor].structure].record.size;
    if (copier->bytes)
        rs_text_format(out,
                       "    const unsigned long i = from_start / %zuu, at = from_start %% %zuu;\n",
                       size, size);
}

/* The place of element `step` of a block. */
static void write_element_place(const rs_copier *copier, const char *step, rs_text *out)
{
    rs_text_format(out, "*(%s%s %s *)(p + restride_layout_%d_", const_word(copier->is_const),
                   copier->address_space, copier->type, copier->accessor);
    if (copier->soa)
        rs_text_format(out, "plane(count, f, i + (long)(%s), extent))", step);
    else if (copier->flat)
        rs_text_format(out, "member(count, i, at + (long)(%s)))", step);
    else
        rs_text_format(out, "offset(count, i, at + %s * %zu, %zu))", step, copier->size,
                       copier->size);
}

/* OpenCL has a vector "uint4", and none of "unsigned int". */
static void write_vector_type(const rs_copier *copier, rs_text *out)
{
    static const char word[] = "unsigned ";
    bool is_unsigned = strncmp(copier->type, word, strlen(word)) == 0;
    rs_text_format(out, "%s%s%d", is_unsigned ? "u" : "",
                   copier->type + (is_unsigned ? strlen(word) : 0), copier->block.lanes);
}

/*
 * The work-items copy element by element. The barrier stands where all of them come by, as the copy
 * itself must; the event is that of a copy of nothing, for whoever waits for it.
 */
static void write_group_copy(const rs_copier *copier, rs_text *out)
{
    bool fetch = copier->block.kind == RS_BLOCK_FETCH;
    const char *step = copier->block.strided ? "k * stride" : "k";
    rs_text_add_string(
        out, "    const size_t items = get_local_size(0) * get_local_size(1) * get_local_size(2);\n"
             "    const size_t first = (get_local_id(2) * get_local_size(1) + get_local_id(1)) * "
             "get_local_size(0) + get_local_id(0);\n"
             "    for (size_t k = first; k < n; k += items)\n        ");
    if (fetch)
        rs_text_add_string(out, "copy[k] = ");
    write_element_place(copier, step, out);
    rs_text_format(out,
                   "%s;\n    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n    return "
                   "async_work_group_copy(",
                   fetch ? "" : " = copy[k]");
    rs_text_format(out,
                   fetch ? "copy, (%s%s %s *)p, 0, event);\n" : "(%s%s %s *)p, copy, 0, event);\n",
                   const_word(copier->is_const), copier->address_space, copier->type);
}

/* Takes the place of a function of OpenCL that reads or writes several elements. */
static void render_block(const rs_model *model, int number, rs_text *out)
{
    const rs_copier *copier = &model->copiers[number];
    int lanes = copier->block.lanes;
    bool load = copier->block.kind == RS_BLOCK_LOAD;
    rs_text_add_string(out, "static inline ");
    if (load)
        write_vector_type(copier, out);
    else
        rs_text_add_string(out, lanes > 0 ? "void" : "event_t");
    rs_text_format(out, " restride_block_%d(%s%s char *p, unsigned long count, %s", number,
                   const_word(copier->is_const), copier->address_space,
                   copier->soa    ? "long f, long i, long extent"
                   : copier->flat ? "long i, long at"
                                  : place_parameters(copier));
    if (lanes > 0 && !load) {
        rs_text_add_string(out, ", ");
        write_vector_type(copier, out);
        rs_text_add_string(out, " x");
    }
    if (lanes == 0)
        rs_text_format(out, ", %s__local %s *copy, size_t n%s, event_t event",
                       copier->block.kind == RS_BLOCK_PUT ? "const " : "", copier->type,
                       copier->block.strided ? ", size_t stride" : "");
    rs_text_add_string(out, ")\n{\n");
    if (load) {
        rs_text_add_string(out, "    ");
        write_vector_type(copier, out);
        rs_text_add_string(out, " x;\n");
    }
    write_distance_split(model, copier, out);
    for (int lane = 0; lane < lanes; lane++) {
        char step[16];
        snprintf(step, sizeof step, "%d", lane);
        rs_text_format(out, load ? "    x.s%x = " : "    ", lane);
        write_element_place(copier, step, out);
        if (!load)
            rs_text_format(out, " = x.s%x", lane);
        rs_text_add_string(out, ";\n");
    }
    if (lanes == 0)
        write_group_copy(copier, out);
    rs_text_add_string(out, load ? "    return x;\n}\n" : "}\n");
}

void rs_render_copier(const rs_model *model, int number, rs_text *out)
{
    if (model->copiers[number].kind == RS_ACCESS_BLOCK) {
        render_block(model, number, out);
        return;
    }
    static const struct {
        size_t size;
        const char *type;
    } words[] = {{4, "unsigned int"}, {2, "unsigned short"}, {1, "unsigned char"}};
    const rs_copier *copier = &model->copiers[number];
    const rs_structure *s = &model->structures[copier->structure];
    bool load = copier->kind == RS_ACCESS_LOAD;
    int w = 0;
    while (s->record.size % words[w].size != 0)
        w++;
    rs_text_format(out,
                   "struct restride_bytes_%d { %s words[%zu]; };\n"
                   "union restride_value_%d { %s value; struct restride_bytes_%d bytes; };\n",
                   number, words[w].type, s->record.size / words[w].size, number, s->name, number);
    rs_text_format(out,
                   "static inline struct restride_bytes_%d restride_%s_%d(%s%s%s char *p, unsigned "
                   "long count, %s",
                   number, load ? "load" : "store", number, volatile_word(copier->is_volatile),
                   const_word(copier->is_const), copier->address_space, place_parameters(copier));
    if (!load)
        rs_text_format(out, ", struct restride_bytes_%d bytes", number);
    rs_text_format(out, ")\n{\n    union restride_value_%d x;\n", number);
    write_distance_split(model, copier, out);
    if (!load)
        rs_text_add_string(out, "    x.bytes = bytes;\n");
    write_members(model, number, out);
    rs_text_add_string(out, "    return x.bytes;\n}\n");
}

/*
 * The offset of a member that is known to be one of its structure: without a branch, so that loops
 * over members stay open to the compiler. Behind the last whole structure the array lies as it
 * always did, which is as one structure alone does in every layout.
 */
static void write_within(const rs_model *model, const rs_structure *s, rs_text *out, int number)
{
    if (model->accessors[number].full) {
        rs_text_format(out,
                       "static inline __attribute__((unused)) unsigned long "
                       "restride_layout_%d_within(unsigned long count, long i, long at)\n{\n"
                       "    return restride_layout_%d_offset(count, (unsigned long)i, (unsigned "
                       "long)at * %zuu, %zuu);\n}\n",
                       number, number, s->uniform, s->uniform);
        return;
    }
    rs_text_format(out,
                   "static inline __attribute__((unused)) unsigned long "
                   "restride_layout_%d_within(unsigned long count, long i, long at)\n{\n"
                   "    const unsigned long whole = (unsigned long)i < count;\n"
                   "    return (whole ? 0ul : (unsigned long)i * %zuu) + "
                   "restride_layout_%d_offset(whole ? count : 1ul, whole ? (unsigned long)i : 0ul, "
                   "(unsigned long)at * %zuu, %zuu);\n}\n",
                   number, s->record.size, number, s->uniform, s->uniform);
}

/*
 * The offset of a member by its number, counted through all structures, or by structure and number.
 * Behind the last whole structure the array lies as it always did.
 */
static void write_element(const rs_structure *s, rs_text *out, int number)
{
    size_t length = s->record.size / s->uniform;
    rs_text_format(out,
                   "static inline __attribute__((unused)) unsigned long "
                   "restride_layout_%d_element(unsigned long "
                   "count, long k)\n{\n"
                   "    const unsigned long i = (unsigned long)k / %zuu, at = (unsigned long)k %% "
                   "%zuu * %zuu;\n"
                   "    return i < count ? restride_layout_%d_offset(count, i, at, %zuu) : "
                   "(unsigned long)k * %zuu;\n}\n",
                   number, length, length, s->uniform, number, s->uniform, s->uniform);
    rs_text_format(out,
                   "static inline __attribute__((unused)) unsigned long "
                   "restride_layout_%d_member(unsigned long "
                   "count, long i, long at)\n{\n"
                   "    return (unsigned long)i < count && (unsigned long)at < %zuu\n"
                   "        ? restride_layout_%d_offset(count, (unsigned long)i, (unsigned long)at "
                   "* %zuu, %zuu)\n"
                   "        : restride_layout_%d_element(count, (long)((unsigned long)i * %zuu + "
                   "(unsigned long)at));\n}\n",
                   number, length, number, s->uniform, s->uniform, number, length);
}

/*
 * The same for an array that the program keeps in SoA, where small numbers, which GPUs divide
 * several times faster, are divided as such: by the number of an element, or by member
 * and record in the way that the kernel takes its indexes for. That holds when the program's number
 * of records is the buffer's; whatever else it computes is an element like any other.
 */
static void write_planes(const rs_structure *s, rs_text *out, int number)
{
    size_t length = s->record.size / s->uniform;
    static const char head[] =
        "static inline __attribute__((unused)) unsigned long restride_layout_";
    rs_text_format(out,
                   "%s%d_quotient(unsigned long k, unsigned long count)\n{\n"
                   "    return (k | count) >> 32 != 0 ? k / count : (unsigned int)k / (unsigned "
                   "int)count;\n}\n",
                   head, number);
    rs_text_format(out,
                   "%s%d_element(unsigned long count, long k)\n{\n"
                   "    if ((unsigned long)k >= count * %zuu)\n        return (unsigned long)k * "
                   "%zuu;\n"
                   "    const unsigned long f = restride_layout_%d_quotient((unsigned long)k, "
                   "count);\n"
                   "    return restride_layout_%d_offset(count, (unsigned long)k - f * count, f * "
                   "%zuu, %zuu);\n}\n",
                   head, number, length, s->uniform, number, number, s->uniform, s->uniform);
    rs_text_format(
        out,
        "%s%d_plane(unsigned long count, long f, long i, long extent)\n{\n"
        "    return (unsigned long)extent == count && (unsigned long)f < %zuu && "
        "(unsigned long)i < count\n"
        "        ? restride_layout_%d_offset(count, (unsigned long)i, (unsigned long)f * "
        "%zuu, %zuu)\n"
        "        : restride_layout_%d_element(count, (long)((unsigned long)f * (unsigned "
        "long)extent + (unsigned long)i));\n}\n",
        head, number, length, number, s->uniform, s->uniform, number);
    rs_text_format(
        out,
        "%s%d_narrow(unsigned long count, long f, long i, long extent)\n{\n"
        "    return count <= 0xffffffffu / %zuu && (unsigned long)extent == count && "
        "(unsigned long)f < %zuu && (unsigned long)i < count\n"
        "        ? restride_layout_%d_offset(count, (unsigned long)i, (unsigned long)f * "
        "%zuu, %zuu)\n"
        "        : restride_layout_%d_element(count, (unsigned int)((unsigned long)f * "
        "(unsigned long)extent + (unsigned long)i));\n}\n",
        head, number, length, length, number, s->uniform, s->uniform, number);
    rs_text_format(out,
                   "%s%d_moved(unsigned long count, long from_start, long f, long i, long "
                   "extent)\n{\n"
                   "    if (count == 0 || (unsigned long)extent != count)\n"
                   "        return restride_layout_%d_plane(count, f, from_start + i, extent);\n"
                   "    const unsigned long planes = restride_layout_%d_quotient((unsigned "
                   "long)from_start, count);\n"
                   "    return restride_layout_%d_plane(count, (long)planes + f, (long)((unsigned "
                   "long)from_start - planes * count) + i, extent);\n}\n",
                   head, number, number, number, number);
}

static restride_status write_layout_offset(const rs_model *model, int number, rs_text *out)
{
    const rs_accessor *accessor = &model->accessors[number];
    if (accessor->full) {
        /* The offset in tiles that are all full: the distance from member to member is a constant.
         */
        const rs_structure *s = &model->structures[accessor->structure];
        rs_text_format(
            out,
            "static inline __attribute__((unused)) unsigned long restride_layout_%d_offset("
            "unsigned long count, unsigned long i, unsigned long at, unsigned long size)\n"
            "{\n"
            "    const unsigned long start = i - i %% %zuu;\n"
            "    return start * %zuu + at * %zuu + (i - start) * size;\n"
            "}\n",
            number, accessor->tile, s->record.size, accessor->tile);
        return RESTRIDE_OK;
    }
    rs_text prefix = RS_TEXT_EMPTY;
    rs_text_format(&prefix, "restride_layout_%d", number);
    if (prefix.failed)
        return rs_fail_memory("an accessor");
    restride_layout *layout;
    restride_status status = rs_layout_of_record(
        &layout, &model->structures[accessor->structure].record, RS_SAMPLE_COUNT, accessor->layout);
    if (status == RESTRIDE_OK)
        rs_layout_write_offset(layout, RESTRIDE_DIALECT_OPENCL_C, prefix.data, false, out);
    restride_layout_destroy(layout);
    rs_text_free(&prefix);
    return status;
}

restride_status rs_render_accessor(const rs_model *model, int number, rs_text *out)
{
    const rs_accessor *accessor = &model->accessors[number];
    restride_status status = write_layout_offset(model, number, out);
    if (status != RESTRIDE_OK)
        return status;
    if (accessor->flat && accessor->extent != NULL)
        write_planes(&model->structures[accessor->structure], out, number);
    else if (accessor->flat) {
        write_element(&model->structures[accessor->structure], out, number);
        write_within(model, &model->structures[accessor->structure], out, number);
    }
    if (accessor->bytes) {
        /* The offset of a member by its distance from the start of the array in AoS. */
        const rs_structure *s = &model->structures[accessor->structure];
        rs_text_format(
            out,
            "static inline __attribute__((unused)) unsigned long restride_layout_%d_byte("
            "unsigned long count, unsigned long from_start, unsigned long size)\n{\n"
            "    return restride_layout_%d_offset(count, from_start / %zuu, from_start %% %zuu, "
            "size);\n}\n",
            number, number, s->record.size, s->record.size);
    }
    return RESTRIDE_OK;
}

/*
 * Descriptions of kernels in ELF files and in what is loaded: see forms.h. Of what is loaded the
 * notes are in memory, so no file is read. Nothing that a file says is trusted: every size is
 * checked against that of the file or of the segment.
 */
#include "base/log.h"
#include "base/text.h"
#include "layer/cuda/forms.h"

#include <elf.h>
#include <link.h>
#include <string.h>

static size_t round_up(size_t size, size_t align)
{
    return (size + align - 1) / align * align;
}

restride_status rs_forms_read_notes(rs_forms *forms, const void *memory, size_t size, size_t align)
{
    const char *at = memory;
    restride_status status = RESTRIDE_OK;
    align = align == 8 ? 8 : 4;
    while (size >= sizeof(ElfW(Nhdr)) && status != RESTRIDE_OUT_OF_MEMORY) {
        ElfW(Nhdr) head;
        memcpy(&head, at, sizeof head);
        const size_t content = round_up(sizeof head + (size_t)head.n_namesz, align);
        if (content > size || head.n_descsz > size - content)
            break;
        if (head.n_namesz == sizeof RS_FORMS_OWNER && head.n_type == RS_FORMS_NOTE &&
            memcmp(at + sizeof head, RS_FORMS_OWNER, sizeof RS_FORMS_OWNER) == 0)
            status = rs_forms_parse(forms, at + content, head.n_descsz);
        if (status == RESTRIDE_SYNTAX || status == RESTRIDE_INVALID_ARGUMENT)
            rs_log(RS_LOG_WARNING, "A description of kernels is left out: %s",
                   restride_last_error());
        const size_t whole = round_up(content + (size_t)head.n_descsz, align);
        at += whole < size ? whole : size;
        size -= whole < size ? whole : size;
    }
    return status == RESTRIDE_OUT_OF_MEMORY ? status : RESTRIDE_OK;
}

/* --- files --- */

static bool is_inside(size_t at, size_t count, size_t size, const rs_text *file)
{
    return at <= file->size && (size == 0 || count <= (file->size - at) / size);
}

static restride_status read_sections(rs_forms *forms, const rs_text *file, const ElfW(Ehdr) * head)
{
    ElfW(Shdr) one, names;
    const size_t at = head->e_shoff, count = head->e_shnum;
    if (!is_inside(at, count, sizeof one, file) || head->e_shstrndx >= count)
        return RESTRIDE_OK;
    memcpy(&names, file->data + at + head->e_shstrndx * sizeof names, sizeof names);
    if (!is_inside(names.sh_offset, names.sh_size, 1, file))
        return RESTRIDE_OK;
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; i < count && status == RESTRIDE_OK; i++) {
        memcpy(&one, file->data + at + i * sizeof one, sizeof one);
        if (one.sh_type == SHT_NOBITS || one.sh_name >= names.sh_size ||
            names.sh_size - one.sh_name < sizeof RS_FORMS_SECTION ||
            memcmp(file->data + names.sh_offset + one.sh_name, RS_FORMS_SECTION,
                   sizeof RS_FORMS_SECTION) != 0 ||
            !is_inside(one.sh_offset, one.sh_size, 1, file))
            continue;
        status =
            rs_forms_read_notes(forms, file->data + one.sh_offset, one.sh_size, one.sh_addralign);
    }
    return status;
}

restride_status rs_forms_read_file(rs_forms *forms, const char *path)
{
    static const unsigned char own[] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
                                        sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32};
    rs_text file = RS_TEXT_EMPTY;
    ElfW(Ehdr) head;
    restride_status status = rs_text_read_file(&file, path);
    if (status != RESTRIDE_OK)
        return status;
    if (file.size < sizeof head || memcmp(file.data, own, sizeof own) != 0) {
        rs_text_free(&file);
        return rs_fail(RESTRIDE_IO, "%s is no object or program of this machine.", path);
    }
    memcpy(&head, file.data, sizeof head);
    if (head.e_shentsize == sizeof(ElfW(Shdr)))
        status = read_sections(forms, &file, &head);
    rs_text_free(&file);
    return status;
}

/* --- what is loaded --- */

typedef struct {
    rs_forms *forms;
    unsigned long long loaded;
    restride_status status;
} looking;

/* Whether a segment is in memory: within one that is loaded. */
static bool is_loaded(const struct dl_phdr_info *info, const ElfW(Phdr) * segment)
{
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *load = &info->dlpi_phdr[i];
        if (load->p_type == PT_LOAD && segment->p_vaddr >= load->p_vaddr &&
            segment->p_vaddr - load->p_vaddr <= load->p_memsz &&
            segment->p_memsz <= load->p_memsz - (segment->p_vaddr - load->p_vaddr))
            return true;
    }
    return false;
}

static int look(struct dl_phdr_info *info, size_t size, void *context)
{
    looking *at = context;
    (void)size;
    if (info->dlpi_adds == at->forms->loaded)
        return 1; /* nothing new */
    at->loaded = info->dlpi_adds;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_NOTE || !is_loaded(info, segment))
            continue;
        const restride_status status =
            rs_forms_read_notes(at->forms, (const void *)(info->dlpi_addr + segment->p_vaddr),
                                segment->p_memsz, segment->p_align);
        at->status = status == RESTRIDE_OK ? at->status : status;
    }
    return 0;
}

restride_status rs_forms_read_loaded(rs_forms *forms)
{
    looking at = {forms, forms->loaded, RESTRIDE_OK};
    dl_iterate_phdr(look, &at);
    forms->loaded = at.loaded;
    return at.status;
}

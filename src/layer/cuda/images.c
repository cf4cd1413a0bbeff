/* See images.h. */
#include "layer/cuda/images.h"

#include "base/store.h"

#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An image that is larger is not looked for on disk: that would take longer than it is worth. */
enum { MOST_BYTES = 8 << 20, HEAD_SIZE = 24 };

static const char kind[] = "images";

typedef struct entry {
    struct entry *next;
    void *key;
    size_t key_size;
    rs_image other;
} entry;

static entry *entries;
static pthread_mutex_t entries_mutex = PTHREAD_MUTEX_INITIALIZER;

/* --- sizes --- */

static size_t larger(size_t a, uint64_t at, uint64_t count, uint64_t size)
{
    const uint64_t end = at + count * size;
    return end > a && end < SIZE_MAX / 2 ? (size_t)end : a;
}

/* A cubin: what its headers reach. The driver would read no less. */
static size_t elf_size(const unsigned char *image)
{
    Elf64_Ehdr head;
    memcpy(&head, image, sizeof head);
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_shentsize != sizeof(Elf64_Shdr))
        return 0;
    size_t size = larger(sizeof head, head.e_shoff, head.e_shnum, head.e_shentsize);
    size = larger(size, head.e_phoff, head.e_phnum, head.e_phentsize);
    for (size_t i = 0; i < head.e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, image + head.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type != SHT_NOBITS)
            size = larger(size, section.sh_offset, 1, section.sh_size);
    }
    return size;
}

size_t rs_image_size(const void *image)
{
    static const char *const begins[] = {"//", ".version", "\n//", "\n.version"};
    if (memcmp(image, ELFMAG, 1) == 0)
        return memcmp(image, ELFMAG, SELFMAG) == 0 ? elf_size(image) : 0;
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (strncmp(image, begins[i], strlen(begins[i])) == 0)
            return strlen(image);
    return 0;
}

/* Its table of sections is there, before that is read. */
size_t rs_image_size_within(const void *image, size_t size)
{
    Elf64_Ehdr head;
    if (size >= sizeof head && memcmp(image, ELFMAG, SELFMAG) == 0) {
        memcpy(&head, image, sizeof head);
        if (head.e_shoff > size ||
            (size_t)head.e_shnum * sizeof(Elf64_Shdr) > size - (size_t)head.e_shoff)
            return 0;
    } else if (size < SELFMAG || memcmp(image, ELFMAG, 1) == 0) {
        return 0;
    }
    const size_t own = rs_image_size(image);
    return own <= size ? own : 0;
}

/* --- pairs --- */

static entry *find(const void *key, size_t size)
{
    for (entry *one = entries; one != NULL; one = one->next)
        if (one->key_size == size && memcmp(one->key, key, size) == 0)
            return one;
    return NULL;
}

static void free_entry(entry *one)
{
    if (one == NULL)
        return;
    rs_forms_free(&one->other.forms);
    free(one->other.description);
    free(one->other.bytes);
    free(one->key);
    free(one);
}

static void *copy(const void *bytes, size_t size)
{
    char *made = malloc(size + 1);
    if (made != NULL) {
        memcpy(made, bytes, size);
        made[size] = '\0'; /* PTX ends so */
    }
    return made;
}

static entry *make_entry(const void *key, size_t key_size)
{
    entry *made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->key = copy(key, key_size);
        made->key_size = key_size;
    }
    if (made != NULL && made->key == NULL) {
        free(made);
        made = NULL;
    }
    return made;
}

static restride_status fill(entry *one, const void *other, size_t size, const char *description,
                            size_t description_size)
{
    one->other.bytes = copy(other, size);
    one->other.size = size;
    one->other.description = copy(description, description_size);
    return one->other.bytes == NULL || one->other.description == NULL
               ? rs_fail_memory("an image")
               : rs_forms_parse(&one->other.forms, description, description_size);
}

/* Adds an entry unless another thread has; that one stays. */
static entry *give(entry *made)
{
    pthread_mutex_lock(&entries_mutex);
    entry *known = find(made->key, made->key_size);
    if (known == NULL) {
        made->next = entries;
        entries = made;
    }
    pthread_mutex_unlock(&entries_mutex);
    if (known != NULL)
        free_entry(made);
    return known != NULL ? known : made;
}

/* On disk: the description's length in HEAD_SIZE bytes, the description, the image. */
static void write_pair(const void *image, size_t size, const void *other, size_t other_size,
                       const char *description)
{
    rs_text text = RS_TEXT_EMPTY;
    rs_text_format(&text, "%-*zu", HEAD_SIZE, strlen(description));
    rs_text_add_string(&text, description);
    rs_text_add(&text, other, other_size);
    if (!text.failed && size <= MOST_BYTES)
        rs_store_write(kind, image, size, text.data, text.size);
    rs_text_free(&text);
}

/* Whether there is one. */
static bool read_pair(entry *one)
{
    rs_text text = RS_TEXT_EMPTY;
    if (one->key_size > MOST_BYTES || !rs_store_read(kind, one->key, one->key_size, &text))
        return false;
    const size_t length = text.size > HEAD_SIZE ? strtoul(text.data, NULL, 10) : 0;
    const bool is_good = length > 0 && length < text.size - HEAD_SIZE &&
                         fill(one, text.data + HEAD_SIZE + length, text.size - HEAD_SIZE - length,
                              text.data + HEAD_SIZE, length) == RESTRIDE_OK;
    rs_text_free(&text);
    return is_good;
}

restride_status rs_image_keep(const void *image, size_t size, const void *other, size_t other_size,
                              const char *description)
{
    const size_t key_size = rs_image_size(image);
    entry *made = key_size > 0 && key_size <= size ? make_entry(image, key_size) : NULL;
    if (made == NULL)
        return rs_fail(RESTRIDE_UNSUPPORTED, "An image is neither a cubin nor PTX.");
    restride_status status = fill(made, other, other_size, description, strlen(description));
    if (status != RESTRIDE_OK) {
        free_entry(made);
        return status;
    }
    write_pair(image, key_size, other, other_size, description);
    give(made);
    return RESTRIDE_OK;
}

const rs_image *rs_image_find(const void *image)
{
    const size_t size = image == NULL ? 0 : rs_image_size(image);
    if (size == 0)
        return NULL;
    pthread_mutex_lock(&entries_mutex);
    entry *known = find(image, size);
    pthread_mutex_unlock(&entries_mutex);
    if (known == NULL) {
        entry *made = make_entry(image, size);
        if (made != NULL && read_pair(made))
            known = give(made);
        else
            free_entry(made);
    }
    return known != NULL ? &known->other : NULL;
}

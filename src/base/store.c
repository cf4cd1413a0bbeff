/* Texts on disk: see store.h. */
#include "base/store.h"

#include "base/list.h"
#include "base/log.h"
#include "base/owner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* An entry is "restride store 1", key size, content size and hash, then key and content. */
enum { NAME_SIZE = 64, HEADER_SIZE = 80 };

/* The most of a kind (store.h); a single entry has no more bytes either. */
enum { MOST_ENTRIES = 1024, MOST_BYTES = 128 << 20 };

/* A temporary file as old as this was left by a process that was killed. */
enum { SECONDS_OF_TEMPORARY = 3600 };

/* FNV-1a. Two of them with different starts name an entry. */
static uint64_t hash(uint64_t value, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        value = (value ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return value;
}

static const uint64_t first_start = UINT64_C(0xcbf29ce484222325);
static const uint64_t second_start = UINT64_C(0x9e3779b97f4a7c15);

char *rs_store_folder(const char *kind)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    rs_text path = RS_TEXT_EMPTY;
    if (cache != NULL && cache[0] == '/')
        rs_text_format(&path, "%s/restride/%s", cache, kind);
    else if (home != NULL && home[0] == '/')
        rs_text_format(&path, "%s/.cache/restride/%s", home, kind);
    else
        return NULL;
    return rs_text_take(&path);
}

static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700); /* what fails shows when the folder is opened */
        *slash = '/';
    }
    (void)mkdir(path, 0700);
}

/* The folder of a kind, opened, and made if wanted; -1 when it is missing or not to be trusted. */
static int open_folder(const char *kind, bool make)
{
    char *path = rs_store_folder(kind);
    if (path == NULL)
        return -1;
    if (make)
        make_folders(path);
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0 && !rs_owned_alone(folder, S_IFDIR)) {
        rs_log(RS_LOG_WARNING, "%s is not used: others may write to it", path);
        close(folder);
        folder = -1;
    }
    free(path);
    return folder;
}

static void name_entry(char name[NAME_SIZE], const char *key, size_t key_size)
{
    snprintf(name, NAME_SIZE, "%016" PRIx64 "%016" PRIx64, hash(first_start, key, key_size),
             hash(second_start, key, key_size));
}

static void write_header(char header[HEADER_SIZE + 1], const char *key, size_t key_size,
                         const char *bytes, size_t count)
{
    char line[HEADER_SIZE];
    uint64_t sum = hash(hash(second_start, key, key_size), bytes, count);
    snprintf(line, sizeof line, "restride store 1 %zu %zu %016" PRIx64, key_size, count, sum);
    snprintf(header, HEADER_SIZE + 1, "%-*s\n", HEADER_SIZE - 1, line);
}

/* Whether a file's text is the entry of a key; *content gets what it holds. */
static bool unpack(const rs_text *file, const char *key, size_t key_size, rs_text *content)
{
    char header[HEADER_SIZE + 1];
    if (file->size < HEADER_SIZE + key_size)
        return false;
    const char *bytes = file->data + HEADER_SIZE + key_size;
    size_t count = file->size - HEADER_SIZE - key_size;
    write_header(header, key, key_size, bytes, count);
    if (memcmp(header, file->data, HEADER_SIZE) != 0 ||
        memcmp(file->data + HEADER_SIZE, key, key_size) != 0)
        return false;
    rs_text_add(content, bytes, count);
    return !content->failed;
}

/* The entry of a key in an open folder, which is closed; with `private`, of this user alone. */
static bool read_entry(int folder, bool private, const char *key, size_t key_size, rs_text *content)
{
    char name[NAME_SIZE];
    name_entry(name, key, key_size);
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    close(folder);
    if (file < 0)
        return false;
    struct stat about;
    rs_text text = RS_TEXT_EMPTY;
    bool good = (!private || rs_owned_alone(file, S_IFREG)) && fstat(file, &about) == 0 &&
                (uintmax_t)about.st_size <= MOST_BYTES &&
                rs_text_read_descriptor(&text, file, name) == RESTRIDE_OK &&
                unpack(&text, key, key_size, content);
    if (good && private)
        (void)futimens(file, NULL); /* its age is that of its last use */
    close(file);
    rs_text_free(&text);
    return good;
}

bool rs_store_read(const char *kind, const char *key, size_t key_size, rs_text *content)
{
    int folder = open_folder(kind, false);
    return folder >= 0 && read_entry(folder, true, key, key_size, content);
}

bool rs_store_read_installed(const char *path, const char *key, size_t key_size, rs_text *content)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return folder >= 0 && read_entry(folder, false, key, key_size, content);
}

static bool write_all(int file, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(file, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        count -= (size_t)written;
    }
    return true;
}

/* Opens a new file of a name that no process and no thread has. */
static int create_unique(int folder, char name[NAME_SIZE])
{
    enum { ATTEMPTS = 64 };
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        snprintf(name, NAME_SIZE, "%ld-%p-%d.tmp", (long)getpid(), (void *)name, attempt);
        int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (file >= 0 || errno != EEXIST)
            return file;
    }
    return -1;
}

void rs_store_write(const char *kind, const char *key, size_t key_size, const char *bytes,
                    size_t count)
{
    char name[NAME_SIZE], temporary[NAME_SIZE], header[HEADER_SIZE + 1];
    if (count > MOST_BYTES || key_size > MOST_BYTES || HEADER_SIZE + key_size + count > MOST_BYTES)
        return;
    int folder = open_folder(kind, true);
    if (folder < 0)
        return;
    name_entry(name, key, key_size);
    write_header(header, key, key_size, bytes, count);
    int file = create_unique(folder, temporary);
    bool written = file >= 0 && write_all(file, header, HEADER_SIZE) &&
                   write_all(file, key, key_size) && write_all(file, bytes, count);
    if (file >= 0) {
        written = close(file) == 0 && written;
        written = written && renameat(folder, temporary, folder, name) == 0;
        if (!written)
            (void)unlinkat(folder, temporary, 0);
    }
    if (!written)
        rs_log(RS_LOG_INFO, "an entry of the store %s could not be written", kind);
    close(folder);
    if (written)
        rs_store_trim(kind, MOST_ENTRIES, MOST_BYTES);
}

/* ---- files by name ---- */

enum { SECONDS_OF_FILE = 2 * 24 * 3600 };

/* Removes what is in a folder below `parent`, and it, if that is old. */
static void remove_old(int parent, const char *name)
{
    struct stat about;
    struct timespec now;
    const struct dirent *found;
    clock_gettime(CLOCK_REALTIME, &now);
    if (fstatat(parent, name, &about, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(about.st_mode) ||
        now.tv_sec - about.st_mtim.tv_sec < SECONDS_OF_FILE)
        return;
    const int inner = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = inner >= 0 ? fdopendir(inner) : NULL;
    while (folder != NULL && (found = readdir(folder)) != NULL)
        (void)unlinkat(inner, found->d_name, 0);
    if (folder != NULL)
        closedir(folder);
    else if (inner >= 0)
        close(inner);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

static void remove_all_old(const char *kind)
{
    const int descriptor = open_folder(kind, false);
    DIR *folder = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    const struct dirent *found;
    while (folder != NULL && (found = readdir(folder)) != NULL)
        if (found->d_name[0] != '.')
            remove_old(descriptor, found->d_name);
    if (folder != NULL)
        closedir(folder);
    else if (descriptor >= 0)
        close(descriptor);
}

char *rs_store_put(const char *kind, const char *name, const char *bytes, size_t count)
{
    char own[NAME_SIZE], temporary[NAME_SIZE];
    rs_text inner = RS_TEXT_EMPTY, path = RS_TEXT_EMPTY;
    name_entry(own, bytes, count);
    rs_text_format(&inner, "%s/%s", kind, own);
    char *parent = inner.failed ? NULL : rs_store_folder(inner.data);
    if (parent != NULL)
        rs_text_format(&path, "%s/%s", parent, name);
    const int outer = parent != NULL ? open_folder(kind, true) : -1,
              folder = outer >= 0 ? open_folder(inner.data, true) : -1;
    const int file = folder >= 0 ? create_unique(folder, temporary) : -1;
    bool written = file >= 0 && write_all(file, bytes, count);
    if (file >= 0) {
        written = close(file) == 0 && written && !path.failed;
        written = written && renameat(folder, temporary, folder, name) == 0;
        if (!written)
            (void)unlinkat(folder, temporary, 0);
        (void)futimens(folder, NULL);
    }
    if (folder >= 0)
        close(folder);
    if (outer >= 0)
        close(outer);
    if (written)
        remove_all_old(kind);
    else
        rs_text_free(&path);
    free(parent);
    rs_text_free(&inner);
    return written ? rs_text_take(&path) : NULL;
}

/* ---- its size ---- */

typedef struct {
    char name[NAME_SIZE];
    struct timespec used;
    size_t bytes;
} stored;

typedef struct {
    stored *entries;
    size_t count;
    size_t bytes;
} listing;

static void list_entry(listing *list, const stored *entry)
{
    if (!RS_LIST_GROW(list->entries, list->count))
        return;
    list->entries[list->count++] = *entry;
    list->bytes += entry->bytes;
}

static bool is_temporary(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".tmp") == 0;
}

/* Lists the entries, and removes what was never finished. */
static void list_folder(listing *list, DIR *folder)
{
    const struct dirent *found;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    while ((found = readdir(folder)) != NULL) {
        struct stat about;
        stored entry;
        if (strlen(found->d_name) >= NAME_SIZE ||
            fstatat(dirfd(folder), found->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(about.st_mode))
            continue;
        if (is_temporary(found->d_name)) {
            if (now.tv_sec - about.st_mtim.tv_sec > SECONDS_OF_TEMPORARY)
                (void)unlinkat(dirfd(folder), found->d_name, 0);
            continue;
        }
        entry.used = about.st_mtim;
        entry.bytes = (size_t)about.st_size;
        strcpy(entry.name, found->d_name);
        list_entry(list, &entry);
    }
}

static int compare_use(const void *a, const void *b)
{
    const struct timespec *left = &((const stored *)a)->used, *right = &((const stored *)b)->used;
    if (left->tv_sec != right->tv_sec)
        return left->tv_sec < right->tv_sec ? -1 : 1;
    return (left->tv_nsec > right->tv_nsec) - (left->tv_nsec < right->tv_nsec);
}

/* Another process may remove or rewrite the same entry. A missing one is made once more, and a
 * reader has it open. */
void rs_store_trim(const char *kind, size_t most_entries, size_t most_bytes)
{
    listing list = {NULL, 0, 0};
    int descriptor = open_folder(kind, false);
    DIR *folder = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    if (folder == NULL) {
        if (descriptor >= 0)
            close(descriptor);
        return;
    }
    list_folder(&list, folder);
    qsort(list.entries, list.count, sizeof *list.entries, compare_use);
    size_t left = list.count;
    for (size_t i = 0; left > 1 && (left > most_entries || list.bytes > most_bytes); i++, left--) {
        list.bytes -= list.entries[i].bytes;
        (void)unlinkat(descriptor, list.entries[i].name, 0);
    }
    free(list.entries);
    closedir(folder);
}

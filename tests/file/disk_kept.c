/*
 * See disk_kept.h. What is on the disk lies in the folder FOLDER.disk: for each file of inode N the
 * file "N" with its bytes, "N.mark" with its attribute and "N.stale" with a byte for each sector
 * that a failed synchronisation has given up; "names" has the entries of the folder, and
 * "NAME.gone" what one of them stood for.
 */
#include "disk_kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { SECTOR = 512, PATH_BYTES = 512, ATTRIBUTE_BYTES = 2048 };

static const char attribute[] = "user.restride.change";
disk_state *disk_shared;
static char disk_folder[PATH_BYTES / 2]; /* "": nothing is watched */

uint64_t disk_seed;

size_t disk_random(size_t bound)
{
    disk_seed = disk_seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(disk_seed >> 33) % bound;
}

int disk_calls(void)
{
    return disk_shared->calls;
}

static void require(bool holds)
{
    if (!holds)
        abort();
}

static const char *path_of(uint64_t inode, const char *suffix)
{
    static char path[PATH_BYTES];
    snprintf(path, PATH_BYTES, "%s.disk/%" PRIu64 "%s", disk_folder, inode, suffix);
    return path;
}

/* ---- files as a whole ---- */

typedef struct {
    unsigned char *bytes;
    size_t count;
} content;

static content read_descriptor(int descriptor)
{
    struct stat about;
    require(fstat(descriptor, &about) == 0);
    content c = {malloc((size_t)about.st_size + 1), (size_t)about.st_size};
    require(c.bytes != NULL && pread(descriptor, c.bytes, c.count, 0) == (ssize_t)c.count);
    return c;
}

/* Nothing where there is no file. */
static content read_path(const char *path)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    content c = descriptor < 0 ? (content){calloc(1, 1), 0} : read_descriptor(descriptor);
    if (descriptor >= 0)
        close(descriptor);
    return c;
}

/* Past the calls that are watched. */
static void put(int descriptor, const unsigned char *bytes, size_t count, size_t offset)
{
    require(syscall(SYS_pwrite64, descriptor, bytes, count, offset) == (long)count);
}

static void write_path(const char *path, const content *c)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    require(descriptor >= 0 && syscall(SYS_ftruncate, descriptor, c->count) == 0);
    put(descriptor, c->bytes, c->count, 0);
    close(descriptor);
}

static content read_attribute(int descriptor)
{
    content c = {calloc(1, ATTRIBUTE_BYTES), 0};
    ssize_t count = fgetxattr(descriptor, attribute, c.bytes, ATTRIBUTE_BYTES);
    c.count = count > 0 ? (size_t)count : 0;
    return c;
}

void disk_keep_attribute(int descriptor)
{
    struct stat about;
    require(fstat(descriptor, &about) == 0);
    content c = read_attribute(descriptor);
    write_path(path_of(about.st_ino, ".mark"), &c);
    free(c.bytes);
}

/* ---- what waits for the disk ---- */

static disk_waiting *waiting_of(uint64_t inode)
{
    for (size_t i = 0; i < DISK_MOST_NAMES; i++) {
        disk_waiting *w = &disk_shared->waits[i];
        if (w->inode == 0)
            *w = (disk_waiting){inode, SIZE_MAX, 0};
        if (w->inode == inode)
            return w;
    }
    abort();
}

static void wait_for_disk(int descriptor, size_t begin, size_t end)
{
    struct stat about;
    require(fstat(descriptor, &about) == 0);
    disk_waiting *w = waiting_of(about.st_ino);
    w->begin = begin < w->begin ? begin : w->begin;
    w->end = end > w->end ? end : w->end;
}

static size_t size_of(int descriptor)
{
    struct stat about;
    require(fstat(descriptor, &about) == 0);
    return (size_t)about.st_size;
}

/* The sectors of a file that wait, as they are now and on the disk. */
typedef struct {
    uint64_t inode;
    int now_file;
    int kept_file;
    size_t now_bytes;
    size_t kept_bytes;
    size_t begin; /* a multiple of a sector */
    size_t count;
    unsigned char *now;
    unsigned char *kept;
    unsigned char *stale; /* of each sector; those that were given up */
} pair;

static unsigned char *read_part(int descriptor, size_t begin, size_t count)
{
    unsigned char *bytes = calloc(1, count + 1);
    require(bytes != NULL && pread(descriptor, bytes, count, (off_t)begin) >= 0);
    return bytes;
}

static int open_own(const char *path)
{
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    require(descriptor >= 0);
    return descriptor;
}

static pair open_pair(int descriptor)
{
    char number[64];
    struct stat about;
    require(fstat(descriptor, &about) == 0);
    const disk_waiting *w = waiting_of(about.st_ino);
    pair p = {.inode = about.st_ino, .now_bytes = (size_t)about.st_size};
    snprintf(number, sizeof number, "/proc/self/fd/%d", descriptor);
    p.now_file = open(number, O_RDWR | O_CLOEXEC); /* the process may have it for writing alone */
    p.kept_file = open_own(path_of(p.inode, ""));
    p.kept_bytes = size_of(p.kept_file);
    size_t begin = disk_shared->sees_mappings != 0 ? w->begin / SECTOR * SECTOR : 0;
    size_t end = disk_shared->sees_mappings != 0 && w->end < p.now_bytes ? w->end : p.now_bytes;
    p.begin = begin < end ? begin : 0;
    p.count = begin < end ? end - begin : 0;
    p.now = read_part(p.now_file, p.begin, p.count);
    p.kept = read_part(p.kept_file, p.begin, p.count);
    int stale = disk_shared->has_stale != 0 ? open_own(path_of(p.inode, ".stale")) : -1;
    size_t sectors = p.count / SECTOR + 1;
    p.stale = stale >= 0 ? read_part(stale, p.begin / SECTOR, sectors) : calloc(1, sectors + 1);
    if (stale >= 0)
        close(stale);
    return p;
}

static void close_pair(const pair *p)
{
    free(p->now);
    free(p->kept);
    free(p->stale);
    close(p->now_file);
    close(p->kept_file);
}

/* The bytes of a sector of a pair. */
static size_t count_sector(const pair *p, size_t at)
{
    return p->count - at < SECTOR ? p->count - at : SECTOR;
}

static bool differs(const pair *p, size_t at)
{
    return memcmp(p->now + at, p->kept + at, count_sector(p, at)) != 0;
}

/* Brings sectors to the disk: all, or some of those that wait, as a system does at any time. */
void disk_keep_bytes(int descriptor, bool all)
{
    const pair p = open_pair(descriptor);
    for (size_t at = 0; at < p.count; at += SECTOR)
        if (p.stale[at / SECTOR] == 0 && (all || disk_random(2) == 0))
            memcpy(p.kept + at, p.now + at, count_sector(&p, at));
    put(p.kept_file, p.kept, p.count, p.begin);
    if (all)
        require(syscall(SYS_ftruncate, p.kept_file, p.now_bytes) == 0);
    if (all && memchr(p.stale, 1, p.count / SECTOR + 1) == NULL)
        *waiting_of(p.inode) = (disk_waiting){p.inode, SIZE_MAX, 0};
    close_pair(&p);
}

static void put_stale(const pair *p, size_t at, unsigned char value)
{
    int file = open_own(path_of(p->inode, ".stale"));
    put(file, &value, 1, at / SECTOR);
    close(file);
}

/* A synchronisation has failed: what waited is believed to be on the disk. */
void disk_give_up(int descriptor)
{
    const pair p = open_pair(descriptor);
    for (size_t at = 0; at < p.count; at += SECTOR)
        if (differs(&p, at))
            put_stale(&p, p.begin + at, 1);
    disk_shared->has_stale = 1;
    close_pair(&p);
}

void disk_note_write(int descriptor, size_t offset, size_t count)
{
    if (count == 0)
        return;
    wait_for_disk(descriptor, offset, offset + count);
    if (disk_shared->has_stale == 0)
        return;
    const pair p = open_pair(descriptor);
    for (size_t at = offset / SECTOR * SECTOR; at < offset + count; at += SECTOR)
        put_stale(&p, at, 0);
    close_pair(&p);
}

/* ---- names ---- */

typedef struct {
    char name[64];
    uint64_t inode;
} entry;

typedef struct {
    size_t count;
    entry entries[DISK_MOST_NAMES];
} names;

static names list_now(void)
{
    names list = {0};
    DIR *folder = opendir(disk_folder);
    require(folder != NULL);
    for (const struct dirent *d; (d = readdir(folder)) != NULL;)
        if (d->d_name[0] != '.') {
            require(list.count < DISK_MOST_NAMES);
            entry *e = &list.entries[list.count++];
            snprintf(e->name, sizeof e->name, "%.63s", d->d_name);
            e->inode = d->d_ino;
        }
    closedir(folder);
    return list;
}

static const char *names_path(void)
{
    static char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s.disk/names", disk_folder);
    return path;
}

/* What a name stood for that was taken away. */
static const char *path_of_gone(const char *name)
{
    static char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s.disk/%s.gone", disk_folder, name);
    return path;
}

void disk_keep_names(void)
{
    const names list = list_now();
    const content c = {(unsigned char *)(uintptr_t)&list, sizeof list};
    write_path(names_path(), &c);
    for (size_t i = 0; i < list.count; i++)
        syscall(SYS_unlinkat, AT_FDCWD, path_of_gone(list.entries[i].name), 0);
}

static names list_kept(void)
{
    content c = read_path(names_path());
    names list = {0};
    require(c.count == sizeof list);
    memcpy(&list, c.bytes, sizeof list);
    free(c.bytes);
    return list;
}

static uint64_t find_inode(const names *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->entries[i].name, name) == 0)
            return list->entries[i].inode;
    return 0;
}

static const char *path_in_folder(const char *name)
{
    static char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", disk_folder, name);
    return path;
}

/* The next file may get the same inode. A name that was never on the disk does not come back. */
void disk_keep_aside(const char *path, uint64_t inode)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    const names kept = list_kept();
    content c = read_path(path_of(inode, ""));
    if (find_inode(&kept, name) == inode && access(path_of_gone(name), F_OK) != 0)
        write_path(path_of_gone(name), &c);
    free(c.bytes);
    syscall(SYS_unlinkat, AT_FDCWD, path_of(inode, ""), 0);
    *waiting_of(inode) = (disk_waiting){inode, SIZE_MAX, 0};
}

/* ---- the loss of power ---- */

/* New names may be missing, and names that were taken away may be back. */
static void lose_names(void)
{
    const names now = list_now();
    const names kept = list_kept();
    for (size_t i = 0; i < now.count; i++)
        if (find_inode(&kept, now.entries[i].name) == 0 && disk_random(2) == 0)
            syscall(SYS_unlinkat, AT_FDCWD, path_in_folder(now.entries[i].name), 0);
    for (size_t i = 0; i < kept.count; i++)
        if (find_inode(&now, kept.entries[i].name) == 0 && disk_random(2) == 0) {
            content c = read_path(path_of_gone(kept.entries[i].name));
            struct stat about;
            write_path(path_in_folder(kept.entries[i].name), &c);
            require(stat(path_in_folder(kept.entries[i].name), &about) == 0);
            write_path(path_of(about.st_ino, ""), &c);
            free(c.bytes);
        }
}

static void lose_attribute(int descriptor, uint64_t inode)
{
    content kept = read_path(path_of(inode, ".mark"));
    if (disk_random(2) == 0 && kept.count > 0)
        require(syscall(SYS_fsetxattr, descriptor, attribute, kept.bytes, kept.count, 0) == 0);
    else if (disk_random(2) == 0 && kept.count == 0)
        syscall(SYS_fremovexattr, descriptor, attribute);
    free(kept.bytes);
}

static void lose_bytes(const char *name)
{
    int descriptor = open(path_in_folder(name), O_RDWR | O_CLOEXEC);
    require(descriptor >= 0);
    const pair p = open_pair(descriptor);
    for (size_t at = 0; at < p.count; at += SECTOR)
        if (differs(&p, at) && (p.stale[at / SECTOR] != 0 || disk_random(2) == 0))
            put(p.now_file, p.kept + at, count_sector(&p, at), p.begin + at);
    if (disk_random(2) == 0)
        require(syscall(SYS_ftruncate, p.now_file, p.kept_bytes) == 0);
    lose_attribute(descriptor, p.inode);
    close_pair(&p);
    close(descriptor);
}

static void keep_all(void)
{
    char command[3 * PATH_BYTES];
    char path[PATH_BYTES];
    DIR *old = opendir((snprintf(path, sizeof path, "%s.disk", disk_folder), path));
    for (const struct dirent *d; old != NULL && (d = readdir(old)) != NULL;)
        if (d->d_name[0] != '.' && strcmp(d->d_name, "calls") != 0) {
            snprintf(command, sizeof command, "%s/%s", path, d->d_name);
            syscall(SYS_unlinkat, AT_FDCWD, command, 0);
        }
    if (old != NULL)
        closedir(old);
    disk_shared->has_stale = 0;
    memset(disk_shared->waits, 0, sizeof disk_shared->waits);
    disk_keep_names();
    const names now = list_now();
    for (size_t i = 0; i < now.count; i++) {
        int descriptor = open(path_in_folder(now.entries[i].name), O_RDONLY | O_CLOEXEC);
        wait_for_disk(descriptor, 0, size_of(descriptor));
        disk_keep_bytes(descriptor, true);
        disk_keep_attribute(descriptor);
        close(descriptor);
    }
}

void disk_lose_power(void)
{
    lose_names();
    const names now = list_now();
    for (size_t i = 0; i < now.count; i++)
        lose_bytes(now.entries[i].name);
    keep_all();
}

/* ---- beginning ---- */

void disk_open(const char *folder)
{
    char path[PATH_BYTES];
    snprintf(disk_folder, sizeof disk_folder, "%s", folder);
    snprintf(path, sizeof path, "%s.disk", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s.disk/calls", folder);
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    require(descriptor >= 0 && syscall(SYS_ftruncate, descriptor, sizeof *disk_shared) == 0);
    disk_shared =
        mmap(NULL, sizeof *disk_shared, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    require(disk_shared != MAP_FAILED);
    close(descriptor);
}

void disk_begin(const char *folder, bool sees_mappings)
{
    if (strcmp(disk_folder, folder) != 0)
        disk_open(folder);
    disk_shared->calls = 0;
    disk_shared->sees_mappings = sees_mappings;
    keep_all();
}

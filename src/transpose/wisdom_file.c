/*
 * The file of wisdom. Writers hold a lock file beside it while they read, merge and rename, so none
 * of several processes loses what another has just added; readers need no lock, since the rename
 * shows them either the old file or the new one.
 */
#include "transpose/wisdom_file.h"
#include "base/json.h"
#include "base/owner.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { VERSION = 1, MOST_BYTES = 16 << 20, LOCK_MILLISECONDS = 10000 };

static const char format_name[] = "restride wisdom";

/* ---- where ---- */

restride_status rs_wisdom_file_path(char **path)
{
    *path = NULL;
    const char *named = getenv("RESTRIDE_WISDOM");
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    rs_text text = RS_TEXT_EMPTY;
    if (named != NULL && named[0] == '\0')
        return RESTRIDE_OK;
    if (named != NULL)
        rs_text_add_string(&text, named);
    else if (cache != NULL && cache[0] == '/')
        rs_text_format(&text, "%s/restride/wisdom.json", cache);
    else if (home != NULL && home[0] == '/')
        rs_text_format(&text, "%s/.cache/restride/wisdom.json", home);
    else
        return RESTRIDE_OK;
    *path = rs_text_take(&text);
    return *path == NULL ? rs_fail_memory("the name of the wisdom file") : RESTRIDE_OK;
}

/* Makes the folders above a file, like mkdir -p; what fails shows when the file is opened. */
static void make_folders(const char *path)
{
    char *copy = strdup(path);
    if (copy == NULL)
        return;
    for (char *slash = strchr(copy + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(copy, 0700);
        *slash = '/';
    }
    free(copy);
}

/* ---- reading ---- */

static bool is_count(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

static bool is_record(const json_t *record)
{
    return json_is_object(json_object_get(record, "problem")) &&
           json_is_string(json_object_get(record, "method")) &&
           is_count(json_object_get(record, "tile_rows")) &&
           is_count(json_object_get(record, "tile_cols")) &&
           json_number_value(json_object_get(record, "seconds")) > 0 &&
           json_number_value(json_object_get(record, "planner_seconds")) > 0;
}

static bool is_wisdom(const json_t *root)
{
    const char *format = json_string_value(json_object_get(root, "format"));
    return format != NULL && strcmp(format, format_name) == 0;
}

static restride_status check(const json_t *root, const char *path)
{
    if (!is_wisdom(root))
        return rs_fail(RESTRIDE_IO, "%s is not a file of wisdom; name another in RESTRIDE_WISDOM.",
                       path);
    const json_t *version = json_object_get(root, "version");
    if (!json_is_integer(version) || json_integer_value(version) != VERSION)
        return rs_fail(RESTRIDE_IO,
                       "%s is wisdom of another version of Restride; name another file in "
                       "RESTRIDE_WISDOM, or remove it with restride tune --forget.",
                       path);
    const json_t *records = json_object_get(root, "records");
    if (!json_is_array(records))
        return rs_fail(RESTRIDE_IO,
                       "%s is damaged: it has no records; remove it with restride tune --forget.",
                       path);
    for (size_t i = 0; i < json_array_size(records); i++)
        if (!is_record(json_array_get(records, i)))
            return rs_fail(RESTRIDE_IO,
                           "%s is damaged in record %zu; remove it with restride tune --forget.",
                           path, i + 1);
    return RESTRIDE_OK;
}

/* What another user could have written decides over no plan. */
static restride_status check_file(const char *path, int descriptor)
{
    struct stat info;
    if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > MOST_BYTES)
        return rs_fail(RESTRIDE_IO,
                       "%s is not a file of wisdom: it is no regular file or longer than %d bytes.",
                       path, MOST_BYTES);
    if (rs_owned_alone(descriptor, S_IFREG))
        return RESTRIDE_OK;
    return rs_fail(RESTRIDE_IO,
                   "The wisdom in %s is not used: it belongs to another user, or others may write "
                   "to it; make it yours alone (chmod go-w), or name another in RESTRIDE_WISDOM.",
                   path);
}

/* *root is NULL when there is no such file. */
static restride_status read_root(const char *path, json_t **root)
{
    *root = NULL;
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? RESTRIDE_OK
                   : rs_fail(RESTRIDE_IO, "The wisdom in %s could not be read: %s.", path,
                             strerror(errno));
    rs_text text = RS_TEXT_EMPTY;
    restride_status status = check_file(path, descriptor);
    if (status == RESTRIDE_OK)
        status = rs_text_read_descriptor(&text, descriptor, path);
    close(descriptor);
    if (status != RESTRIDE_OK) {
        rs_text_free(&text);
        return status;
    }
    json_error_t error;
    *root = json_loadb(text.data == NULL ? "" : text.data, text.size, 0, &error);
    rs_text_free(&text);
    if (*root != NULL)
        return RESTRIDE_OK;
    /* Some allocations inside jansson fail without a code; damage has a line. */
    if (json_error_code(&error) == json_error_out_of_memory || error.line < 1)
        return rs_fail_memory("the wisdom");
    return rs_fail(RESTRIDE_IO, "%s is damaged in line %d (%s); remove it.", path, error.line,
                   error.text);
}

restride_status rs_wisdom_file_read(const char *path, bool must_exist, json_t **records)
{
    *records = NULL;
    json_t *root;
    restride_status status = read_root(path, &root);
    if (status == RESTRIDE_OK && root != NULL)
        status = check(root, path);
    else if (status == RESTRIDE_OK && must_exist)
        status = rs_fail(RESTRIDE_IO, "There is no file %s.", path);
    if (status == RESTRIDE_OK) {
        *records = root == NULL ? json_array() : json_incref(json_object_get(root, "records"));
        if (*records == NULL)
            status = rs_fail_memory("the wisdom");
    }
    json_decref(root);
    return status;
}

/* ---- records by their problem ---- */

static int append(const char *bytes, size_t size, void *text)
{
    rs_text_add(text, bytes, size);
    return 0;
}

/* Equal problems have the same text, whatever the order of their members. NULL when memory is
 * short. */
static char *key_of(const json_t *problem)
{
    rs_text text = RS_TEXT_EMPTY;
    if (json_dump_callback(problem, append, &text, JSON_COMPACT | JSON_SORT_KEYS) != 0)
        text.failed = true;
    return rs_text_take(&text);
}

static const json_t *problem_of(const json_t *record)
{
    return json_object_get(record, "problem");
}

/* Of two records of one problem, which only a file that was written by hand has, the first counts.
 */
static bool add_place(json_t *places, const json_t *record, size_t place)
{
    char *key = key_of(problem_of(record));
    bool is_there =
        key != NULL && (json_object_get(places, key) != NULL ||
                        json_object_set_new(places, key, json_integer((json_int_t)place)) == 0);
    free(key);
    return is_there;
}

json_t *rs_wisdom_places(const json_t *records)
{
    json_t *places = json_object();
    for (size_t i = 0; places != NULL && i < json_array_size(records); i++)
        if (!add_place(places, json_array_get(records, i), i)) {
            json_decref(places);
            places = NULL;
        }
    return places;
}

bool rs_wisdom_find(const json_t *places, const json_t *problem, size_t *place)
{
    char *key = key_of(problem);
    const json_t *found = key == NULL ? NULL : json_object_get(places, key);
    *place = found == NULL ? SIZE_MAX : (size_t)json_integer_value(found);
    bool looked = key != NULL;
    free(key);
    return looked;
}

/* ---- merging and writing ---- */

static double seconds(const json_t *record)
{
    return json_number_value(json_object_get(record, "seconds"));
}

static bool merge_record(json_t *into, json_t *places, json_t *record, bool replace)
{
    size_t place;
    if (!rs_wisdom_find(places, problem_of(record), &place))
        return false;
    if (place != SIZE_MAX)
        return (!replace && seconds(record) >= seconds(json_array_get(into, place))) ||
               json_array_set(into, place, record) == 0;
    place = json_array_size(into);
    if (json_array_append(into, record) != 0)
        return false;
    if (add_place(places, record, place))
        return true;
    json_array_remove(into, place);
    return false;
}

bool rs_wisdom_merge(json_t *into, json_t *places, const json_t *records, bool replace)
{
    bool merged = true;
    for (size_t i = 0; i < json_array_size(records) && merged; i++)
        merged = merge_record(into, places, json_array_get(records, i), replace);
    return merged;
}

restride_status rs_wisdom_file_write(const char *path, const json_t *records)
{
    json_t *root =
        json_pack("{s:s, s:i, s:O}", "format", format_name, "version", VERSION, "records", records);
    char *text = rs_json_text(root);
    json_decref(root);
    if (text == NULL)
        return rs_fail_memory("the wisdom");
    size_t size = strlen(text);
    restride_status status =
        size > MOST_BYTES
            ? rs_fail(
                  RESTRIDE_IO,
                  "The wisdom for %s would be longer than %d bytes, and nobody reads more; begin "
                  "anew with restride tune --forget.",
                  path, MOST_BYTES)
            : rs_text_write_file(path, text, size);
    free(text);
    struct stat info;
    if (status == RESTRIDE_OK && stat(path, &info) == 0 && S_ISREG(info.st_mode) &&
        (info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        (void)chmod(path, info.st_mode & 0755); /* or it would not be read again */
    return status;
}

static long long milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* Waits until the lock is free: who releases it touches its file, or closes it as it ends. Where
 * changes of the file cannot be followed, the lock is tried once more at the end. */
static bool wait_for_lock(int descriptor, const char *name)
{
    const long long end = milliseconds() + LOCK_MILLISECONDS;
    int changes = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (changes >= 0 && inotify_add_watch(changes, name, IN_ATTRIB | IN_CLOSE) < 0) {
        close(changes);
        changes = -1;
    }
    bool is_locked = flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    for (long long left = LOCK_MILLISECONDS; !is_locked && left > 0;) {
        char events[4096];
        struct pollfd changed = {changes, POLLIN, 0};
        poll(&changed, 1, (int)left);
        while (changes >= 0 && read(changes, events, sizeof events) > 0)
            continue;
        is_locked = flock(descriptor, LOCK_EX | LOCK_NB) == 0;
        left = end - milliseconds();
    }
    if (changes >= 0)
        close(changes);
    return is_locked;
}

/* The lock file stays: to remove it would let a waiting process hold a lock that nobody sees. */
static restride_status lock(const char *path, int *descriptor)
{
    *descriptor = -1;
    rs_text text = RS_TEXT_EMPTY;
    rs_text_format(&text, "%s.lock", path);
    char *name = rs_text_take(&text);
    if (name == NULL)
        return rs_fail_memory("the name of a lock");
    restride_status status = RESTRIDE_OK;
    int opened = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (opened < 0) {
        status = rs_fail(RESTRIDE_IO, "The wisdom in %s could not be changed: %s.", path,
                         strerror(errno));
    } else if (flock(opened, LOCK_EX | LOCK_NB) != 0 && !wait_for_lock(opened, name)) {
        close(opened);
        status = rs_fail(RESTRIDE_IO,
                         "The wisdom in %s is being changed by another process; try later.", path);
    } else {
        *descriptor = opened;
    }
    free(name);
    return status;
}

/* A child that the program forked meanwhile would keep the lock if it were closed alone. */
static void unlock(int descriptor)
{
    flock(descriptor, LOCK_UN);
    futimens(descriptor, NULL);
    close(descriptor);
}

restride_status rs_wisdom_file_merge(const char *path, const json_t *records, bool replace)
{
    make_folders(path);
    int descriptor;
    restride_status status = lock(path, &descriptor);
    if (status != RESTRIDE_OK)
        return status;
    json_t *merged;
    json_t *places = NULL;
    status = rs_wisdom_file_read(path, false, &merged);
    if (status == RESTRIDE_OK) {
        places = rs_wisdom_places(merged);
        if (places == NULL || !rs_wisdom_merge(merged, places, records, replace))
            status = rs_fail_memory("the wisdom");
    }
    if (status == RESTRIDE_OK)
        status = rs_wisdom_file_write(path, merged);
    json_decref(places);
    json_decref(merged);
    unlock(descriptor);
    return status;
}

restride_status rs_wisdom_file_remove(const char *path)
{
    json_t *root;
    restride_status status = read_root(path, &root);
    if (status != RESTRIDE_OK || root == NULL)
        return status;
    if (!is_wisdom(root))
        status =
            rs_fail(RESTRIDE_IO, "%s is not a file of wisdom and stays; remove it yourself.", path);
    else if (unlink(path) != 0)
        status = rs_fail(RESTRIDE_IO, "%s could not be removed: %s.", path, strerror(errno));
    json_decref(root);
    return status;
}

/*
 * What the rewriter answered, kept on disk (base/store.h) for the next run of the same program: by
 * the rewriter itself, which goes on when the program has ended.
 *
 * An entry's key is the whole request (source, options, layouts, the device's macros), this
 * version, and the rewriter and the libclang that answered, by size and time. A second entry
 * without those two serves runs that have neither: RESTRIDE_CACHE_ONLY.
 *
 * An answer about a source that includes files holds for as long as these are what they were, and
 * as nobody puts others where the preprocessor would have found them first (rewrite/includes.h).
 * Its key has the working directory too.
 */
#include "base/store.h"
#include "base/text.h"
#include "layer/core/rewriter.h"
#include "restride/version.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char kind[] = "rewritten";

static bool add_identity(rs_text *key, const char *file)
{
    struct stat about;
    if (stat(file, &about) != 0)
        return false;
    rs_text_format(key, "%s %lld %lld.%09ld\n", file, (long long)about.st_size,
                   (long long)about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
    return true;
}

/* The working directory, from which included files are looked for. */
static bool add_folder(rs_text *key)
{
    char *folder = getcwd(NULL, 0);
    if (folder != NULL)
        rs_text_format(key, "%s\n", folder);
    free(folder);
    return folder != NULL;
}

/* Whether all files that an answer was made from are what they were. */
static bool is_current(const json_t *reply)
{
    const json_t *includes = json_object_get(reply, "includes");
    const char *path;
    json_t *value;
    size_t i;
    bool current = true;
    char now[RS_SIGNATURE_SIZE];
    struct stat about;
    json_object_foreach(json_object_get(includes, "files"), path, value)
    {
        const char *then = json_string_value(value);
        current = current && then != NULL && rs_file_signature(path, now) && strcmp(then, now) == 0;
    }
    json_array_foreach(json_object_get(includes, "absent"), i, value)
    {
        const char *absent = json_string_value(value);
        current = current && absent != NULL && stat(absent, &about) != 0;
    }
    return current;
}

/* The key of an entry; empty when there is none. */
static rs_text key_of(const char *rewriter, const json_t *request, bool cache_only)
{
    rs_text key = RS_TEXT_EMPTY;
    const char *source = json_string_value(json_object_get(request, "source"));
    char *dump = json_dumps(request, JSON_COMPACT | JSON_SORT_KEYS);
    bool known = dump != NULL && source != NULL;
    rs_text_format(&key, "restride %s\n", RESTRIDE_VERSION_STRING);
    if (known && strstr(source, "include") != NULL)
        known = add_folder(&key);
    if (known && !cache_only)
        known = add_identity(&key, rewriter) && add_identity(&key, RS_LIBCLANG_FILE);
    rs_text_add_string(&key, dump != NULL ? dump : "");
    free(dump);
    if (!known || key.failed)
        rs_text_free(&key);
    return key;
}

static json_t *recall(const rs_text *key)
{
    rs_text text = RS_TEXT_EMPTY;
    json_t *reply = NULL;
    if (key->data != NULL && rs_store_read(kind, key->data, key->size, &text))
        reply = json_loadb(text.data, text.size, 0, NULL);
    if (reply != NULL && !is_current(reply)) {
        json_decref(reply);
        reply = NULL;
    }
    rs_text_free(&text);
    return reply;
}

/* The request with the keys under which the rewriter is to keep its answer; a new reference. */
static json_t *with_keys(const json_t *request, const rs_text *key, const rs_text *general,
                         bool is_beside)
{
    const rs_text *const all[] = {key, general};
    json_t *keys = json_array(), *whole = json_copy((json_t *)request);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i]->data != NULL)
            json_array_append_new(keys, json_stringn(all[i]->data, all[i]->size));
    json_object_set_new(whole, "keep", json_pack("{s:s, s:o}", "kind", kind, "keys", keys));
    json_object_set_new(whole, "beside", json_boolean(is_beside));
    return whole;
}

restride_status rs_rewriter_ask(rs_rewriter *rewriter, const json_t *request, bool is_beside,
                                json_t **reply)
{
    const bool cache_only = getenv("RESTRIDE_CACHE_ONLY") != NULL;
    restride_status status = RESTRIDE_OK;
    rs_text key = key_of(rewriter->path, request, cache_only);
    *reply = recall(&key);
    if (*reply == NULL && cache_only) {
        status =
            rs_fail(RESTRIDE_UNSUPPORTED, "No earlier run rewrote this source; run the program "
                                          "once without --cache-only.");
    } else if (*reply == NULL) {
        rs_text general = key_of(rewriter->path, request, true);
        json_t *whole = with_keys(request, &key, &general, is_beside);
        status = rs_rewriter_start(rewriter, whole, reply);
        json_decref(whole);
        rs_text_free(&general);
    }
    rs_text_free(&key);
    return status;
}

/*
 * restride nvcc: what it knows of one call of nvcc, and what it compiles instead.
 *
 * nvcc itself tells: its --dryrun lists the sources, whether they become objects, and the files
 * that get their dependencies.
 */
#ifndef RS_CLI_NVCC_H
#define RS_CLI_NVCC_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* A list of words; like rs_text, a failed allocation marks it. */
typedef struct {
    char **at; /* with a NULL behind the last one once there is one */
    size_t count;
    bool failed;
} rs_words;

void rs_words_add(rs_words *words, const char *word);
void rs_words_free(rs_words *words);

typedef struct {
    const char *nvcc; /* its path */
    char **command;   /* the words before its arguments: itself, perhaps behind launchers */
    size_t command_count;
    rs_words arguments; /* of nvcc; files of options are replaced by what they hold if `spread` */
    bool is_spread;     /* whether there were such files */
    rs_words sources;   /* of CUDA C++ that become objects, as nvcc names them */
    rs_words dependencies; /* files that it writes */
} rs_nvcc;

/* The path of the real nvcc: of PATH, CUDA_PATH, CUDA_HOME or /usr/local/cuda; the caller frees it.
 * NULL: there is none. */
char *rs_nvcc_find(void);

/* Asks nvcc. False when there is nothing to transform: nothing becomes an object, or it fails. */
bool rs_nvcc_ask(rs_nvcc *call);

/* A source and its companion; `path` is NULL where there is none. */
typedef struct {
    const char *source;
    char *path;   /* of the companion */
    char *prefix; /* of the names of headers in it, which are relative without it; or NULL */
    char *folder; /* of its own, to be removed: where there is no cache; or NULL */
} rs_nvcc_companion;

/* Makes the companion of a source and writes it; says on standard error what became of it when
 * `explains`. */
void rs_nvcc_make(const rs_nvcc *call, const char *source, bool explains,
                  rs_nvcc_companion *companion);

void rs_nvcc_companion_free(rs_nvcc_companion *companion);

/* Writes the user's names into a file of dependencies. */
restride_status rs_nvcc_mend(const char *file, const rs_nvcc_companion companions[], size_t count);

/* The file-scope text of C++ that puts a description into an object (layer/cuda/forms.h). */
void rs_nvcc_describe(rs_text *text, const char *description);

void rs_nvcc_free(rs_nvcc *call);

#endif

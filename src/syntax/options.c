/*
 * See options.h. Names are written with one dash; two are the same. An option that nvcc does not
 * know is looked for among those of C compilers, since its sources often come with both.
 */
#include "syntax/options.h"

#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NVCC = RS_SYNTAX_NVCC,
    CC = RS_SYNTAX_CC,
    CL = RS_SYNTAX_CL,
    ALL = NVCC | CC | CL,
    RESPONSE_DEPTH = 8
};

/* How a value follows: not at all, the rest of the word or the next word, behind "=" or the next
 * word, behind "=" alone; or whatever begins so. */
typedef enum { FLAG, JOINED, VALUE, EQUAL, PREFIX } form;

typedef enum {
    DROP,
    KEEP,        /* as `clang` and the value in one word */
    FOLDER,      /* the same with an absolute path; two words if `clang` is longer than "-I" */
    FILE_NAME,   /* two words; an absolute path where the working folder has that file */
    DEFINE,      /* -D and `clang` */
    DEFINE_TRUE, /* the same if the value is "true" */
    DEFINE_STREAM,
    STANDARD,
    LANGUAGE,
    TARGET,
    TOOLKIT,
    HOST, /* words of a C compiler, separated by commas */
    RESPONSE
} action;

typedef struct {
    const char *name, *name2; /* its long name */
    int who;
    form form;
    action action;
    const char *clang;
} option;

static const option table[] = {
    {"-I", "-include-path", ALL, JOINED, FOLDER, "-I"},
    {"-isystem", "-system-include", NVCC | CC, VALUE, FOLDER, "-isystem"},
    {"-iquote", NULL, NVCC | CC, VALUE, FOLDER, "-iquote"},
    {"-idirafter", NULL, NVCC | CC, VALUE, FOLDER, "-idirafter"},
    {"-include", "-pre-include", NVCC | CC, VALUE, FILE_NAME, "-include"},
    {"-imacros", NULL, CC, VALUE, FILE_NAME, "-imacros"},
    {"-D", "-define-macro", ALL, JOINED, KEEP, "-D"},
    {"-U", "-undefine-macro", ALL, JOINED, KEEP, "-U"},
    {"-std", NULL, NVCC | CC, VALUE, STANDARD, NULL},
    {"-ansi", NULL, CC, FLAG, STANDARD, "c89"},
    {"-cl-std", NULL, CL, EQUAL, STANDARD, NULL},
    {"-x", NULL, NVCC | CC, JOINED, LANGUAGE, NULL},
    {"-arch", "-gpu-architecture", NVCC, VALUE, TARGET, NULL},
    {"-gencode", "-generate-code", NVCC, VALUE, TARGET, NULL},
    {"-code", "-gpu-code", NVCC, VALUE, TARGET, NULL},
    {"-cuda-gpu-arch", "-offload-arch", NVCC | CC, EQUAL, TARGET, NULL},
    {"-cuda-path", NULL, NVCC | CC, EQUAL, TOOLKIT, NULL},
    {"-Xcompiler", "-compiler-options", NVCC, VALUE, HOST, NULL},
    {"-optf", "-options-file", NVCC, VALUE, RESPONSE, NULL},
    /* What nvcc tells the preprocessor. */
    {"-G", "-device-debug", NVCC, FLAG, DEFINE, "__CUDACC_DEBUG__"},
    {"-rdc", "-relocatable-device-code", NVCC, VALUE, DEFINE_TRUE, "__CUDACC_RDC__"},
    {"-dc", "-device-c", NVCC, FLAG, DEFINE, "__CUDACC_RDC__"},
    {"-fgpu-rdc", NULL, NVCC | CC, FLAG, DEFINE, "__CUDACC_RDC__"},
    {"-ewp", "-extensible-whole-program", NVCC, FLAG, DEFINE, "__CUDACC_EWP__"},
    {"-expt-relaxed-constexpr", NULL, NVCC, FLAG, DEFINE, "__CUDACC_RELAXED_CONSTEXPR__"},
    {"-extended-lambda", "-expt-extended-lambda", NVCC, FLAG, DEFINE, "__CUDACC_EXTENDED_LAMBDA__"},
    {"-default-stream", NULL, NVCC, VALUE, DEFINE_STREAM, "CUDA_API_PER_THREAD_DEFAULT_STREAM=1"},
    {"-fopenmp", NULL, CC, FLAG, DEFINE, "_OPENMP=201511"}, /* its pragmas stay comments */
    {"-pthread", NULL, CC, FLAG, DEFINE, "_REENTRANT"},
    /* Of nvcc's back ends and of its driver. */
    {"-Xptxas", "-ptxas-options", NVCC, VALUE, DROP, NULL},
    {"-Xlinker", "-linker-options", NVCC | CC, VALUE, DROP, NULL},
    {"-Xnvlink", "-nvlink-options", NVCC, VALUE, DROP, NULL},
    {"-Xarchive", "-archive-options", NVCC, VALUE, DROP, NULL},
    {"-Xcudafe", NULL, NVCC, VALUE, DROP, NULL},
    {"-Xfatbin", NULL, NVCC, VALUE, DROP, NULL},
    {"-ccbin", "-compiler-bindir", NVCC, VALUE, DROP, NULL},
    {"-maxrregcount", NULL, NVCC, VALUE, DROP, NULL},
    {"-use_fast_math", NULL, NVCC, FLAG, DROP, NULL},
    {"-ftz", NULL, NVCC, VALUE, DROP, NULL},
    {"-prec-div", NULL, NVCC, VALUE, DROP, NULL},
    {"-prec-sqrt", NULL, NVCC, VALUE, DROP, NULL},
    {"-fmad", NULL, NVCC, VALUE, DROP, NULL},
    {"-lineinfo", "-generate-line-info", NVCC, FLAG, DROP, NULL},
    {"-optimize", NULL, NVCC, VALUE, DROP, NULL},
    {"-debug", NULL, NVCC, FLAG, DROP, NULL},
    {"-dlto", "-dlink-time-opt", NVCC, FLAG, DROP, NULL},
    {"-dlink", "-device-link", NVCC, FLAG, DROP, NULL},
    {"-dw", "-device-w", NVCC, FLAG, DROP, NULL},
    {"-compile", "-link", NVCC, FLAG, DROP, NULL},
    {"-ptx", "-cubin", NVCC, FLAG, DROP, NULL},
    {"-fatbin", "-lib", NVCC, FLAG, DROP, NULL},
    {"-run", "-cuda", NVCC, FLAG, DROP, NULL},
    {"-cudart", "-cudadevrt", NVCC, VALUE, DROP, NULL},
    {"-keep-dir", "-odir", NVCC, VALUE, DROP, NULL},
    {"-keep", "-clean", NVCC, FLAG, DROP, NULL},
    {"-t", "-threads", NVCC, JOINED, DROP, NULL},
    {"-output-file", "-output-directory", NVCC, VALUE, DROP, NULL},
    {"-library", "-library-path", NVCC, VALUE, DROP, NULL},
    {"-machine", "-allow-unsupported-compiler", NVCC, FLAG, DROP, NULL},
    {"-diag-suppress", "-diag-error", NVCC, VALUE, DROP, NULL},
    {"-diag-warn", NULL, NVCC, VALUE, DROP, NULL},
    {"-Werror", NULL, NVCC, VALUE, DROP, NULL},
    {"-disable-warnings", "-restrict", NVCC, FLAG, DROP, NULL},
    {"-res-usage", "-resource-usage", NVCC, FLAG, DROP, NULL},
    {"-dryrun", "-verbose", NVCC, FLAG, DROP, NULL},
    {"-forward-unknown-to-host-compiler", "-forward-unknown-to-host-linker", NVCC, FLAG, DROP,
     NULL},
    {"-split-compile", "-time", NVCC, VALUE, DROP, NULL},
    {"-cuda-device-only", "-cuda-host-only", NVCC | CC, FLAG, DROP, NULL},
    {"-no-cuda-version-check", "-cuda-compile-host-device", NVCC | CC, FLAG, DROP, NULL},
    /* Of clBuildProgram(). */
    {"-cl-single-precision-constant", NULL, CL, FLAG, KEEP, "-cl-single-precision-constant"},
    {"-cl-denorms-are-zero", NULL, CL, FLAG, KEEP, "-cl-denorms-are-zero"},
    {"-cl-fp32-correctly-rounded-divide-sqrt", NULL, CL, FLAG, DROP, NULL},
    {"-cl-opt-disable", NULL, CL, FLAG, DROP, NULL},
    {"-cl-strict-aliasing", NULL, CL, FLAG, DROP, NULL},
    {"-cl-uniform-work-group-size", NULL, CL, FLAG, DROP, NULL},
    {"-cl-no-subgroup-ifp", NULL, CL, FLAG, DROP, NULL},
    {"-cl-mad-enable", NULL, CL, FLAG, KEEP, "-cl-mad-enable"},
    {"-cl-no-signed-zeros", NULL, CL, FLAG, KEEP, "-cl-no-signed-zeros"},
    {"-cl-unsafe-math-optimizations", NULL, CL, FLAG, KEEP, "-cl-unsafe-math-optimizations"},
    {"-cl-finite-math-only", NULL, CL, FLAG, KEEP, "-cl-finite-math-only"},
    {"-cl-fast-relaxed-math", NULL, CL, FLAG, KEEP, "-cl-fast-relaxed-math"},
    {"-cl-kernel-arg-info", NULL, CL, FLAG, DROP, NULL},
    {"-create-library", "-enable-link-options", CL, FLAG, DROP, NULL},
    {"-cl-nv-maxrregcount", "-cl-nv-opt-level", CL, EQUAL, DROP, NULL},
    {"-cl-nv-verbose", "-cl-nv-cstd", CL, FLAG, DROP, NULL},
    /* Of C compilers: first those that change types, then what makes no difference to a reader. */
    {"-m32", "-mx32", CC, FLAG, KEEP, ""},
    {"-fsigned-char", "-funsigned-char", CC, FLAG, KEEP, ""},
    {"-fshort-enums", "-fpack-struct", CC, FLAG, KEEP, ""},
    {"-fms-extensions", "-fplan9-extensions", CC, FLAG, KEEP, ""},
    {"-ffast-math", "-fno-builtin", CC, FLAG, KEEP, ""},
    {"-nostdinc", "-nostdinc++", CC, FLAG, KEEP, ""},
    {"-march", NULL, CC, EQUAL, KEEP, ""},
    {"-mavx", "-msse", CC, PREFIX, KEEP, ""},
    {"-o", NULL, NVCC | CC, JOINED, DROP, NULL},
    {"-l", NULL, NVCC | CC, JOINED, DROP, NULL},
    {"-L", NULL, NVCC | CC, JOINED, DROP, NULL},
    {"-MF", "-MT", CC, VALUE, DROP, NULL},
    {"-MQ", "-MJ", CC, VALUE, DROP, NULL},
    {"-isysroot", NULL, CC, VALUE, FOLDER, "-isysroot"},
    {"-sysroot", NULL, CC, EQUAL, FOLDER, "--sysroot"},
    {"-c", "-E", CC, FLAG, DROP, NULL},
    {"-S", "-v", CC, FLAG, DROP, NULL},
    {"-w", "-pipe", CC | CL, FLAG, DROP, NULL},
    {"-shared", "-static", CC, PREFIX, DROP, NULL},
    {"-Werror", "-g", CL, FLAG, DROP, NULL},
    {"-O", "-W", CC, PREFIX, DROP, NULL},
    {"-g", "-M", CC, PREFIX, DROP, NULL},
    {"-f", "-m", CC, PREFIX, DROP, NULL},
    {"-p", "-r", CC, PREFIX, DROP, NULL},
};

typedef struct {
    rs_syntax_options *options;
    const char *directory;
    int who, depth;
} reader;

static restride_status read_words(reader *r, const char *const words[], size_t count);

char *rs_syntax_absolute(const char *directory, const char *path)
{
    rs_text whole = RS_TEXT_EMPTY, text = RS_TEXT_EMPTY;
    if (path[0] != '/' && directory != NULL)
        rs_text_format(&whole, "%s/", directory);
    rs_text_add_string(&whole, path);
    rs_text_add(&text, "", 0);
    for (const char *at = whole.failed ? "" : whole.data; *at != '\0';) {
        size_t slashes = strspn(at, "/"), length = strcspn(at + slashes, "/");
        const char *part = at + slashes;
        char *last = text.failed ? NULL : strrchr(text.data, '/');
        at = part + length;
        if (length == 0 || (length == 1 && part[0] == '.'))
            continue;
        /* As the kernel does, but for symbolic links, which compilers do not follow for names. */
        if (length == 2 && memcmp(part, "..", 2) == 0 && text.size > 0 && last != NULL) {
            text.size = (size_t)(last - text.data);
            text.data[text.size] = '\0';
            continue;
        }
        rs_text_add_string(&text, "/");
        rs_text_add(&text, part, length);
    }
    if (text.size == 0)
        rs_text_add_string(&text, "/");
    text.failed = text.failed || whole.failed;
    rs_text_free(&whole);
    return rs_text_take(&text);
}

bool rs_syntax_options_target(rs_syntax_options *options, const char *name)
{
    bool found = false;
    for (const char *at = name; (at = strchr(at, '_')) != NULL; at++) {
        if (!isdigit((unsigned char)at[1]))
            continue;
        char *end;
        long number = strtol(at + 1, &end, 10);
        if (number < 10 || number > 999)
            continue;
        found = true;
        if (number >= options->architecture) {
            options->feature = number > options->architecture ? '\0' : options->feature;
            options->architecture = (int)number;
            if (*end == 'a' || *end == 'f')
                options->feature = *end;
        }
    }
    return found;
}

/* The value that `word` gives for the option `name`: in the word, or NULL for the next word. */
static bool fits(const option *row, const char *name, const char *word, const char **value)
{
    size_t length = name != NULL ? strlen(name) : 0;
    /* Two dashes are one, but what is joined has one. */
    const char *text = word[1] == '-' ? word + 1 : word;
    if (length == 0 || strncmp(text, name, length) != 0)
        return false;
    const char *rest = text + length;
    *value = NULL;
    if (row->form == PREFIX)
        return true;
    if (*rest == '\0')
        return row->form != EQUAL;
    *value = *rest == '=' ? rest + 1 : rest;
    if (row->form == JOINED && (length == 2 || *rest == '='))
        return text == word || *rest == '=';
    return (row->form == VALUE || row->form == EQUAL) && *rest == '=';
}

static const option *find(int who, const char *word, const char **value)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const option *row = &table[i];
        if ((row->who & who) != 0 &&
            (fits(row, row->name, word, value) || fits(row, row->name2, word, value)))
            return row;
    }
    return NULL;
}

static bool replace(char **string, const char *value)
{
    free(*string);
    *string = strdup(value);
    return *string != NULL;
}

static void add_path(reader *r, const option *row, const char *value)
{
    rs_arguments *list = &r->options->arguments;
    char *path = rs_syntax_absolute(r->directory, value);
    /* A name that is not there is looked for in the folders of -I. */
    if (path != NULL && row->action == FILE_NAME && access(path, R_OK) != 0)
        (void)replace(&path, value);
    if (path == NULL) {
        list->failed = true;
    } else if (strlen(row->clang) == 2) {
        rs_arguments_add(list, "%s%s", row->clang, path);
    } else {
        rs_arguments_add(list, "%s", row->clang);
        rs_arguments_add(list, "%s", path);
    }
    free(path);
}

static void set_language(reader *r, const char *value)
{
    static const struct {
        const char *name;
        rs_syntax_language language;
    } known[] = {{"cu", RS_SYNTAX_CUDA},
                 {"cuda", RS_SYNTAX_CUDA},
                 {"c++", RS_SYNTAX_CUDA},
                 {"c", RS_SYNTAX_C},
                 {"cl", RS_SYNTAX_OPENCL}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(value, known[i].name) == 0) {
            r->options->language = known[i].language;
            return;
        }
    rs_arguments_add(&r->options->notes, "The language %s of -x is unknown.", value);
}

static restride_status read_response(reader *r, const char *name)
{
    if (r->depth == RESPONSE_DEPTH)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The file of options %s includes itself, or more than %d others.", name,
                       (int)RESPONSE_DEPTH);
    char *path = rs_syntax_absolute(r->directory, name);
    rs_text text = RS_TEXT_EMPTY;
    restride_status status =
        path == NULL ? rs_fail_memory("a file of options") : rs_text_read_file(&text, path);
    rs_arguments words = {NULL, 0, false};
    if (status == RESTRIDE_OK)
        rs_arguments_split(&words, text.size > 0 ? text.data : "", "");
    if (words.failed)
        status = rs_fail_memory("a file of options");
    r->depth++;
    if (status == RESTRIDE_OK)
        status = read_words(r, (const char *const *)words.items, words.count);
    r->depth--;
    rs_arguments_free(&words);
    rs_text_free(&text);
    free(path);
    return status;
}

static restride_status read_host(reader *r, const char *value)
{
    rs_arguments words = {NULL, 0, false};
    rs_arguments_split(&words, value, ",");
    reader host = *r;
    host.who = CC;
    restride_status status = words.failed
                                 ? rs_fail_memory("the options of -Xcompiler")
                                 : read_words(&host, (const char *const *)words.items, words.count);
    rs_arguments_free(&words);
    return status;
}

/* nvcc takes a comma in the value of -D, -U and of folders as the end of one. */
static restride_status apply(reader *r, const option *row, const char *word, const char *value)
{
    rs_syntax_options *options = r->options;
    rs_arguments *list = &options->arguments;
    switch (row->action) {
    case DROP:
        break;
    case KEEP:
        if (row->clang[0] == '\0')
            rs_arguments_add(list, "%s", word);
        else
            rs_arguments_add(list, "%s%s", row->clang, value != NULL ? value : "");
        break;
    case FOLDER:
    case FILE_NAME:
        add_path(r, row, value);
        break;
    case DEFINE_TRUE:
    case DEFINE_STREAM:
        if (strcmp(value, row->action == DEFINE_TRUE ? "true" : "per-thread") != 0)
            break;
        /* fallthrough */
    case DEFINE:
        rs_arguments_add(list, "-D%s", row->clang);
        break;
    case STANDARD:
        if (!replace(&options->standard, row->clang != NULL ? row->clang : value))
            return rs_fail_memory("the options of a source");
        break;
    case LANGUAGE:
        set_language(r, value);
        break;
    case TARGET:
        if (!rs_syntax_options_target(options, value))
            rs_arguments_add(&options->notes, "No architecture is named by %s.", word);
        break;
    case TOOLKIT:
        free(options->toolkit);
        options->toolkit = value[0] == '\0' ? strdup("") : rs_syntax_absolute(r->directory, value);
        break;
    case HOST:
        return read_host(r, value);
    case RESPONSE:
        return read_response(r, value);
    }
    return RESTRIDE_OK;
}

static restride_status apply_list(reader *r, const option *row, const char *word, const char *value)
{
    bool list = (r->who & NVCC) != 0 && value != NULL && row->clang != NULL &&
                strpbrk(value, "\"'\\") == NULL && strchr(value, ',') != NULL &&
                (row->action == FOLDER || row->action == FILE_NAME || row->action == KEEP);
    restride_status status = RESTRIDE_OK;
    if (!list)
        return apply(r, row, word, value);
    for (const char *at = value; *at != '\0' && status == RESTRIDE_OK;) {
        size_t length = strcspn(at, ",");
        char *part = strndup(at, length);
        if (part == NULL)
            return rs_fail_memory("the options of a source");
        if (length > 0)
            status = apply(r, row, word, part);
        free(part);
        at += length + (at[length] == ',' ? 1 : 0);
    }
    return status;
}

static restride_status read_words(reader *r, const char *const words[], size_t count)
{
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; i < count && status == RESTRIDE_OK; i++) {
        const char *word = words[i], *value = NULL;
        if (word[0] == '@' && word[1] != '\0' && (r->who & CL) == 0) {
            status = read_response(r, word + 1);
            continue;
        }
        const option *row = word[0] == '-' && word[1] != '\0' ? find(r->who, word, &value) : NULL;
        if (row == NULL) {
            rs_arguments_add(&r->options->notes, "The option %s is unknown, and was dropped.",
                             word);
            continue;
        }
        bool takes = row->form == JOINED || row->form == VALUE;
        if (takes && value == NULL) {
            if (i + 1 == count)
                return rs_fail(RESTRIDE_INVALID_ARGUMENT, "The option %s has no value.", word);
            value = words[++i];
        }
        status = apply_list(r, row, word, value);
    }
    return status;
}

restride_status rs_syntax_options_add(rs_syntax_options *options, rs_syntax_dialect dialect,
                                      const char *const words[], size_t count,
                                      const char *directory)
{
    reader r = {options, directory, dialect == RS_SYNTAX_NVCC ? NVCC | CC : (int)dialect, 0};
    restride_status status = read_words(&r, words, count);
    if (status == RESTRIDE_OK && (options->arguments.failed || options->notes.failed))
        status = rs_fail_memory("the options of a source");
    return status;
}

void rs_syntax_options_free(rs_syntax_options *options)
{
    rs_arguments_free(&options->arguments);
    rs_arguments_free(&options->notes);
    free(options->standard);
    free(options->toolkit);
    *options = (rs_syntax_options){.language = RS_SYNTAX_BY_NAME};
}

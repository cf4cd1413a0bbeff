/*
 * NVRTC for the tests, as libnvrtc.so.13: compiles a kernel as C for this machine, with emulated.h
 * in place of the common part. The "cubin" is the name of a shared library below
 * EMULATED_FOLDER. EMULATED_FAIL=compile makes every kernel an error, EMULATED_COMPILE=no a name
 * without a library, and EMULATED_LOG gets a line for each.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int result;
enum { SUCCESS = 0, COMPILATION = 6 };

#define EXPORT __attribute__((visibility("default")))

typedef struct {
    char *source;
    char library[512];
} program;

EXPORT result nvrtcCreateProgram(program **made, const char *source, const char *name, int count,
                                 const char *const *headers, const char *const *names);
EXPORT result nvrtcCompileProgram(program *p, int count, const char *const *options);
EXPORT result nvrtcGetProgramLogSize(program *p, size_t *size);
EXPORT result nvrtcGetProgramLog(program *p, char *log);
EXPORT result nvrtcGetCUBINSize(program *p, size_t *size);
EXPORT result nvrtcGetCUBIN(program *p, char *cubin);
EXPORT result nvrtcDestroyProgram(program **p);
EXPORT const char *nvrtcGetErrorString(result code);

static const char message[] = "kernel(12): error: expected a \";\"\n\n1 error detected.\n";
static const char magic[] = "emulated ";

result nvrtcCreateProgram(program **made, const char *source, const char *name, int count,
                          const char *const *headers, const char *const *names)
{
    (void)name;
    (void)count;
    (void)headers;
    (void)names;
    *made = calloc(1, sizeof **made);
    (*made)->source = strdup(source);
    return SUCCESS;
}

static void log_line(const char *line)
{
    const char *log = getenv("EMULATED_LOG");
    FILE *file = log == NULL ? NULL : fopen(log, "a");
    if (file != NULL) {
        fprintf(file, "%s\n", line);
        fclose(file);
    }
}

result nvrtcCompileProgram(program *p, int count, const char *const *options)
{
    (void)count;
    log_line(options[0]);
    const char *failing = getenv("EMULATED_FAIL");
    if (failing != NULL && strcmp(failing, "compile") == 0)
        return COMPILATION;
    static int number;
    const char *folder = getenv("EMULATED_FOLDER");
    if (folder == NULL)
        folder = "/tmp";
    char source[512];
    char command[2048];
    snprintf(p->library, sizeof p->library, "%s/kernel.%ld.%d.so", folder, (long)getpid(),
             number++);
    snprintf(source, sizeof source, "%s.c", p->library);
    const char *wanted = getenv("EMULATED_COMPILE"), *header = getenv("EMULATED_HEADER");
    if (wanted != NULL && strcmp(wanted, "no") == 0)
        return SUCCESS;
    FILE *file = fopen(source, "w");
    char *common = strstr(p->source, "#ifndef RS_CUDA_COMMON");
    if (file == NULL || common == NULL)
        return COMPILATION;
    fwrite(p->source, 1, (size_t)(common - p->source), file);
    fprintf(file, "#define RS_CUDA_COMMON\n#include \"%s\"\n%s",
            header != NULL ? header : EMULATED_HEADER, common);
    fclose(file);
    snprintf(command, sizeof command, "cc -std=gnu11 -w -O1 -shared -fPIC -o %s %s", p->library,
             source);
    int code = system(command);
    unlink(source);
    return code == 0 ? SUCCESS : COMPILATION;
}

result nvrtcGetProgramLogSize(program *p, size_t *size)
{
    (void)p;
    *size = sizeof message;
    return SUCCESS;
}

result nvrtcGetProgramLog(program *p, char *log)
{
    (void)p;
    memcpy(log, message, sizeof message);
    return SUCCESS;
}

result nvrtcGetCUBINSize(program *p, size_t *size)
{
    *size = sizeof magic + strlen(p->library);
    return SUCCESS;
}

result nvrtcGetCUBIN(program *p, char *cubin)
{
    memcpy(cubin, magic, sizeof magic - 1);
    memcpy(cubin + sizeof magic - 1, p->library, strlen(p->library) + 1);
    return SUCCESS;
}

result nvrtcDestroyProgram(program **p)
{
    free((*p)->source);
    free(*p);
    *p = NULL;
    return SUCCESS;
}

const char *nvrtcGetErrorString(result code)
{
    return code == COMPILATION ? "NVRTC_ERROR_COMPILATION" : "NVRTC_SUCCESS";
}

/* restride doctor: whether `restride run` can follow CUDA programs. A child with its environment
 * sees whether ld.so loads the audit library, and that the layer. */
#include "cli/doctor.h"
#include "cli/process.h"
#include "console/parts.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char subject[] = "CUDA programs";
static const char driver_name[] = "libcuda.so.1";

/* Set to the layer's path in the child that looks. */
static const char question[] = "RESTRIDE_DOCTOR_CUDA";

/* What the child says by its exit status. */
enum { FOLLOWED, NOT_AUDITED, WITHOUT_DRIVER, WITHOUT_LAYER, NOT_ASKED };

/* ---- in the child ---- */

/* It has a namespace of its own, where dlopen() does not look. */
static bool has_audit_library(void)
{
    char line[4096 + 128];
    bool has = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        has = has || strstr(line, "/" RS_PART_LOADER) != NULL;
    if (maps != NULL)
        fclose(maps);
    return has;
}

bool rs_doctor_is_asked_to_follow(int *answer)
{
    const char *layer = getenv(question);
    if (layer == NULL)
        return false;
    void *driver = dlopen(driver_name, RTLD_NOW | RTLD_LOCAL);
    if (!has_audit_library())
        *answer = NOT_AUDITED;
    else if (driver == NULL || dlsym(driver, "cuInit") == NULL)
        *answer = WITHOUT_DRIVER;
    else
        *answer = dlopen(layer, RTLD_NOW | RTLD_NOLOAD) != NULL ? FOLLOWED : WITHOUT_LAYER;
    return true;
}

/* ---- in the doctor ---- */

static int ask(const char *layer)
{
    static char name[] = "restride";
    static char verb[] = "doctor";
    char *const arguments[] = {name, verb, NULL};
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        if (setenv(question, layer, 1) == 0 && rs_process_add_layer() == RESTRIDE_OK)
            execv("/proc/self/exe", arguments);
        _exit(NOT_ASKED);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : NOT_ASKED;
}

static void tell(json_t *findings, const char *layer, int answer)
{
    if (answer == FOLLOWED)
        rs_doctor_add(findings, subject, RS_DOCTOR_WORKS, NULL,
                      "ld.so loads %s into programs that use %s", layer, driver_name);
    else if (answer == WITHOUT_DRIVER)
        rs_doctor_add(findings, subject, RS_DOCTOR_OPTIONAL,
                      "install NVIDIA's driver, or put the folder of libcuda.so.1 into "
                      "LD_LIBRARY_PATH",
                      "ld.so follows LD_AUDIT, and %s is here, but not %s", layer, driver_name);
    else if (answer == NOT_AUDITED)
        rs_doctor_add(findings, subject, RS_DOCTOR_FAILS,
                      "run on a system with glibc's ld.so, without set-user-ID",
                      "ld.so does not load " RS_PART_LOADER " by LD_AUDIT");
    else if (answer == WITHOUT_LAYER)
        rs_doctor_add(findings, subject, RS_DOCTOR_FAILS,
                      "LD_DEBUG=libs restride run -- PROGRAM shows why",
                      "%s is not loaded into programs that use %s", layer, driver_name);
    else
        rs_doctor_add(findings, subject, RS_DOCTOR_FAILS, NULL,
                      "whether ld.so follows LD_AUDIT could not be found out");
}

void rs_doctor_check_following(json_t *findings)
{
    static const char *const parts[] = {RS_PART_LAYER, RS_PART_LOADER, RS_PART_CUDA_LAYER};
    char *path = NULL;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        free(path);
        path = NULL;
        if (rs_cli_part_path(parts[i], &path) != RESTRIDE_OK) {
            rs_doctor_add(findings, subject, RS_DOCTOR_OPTIONAL,
                          "install all of Restride, or build with -DRESTRIDE_OPENCL=ON "
                          "-DRESTRIDE_CUDA=ON",
                          "%s is not here; without it restride run follows no CUDA programs",
                          parts[i]);
            return;
        }
    }
#ifdef RS_WITHOUT_AUDIT
    rs_doctor_add(findings, subject, RS_DOCTOR_OPTIONAL, "build without -DRESTRIDE_SANITIZE",
                  "this build does not follow CUDA programs");
    (void)tell, (void)ask;
#else
    tell(findings, path, ask(path));
#endif
    free(path);
}

/* See options.h. */
#include "cli/options.h"

#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool rs_cli_helps(int argc, char **argv, const char *usage)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            return true;
        }
    return false;
}

int rs_cli_next_option(const char *verb, int argc, char **argv, const char *letters,
                       const struct option *names, int *which)
{
    char name[64];
    char *held = argv[0];
    snprintf(name, sizeof name, "restride %s", verb);
    argv[0] = name;
    int code = getopt_long(argc, argv, letters, names, which);
    argv[0] = held;
    return code;
}

int rs_cli_read_options(const char *verb, int argc, char **argv, const struct option *names,
                        bool (*take)(void *options, int code, const char *value), void *options)
{
    int code;
    int which = 0;
    while ((code = rs_cli_next_option(verb, argc, argv, "", names, &which)) != -1) {
        if (code == '?')
            return RS_EXIT_USAGE; /* it has said why */
        if (!take(options, code, optarg))
            return rs_cli_fail(RS_EXIT_USAGE, verb,
                               "--%s cannot be \"%s\"; restride %s --help says what it takes.",
                               names[which].name, optarg, verb);
    }
    return RS_EXIT_DONE;
}

int rs_cli_read_only_options(const char *verb, int argc, char **argv, const struct option *names,
                             bool (*take)(void *options, int code, const char *value),
                             void *options)
{
    int exit_status = rs_cli_read_options(verb, argc, argv, names, take, options);
    if (exit_status == RS_EXIT_DONE && optind < argc)
        exit_status =
            rs_cli_fail(RS_EXIT_USAGE, verb, "\"%s\" is one argument too many.", argv[optind]);
    return exit_status;
}

int rs_cli_make_folder(const char *verb, const char *path)
{
    struct stat found;
    int reason = mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : errno;
    if (reason == 0 && stat(path, &found) == 0 && !S_ISDIR(found.st_mode))
        reason = ENOTDIR;
    if (reason == 0 && access(path, W_OK | X_OK) != 0)
        reason = errno;
    return reason == 0 ? RS_EXIT_DONE
                       : rs_cli_fail(RS_EXIT_FAILED, verb,
                                     "Files cannot be written into the folder \"%s\": %s.", path,
                                     strerror(reason));
}

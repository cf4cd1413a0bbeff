/* See program.h. */
#include "console/program.h"

#include "console/fail.h"
#include "console/options.h"
#include "restride/version.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void print_usage(FILE *stream, const char *program, const rs_cli_verb *verbs, size_t count)
{
    fprintf(stream, "usage: %s VERB [OPTIONS]...\n\n", program);
    for (size_t i = 0; i < count; i++)
        if (verbs[i].run)
            fprintf(stream, "  %-11s %s\n", verbs[i].name, verbs[i].summary);
    fprintf(stream, "\n%s VERB --help explains a verb; %s --version prints the version.\n", program,
            program);
}

/* A disk may be full, or a reader gone, when what was printed is written at last. */
static int finish(int exit_status, const char *name)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return exit_status;
    return exit_status != RS_EXIT_DONE
               ? exit_status
               : rs_cli_fail(RS_EXIT_FAILED, name,
                             "The work is done, but its output could not be written: %s.",
                             strerror(errno));
}

/* A file that would be longer than allowed is an error like another, so that what was begun is
 * removed. Programs that are started meanwhile get the signal as always. */
static void outlive_long_files(int signal_number)
{
    (void)signal_number;
}

void rs_cli_occupy_streams(void)
{
    for (int stream = 0; stream <= 2; stream++)
        if (fcntl(stream, F_GETFD) < 0 && /* to read 0 and to write the others stays an error */
            open("/dev/null", (stream == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC) != stream)
            _exit(RS_EXIT_FAILED);
}

int rs_cli_run_program(const char *program, const rs_cli_verb *verbs, size_t count, int argc,
                       char **argv)
{
    rs_cli_occupy_streams();
    const struct sigaction action = {.sa_handler = outlive_long_files};
    sigaction(SIGXFSZ, &action, NULL);
    rs_cli_name_program(program);
    if (argc < 2) {
        print_usage(stderr, program, verbs, count);
        return RS_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage(stdout, program, verbs, count);
        return RS_EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        if (argc > 2)
            return rs_cli_fail(RS_EXIT_USAGE, argv[1], "\"%s\" is one argument too many.", argv[2]);
        printf("%s %s\n", program, RESTRIDE_VERSION_STRING);
        return RS_EXIT_DONE;
    }
    for (size_t i = 0; i < count; i++)
        if (strcmp(argv[1], verbs[i].name) == 0) {
            if (verbs[i].run == NULL)
                return rs_cli_fail(RS_EXIT_FAILED, argv[1],
                                   "This build is without %s; build Restride with it.",
                                   verbs[i].summary);
            bool helps = verbs[i].help != NULL && rs_cli_helps(argc - 1, argv + 1, verbs[i].help);
            return finish(helps ? RS_EXIT_DONE : verbs[i].run(argc - 1, argv + 1), argv[1]);
        }
    fprintf(stderr, "%s: \"%s\" is not a verb; %s --help lists them.\n", program, argv[1], program);
    return RS_EXIT_USAGE;
}

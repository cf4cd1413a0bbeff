/* See options.h. */
#include "console/options.h"

#include "console/fail.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_OPTIONS = 24 };

bool rs_cli_helps(int argc, char **argv, const char *usage)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            return true;
        }
    return false;
}

/* What is wrong with the option `word`, of which getopt_long() made nothing. */
static void tell_option(const char *verb, const char *word, const struct option *names)
{
    const struct option *found = NULL;
    size_t length = strcspn(word, "=");
    int candidates = 0;
    for (const struct option *name = names; name->name != NULL; name++)
        if (strncmp(word, "--", 2) == 0 && length > 2 &&
            strncmp(name->name, word + 2, length - 2) == 0) {
            if (strlen(name->name) == length - 2) {
                found = name;
                candidates = 1;
                break;
            }
            found = name;
            candidates++;
        }
    const char *problem = "is not an option";
    const char *help = "lists them";
    if (candidates > 1) {
        problem = "begins several options";
    } else if (found != NULL) {
        problem = word[length] == '=' ? "takes no value" : "needs a value";
        help = "explains it";
    }
    rs_cli_fail(0, verb, "%.*s %s; %s %s --help %s.", (int)length, word, problem,
                rs_cli_program_name(), verb, help);
}

/* getopt_long(), which says in a sentence what is wrong with an option before it returns '?'. */
static int next_option(const char *verb, int argc, char **argv, const char *letters,
                       const struct option *names, int *which)
{
    opterr = 0;
    int before = optind; /* it stays there inside a word of several letters */
    int code = getopt_long(argc, argv, letters, names, which);
    if (code == '?') {
        const char letter[] = {'-', (char)optopt, '\0'};
        const char *word = argv[optind - 1];
        const char *place = optopt > 0 && optopt < 128 ? strchr(letters, optopt) : NULL;
        if (optind > before && strncmp(word, "--", 2) == 0)
            tell_option(verb, word, names);
        else if (place != NULL && place[1] == ':')
            rs_cli_fail(0, verb, "%s needs a value; %s %s --help explains it.", letter,
                        rs_cli_program_name(), verb);
        else
            rs_cli_fail(0, verb, "%s is not an option; %s %s --help lists them.", letter,
                        rs_cli_program_name(), verb);
    }
    return code;
}

static bool is_allowed(const rs_cli_option *option, size_t count)
{
    return count >= option->least && count <= option->most;
}

static bool take_value(const rs_cli_option *option, const char *value, void *field)
{
    size_t *count = field;
    switch (option->kind) {
    case RS_CLI_IS_FLAG:
        *(bool *)field = true;
        return true;
    case RS_CLI_IS_TEXT:
        *(const char **)field = value;
        return true;
    case RS_CLI_IS_OWN:
        return option->take(value, field);
    case RS_CLI_IS_JSON:
        return option->put(*(json_t **)field, option, value);
    case RS_CLI_IS_COUNT:
        return rs_cli_read_count(value, count) && is_allowed(option, *count);
    case RS_CLI_IS_BYTES:
        return rs_cli_read_bytes(value, count) && is_allowed(option, *count);
    }
    return false;
}

/* The table as getopt_long() wants it, its letters behind those in `letters`; false when it has
 * more rows than MOST_OPTIONS. */
static bool list_names(const rs_cli_option *table, struct option names[], char letters[])
{
    char *letter = letters + strlen(letters);
    for (int i = 0; table[i].name != NULL; i++) {
        bool has_value = table[i].kind != RS_CLI_IS_FLAG;
        if (i == MOST_OPTIONS)
            return false;
        names[i] =
            (struct option){table[i].name, has_value ? required_argument : no_argument, NULL, 0};
        if (table[i].letter != 0) {
            *letter++ = table[i].letter;
            *letter = ':';
            letter += has_value;
        }
    }
    *letter = '\0';
    return true;
}

/* The row that getopt_long() found: by its letter, or by its name number `which`. */
static const rs_cli_option *find_row(const rs_cli_option *table, int code, int which)
{
    for (const rs_cli_option *row = table; code != 0 && row->name != NULL; row++)
        if (row->letter == code)
            return row;
    return &table[which];
}

static int read_options(const char *verb, int argc, char **argv, const rs_cli_option *table,
                        void *into, const char *order)
{
    struct option names[MOST_OPTIONS + 1] = {{0}};
    char letters[2 * MOST_OPTIONS + 2];
    strcpy(letters, order);
    if (!list_names(table, names, letters))
        return rs_cli_fail(RS_EXIT_FAILED, verb, "It has more options than %d.", MOST_OPTIONS);
    int which = 0;
    for (int code; (code = next_option(verb, argc, argv, letters, names, &which)) != -1;) {
        if (code == '?')
            return RS_EXIT_USAGE; /* it has said why */
        const rs_cli_option *option = find_row(table, code, which);
        if (take_value(option, optarg, (char *)into + option->field))
            continue;
        if (option->takes != NULL)
            return rs_cli_fail(RS_EXIT_USAGE, verb, "--%s takes %s, not \"%s\".", option->name,
                               option->takes, optarg);
        return rs_cli_fail(RS_EXIT_USAGE, verb,
                           "--%s cannot be \"%s\"; %s %s --help says what it takes.", option->name,
                           optarg, rs_cli_program_name(), verb);
    }
    return RS_EXIT_DONE;
}

int rs_cli_read_options(const char *verb, int argc, char **argv, const rs_cli_option *table,
                        void *into)
{
    return read_options(verb, argc, argv, table, into, "");
}

int rs_cli_read_first_options(const char *verb, int argc, char **argv, const rs_cli_option *table,
                              void *into)
{
    return read_options(verb, argc, argv, table, into, "+");
}

int rs_cli_read_only_options(const char *verb, int argc, char **argv, const rs_cli_option *table,
                             void *into)
{
    int exit_status = rs_cli_read_options(verb, argc, argv, table, into);
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

/* restride file-status FILE: whether a change with a journal is done, half done or under way. */
#include "base/json.h"
#include "cli/cli.h"
#include "console/fail.h"
#include "console/options.h"
#include "file/journaled.h"
#include "file/mark.h"

#include <stdio.h>

typedef struct {
    const char *journal;
    bool forget;
    bool json;
} status_options;

static const char *const names[] = {
    [RS_JOURNALED_WHOLE] = "whole",         [RS_JOURNALED_RUNNING] = "running",
    [RS_JOURNALED_HALF_DONE] = "half done", [RS_JOURNALED_LOST] = "lost",
    [RS_JOURNALED_COMPLETE] = "done",
};

static const char *text_of(const char *text)
{
    return text != NULL ? text : "";
}

static int print_json(const char *verb, const char *path, const rs_journaled_status *found)
{
    json_t *object =
        json_pack("{s:o, s:s}", "file", rs_json_string(path), "state", names[found->state]);
    const struct {
        const char *name;
        const char *value;
    } texts[] = {
        {"journal", found->journal}, {"change", found->purpose}, {"reason", found->reason}};
    for (size_t i = 0; object != NULL && i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].value != NULL)
            json_object_set_new(object, texts[i].name, rs_json_string(texts[i].value));
    if (object != NULL && found->state == RS_JOURNALED_HALF_DONE)
        json_object_set_new(object, "part", json_real(found->part));
    return rs_cli_print_json(verb, object);
}

static void print_text(const char *path, const rs_journaled_status *found)
{
    const char *journal = text_of(found->journal);
    switch (found->state) {
    case RS_JOURNALED_WHOLE:
        printf("%s: no change is under way.\n", path);
        return;
    case RS_JOURNALED_RUNNING:
        printf("%s: it is being changed now.\n", path);
        return;
    case RS_JOURNALED_HALF_DONE:
        printf("%s: half done by \"%s\", %.0f %%; the same command with the journal %s goes on.\n",
               path, text_of(found->purpose), 100 * found->part, journal);
        return;
    case RS_JOURNALED_LOST:
        printf("%s: half done, and the journal %s that is needed to go on %s%s\n", path, journal,
               found->reason != NULL ? "cannot be used: " : "is missing.", text_of(found->reason));
        return;
    case RS_JOURNALED_COMPLETE:
        printf("%s: \"%s\" is done, says the journal %s.\n", path, text_of(found->purpose),
               journal);
        return;
    }
}

static int report(const char *verb, const char *path, const status_options *options)
{
    rs_file file;
    rs_journaled_status found = {.state = RS_JOURNALED_WHOLE};
    restride_status status = rs_file_open(&file, path, false);
    if (status == RESTRIDE_OK)
        status = rs_journaled_examine(&file, options->journal, &found);
    int exit_status = RS_EXIT_DONE;
    if (status != RESTRIDE_OK)
        exit_status = rs_cli_fail_last(RS_EXIT_FAILED, verb);
    else if (options->json)
        exit_status = print_json(verb, path, &found);
    else
        print_text(path, &found);
    rs_journaled_status_free(&found);
    rs_file_close(&file);
    return exit_status;
}

static int forget(const char *verb, const char *path)
{
    rs_file file;
    restride_status status = rs_file_open(&file, path, true);
    if (status == RESTRIDE_OK)
        status = rs_mark_clear(&file, NULL);
    rs_file_close(&file);
    if (status != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, verb);
    printf("%s: it has no mark of a change any more.\n", path);
    return RS_EXIT_DONE;
}

int rs_verb_file_status(int argc, char **argv)
{
    static const rs_cli_option table[] = {
        {RS_CLI_TEXT("journal", status_options, journal)},
        {RS_CLI_FLAG("forget", status_options, forget)},
        {RS_CLI_FLAG("json", status_options, json)},
        {0},
    };
    const char *verb = "file-status";
    status_options options = {NULL, false, false};
    int exit_status = rs_cli_read_options(verb, argc, argv, table, &options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    if (optind + 1 != argc)
        return rs_cli_fail(RS_EXIT_USAGE, verb, "It takes one file, and %d were given.",
                           argc - optind);
    if (options.forget && (options.journal != NULL || options.json))
        return rs_cli_fail(RS_EXIT_USAGE, verb, "--forget goes with no other option.");
    return options.forget ? forget(verb, argv[optind]) : report(verb, argv[optind], &options);
}

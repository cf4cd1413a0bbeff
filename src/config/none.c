/* In place of config.c in a build without libinih. */
#include "config/config.h"

restride_status rs_config_read(const char *path, json_t **config)
{
    *config = NULL;
    return rs_fail(RESTRIDE_UNSUPPORTED,
                   "The configuration %s cannot be read: this build is without libinih (Debian: "
                   "libinih-dev).",
                   path);
}

restride_status rs_config_parse(const char *text, size_t size, const char *name, json_t **config)
{
    (void)text;
    (void)size;
    return rs_config_read(name, config);
}

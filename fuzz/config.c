/* Fuzzes the reader of configuration files. What is accepted is an object of four objects of
 * texts. */
#include "config/config.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    json_t *config = NULL;
    const char *key;
    json_t *value;
    if (rs_config_parse((const char *)bytes, count, "fuzz", &config) != RESTRIDE_OK)
        return 0;
    json_object_foreach(json_object_get(config, "layouts"), key, value)
    {
        if (!json_is_string(value))
            abort();
    }
    json_object_foreach(json_object_get(config, "records"), key, value)
    {
        if (!json_is_string(value))
            abort();
    }
    json_decref(config);
    return 0;
}

/* See mod_ref.h. */
#include "analyze/mod_ref.h"

#include <stdlib.h>
#include <string.h>

void rs_mod_ref_free(rs_mod_ref *effects)
{
    free(effects->written);
    free(effects->loaded);
    free(effects->storing);
    free(effects->leading);
    memset(effects, 0, sizeof *effects);
}

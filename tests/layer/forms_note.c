/* A member of an archive, with a description. */
#include "forms_note.h"

FORMS_NOTE("{\\\"version\\\":1,\\\"kernels\\\":[{\\\"symbol\\\":\\\"_Z5otherP1P\\\",\\\"name\\\":"
           "\\\"other\\\","
           "\\\"parameters\\\":1,\\\"second\\\":{\\\"full\\\":\\\"a\\\",\\\"ragged\\\":\\\"b\\\","
           "\\\"full_large\\\":\\\"c\\\","
           "\\\"ragged_large\\\":\\\"d\\\"},\\\"arguments\\\":[],\\\"why\\\":\\\"\\\"}]}");

int forms_member(void);

int forms_member(void)
{
    return 0;
}

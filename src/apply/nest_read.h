/* Reading a loop nest from the source, and choosing the loop whose iterations make up a vector. */
#ifndef RS_APPLY_NEST_READ_H
#define RS_APPLY_NEST_READ_H

#include "apply/nest.h"

/*
 * Reads the nest of a for statement. What cannot be changed has a refusal; RESTRIDE_OUT_OF_MEMORY
 * is the only failure. `along` (may be NULL) names the loop of the vectors. With `for_spaces` none
 * is chosen, and arrays that are only read may be read at random.
 */
restride_status rs_nest_read(rs_nest *nest, const rs_translation_unit *program,
                             const rs_accesses *accesses, int function, int node, const char *along,
                             bool for_spaces);
/* After a refusal: chooses the next loop that might do, and forgets the reason; false when there is
 * none. */
bool rs_nest_retry(rs_nest *nest);

#endif

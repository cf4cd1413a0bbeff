/* A kernel's parameters, as the rewriter's libclang tells them, and the values that a launch gives
 * them. */
#ifndef RS_CLI_SIM_SIGNATURE_H
#define RS_CLI_SIM_SIGNATURE_H

#include "base/text.h"
#include "layout/record.h"

enum { RS_SIM_MOST_PARAMETERS = 64 };

typedef enum { RS_SIM_VALUE, RS_SIM_BUFFER, RS_SIM_LOCAL } rs_sim_parameter_kind;

typedef struct {
    char *name;
    char *type;   /* of the value or of an element; "" for a structure */
    size_t bytes; /* likewise */
    rs_sim_parameter_kind place;
    bool has_record; /* the elements are structures whose members are known */
    rs_record record;
    /* The value: bytes to start with, or zeros when NULL; of local memory only their number. */
    bool given;
    size_t size;
    unsigned char *data;
} rs_sim_parameter;

typedef struct {
    char *kernel;
    rs_sim_parameter parameters[RS_SIM_MOST_PARAMETERS];
    size_t count;
} rs_sim_signature;

/* Reads the signature of `kernel`, or of the only one in the file when it is NULL; `options` are
 * the compiler's. The caller frees the signature, also on failure. */
restride_status rs_sim_signature_read(rs_sim_signature *signature, const char *file,
                                      const char *kernel, char *const options[],
                                      size_t option_count);
void rs_sim_signature_free(rs_sim_signature *signature);

/* NULL, with a sentence, when the kernel has no such parameter. */
rs_sim_parameter *rs_sim_find_parameter(rs_sim_signature *signature, const char *name,
                                        size_t length);

/*
 * Gives a parameter its value, as written behind "NAME: ":
 *     5, -1, 0.5        a number; of a vector as many as it has, or one for all
 *     N                 a buffer or local memory of N elements, zeros
 *     N counting        0, 1, 2, ...
 *     N random M        whole numbers below M, always the same
 *     @FILE             the bytes of a file; of a .npy file those of its array
 */
restride_status rs_sim_give(rs_sim_parameter *parameter, const char *value);

/* A buffer of zeros. */
restride_status rs_sim_give_zeros(rs_sim_parameter *parameter, size_t elements);

#endif

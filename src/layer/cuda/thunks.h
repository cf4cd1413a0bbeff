/* Functions that hand their arguments to rs_thunk_call(), with their number. */
#ifndef RS_LAYER_CUDA_THUNKS_H
#define RS_LAYER_CUDA_THUNKS_H

#include <stdint.h>

enum { RS_THUNKS = 1024 };

void *rs_thunk(int number);

/* Calls what the thunk stands for (entries.c). */
uintptr_t rs_thunk_call(int number, uintptr_t *words);

#endif

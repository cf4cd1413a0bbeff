/* Kinds of memory that arrays of a random program have, and who uses them without a call. */
#ifndef MEMORIES_H
#define MEMORIES_H

#include "arrays.h"

/* One of the kinds; those that a GPU's driver may not have only on the made-up device. */
kind choose_kind(void);
void allocate(array *a, size_t bytes, int stream);
bool is_of_device(const array *a);

/* In the stream, if its memory is a pool's. */
bool is_pooled(const array *a);
void release_later(array *a, int stream);

/* Nothing uses it any more. */
void release(array *a, size_t bytes);

/* An array that the host or another process may use: it looks at it, or writes. */
void look_some(int stream);
void touch_some(int stream);

/* Some array's memory is given to other processes, or read by a texture from then on. */
void share_some(int stream);
void launch_sample(int stream);

/* Launches on an array of each kind, and on one that is shared and one under a texture. */
void launch_on_kinds(void);

#endif

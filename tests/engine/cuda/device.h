/* The device that the tests of the CUDA engine work on: a GPU, or the emulated one when
 * LD_LIBRARY_PATH leads to it. */
#ifndef RS_TESTS_CUDA_DEVICE_H
#define RS_TESTS_CUDA_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes the first device's context current; false when there is none. */
bool cuda_device_open(void);
/* The same for another one; numbers begin again behind the last device. */
bool cuda_device_open_number(int number);
bool cuda_device_emulated(void);

/* Memory with `bytes` bytes and canaries around them; ends the test when there is none left. */
typedef struct {
    uintptr_t allocation;
    uintptr_t pointer;
    size_t bytes;
} cuda_memory;
cuda_memory cuda_memory_create(const void *content, size_t bytes);

/* Waits for the device and copies the bytes; false when it failed or a canary changed. */
bool cuda_memory_read(const cuda_memory *memory, void *target);
void cuda_memory_free(cuda_memory *memory);

#endif

/* An OpenCL driver that ends every process that loads it. */
#include <stdlib.h>

__attribute__((constructor)) static void crash(void)
{
    abort();
}

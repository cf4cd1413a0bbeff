/* An OpenCL loader of old, which knows no layers, and no platforms either. */
__attribute__((visibility("default"))) int clGetPlatformIDs(unsigned entries, void *platforms,
                                                            unsigned *count);

int clGetPlatformIDs(unsigned entries, void *platforms, unsigned *count)
{
    (void)entries;
    (void)platforms;
    if (count)
        *count = 0;
    return 0;
}

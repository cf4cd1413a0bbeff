/* Numbers of hosts and processes: see peer.h. */
#include "engine/peer.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

/* The same for all processes of a host until it starts again. */
static uint64_t number_of_host(void)
{
    char text[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file == NULL || fgets(text, (int)sizeof text, file) == NULL)
        text[0] = '\0';
    if (file != NULL)
        fclose(file);
    uint64_t number = 0xCBF29CE484222325u; /* FNV-1a */
    for (const char *c = text; *c != '\0'; c++)
        number = (number ^ (unsigned char)*c) * 0x100000001B3u;
    return text[0] == '\0' ? 0 : number;
}

static uint64_t host_number;
static uint64_t process_number; /* 0: nothing is shared */

static void find_numbers(void)
{
    host_number = number_of_host();
    if (getrandom(&process_number, sizeof process_number, 0) != (ssize_t)sizeof process_number)
        process_number = 0;
}

bool rs_peer_numbers(uint64_t *host, const uint64_t **process)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_numbers);
    *host = host_number;
    *process = &process_number;
    return host_number != 0 && process_number != 0;
}

bool rs_peer_is_same(const rs_peer_name *a, const rs_peer_name *b)
{
    return a->host != 0 && a->allocation != 0 && a->host == b->host && a->process == b->process &&
           a->context == b->context && a->base == b->base && a->allocation == b->allocation &&
           memcmp(a->handle, b->handle, sizeof a->handle) == 0;
}

/* See pick.h. */
#include "pick.h"

static unsigned long long random_state;

void start(unsigned long long seed)
{
    random_state = seed * 0x9e3779b97f4a7c15ull; /* seeds in a row have nothing in common */
}

int pick(int count)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((random_state >> 33) % (unsigned)count);
}

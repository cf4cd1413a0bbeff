/*
 * Programs of Parboil and PhysBAM that place particles, written from their published descriptions:
 * CP (Coulomb potential on a plane), SAD (sums of absolute differences of blocks of pictures), and
 * ClampParticle (new positions as weighted sums of neighbours).
 */
#include <math.h>

enum { ATOMS = 4000, GRID = 512, WIDTH = 176, HEIGHT = 144, SEARCH = 33, WEIGHTS = 4 };

struct atom {
    float x, y, z, q;
};

/* CP: the energy at every point of a slice */
void coulomb(struct atom atoms[ATOMS], float grid[GRID * GRID], float spacing, float z)
{
    for (int j = 0; j < GRID; j++)
        for (int i = 0; i < GRID; i++) {
            float energy = 0.0f;
            for (int n = 0; n < ATOMS; n++) {
                float dx = spacing * i - atoms[n].x, dy = spacing * j - atoms[n].y;
                float dz = z - atoms[n].z;
                energy += atoms[n].q / sqrtf(dx * dx + dy * dy + dz * dz);
            }
            grid[GRID * j + i] += energy;
        }
}

/* SAD: 4 x 4 blocks of the current picture against every place of the search window */
void sad4(unsigned short sums[GRID][SEARCH * SEARCH], unsigned char current[HEIGHT][WIDTH],
          unsigned char reference[HEIGHT + 32][WIDTH + 32], int blocks)
{
    for (int block = 0; block < blocks; block++)
        for (int place = 0; place < SEARCH * SEARCH; place++) {
            int sum = 0;
            for (int y = 0; y < 4; y++)
                for (int x = 0; x < 4; x++) {
                    int row = 4 * (block / (WIDTH / 4)) + y, column = 4 * (block % (WIDTH / 4)) + x;
                    int difference = current[row][column] -
                                     reference[row + place / SEARCH][column + place % SEARCH];
                    sum += difference < 0 ? -difference : difference;
                }
            sums[block][place] = sum;
        }
}

/* SAD: larger blocks are sums of smaller ones, found through a table */
void larger_sads(unsigned short sums[], int table[], int count)
{
    for (int i = 0; i < count; i++)
        sums[table[2 * i]] = sums[table[2 * i + 1]] + sums[table[2 * i + 1] + 1];
}

/* ClampParticle: an embedded particle follows its parents */
void clamp_particle(int count, int particle[], int parents[][WEIGHTS], float weights[][WEIGHTS],
                    float position[][3], float out[][3])
{
    for (int p = 0; p < count; p++)
        for (int d = 0; d < 3; d++) {
            float sum = 0.0f;
            for (int w = 0; w < WEIGHTS; w++)
                sum += weights[p][w] * position[parents[p][w]][d];
            out[p][d] = sum;
        }
}

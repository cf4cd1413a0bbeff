/*
 * Magnetic resonance image reconstruction: the loops of Parboil's MRI-Q and MRI-FHD, written from
 * their published description (S. Stone et al., 2008).
 */
#include <math.h>

enum { SAMPLES = 2048, VOXELS = 262144 };

struct sample {
    float kx, ky, kz, magnitude;
};

void compute_phi_magnitude(float phiR[SAMPLES], float phiI[SAMPLES], float phiMag[SAMPLES])
{
    for (int k = 0; k < SAMPLES; k++) {
        float real = phiR[k], imaginary = phiI[k];
        phiMag[k] = real * real + imaginary * imaginary;
    }
}

void compute_q(struct sample samples[SAMPLES], float x[VOXELS], float y[VOXELS], float z[VOXELS],
               float Qr[VOXELS], float Qi[VOXELS])
{
    for (int k = 0; k < SAMPLES; k++)
        for (int v = 0; v < VOXELS; v++) {
            float angle =
                6.2831853f * (samples[k].kx * x[v] + samples[k].ky * y[v] + samples[k].kz * z[v]);
            Qr[v] += samples[k].magnitude * cosf(angle);
            Qi[v] += samples[k].magnitude * sinf(angle);
        }
}

void compute_rho_phi(float phiR[SAMPLES], float phiI[SAMPLES], float dR[SAMPLES], float dI[SAMPLES],
                     float realRho[SAMPLES], float imagRho[SAMPLES])
{
    for (int k = 0; k < SAMPLES; k++) {
        float pr = phiR[k], pi = phiI[k], r = dR[k], i = dI[k];
        realRho[k] = pr * r + pi * i;
        imagRho[k] = pr * i - pi * r;
    }
}

void compute_fh(float kx[SAMPLES], float ky[SAMPLES], float kz[SAMPLES], float rhoR[SAMPLES],
                float rhoI[SAMPLES], float x[VOXELS], float y[VOXELS], float z[VOXELS],
                float outR[VOXELS], float outI[VOXELS])
{
    for (int v = 0; v < VOXELS; v++) {
        float sumR = 0.0f, sumI = 0.0f;
        for (int k = 0; k < SAMPLES; k++) {
            float angle = 6.2831853f * (kx[k] * x[v] + ky[k] * y[v] + kz[k] * z[v]);
            float c = cosf(angle), s = sinf(angle);
            sumR += rhoR[k] * c - rhoI[k] * s;
            sumI += rhoI[k] * c + rhoR[k] * s;
        }
        outR[v] = sumR;
        outI[v] = sumI;
    }
}

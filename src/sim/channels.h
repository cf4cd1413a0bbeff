/*
 * The channels of a memory: each has banks with an open row, and a short queue of requests of which
 * those to an open row are served first. Steering bits choose a request's channel and bank.
 */
#ifndef RS_SIM_CHANNELS_H
#define RS_SIM_CHANNELS_H

#include "sim/device.h"

typedef struct rs_sim_channels rs_sim_channels;

/* NULL: there is not enough memory. The device is kept by reference. */
rs_sim_channels *rs_sim_channels_create(const rs_sim_device *device);
void rs_sim_channels_destroy(rs_sim_channels *channels);

/* A request of fetch_bytes at this address. */
void rs_sim_channels_ask(rs_sim_channels *channels, uint64_t address);

/* Serves what waits. */
void rs_sim_channels_drain(rs_sim_channels *channels);

/* What a channel has served, and to rows that were open. */
size_t rs_sim_channels_requests(const rs_sim_channels *channels, size_t number);
size_t rs_sim_channels_row_hits(const rs_sim_channels *channels, size_t number);

#endif

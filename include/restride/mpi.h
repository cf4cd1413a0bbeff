/*
 * Groups of MPI processes, for redistributions (restride/distributed.h). The functions are in
 * librestride_mpi.so, which is built for one implementation of MPI: `pkg-config restride-mpi`.
 *
 *     restride_group *group;
 *     MPI_Init(NULL, NULL);
 *     restride_status status = restride_group_create_mpi(&group, MPI_COMM_WORLD);
 *     assert(status == RESTRIDE_OK && restride_group_rank(group) < restride_group_size(group));
 *     restride_group_destroy(group);
 *     MPI_Finalize();
 */
#ifndef RESTRIDE_MPI_H
#define RESTRIDE_MPI_H

#include "restride/distributed.h"

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Creates a group of the processes of an intracommunicator, in its order. It uses a duplicate of
 * the communicator, so its messages meet no others, and errors of MPI become statuses. Counts have
 * 64 bits: no message is larger than 1 GiB.
 *
 * Its messages lie in host memory; what is on a device passes through pinned memory. Calls from one
 * thread at a time; with several threads MPI needs at least MPI_THREAD_SERIALIZED. Destroy the
 * group before MPI_Finalize().
 *
 * Collective, as restride_group_destroy() is. RESTRIDE_INVALID_ARGUMENT: MPI is not initialized, or
 * the communicator is MPI_COMM_NULL or an intercommunicator. RESTRIDE_IO: MPI failed. Since 0.1.
 */
RESTRIDE_API restride_status restride_group_create_mpi(restride_group **group,
                                                       MPI_Comm communicator);

/* The same for a communicator of Fortran: a number, the MPI_VAL of a type(MPI_Comm). Since 0.1. */
RESTRIDE_API restride_status restride_group_create_mpi_fortran(restride_group **group,
                                                               MPI_Fint communicator);

#ifdef __cplusplus
}
#endif
#endif

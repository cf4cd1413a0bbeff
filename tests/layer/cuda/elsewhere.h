/* What a random program does in other contexts and processes. */
#ifndef ELSEWHERE_H
#define ELSEWHERE_H

/* Arrays are read, copied to memory of a second context and changed by a kernel there. */
void use_context(int stream);

/* A child finds no driver and ends; the parent goes on. */
void fork_some(int stream);

/* A copy as between contexts, from one array to another. */
void copy_as_peer(int stream);

#endif

#pragma once

#include <postgresql/libpq-fe.h>
#include <stdbool.h>

// Loads libpq, so that only a program that uses a PostgreSQL queue loads it and its libraries. Afterwards, libpq's own functions work under their own names.
//
// It also removes the variables that libpq reads from the environment (PGHOST and such): a queue is what its address says.
//
// Call it once, before other threads use the environment. False if libpq is not installed or too old; cpq_error() then says why.
bool cpq_load(void);

const char *cpq_error(void);

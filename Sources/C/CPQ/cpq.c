#include "CPQ.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

// libpq's functions that attache calls: result, name, parameters, arguments.
#define FUNCTIONS(X)                                                                                                                               \
  X(PGconn *, PQconnectStartParams, (const char *const *k, const char *const *v, int d), (k, v, d))                                                \
  X(PostgresPollingStatusType, PQconnectPoll, (PGconn * c), (c))                                                                                   \
  X(ConnStatusType, PQstatus, (const PGconn *c), (c))                                                                                              \
  X(int, PQsocket, (const PGconn *c), (c))                                                                                                         \
  X(int, PQsetnonblocking, (PGconn * c, int n), (c, n))                                                                                            \
  X(int, PQenterPipelineMode, (PGconn * c), (c))                                                                                                   \
  X(int, PQpipelineSync, (PGconn * c), (c))                                                                                                        \
  X(int, PQsendPrepare, (PGconn * c, const char *n, const char *q, int i, const Oid *t), (c, n, q, i, t))                                          \
  X(int, PQsendQueryPrepared, (PGconn * c, const char *s, int n, const char *const *v, const int *l, const int *f, int r), (c, s, n, v, l, f, r))  \
  X(int, PQflush, (PGconn * c), (c))                                                                                                               \
  X(int, PQconsumeInput, (PGconn * c), (c))                                                                                                        \
  X(int, PQisBusy, (PGconn * c), (c))                                                                                                              \
  X(PGresult *, PQgetResult, (PGconn * c), (c))                                                                                                    \
  X(ExecStatusType, PQresultStatus, (const PGresult *r), (r))                                                                                      \
  X(char *, PQresultErrorField, (const PGresult *r, int f), (r, f))                                                                                \
  X(int, PQntuples, (const PGresult *r), (r))                                                                                                      \
  X(char *, PQgetvalue, (const PGresult *r, int t, int f), (r, t, f))                                                                              \
  X(int, PQgetisnull, (const PGresult *r, int t, int f), (r, t, f))                                                                                \
  X(int, PQgetlength, (const PGresult *r, int t, int f), (r, t, f))                                                                                \
  X(char *, PQerrorMessage, (const PGconn *c), (c))                                                                                                \
  X(int, PQserverVersion, (const PGconn *c), (c))                                                                                                  \
  X(const char *, PQparameterStatus, (const PGconn *c, const char *n), (c, n))                                                                     \
  X(PQnoticeProcessor, PQsetNoticeProcessor, (PGconn * c, PQnoticeProcessor p, void *a), (c, p, a))                                                \
  X(PQconninfoOption *, PQconndefaults, (void), ())                                                                                                \
  X(PQconninfoOption *, PQconninfoParse, (const char *i, char **e), (i, e))

#define PROCEDURES(X)                                                                                                                              \
  X(PQfinish, (PGconn * c), (c))                                                                                                                   \
  X(PQclear, (PGresult * r), (r))                                                                                                                  \
  X(PQfreemem, (void *p), (p))                                                                                                                     \
  X(PQconninfoFree, (PQconninfoOption * o), (o))

#define POINTER(result, name, parameters, arguments) static result(*p_##name) parameters;
#define POINTER_OF_PROCEDURE(name, parameters, arguments) POINTER(void, name, parameters, arguments)
FUNCTIONS(POINTER)
PROCEDURES(POINTER_OF_PROCEDURE)

#define CALL(result, name, parameters, arguments)                                                                                                  \
  result name parameters { return p_##name arguments; }
#define CALL_PROCEDURE(name, parameters, arguments)                                                                                                \
  void name parameters { p_##name arguments; }
FUNCTIONS(CALL)
PROCEDURES(CALL_PROCEDURE)

static char error[512];

const char *cpq_error(void) { return error; }

// Variables that PQconndefaults does not list or reads itself (libpq's fe-connect.c).
static const char *const unlisted[] = {"PGSERVICE", "PGSERVICEFILE", "PGSYSCONFDIR", "PGREQUIRESSL", "PGTZ", "PGDATESTYLE", "PGGEQO"};

static void ignore_environment(void) {
  for (size_t index = 0; index < sizeof unlisted / sizeof *unlisted; index++) unsetenv(unlisted[index]);
  PQconninfoOption *options = PQconndefaults();
  if (!options) return;
  for (PQconninfoOption *option = options; option->keyword; option++) {
    if (option->envvar) unsetenv(option->envvar);
  }
  PQconninfoFree(options);
}

bool cpq_load(void) {
  void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(error, sizeof error, "%s", dlerror());
    return false;
  }
#define LOAD(result, name, parameters, arguments)                                                                                                  \
  if (!(p_##name = (__typeof__(p_##name))dlsym(library, #name))) {                                                                                 \
    snprintf(error, sizeof error, "libpq.so.5 has no %s; it must be version 14 or later", #name);                                                  \
    return false;                                                                                                                                  \
  }
#define LOAD_PROCEDURE(name, parameters, arguments) LOAD(void, name, parameters, arguments)
  FUNCTIONS(LOAD)
  PROCEDURES(LOAD_PROCEDURE)
  ignore_environment();
  return true;
}

#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "shim.h"

// As many threads as a fetcher starts at the most.
enum { thread_count = 4 };

static void lower(int resource, rlim_t maximum) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0) return;
  if (limit.rlim_max > maximum) limit.rlim_max = maximum;
  if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
  setrlimit(resource, &limit);
}

// What the stacks of the threads may take: each counts as a whole.
static rlim_t stacks(void) {
  size_t size = 0;
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0) return 0;
  pthread_attr_getstacksize(&attributes, &size);
  pthread_attr_destroy(&attributes);
  return (rlim_t)size * thread_count;
}

static void *nothing(void *argument) { return argument; }

// After a fork, glibc keeps the stacks of the parent's threads until a thread ends, and then 40 MB of them (allocatestack.c). They would count as data, and
// leave their size as room later.
static void release_stacks(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, nothing, NULL) == 0) pthread_join(thread, NULL);
}

int fetcher_confine(
    sandbox_profile profile, const char *store, const char *const *readable, uint64_t data_bytes, uint64_t descriptors) {
  release_stacks();
  uint64_t data = 0;
  // Data and stack.
  if (child_memory(6, &data)) lower(RLIMIT_DATA, data + stacks() + data_bytes);
  lower(RLIMIT_NOFILE, descriptors);
  lower(RLIMIT_CORE, 0);
  // The limit does not stop a core that is handed to a program.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  // A confined process changes no mode: those that it creates files with are exact.
  umask(0);
  return sandbox_confine(profile, store, readable, NULL);
}

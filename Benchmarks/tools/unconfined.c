/* Preloaded under valgrind alone: the detector's process asks the kernel to refuse it what it does not need, and valgrind, which runs within it, does
 * need it. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int prctl(int option, ...) {
  va_list given;
  va_start(given, option);
  unsigned long values[4];
  for (int i = 0; i < 4; i++) values[i] = va_arg(given, unsigned long);
  va_end(given);
  return option == PR_SET_SECCOMP ? 0 : (int)syscall(SYS_prctl, option, values[0], values[1], values[2], values[3]);
}

int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit) {
  return resource == RLIMIT_AS ? 0 : (int)syscall(SYS_setrlimit, resource, limit);
}

#include "misbehaviour.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// Not sanitized: before the crash a sanitizer would make a call that the child may not make.
__attribute__((noinline, no_sanitize("address"))) bool misbehave(misbehaviour misbehaviour) {
  switch (misbehaviour) {
    case misbehaviour_crash: __builtin_trap();
    case misbehaviour_loop:
      for (volatile int turn = 0;; turn++) {
      }
    case misbehaviour_wait: {
      int word = 0;
      for (;;) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    }
    case misbehaviour_escape:
      if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || open("/etc/hostname", O_RDONLY) >= 0 || fork() >= 0) __builtin_trap();
      return true;
    default: return false;
  }
}

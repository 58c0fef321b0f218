#include "runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// The socket as this process uses it. Code of the extension may close the descriptor that it was given.
static int own_socket = -1;
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

bool runtime_begin(void) {
  struct stat status;
  if (fstat(runtime_socket, &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
  own_socket = fcntl(runtime_socket, F_DUPFD_CLOEXEC, 100);
  if (own_socket < 0) return false;
  close(runtime_socket);
  // This process waits for its frames.
  fcntl(own_socket, F_SETFL, fcntl(own_socket, F_GETFL) & ~O_NONBLOCK);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A write to a host that is gone must fail, and not end the process without a word.
  signal(SIGPIPE, SIG_IGN);
  return true;
}

bool runtime_write(uint8_t kind, const void *content, size_t count) {
  if (count >= runtime_maximum_sent) return false;
  uint8_t head[5];
  uint32_t length = (uint32_t)count + 1;
  memcpy(head, &length, sizeof length);
  head[4] = kind;
  struct iovec parts[2] = {{head, sizeof head}, {(void *)content, count}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  size_t left = sizeof head + count;
  pthread_mutex_lock(&writing);
  while (left > 0) {
    ssize_t sent = sendmsg(own_socket, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) break;
    left -= (size_t)sent;
    for (size_t index = 0; index < 2; index++) {
      size_t taken = (size_t)sent < parts[index].iov_len ? (size_t)sent : parts[index].iov_len;
      parts[index].iov_base = (uint8_t *)parts[index].iov_base + taken;
      parts[index].iov_len -= taken;
      sent -= (ssize_t)taken;
    }
  }
  pthread_mutex_unlock(&writing);
  return left == 0;
}

static bool read_all(void *bytes, size_t count) {
  while (count > 0) {
    ssize_t got = recv(own_socket, bytes, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes = (uint8_t *)bytes + got;
    count -= (size_t)got;
  }
  return true;
}

long runtime_read(uint8_t **content) {
  uint32_t length;
  if (!read_all(&length, sizeof length) || length == 0 || length > runtime_maximum_frame) return -1;
  *content = malloc(length);
  if (*content && read_all(*content, length)) return length;
  free(*content);
  return -1;
}

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "child.h"
#include "misbehaviour.h"
#include "shim.h"

enum { made_bytes = 1000 };

// Waits for the next picture. Its descriptor is not taken.
static bool take_job(converter_job *job) {
  struct iovec part = {.iov_base = job, .iov_len = sizeof *job};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  ssize_t length;
  do length = recvmsg(child_socket, &message, 0);
  while (length < 0 && errno == EINTR);
  return length == sizeof *job;
}

static void answer_jobs(void *context, bool is_confined) {
  const misbehaviour kind = *(const misbehaviour *)context;
  for (converter_job job; take_job(&job);) {
    converter_answer answer = {.serial = job.serial, .end = converter_unreadable, .is_confined = is_confined, .message = "it did not escape"};
    char bytes[made_bytes];
    memset(bytes, 'x', sizeof bytes);
    misbehave(kind);
    if (kind == misbehaviour_other_answer) answer.serial++;
    if (kind == misbehaviour_wrong_type || kind == misbehaviour_flood) {
      answer.end = converter_made;
      answer.format = converter_jpeg;
      answer.bytes = kind == misbehaviour_flood ? UINT64_MAX : sizeof bytes;
    }
    size_t length = kind == misbehaviour_garbage ? 1 : sizeof answer;
    if (write(child_socket, &answer, length) != (ssize_t)length) return;
    if (answer.end == converter_made && write(child_socket, bytes, sizeof bytes) != sizeof bytes) return;
  }
}

int misbehaving_converter_start(misbehaviour misbehaviour, uint64_t memory, int32_t *child) {
  return child_start(child_converter, memory, answer_jobs, &misbehaviour, child);
}

#include <errno.h>
#include <fcntl.h>
#include <magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "shim.h"

// What goes over the socket, whose messages keep their bounds (SOCK_SEQPACKET): a question is this with the bytes behind it.
typedef struct {
  uint32_t serial;
  detector_question question;
} request_head;

typedef struct {
  uint32_t serial;
  uint32_t is_confined;
  char name[detector_name_max];
} reply;

static const char unnamed[] = "application/octet-stream";

// Memory that the child may map beside what the parent's image has.
static const uint64_t memory_max = 128 << 20;

#pragma mark The child

static const char *name_of(magic_t cookie, int flags, const void *bytes, size_t count) {
  const char *name = magic_setflags(cookie, flags) == 0 ? magic_buffer(cookie, bytes, count) : NULL;
  return name ? name : unnamed;
}

// What a child is started with.
typedef struct {
  magic_t cookie;
  uint32_t cpu_ms, wait_ms;
} start;

static void answer_questions(void *context, bool is_confined) {
  const start *start = context;
  const magic_t cookie = start->cookie;
  const struct itimerval budget = child_timer(start->cpu_ms), wait = child_timer(start->wait_ms), none = child_timer(0);
  static struct {
    request_head head;
    char bytes[detector_bytes_max];
  } request;
  static reply answer;
  answer.is_confined = is_confined;
  for (;;) {
    ssize_t length = read(child_socket, &request, sizeof request);
    if (length < 0 && errno == EINTR) continue;
    if (length < (ssize_t)sizeof request.head) return;
    // Time in which the child waits does not count: this timer needs no stopping. SIGPROF ends the process.
    setitimer(ITIMER_PROF, &budget, NULL);
    // The parent may not be able to end it: SIGALRM does.
    setitimer(ITIMER_REAL, &wait, NULL);
    size_t count = (size_t)length - sizeof request.head;
    answer.serial = request.head.serial;
    const detector_question *question = &request.head.question;
    const char *name = name_of(cookie, question->flags, request.bytes, count);
    if (question->text_flags != 0 && strcmp(name, unnamed) == 0)
      name = name_of(cookie, question->text_flags, request.bytes, count < question->text_bytes ? count : question->text_bytes);
    strncpy(answer.name, name, sizeof answer.name - 1);
    setitimer(ITIMER_REAL, &none, NULL);
    if (write(child_socket, &answer, sizeof answer) < 0) return;
  }
}

#pragma mark The parent

int detector_start(magic_t cookie, int cpu_ms, int wait_ms, int32_t *child) {
  start start = {.cookie = cookie, .cpu_ms = (uint32_t)cpu_ms, .wait_ms = (uint32_t)wait_ms};
  return child_start(child_detector, memory_max, answer_questions, &start, child);
}

static bool is_name(const char *name) {
  size_t length = strnlen(name, detector_name_max);
  if (length == 0 || length == detector_name_max) return false;
  for (size_t index = 0; index < length; index++)
    if (name[index] <= ' ' || name[index] > '~') return false;
  return true;
}

bool detector_send(int socket, uint32_t serial, detector_question question, const void *bytes, size_t count) {
  request_head head = {.serial = serial, .question = question};
  struct iovec parts[] = {{&head, sizeof head}, {(void *)bytes, count < detector_bytes_max ? count : detector_bytes_max}};
  const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  ssize_t length;
  do length = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (length < 0 && errno == EINTR);
  return length >= 0;
}

void detector_receive(int socket, uint32_t serial, detector_answer *answer) {
  reply reply;
  ssize_t length;
  do length = recv(socket, &reply, sizeof reply, MSG_DONTWAIT);
  while (length < 0 && errno == EINTR);
  if (length < 0) {
    // ECONNRESET: the other end was closed with the question still in its queue.
    answer->end = errno == EAGAIN ? detector_silent : errno == ECONNRESET ? detector_gone : detector_died;
  } else if (length == 0) {
    answer->end = detector_died;
  } else if (length != sizeof reply || reply.serial != serial || !is_name(reply.name)) {
    answer->end = detector_confused;
  } else {
    answer->end = detector_named;
    answer->is_confined = reply.is_confined;
    memcpy(answer->name, reply.name, sizeof answer->name);
  }
}

const char *detector_database(char *buffer, size_t size) {
  // With an action other than to load (0), the home folder is not looked at; only MAGIC is.
  const char *path = magic_getpath(NULL, 1);
  if (getenv("MAGIC") == NULL) {
    if (path == NULL || strlen(path) >= size) return NULL;
    return strcpy(buffer, path);
  }
  // The library tells the path that it was built with only to a process without MAGIC: a child that has taken it out of its own environment.
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return NULL;
  pid_t child = fork();
  if (child == 0) {
    static char *nothing[] = {NULL};
    environ = nothing;
    path = magic_getpath(NULL, 1);
    _exit(path != NULL && write(ends[1], path, strlen(path)) > 0 ? 0 : 1);
  }
  close(ends[1]);
  ssize_t length;
  do length = child > 0 ? read(ends[0], buffer, size - 1) : -1;
  while (length < 0 && errno == EINTR && child > 0);
  close(ends[0]);
  while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) {
  }
  if (length <= 0) return NULL;
  buffer[length] = 0;
  return buffer;
}

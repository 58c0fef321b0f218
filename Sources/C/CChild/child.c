#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sandbox.h"

#pragma mark The child

void child_set_signals(void) {
  struct sigaction action = {.sa_handler = SIG_DFL};
  for (int number = 1; number < NSIG; number++) sigaction(number, &action, NULL);
  // What is meant for the whole group is the parent's to hear: the child goes when the socket is closed.
  static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE, SIGUSR1, SIGUSR2, SIGXFSZ};
  action.sa_handler = SIG_IGN;
  for (size_t index = 0; index < sizeof ignored / sizeof *ignored; index++) sigaction(ignored[index], &action, NULL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

bool child_memory(int field, uint64_t *bytes) {
  char text[128];
  int statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  ssize_t length = statm < 0 ? -1 : read(statm, text, sizeof text - 1);
  if (statm >= 0) close(statm);
  if (length <= 0) return false;
  text[length] = 0;
  char *rest = text;
  for (int count = 0; count < field; count++) *bytes = strtoull(rest, &rest, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
  return true;
}

// Bounds what a stranger's bytes can make a library allocate.
static void limit_memory(uint64_t memory) {
  uint64_t mapped = 0;
  if (!child_memory(1, &mapped)) return;
  struct rlimit limit = {.rlim_cur = mapped + memory, .rlim_max = mapped + memory};
  setrlimit(RLIMIT_AS, &limit);
}

// What a child is started with.
typedef struct {
  child_role role;
  uint64_t memory;
  void (*run)(void *, bool);
  void *context;
} start;

static _Noreturn void run_child(const start *start, int socket) {
  child_set_signals();
  prctl(PR_SET_NAME, start->role == child_detector ? "detector" : "converter", 0, 0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  // A core would hold the parent's memory, payloads included.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  const struct rlimit no_core = {0};
  setrlimit(RLIMIT_CORE, &no_core);
  close(0);
  close(1);
  close(2);
  if (dup2(socket, child_socket) != child_socket) _exit(1);
  closefrom(child_socket + 1);
  limit_memory(start->memory);
  static const char *const no_files[] = {NULL};
  int missing = sandbox_confine(start->role == child_detector ? sandbox_detector : sandbox_converter, NULL, no_files, NULL);
  start->run(start->context, (missing & sandbox_open_calls) == 0);
  _exit(0);
}

#pragma mark Messages

int child_pair(int ends[2]) { return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends); }

long child_receive(int socket, void *bytes, size_t count, int flags, int *descriptor) {
  struct iovec part = {.iov_base = bytes, .iov_len = count};
  union {
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr head;
  } control;
  // The kernel closes further descriptors, for which there is no room: CMSG_SPACE would have room for two.
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = CMSG_LEN(sizeof(int))};
  *descriptor = -1;
  ssize_t length;
  do length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags);
  while (length < 0 && errno == EINTR);
  struct cmsghdr *head = length < 0 ? NULL : CMSG_FIRSTHDR(&message);
  if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) memcpy(descriptor, CMSG_DATA(head), sizeof(int));
  return length;
}

// Receives a message of a known size, and its descriptor. False for anything else.
static bool receive(int socket, void *bytes, size_t count, int *descriptor) {
  return child_receive(socket, bytes, count, MSG_DONTWAIT, descriptor) == (long)count;
}

long child_send(int socket, const void *bytes, size_t count, int descriptor) {
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
  union {
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr head;
  } control = {0};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (descriptor >= 0) {
    message.msg_control = control.room;
    message.msg_controllen = sizeof control.room;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &descriptor, sizeof(int));
  }
  long sent;
  do sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
  return sent;
}

#pragma mark A process that asks

// The socket to the process that starts the children of this one, -1 without one.
static int asked = -1;
static uint32_t last_serial;

typedef struct {
  uint32_t serial;
  int32_t value;
} reply;

// A process that starts children also reads root certificates, which takes 50 ms.
enum { start_wait_ms = 2000 };

void child_ask(int socket) { asked = socket; }

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Asks, and waits for the answer to this very request; earlier ones nobody waits for any more. False with errno when there is none.
static bool request(uint32_t order, int32_t child, uint32_t wait_ms, int32_t *value, int *descriptor) {
  const child_request request = {.serial = ++last_serial, .order = order, .child = child};
  if (send(asked, &request, sizeof request, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return false;
  for (const int64_t end = now_ms() + wait_ms;;) {
    int64_t left = end - now_ms();
    struct pollfd readable = {.fd = asked, .events = POLLIN};
    if (left <= 0 || poll(&readable, 1, (int)left) == 0) {
      errno = ETIMEDOUT;
      return false;
    }
    reply reply;
    if (!receive(asked, &reply, sizeof reply, descriptor)) {
      if (errno == EAGAIN) continue;
      errno = ECHILD;
      return false;
    }
    if (reply.serial == request.serial) {
      *value = reply.value;
      return true;
    }
    if (*descriptor >= 0) close(*descriptor);
  }
}

static int start_by_request(child_role role, int32_t *child) {
  int socket = -1;
  if (!request(role == child_detector ? child_start_detector : child_start_converter, 0, start_wait_ms, child, &socket)) return -1;
  if (*child > 0 && socket >= 0) return socket;
  if (socket >= 0) close(socket);
  errno = *child < 0 ? -*child : EPROTO;
  return -1;
}

#pragma mark The process that starts children

int child_take(int socket, child_request *request) {
  ssize_t length;
  // Without room for control data, no descriptor is taken. MSG_TRUNC shows the length of a message that is too long.
  do length = recv(socket, request, sizeof *request, MSG_DONTWAIT | MSG_TRUNC);
  while (length < 0 && errno == EINTR);
  if (length < 0 && errno == EAGAIN) return 0;
  return length == sizeof *request && request->order >= child_start_detector && request->order <= child_end ? 1 : -1;
}

void child_answer(int socket, uint32_t serial, int32_t value, int descriptor) {
  reply reply = {.serial = serial, .value = value};
  // Without an answer, the request fails when its time is over.
  (void)child_send(socket, &reply, sizeof reply, descriptor);
}

int child_start(child_role role, uint64_t memory, void (*run)(void *, bool), void *context, int32_t *child) {
  if (asked >= 0) return start_by_request(role, child);
  int ends[2];
  if (child_pair(ends) != 0) return -1;
  // No handler of the parent's may run in the child.
  sigset_t every, before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  *child = fork();
  if (*child == 0) {
    const start start = {.role = role, .memory = memory, .run = run, .context = context};
    run_child(&start, ends[1]);
  }
  int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  close(ends[1]);
  if (*child > 0) return ends[0];
  close(ends[0]);
  errno = error;
  return -1;
}

// The state of a child, by waitpid(2), after `wait_ms` at most: 0 while it runs.
static pid_t reap(int32_t child, uint32_t wait_ms, int *status) {
  pid_t ended;
  for (uint32_t turn = 0; (ended = waitpid(child, status, WNOHANG)) == 0 && turn < wait_ms * 10; turn++) usleep(100);
  return ended;
}

int child_stop(int socket, int32_t child, uint32_t wait_ms, bool *is_gone) {
  close(socket);
  if (asked >= 0) {
    // Whoever starts it sees to its end.
    *is_gone = true;
    int32_t signal = 0;
    int none = -1;
    bool is_known = request(child_end, child, wait_ms, &signal, &none);
    if (none >= 0) close(none);
    return is_known ? signal : 0;
  }
  int status = 0;
  // A child that somebody else has reaped (ECHILD) must not be signalled: its number may be another's.
  pid_t ended = reap(child, 0, &status);
  if (ended == 0) {
    // One that is dying keeps the signal that it dies of.
    kill(child, SIGKILL);
    ended = reap(child, wait_ms, &status);
  }
  *is_gone = ended != 0;
  return ended == child && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

bool child_is_gone(int32_t child, uint32_t wait_ms) {
  int status;
  return reap(child, wait_ms, &status) != 0;
}

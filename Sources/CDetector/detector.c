#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <magic.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

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

// The child's one descriptor.
enum { child_socket = 3 };

// Memory that the child may map beside what the parent's image has.
static const rlim_t memory_max = 128 << 20;

#pragma mark The child

#if defined(__x86_64__)
#define detector_arch AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define detector_arch AUDIT_ARCH_AARCH64
#endif

// Lets the process call the kernel for memory, time and what it has open; another call ends it. False where the kernel declines.
static bool confine(void) {
#ifdef detector_arch
#define allow(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, detector_arch, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      allow(read),
      allow(write),
      allow(setitimer),
      allow(brk),
      allow(mmap),
      allow(munmap),
      allow(mremap),
      allow(mprotect),
      allow(madvise),
      allow(futex),
      allow(exit_group),
      allow(exit),
      allow(rt_sigreturn),
      allow(rt_sigprocmask),
      allow(restart_syscall),
      allow(clock_gettime),
      allow(gettimeofday),
      allow(getrandom),
      // What the sanitizers' allocators and locks ask for.
      allow(sched_yield),
      allow(getpid),
      allow(gettid),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
#undef allow
  struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
#else
  return false;
#endif
}

static void set_signals(void) {
  struct sigaction action = {.sa_handler = SIG_DFL};
  for (int number = 1; number < NSIG; number++) sigaction(number, &action, NULL);
  // What is meant for the whole group is the parent's to hear: the child goes when the socket is closed.
  static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE, SIGUSR1, SIGUSR2};
  action.sa_handler = SIG_IGN;
  for (size_t index = 0; index < sizeof ignored / sizeof *ignored; index++) sigaction(ignored[index], &action, NULL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

// The parent's, which the child was as large as a moment ago; -1 where it is still to be opened.
static int statm = -1;

void detector_prepare(void) { statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC); }

// Bounds what a question can make libmagic allocate: the first number of statm is the pages that are mapped now.
static void limit_memory(void) {
  char text[64];
  if (statm < 0) detector_prepare();
  ssize_t length = statm < 0 ? -1 : pread(statm, text, sizeof text - 1, 0);
  close(statm);
  if (length <= 0) return;
  text[length] = 0;
  rlim_t maximum = (rlim_t)strtoull(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) + memory_max;
  struct rlimit limit = {.rlim_cur = maximum, .rlim_max = maximum};
  setrlimit(RLIMIT_AS, &limit);
}

// Not sanitized: before the crash a sanitizer would make a call that the child may not make.
__attribute__((noinline, no_sanitize("address"))) static void misbehave(detector_play play, reply *answer) {
  switch (play) {
    case detector_honest:
    case detector_leaves: break;
    case detector_crashes: __builtin_trap();
    case detector_spins:
      for (volatile int turn = 0;; turn++) {
      }
    case detector_waits: {
      int word = 0;
      for (;;) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    }
    case detector_babbles:
      answer->serial++;
      break;
    case detector_breaks_out:
      socket(AF_INET, SOCK_STREAM, 0);
      break;
  }
}

static const char *name_of(magic_t cookie, int flags, const void *bytes, size_t count) {
  const char *name = magic_setflags(cookie, flags) == 0 ? magic_buffer(cookie, bytes, count) : NULL;
  return name ? name : unnamed;
}

static struct itimerval timer_of(int ms) { return (struct itimerval){.it_value = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000}}; }

static void answer_questions(magic_t cookie, int cpu_ms, int wait_ms, detector_play play, bool is_confined) {
  const struct itimerval budget = timer_of(cpu_ms), patience = timer_of(wait_ms), none = timer_of(0);
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
    setitimer(ITIMER_REAL, &patience, NULL);
    size_t count = (size_t)length - sizeof request.head;
    answer.serial = request.head.serial;
    const detector_question *question = &request.head.question;
    const char *name = name_of(cookie, question->flags, request.bytes, count);
    if (question->text_flags != 0 && strcmp(name, unnamed) == 0)
      name = name_of(cookie, question->text_flags, request.bytes, count < question->text_bytes ? count : question->text_bytes);
    strncpy(answer.name, name, sizeof answer.name - 1);
    bool is_meant = play != detector_honest && count >= sizeof detector_play_mark - 1
                    && memcmp(request.bytes, detector_play_mark, sizeof detector_play_mark - 1) == 0;
    if (is_meant) misbehave(play, &answer);
    setitimer(ITIMER_REAL, &none, NULL);
    if (write(child_socket, &answer, sizeof answer) < 0) return;
    if (is_meant && play == detector_leaves) return;
  }
}

static _Noreturn void run_child(magic_t cookie, int socket, int cpu_ms, int wait_ms, detector_play play) {
  set_signals();
  prctl(PR_SET_NAME, "detector", 0, 0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  // A core would hold the parent's memory, payloads included.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  close(0);
  close(1);
  close(2);
  if (dup2(socket, child_socket) != child_socket) _exit(1);
  limit_memory();
  closefrom(child_socket + 1);
  answer_questions(cookie, cpu_ms, wait_ms, play, confine());
  _exit(0);
}

#pragma mark The parent

int detector_start(magic_t cookie, int cpu_ms, int wait_ms, detector_play play, int32_t *child) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
  // No handler of the parent's may run in the child.
  sigset_t every, before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  *child = fork();
  if (*child == 0) run_child(cookie, ends[1], cpu_ms, wait_ms, play);
  int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  close(ends[1]);
  if (*child > 0) return ends[0];
  close(ends[0]);
  errno = error;
  return -1;
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

// A child that is ended is waited for so often, 100 µs each: it takes a millisecond or two, unless it waits for a disk.
enum { stop_turns = 1000 };

int detector_stop(int socket, int32_t child, bool *is_gone) {
  close(socket);
  int status = 0;
  // A child that somebody else has reaped (ECHILD) must not be signalled: its number may be another's.
  pid_t ended = waitpid(child, &status, WNOHANG);
  if (ended == 0) {
    // One that is dying keeps the signal that it dies of. A confined process signals nobody: the child ends by itself.
    kill(child, SIGKILL);
    for (int turn = 0; turn < stop_turns && (ended = waitpid(child, &status, WNOHANG)) == 0; turn++) usleep(100);
  }
  *is_gone = ended != 0;
  return ended == child && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

bool detector_is_gone(int32_t child) { return waitpid(child, NULL, WNOHANG) != 0; }

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

#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#pragma mark The child

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

void child_prepare(void) {
  if (statm < 0) statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
}

// Bounds what a stranger's bytes can make a library allocate: the first number of statm is the pages that are mapped now.
static void limit_memory(uint64_t memory) {
  char text[64];
  child_prepare();
  ssize_t length = statm < 0 ? -1 : pread(statm, text, sizeof text - 1, 0);
  if (length <= 0) return;
  text[length] = 0;
  rlim_t maximum = (rlim_t)strtoull(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) + memory;
  struct rlimit limit = {.rlim_cur = maximum, .rlim_max = maximum};
  setrlimit(RLIMIT_AS, &limit);
}

static _Noreturn void run_child(const char *name, uint64_t memory, int socket, void (*run)(void *), void *context) {
  set_signals();
  prctl(PR_SET_NAME, name, 0, 0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  // A core would hold the parent's memory, payloads included.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  // The descriptor that it reads may have the number of the child's socket.
  limit_memory(memory);
  close(0);
  close(1);
  close(2);
  if (dup2(socket, child_socket) != child_socket) _exit(1);
  closefrom(child_socket + 1);
  run(context);
  _exit(0);
}

bool child_confine(const struct sock_filter *calls, size_t count) {
#ifdef child_arch
  const struct sock_filter start[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, child_arch, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
  };
  const size_t before = sizeof start / sizeof *start;
  struct sock_filter filter[160];
  if (before + count > sizeof filter / sizeof *filter) return false;
  memcpy(filter, start, sizeof start);
  memcpy(filter + before, calls, count * sizeof *calls);
  struct sock_fprog program = {.len = (unsigned short)(before + count), .filter = filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
#else
  (void)calls, (void)count;
  return false;
#endif
}

#pragma mark The parent

int child_start(const char *name, uint64_t memory, void (*run)(void *), void *context, int32_t *child) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
  // No handler of the parent's may run in the child.
  sigset_t every, before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  *child = fork();
  if (*child == 0) run_child(name, memory, ends[1], run, context);
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
  int status = 0;
  // A child that somebody else has reaped (ECHILD) must not be signalled: its number may be another's.
  pid_t ended = reap(child, 0, &status);
  if (ended == 0) {
    // One that is dying keeps the signal that it dies of. A confined process signals nobody: the child ends by its own timers.
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

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "shim.h"

void *fetcher_share(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

// A descriptor that stays open would keep a lock, a pipe or a connection of the host's.
static void close_others(int kept, int kept_too) {
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) _exit(70);
  for (int number = 0; number < fetcher_kept; number++) dup2(null, number);
  // Above both numbers first: one may have the other's.
  kept = fcntl(kept, F_DUPFD_CLOEXEC, fetcher_kept_too + 1);
  if (kept_too >= 0) kept_too = fcntl(kept_too, F_DUPFD_CLOEXEC, fetcher_kept_too + 1);
  if (dup2(kept, fetcher_kept) < 0) _exit(70);
  if (kept_too >= 0 && dup2(kept_too, fetcher_kept_too) < 0) _exit(70);
  closefrom(kept_too >= 0 ? fetcher_kept_too + 1 : fetcher_kept + 1);
}

int fetcher_fork_with(int kept, int kept_too) {
  pid_t parent = getpid();
  pid_t child = fork();
  if (child != 0) return child;
  child_set_signals();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // It may have ended before it could be told of.
  if (getppid() != parent) _exit(70);
  close_others(kept, kept_too);
  return 0;
}

int fetcher_fork(int kept) { return fetcher_fork_with(kept, -1); }

static pid_t host;

// Where this process cannot see that its connection has ended, for example while it reads a file, SIGALRM ends it.
static void look_for_host(int number) {
  (void)number;
  if (getppid() != host) alarm(5);
}

void fetcher_adopt_orphans(void) {
  host = getppid();
  struct sigaction action = {.sa_handler = look_for_host, .sa_flags = SA_RESTART};
  sigaction(SIGCONT, &action, NULL);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  // It also continues a process that was stopped.
  prctl(PR_SET_PDEATHSIG, SIGCONT);
}

_Noreturn void fetcher_leave(void) {
  alarm(2);
  siginfo_t child;
  while (waitid(P_ALL, 0, &child, WEXITED) == 0 || errno == EINTR) {
  }
  _exit(0);
}

void fetcher_name(const char *name) { prctl(PR_SET_NAME, name); }

static fetcher_pulse *watched;
static uint64_t seen;

static void look_at_turns(int number) {
  if (watched->turns != seen) {
    seen = watched->turns;
    return;
  }
  signal(number, SIG_DFL);
  raise(number);
}

void fetcher_watch_turns(fetcher_pulse *pulse) {
  watched = pulse;
  seen = pulse->turns;
  struct sigaction action = {.sa_handler = look_at_turns, .sa_flags = SA_RESTART};
  sigaction(SIGPROF, &action, NULL);
  struct itimerval second = {.it_interval = {.tv_sec = 1}, .it_value = {.tv_sec = 1}};
  setitimer(ITIMER_PROF, &second, NULL);
}

// The words of a progress, which a thread reads while another one writes.
typedef uint64_t word __attribute__((may_alias));
enum { words = sizeof(fetcher_progress) / sizeof(word) };

void fetcher_store(fetcher_progress *to, const fetcher_progress *from) {
  for (size_t index = 0; index < words; index++) __atomic_store_n((word *)to + index, ((const word *)from)[index], __ATOMIC_RELEASE);
}

fetcher_progress fetcher_load(const fetcher_progress *from) {
  fetcher_progress to;
  for (size_t index = words; index-- > 0;) ((word *)&to)[index] = __atomic_load_n((const word *)from + index, __ATOMIC_ACQUIRE);
  return to;
}

int fetcher_replace(int socket, int replaced) { return dup3(socket, replaced, O_CLOEXEC); }

int fetcher_reap(int children, int *signal, int *status) {
  struct signalfd_siginfo news;
  while (read(children, &news, sizeof news) > 0) {
  }

  siginfo_t child;
  for (;;) {
    child.si_pid = 0;
    if (waitid(P_ALL, 0, &child, WEXITED | WSTOPPED | WNOHANG) != 0 || child.si_pid == 0) return -1;
    if (child.si_code != CLD_STOPPED) break;
    kill(child.si_pid, SIGKILL);
  }
  *signal = child.si_code == CLD_EXITED ? 0 : child.si_status;
  *status = child.si_code == CLD_EXITED ? child.si_status : 0;
  return child.si_pid;
}

int fetcher_watch_children(void) {
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &children, NULL);
  return signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
}

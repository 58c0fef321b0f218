#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vips.h"

// The child's one descriptor, beside that of a picture.
enum { child_socket = 3 };

#pragma mark The child

#if defined(__x86_64__)
#define converter_arch AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define converter_arch AUDIT_ARCH_AARCH64
#endif

// Lets the process call the kernel for memory, time, threads and what it has open. Another call fails, so that a library that tries one goes another way.
// False where the kernel declines.
static bool confine(void) {
#if defined(converter_arch) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define load(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define answer(value) BPF_STMT(BPF_RET | BPF_K, value)
#define unless_equal(value, skipped) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped)
#define allow(call) unless_equal(SYS_##call, 1), answer(SECCOMP_RET_ALLOW)
#define refuse answer(SECCOMP_RET_ERRNO | EPERM)
  struct sock_filter filter[] = {
      load(arch),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, converter_arch, 1, 0),
      answer(SECCOMP_RET_KILL_PROCESS),
      load(nr),
      allow(read),
      allow(write),
      allow(recvmsg),
      allow(close),
      allow(fstat),
      allow(newfstatat),
      allow(lseek),
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
      allow(rt_sigaction),
      allow(rt_sigprocmask),
      allow(sigaltstack),
      allow(restart_syscall),
      allow(clock_gettime),
      allow(clock_nanosleep),
      allow(gettimeofday),
      allow(getrandom),
      allow(sched_yield),
      allow(sched_getaffinity),
      allow(set_robust_list),
      allow(set_tid_address),
      allow(rseq),
      allow(getpid),
      allow(gettid),
      // abort(3) signals this very process.
      unless_equal(SYS_tgkill, 4),
      load(args[0]),
      unless_equal((uint32_t)getpid(), 1),
      answer(SECCOMP_RET_ALLOW),
      refuse,
      // The flags of clone3 are in memory, where no filter sees them: the C library goes on to clone.
      unless_equal(SYS_clone3, 1),
      answer(SECCOMP_RET_ERRNO | ENOSYS),
      // Threads, and no process.
      unless_equal(SYS_clone, 4),
      load(args[0]),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
      answer(SECCOMP_RET_ALLOW),
      refuse,
      // The names of threads.
      unless_equal(SYS_prctl, 3),
      load(args[0]),
      unless_equal(PR_SET_NAME, 1),
      answer(SECCOMP_RET_ALLOW),
      refuse,
  };
#undef allow
#undef load
#undef answer
#undef unless_equal
#undef refuse
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

void converter_prepare(void) { statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC); }

// Bounds what a picture can make libvips allocate: the first number of statm is the pages that are mapped now.
static void limit_memory(uint64_t memory) {
  // A thread's own arena would reserve 64 MiB of addresses.
  mallopt(M_ARENA_MAX, 1);
  // Large buffers go back to the kernel as soon as they are free.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  char text[64];
  if (statm < 0) converter_prepare();
  ssize_t length = statm < 0 ? -1 : pread(statm, text, sizeof text - 1, 0);
  close(statm);
  if (length <= 0) return;
  text[length] = 0;
  rlim_t maximum = (rlim_t)strtoull(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) + memory;
  struct rlimit limit = {.rlim_cur = maximum, .rlim_max = maximum};
  setrlimit(RLIMIT_AS, &limit);
}

static void misbehave(converter_play play, converter_answer *answer) {
  switch (play) {
    case converter_honest:
    case converter_lies: break;
    case converter_crashes: __builtin_trap();
    case converter_spins:
      for (volatile int turn = 0;; turn++) {
      }
    case converter_waits: {
      struct itimerval none = {0};
      setitimer(ITIMER_REAL, &none, NULL);
      int word = 0;
      for (;;) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    }
    case converter_babbles:
      answer->serial++;
      break;
    case converter_floods:
      answer->bytes = UINT64_MAX;
      break;
    case converter_breaks_out: {
      int stolen = open("/etc/hostname", O_RDONLY), taken = socket(AF_INET, SOCK_STREAM, 0);
      if (stolen >= 0 || taken >= 0 || fork() >= 0) __builtin_trap();
      break;
    }
  }
}

static struct itimerval timer_of(uint32_t ms) { return (struct itimerval){.it_value = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000}}; }

// Waits for the next picture. False when there is none any more.
static bool take_job(converter_job *job, int *input) {
  struct iovec part = {.iov_base = job, .iov_len = sizeof *job};
  union {
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr head;
  } control;
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
  ssize_t length;
  do length = recvmsg(child_socket, &message, MSG_CMSG_CLOEXEC);
  while (length < 0 && errno == EINTR);
  struct cmsghdr *head = length == sizeof *job ? CMSG_FIRSTHDR(&message) : NULL;
  if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) return false;
  memcpy(input, CMSG_DATA(head), sizeof *input);
  return true;
}

static bool send_all(const converter_answer *answer, const vips_result *result) {
  if (write(child_socket, answer, sizeof *answer) != sizeof *answer) return false;
  for (size_t sent = 0; sent < result->count;) {
    size_t count = result->count - sent;
    if (count > converter_part_max) count = converter_part_max;
    if (write(child_socket, (const char *)result->bytes + sent, count) != (ssize_t)count) return false;
    sent += count;
  }
  return true;
}

static void convert_pictures(converter_play play, bool is_confined) {
  for (;;) {
    converter_job job;
    int input = -1;
    if (!take_job(&job, &input)) return;
    // Time in which the child waits does not count. SIGPROF ends the process.
    const struct itimerval budget = timer_of(job.cpu_ms), patience = timer_of(job.wait_ms), none = timer_of(0);
    setitimer(ITIMER_PROF, &budget, NULL);
    // The parent may not be able to end it: SIGALRM does, even if the parent takes no bytes.
    setitimer(ITIMER_REAL, &patience, NULL);
    converter_answer answer = {.serial = job.serial, .end = converter_unreadable, .is_confined = is_confined};
    vips_result result = {0};
    void *bytes = mmap(NULL, job.bytes, PROT_READ, MAP_PRIVATE, input, 0);
    close(input);
    if (bytes == MAP_FAILED) {
      strcpy(answer.message, "the picture does not fit into the memory of a converter");
    } else {
      vips_convert(bytes, &job, &answer, &result);
      munmap(bytes, job.bytes);
    }
    misbehave(play, &answer);
    if (play == converter_lies && result.count > 0) memset(result.bytes, 'x', result.count);
    bool is_sent = send_all(&answer, &result);
    vips_free(&result);
    malloc_trim(0);
    setitimer(ITIMER_REAL, &none, NULL);
    setitimer(ITIMER_PROF, &none, NULL);
    if (!is_sent) return;
  }
}

static _Noreturn void run_child(int socket, uint64_t memory, converter_play play) {
  set_signals();
  prctl(PR_SET_NAME, "converter", 0, 0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  // A core would hold the parent's memory.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  // The descriptor that it reads may have the number of the child's socket.
  limit_memory(memory);
  close(0);
  close(1);
  close(2);
  if (dup2(socket, child_socket) != child_socket) _exit(1);
  closefrom(child_socket + 1);
  convert_pictures(play, confine());
  _exit(0);
}

#pragma mark The parent

int converter_start(uint64_t memory, converter_play play, int32_t *child) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
  // No handler of the parent's may run in the child.
  sigset_t every, before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  *child = fork();
  if (*child == 0) run_child(ends[1], memory, play);
  int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  close(ends[1]);
  if (*child > 0) return ends[0];
  close(ends[0]);
  errno = error;
  return -1;
}

bool converter_send(int socket, const converter_job *job, int input) {
  struct iovec part = {.iov_base = (void *)job, .iov_len = sizeof *job};
  union {
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr head;
  } control = {0};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof input);
  memcpy(CMSG_DATA(head), &input, sizeof input);
  ssize_t sent;
  do sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
  return sent >= 0;
}

// What a receive gave: the bytes, or what their absence means.
static converter_news receive(int socket, void *bytes, size_t *count) {
  ssize_t length;
  // The length of a message that is longer than the room for it is known by MSG_TRUNC.
  do length = recv(socket, bytes, *count, MSG_DONTWAIT | MSG_TRUNC);
  while (length < 0 && errno == EINTR);
  if (length < 0 && errno == EAGAIN) return converter_silent;
  if (length <= 0) return converter_ended;
  if ((size_t)length > *count) return converter_confused;
  *count = (size_t)length;
  return converter_received;
}

static bool is_text(const char *text) {
  size_t length = strnlen(text, converter_message_max);
  if (length == converter_message_max) return false;
  for (size_t index = 0; index < length; index++)
    if (text[index] < ' ' || text[index] > '~') return false;
  return true;
}

converter_news converter_receive(int socket, uint32_t serial, converter_answer *answer) {
  size_t count = sizeof *answer;
  converter_news news = receive(socket, answer, &count);
  if (news != converter_received) return news;
  bool is_answer = count == sizeof *answer && answer->serial == serial && answer->end <= converter_too_large && answer->format <= converter_gif
                   && is_text(answer->message);
  return is_answer ? converter_received : converter_confused;
}

converter_news converter_receive_part(int socket, void *bytes, size_t *count) {
  *count = converter_part_max;
  return receive(socket, bytes, count);
}

// A child that is ended is waited for so often, 100 µs each: it takes a millisecond or two, unless it waits for a disk.
enum { stop_turns = 1000 };

int converter_stop(int socket, int32_t child, bool *is_gone) {
  close(socket);
  int status = 0;
  // A child that somebody else has reaped (ECHILD) must not be signalled: its number may be another's.
  pid_t ended = waitpid(child, &status, WNOHANG);
  if (ended == 0) {
    // One that is dying keeps the signal that it dies of. A confined process signals nobody: the child ends by its own timers.
    kill(child, SIGKILL);
    for (int turn = 0; turn < stop_turns && (ended = waitpid(child, &status, WNOHANG)) == 0; turn++) usleep(100);
  }
  *is_gone = ended != 0;
  return ended == child && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

bool converter_is_gone(int32_t child) { return waitpid(child, NULL, WNOHANG) != 0; }

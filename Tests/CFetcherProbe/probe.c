#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "CFetcherProbe.h"
#include "shim.h"

enum { results_end = 3 };

// The text of a variable that the process was started with, and of one that it has set.
static const char *inherited_variable, *own_variable;

static int code(bool is_done) { return is_done ? 0 : errno; }

static int open_in(const char *folder, const char *name, int flags) {
  int parent = open(folder, O_PATH | O_DIRECTORY);
  int file = openat(parent, name, flags, 0600);
  int result = code(file >= 0);
  close(file);
  close(parent);
  return result;
}

static int open_socket(int domain, int type) {
  int opened = socket(domain, type, 0);
  int result = code(opened >= 0);
  close(opened);
  return result;
}

static int open_pair(int type) {
  int ends[2] = {-1, -1};
  int result = code(socketpair(AF_UNIX, type, 0, ends) == 0);
  close(ends[0]);
  close(ends[1]);
  return result;
}

static int map(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int result = code(memory != MAP_FAILED);
  if (memory != MAP_FAILED) munmap(memory, bytes);
  return result;
}

// Maps, writes and hides memory, a megabyte at a time: its pages stay, and where it can be hidden, no limit is met.
static int hide(size_t bytes) {
  for (size_t hidden = 0; hidden < bytes; hidden += 1 << 20) {
    char *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return errno;
    *memory = 1;
    if (mprotect(memory, 1 << 20, PROT_READ) != 0) return errno;
  }
  return 0;
}

static void *nothing(void *argument) { return argument; }

static int attempt(probe probe, const char *store, const char *readable, const char *other) {
  switch (probe) {
    case probe_make_folder: return code(mkdir("folder", 0700) == 0);
    case probe_write_file: return open_in(store, "new", O_RDWR | O_CREAT | O_EXCL);
    case probe_move_file: return code(rename("new", "folder/new") == 0);
    case probe_remove_file: return code(unlink("folder/new") == 0);
    case probe_remove_folder: return code(rmdir("folder") == 0);
    case probe_move_folder: return code(rename("folder", "other") == 0);
    case probe_read_readable: return open_in(readable, "file", O_RDONLY);
    case probe_read_beside: return open_in(readable, "other", O_RDONLY);
    case probe_write_readable: return open_in(readable, "file", O_RDWR);
    case probe_read_other: return open_in(other, "file", O_RDONLY);
    case probe_write_other: return open_in(other, "new", O_RDWR | O_CREAT);
    case probe_list_other: return code(open(other, O_RDONLY | O_DIRECTORY) >= 0);
    case probe_connect_ipv4: return open_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC);
    case probe_connect_ipv6: return open_socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC);
    case probe_datagrams: return open_socket(AF_INET, SOCK_DGRAM);
    case probe_raw_socket: return open_socket(AF_INET, SOCK_RAW);
    case probe_multipath: {
      int opened = socket(AF_INET, SOCK_STREAM, 262);
      int result = code(opened >= 0);
      close(opened);
      return result;
    }
    case probe_stream_pair: return open_pair(SOCK_STREAM | SOCK_CLOEXEC);
    case probe_datagram_pair: return open_pair(SOCK_DGRAM);
    case probe_message_pair: return open_pair(SOCK_SEQPACKET | SOCK_CLOEXEC);
    case probe_unix_socket: return open_socket(AF_UNIX, SOCK_STREAM);
    case probe_netlink_socket: return open_socket(AF_NETLINK, SOCK_RAW);
    case probe_listen: {
      int opened = socket(AF_INET, SOCK_STREAM, 0);
      int result = code(listen(opened, 1) == 0);
      close(opened);
      return result;
    }
    case probe_execute: {
      char *arguments[] = {"true", NULL};
      return code(execv("/bin/true", arguments) == 0);
    }
    case probe_trace: return code(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
    case probe_signal_parent: return code(kill(getppid(), 0) == 0);
    case probe_signal_by_descriptor: return code(fcntl(results_end, F_SETOWN, getppid()) == 0);
    case probe_schedule_parent: {
      cpu_set_t processors;
      CPU_ZERO(&processors);
      CPU_SET(0, &processors);
      return code(sched_setaffinity(getppid(), sizeof processors, &processors) == 0);
    }
    case probe_signal_itself: return code(raise(SIGWINCH) == 0);
    case probe_limits_of_parent: {
      struct rlimit limit;
      return code(prlimit(getppid(), RLIMIT_CORE, NULL, &limit) == 0);
    }
    case probe_new_namespace: return code(unshare(CLONE_NEWUSER) == 0);
    case probe_clone_into_namespace: return code(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) >= 0);
    case probe_fork: {
      pid_t child = fork();
      if (child == 0) _exit(0);
      return code(child > 0 && waitpid(child, NULL, 0) == child);
    }
    case probe_thread: {
      pthread_t thread;
      return pthread_create(&thread, NULL, nothing, NULL) ?: pthread_join(thread, NULL);
    }
    case probe_thread_later: {
      if (!sandbox_end_threads()) return -1;
      pthread_t thread;
      return pthread_create(&thread, NULL, nothing, NULL);
    }
    case probe_filter_later: return sandbox_end_threads() ? 0 : errno;
    case probe_little_memory: return map(16 << 20);
    case probe_much_memory: return map(256 << 20);
    case probe_hidden_memory: return hide(256 << 20);
    case probe_many_descriptors: return code(fcntl(0, F_DUPFD, 64) >= 0);
    case probe_environment: return environ[0] || *inherited_variable || *own_variable ? 0 : ENOENT;
    case probe_count: break;
  }
  return -1;
}

int probe_confined(const char *store, const char *readable, const char *other, int *results) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  pid_t child = fork();
  if (child == 0) {
    char file[PATH_MAX];
    snprintf(file, sizeof file, "%s/file", readable);
    const char *paths[] = {file, NULL};
    int answers[probe_count + 1];
    // What the tests have open counts among its descriptors.
    if (chdir(store) != 0 || dup2(ends[1], results_end) != results_end) _exit(1);
    closefrom(results_end + 1);
    inherited_variable = environ[0];
    if (setenv("ATTACHE_PROBE", "secret", 1) != 0) _exit(1);
    own_variable = getenv("ATTACHE_PROBE");
    answers[probe_count] = fetcher_confine(sandbox_fetcher, store, paths, 64 << 20, 64);
    for (int probe = 0; probe < probe_count; probe++) answers[probe] = attempt(probe, store, readable, other);
    _exit(write(results_end, answers, sizeof answers) == sizeof answers ? 0 : 1);
  }
  close(ends[1]);
  int answers[probe_count + 1];
  bool is_read = child > 0 && read(ends[0], answers, sizeof answers) == sizeof answers;
  close(ends[0]);
  if (child > 0) waitpid(child, NULL, 0);
  if (!is_read) return -1;
  for (int probe = 0; probe < probe_count; probe++) results[probe] = answers[probe];
  return answers[probe_count];
}

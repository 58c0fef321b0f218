#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim.h"

#pragma mark Files

// Later than the headers of Debian 12, which end at the second version of Landlock's interface (linux/landlock.h of Linux 6.12).
enum {
  access_truncate = 1 << 14,
  access_ioctl_device = 1 << 15,
  network_bind_tcp = 1 << 0,
  scope_abstract_socket = 1 << 0,
  scope_signal = 1 << 1,
};
struct ruleset {
  uint64_t files, network, scoped;
};

static const uint64_t access_store = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_WRITE_FILE
                                     | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE
                                     | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REFER | access_truncate;

static int allow(int rules, const char *path, uint64_t access) {
  struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = open(path, O_PATH | O_CLOEXEC)};
  // What is not there cannot be opened either.
  if (rule.parent_fd < 0) return 0;
  long result = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  close(rule.parent_fd);
  return (int)result;
}

static int confine_files(const char *store, const char *const *readable) {
  long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  // The first version has no renames between folders.
  if (version < 2) return -1;
  struct ruleset all = {.files = (LANDLOCK_ACCESS_FS_REFER << 1) - 1};
  size_t size = sizeof all.files;
  if (version >= 3) all.files |= access_truncate;
  if (version >= 4) {
    all.network = network_bind_tcp;
    size = offsetof(struct ruleset, scoped);
  }
  if (version >= 5) all.files |= access_ioctl_device;
  if (version >= 6) {
    all.scoped = scope_abstract_socket | scope_signal;
    size = sizeof all;
  }
  int rules = (int)syscall(SYS_landlock_create_ruleset, &all, size, 0);
  if (rules < 0) return -1;
  int result = store ? allow(rules, store, access_store & all.files) : 0;
  for (; *readable && result == 0; readable++) result = allow(rules, *readable, LANDLOCK_ACCESS_FS_READ_FILE);
  if (result == 0) result = (int)syscall(SYS_landlock_restrict_self, rules, 0);
  close(rules);
  return result;
}

#pragma mark Calls

#if defined(__x86_64__)
#define own_arch AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define own_arch AUDIT_ARCH_AARCH64
#endif

#if defined(own_arch) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#define load(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define answer(value) BPF_STMT(BPF_RET | BPF_K, value)
#define permit answer(SECCOMP_RET_ALLOW)
#define refuse(number) answer(SECCOMP_RET_ERRNO | (number))
#define unless_equal(value, skipped) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped)
#define deny(call) unless_equal(SYS_##call, 1), refuse(EPERM)
#define either(first, second) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 1, 0), unless_equal(second, 1)
// Permits a call whose argument, an int, has one of two values.
#define check(call, argument, first, second) unless_equal(SYS_##call, 5), load(args[argument]), either(first, second), permit, refuse(EPERM)

// Calls that no fetcher makes are refused, so that a library that tries one goes another way.
static int confine_calls(void) {
  uint32_t own = (uint32_t)getpid();
  struct sock_filter filter[] = {
      load(arch),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own_arch, 1, 0),
      answer(SECCOMP_RET_KILL_PROCESS),
      load(nr),
#if defined(__x86_64__)
      // The numbers of x32 begin here.
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
      answer(SECCOMP_RET_KILL_PROCESS),
#endif
      // Its flags are in memory, where no filter sees them: the C library goes on to clone.
      unless_equal(SYS_clone3, 1),
      refuse(ENOSYS),
      // Programs.
      deny(execve),
      deny(execveat),
      deny(personality),
      // Other processes.
      deny(ptrace),
      deny(process_vm_readv),
      deny(process_vm_writev),
      deny(kcmp),
      deny(kill),
      deny(tkill),
      deny(rt_sigqueueinfo),
      deny(rt_tgsigqueueinfo),
      deny(pidfd_open),
      deny(pidfd_getfd),
      deny(pidfd_send_signal),
      deny(setpriority),
      deny(ioprio_set),
      deny(sched_setscheduler),
      deny(sched_setparam),
      deny(sched_setattr),
      deny(sched_setaffinity),
      deny(shmget),
      deny(shmat),
      deny(shmctl),
      deny(semget),
      deny(semop),
      deny(semctl),
      deny(msgget),
      deny(msgsnd),
      deny(msgrcv),
      deny(msgctl),
      deny(mq_open),
      // Connections from elsewhere.
      deny(listen),
      deny(accept),
      deny(accept4),
      // What the kernel has for administrators, and what its mistakes are found in.
      deny(io_uring_setup),
      deny(io_uring_enter),
      deny(io_uring_register),
      deny(bpf),
      deny(perf_event_open),
      deny(userfaultfd),
      deny(add_key),
      deny(request_key),
      deny(keyctl),
      deny(unshare),
      deny(setns),
      deny(mount),
      deny(umount2),
      deny(pivot_root),
      deny(chroot),
      deny(open_tree),
      deny(move_mount),
      deny(mount_setattr),
      deny(fsopen),
      deny(fsmount),
      deny(open_by_handle_at),
      deny(init_module),
      deny(finit_module),
      deny(delete_module),
      deny(kexec_load),
      deny(reboot),
      deny(swapon),
      deny(swapoff),
      deny(acct),
      deny(quotactl),
      deny(settimeofday),
      deny(clock_settime),
      deny(clock_adjtime),
      deny(adjtimex),
      deny(sethostname),
      deny(setdomainname),
      deny(mknodat),
      // abort(3) signals this very process; of limits it may lower its own.
      check(tgkill, 0, own, own),
      check(prlimit64, 0, 0, own),
      // TCP and UDP over IP: the domain, the type without the flags beside it, and the protocol.
      unless_equal(SYS_socket, 13),
      load(args[0]),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 1, 0),
      unless_equal(AF_INET6, 8),
      load(args[1]),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xF),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_STREAM, 1, 0),
      unless_equal(SOCK_DGRAM, 4),
      load(args[2]),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
      refuse(EPERM),
      permit,
      // A pair of datagram sockets could send to any socket that has a path.
      unless_equal(SYS_socketpair, 6),
      load(args[1]),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xF),
      either(SOCK_STREAM, SOCK_SEQPACKET),
      permit,
      refuse(EPERM),
      // By these a descriptor signals another process.
      unless_equal(SYS_fcntl, 6),
      load(args[1]),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SETOWN, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SETSIG, 1, 0),
      unless_equal(F_SETOWN_EX, 1),
      refuse(EPERM),
      permit,
      unless_equal(SYS_ioctl, 5),
      load(args[1]),
      either(FIOSETOWN, SIOCSPGRP),
      refuse(EPERM),
      permit,
      // Threads and the detector's process, in no namespace of their own.
      unless_equal(SYS_clone, 3),
      load(args[0]),
      BPF_JUMP(
          BPF_JMP | BPF_JSET | BPF_K,
          CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET, 0, 1),
      refuse(EPERM),
      permit,
  };
  struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#else

static int confine_calls(void) { return -1; }

#endif

#pragma mark Memory and descriptors

// As many threads as a fetcher starts at the most.
enum { thread_count = 4 };

static void lower(int resource, rlim_t maximum) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0) return;
  if (limit.rlim_max > maximum) limit.rlim_max = maximum;
  if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
  setrlimit(resource, &limit);
}

// The sixth number of statm is the pages of data and stack.
static rlim_t data_now(void) {
  char text[128];
  int statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  ssize_t length = statm < 0 ? -1 : read(statm, text, sizeof text - 1);
  if (statm >= 0) close(statm);
  if (length <= 0) return RLIM_INFINITY;
  text[length] = 0;
  char *rest = text;
  rlim_t pages = 0;
  for (int field = 1; field <= 6; field++) pages = strtoull(rest, &rest, 10);
  return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

// What the stacks of the threads may take: each counts as a whole.
static rlim_t stacks(void) {
  size_t size = 0;
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0) return 0;
  pthread_attr_getstacksize(&attributes, &size);
  pthread_attr_destroy(&attributes);
  return (rlim_t)size * thread_count;
}

static void *nothing(void *argument) { return argument; }

// After a fork, glibc keeps the stacks of the parent's threads until a thread ends, and then 40 MB of them (allocatestack.c). They would count as data, and
// leave their size as room later.
static void release_stacks(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, nothing, NULL) == 0) pthread_join(thread, NULL);
}

int fetcher_confine(const char *store, const char *const *readable, uint64_t data_bytes, uint64_t descriptors) {
  release_stacks();
  rlim_t data = data_now();
  if (data != RLIM_INFINITY) lower(RLIMIT_DATA, data + stacks() + data_bytes);
  lower(RLIMIT_NOFILE, descriptors);
  lower(RLIMIT_CORE, 0);
  // The limit does not stop a core that is handed to a program.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fetcher_open_files | fetcher_open_calls;
  int missing = confine_files(store, readable) == 0 ? 0 : fetcher_open_files;
  return confine_calls() == 0 ? missing : missing | fetcher_open_calls;
}

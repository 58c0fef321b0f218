// The seccomp filter of a profile: a binary search over the numbers of calls.h, whose leaves look at arguments.
#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/in6.h>
#include <linux/seccomp.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox.h"

#if defined(__x86_64__)
#define own_arch AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define own_arch AUDIT_ARCH_AARCH64
#endif

#if defined(own_arch) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#pragma mark The list

// Calls that x86 alone still has: others have the one with `at`.
#ifndef SYS_open
enum { SYS_open = -1, SYS_stat = -1, SYS_lstat = -1, SYS_access = -1, SYS_readlink = -1, SYS_poll = -1, SYS_epoll_wait = -1, SYS_pause = -1 };
enum { SYS_mkdir = -1, SYS_unlink = -1, SYS_link = -1, SYS_rename = -1 };
#endif

enum { F = 1 << sandbox_fetcher, U = 1 << sandbox_uploader, D = 1 << sandbox_detector, C = 1 << sandbox_converter };

typedef struct {
  struct sock_filter *filter;
  size_t count, room;
  sandbox_profile profile;
  uint32_t allowed, refused;
} program;

typedef void check(program *);

typedef struct {
  int number;
  int profiles;
  check *check;
} listed;

#pragma mark Instructions

static void add(program *program, struct sock_filter instruction) {
  if (program->count < program->room) program->filter[program->count] = instruction;
  program->count++;
}

static void load(program *program, size_t offset) { add(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)); }

// The low half of an argument: all that the kernel reads of an int.
static void load_argument(program *program, int index) { load(program, offsetof(struct seccomp_data, args) + (size_t)index * 8); }

static void keep_bits(program *program, uint32_t bits) { add(program, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits)); }

static void answer(program *program, uint32_t value) { add(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, value)); }

static void allow(program *program) { answer(program, program->allowed); }
static void refuse(program *program) { answer(program, program->refused); }

// Skips one instruction if the value is, or is not, this one, or has, or has not, one of these bits.
static void skip_if(program *program, uint32_t value) { add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0)); }
static void skip_unless(program *program, uint32_t value) { add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1)); }
static void skip_unless_any(program *program, uint32_t bits) { add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1)); }
static void skip_if_any(program *program, uint32_t bits) { add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0)); }

static void allow_if(program *program, uint32_t value) {
  skip_unless(program, value);
  allow(program);
}

static void refuse_unless(program *program, uint32_t value) {
  skip_if(program, value);
  refuse(program);
}

static void refuse_unless_either(program *program, uint32_t first, uint32_t second) {
  add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 2, 0));
  refuse_unless(program, second);
}

static void refuse_if_any(program *program, uint32_t bits) {
  skip_unless_any(program, bits);
  refuse(program);
}

static void allow_those(program *program, const uint32_t *values, size_t count) {
  for (size_t index = 0; index < count; index++) allow_if(program, values[index]);
  refuse(program);
}
#define allow_each(program, ...) allow_those(program, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

// Refuses a pointer that is not null.
static void refuse_unless_null(program *program, int index) {
  for (size_t half = 0; half < 2; half++) {
    load(program, offsetof(struct seccomp_data, args) + (size_t)index * 8 + half * 4);
    refuse_unless(program, 0);
  }
}

#pragma mark Arguments

static void any(program *program) { allow(program); }

// No memory that holds instructions.
static void no_code(program *program) {
  load_argument(program, 2);
  refuse_if_any(program, PROT_EXEC);
  allow(program);
}

// No memory that RLIMIT_DATA does not count: shared, without a file, or a stack that grows.
static void counted(program *program) {
  load_argument(program, 3);
  refuse_if_any(program, MAP_GROWSDOWN);
  skip_if_any(program, MAP_ANONYMOUS);
  allow(program);
  // MAP_SHARED_VALIDATE has this bit too.
  refuse_if_any(program, MAP_SHARED);
  allow(program);
}

static void data(program *program) {
  load_argument(program, 2);
  refuse_if_any(program, PROT_EXEC);
  counted(program);
}

// Memory that is written stays memory that can be written: RLIMIT_DATA counts no other, and the pages would stay.
static void writable(program *program) {
  load_argument(program, 2);
  refuse_if_any(program, PROT_EXEC);
  skip_if_any(program, PROT_WRITE);
  refuse(program);
  allow(program);
}

// How memory is used; 102 and 103 are guard pages (Linux 6.13).
static void advice(program *program) {
  load_argument(program, 2);
  allow_each(
      program, MADV_DONTNEED, MADV_FREE, MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_DONTDUMP,
      MADV_DODUMP, 102, 103);
}

// Threads, and no process or namespace.
static void threads(program *program) {
  load_argument(program, 0);
  refuse_if_any(program, CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET);
  skip_if_any(program, CLONE_THREAD);
  refuse(program);
  allow(program);
}

static void names(program *program) {
  load_argument(program, 0);
  allow_each(program, PR_SET_NAME);
}

// Another filter for all threads, as sandbox_end_threads sets it.
static void narrower(program *program) {
  load_argument(program, 0);
  refuse_unless(program, SECCOMP_SET_MODE_FILTER);
  load_argument(program, 1);
  allow_each(program, SECCOMP_FILTER_FLAG_TSYNC);
}

// abort(3) and raise(3).
static void itself(program *program) {
  load_argument(program, 0);
  allow_each(program, (uint32_t)getpid());
}

// The limits of this process, to read.
static void own_limits(program *program) {
  refuse_unless_null(program, 2);
  load_argument(program, 0);
  allow_each(program, 0, (uint32_t)getpid());
}

// Duplicates, flags and locks. Not what makes a descriptor signal or lease.
static void descriptors(program *program) {
  load_argument(program, 1);
  allow_each(program, F_SETLK, F_GETLK, F_SETLKW, F_GETFL, F_SETFL, F_GETFD, F_SETFD, F_DUPFD_CLOEXEC, F_DUPFD);
}

// How much can be read, whether to wait, and whether it is a terminal.
static void sizes(program *program) {
  load_argument(program, 1);
  allow_each(program, FIONBIO, FIONREAD, TCGETS);
}

// A file of the store may be created, without permission to execute it. A descriptor of the fourth access mode could neither read nor write, so Landlock
// lets it pass, but futimens(3) works on it.
static void flags_at(program *program, int flags) {
  load_argument(program, flags);
  if (program->profile != sandbox_fetcher) {
    refuse_if_any(program, O_ACCMODE | O_CREAT | O_TRUNC);
    allow(program);
    return;
  }
  refuse_if_any(program, O_TRUNC);
  keep_bits(program, O_ACCMODE);
  skip_unless(program, O_ACCMODE);
  refuse(program);
  load_argument(program, flags);
  skip_if_any(program, O_CREAT | (O_TMPFILE & ~O_DIRECTORY));
  allow(program);
  load_argument(program, flags + 1);
  refuse_if_any(program, S_ISUID | S_ISGID | S_IXUSR | S_IXGRP | S_IXOTH);
  allow(program);
}
static void opened_at(program *program) { flags_at(program, 2); }
static void opened(program *program) { flags_at(program, 1); }

// The time of an open file, to now: futimens(3) without a path and without times.
static void times(program *program) {
  refuse_unless_null(program, 1);
  refuse_unless_null(program, 2);
  allow(program);
}

// A file, and no folder: the flags of unlinkat(2) are none.
static void no_folder(program *program) {
  load_argument(program, 2);
  allow_each(program, 0);
}

// TCP and UDP over IP: the domain, the type without the flags beside it, and the protocol.
static void internet(program *program) {
  load_argument(program, 0);
  refuse_unless_either(program, AF_INET, AF_INET6);
  load_argument(program, 1);
  keep_bits(program, 0xF);
  refuse_unless_either(program, SOCK_STREAM, SOCK_DGRAM);
  load_argument(program, 2);
  allow_each(program, 0, IPPROTO_TCP, IPPROTO_UDP);
}

// libcurl wakes itself by a pair. One of datagrams could send to any socket that has a path.
static void streams(program *program) {
  load_argument(program, 0);
  refuse_unless(program, AF_UNIX);
  load_argument(program, 1);
  keep_bits(program, 0xF);
  allow_each(program, SOCK_STREAM);
}

static void options(program *program) {
  static const struct {
    uint32_t level;
    uint32_t names[12];
  } levels[] = {
      {SOL_SOCKET, {SO_KEEPALIVE, SO_RCVBUF, SO_SNDBUF, SO_REUSEADDR, SO_LINGER, SO_PRIORITY}},
      {IPPROTO_TCP, {TCP_NODELAY, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT, TCP_USER_TIMEOUT, TCP_FASTOPEN_CONNECT, TCP_QUICKACK, TCP_MAXSEG}},
      {IPPROTO_IP, {IP_TOS, IP_RECVERR, IP_MTU_DISCOVER, IP_BIND_ADDRESS_NO_PORT}},
      {IPPROTO_IPV6, {IPV6_V6ONLY, IPV6_RECVERR, IPV6_TCLASS, IPV6_MTU_DISCOVER}},
  };
  for (size_t level = 0; level < sizeof levels / sizeof *levels; level++) {
    uint8_t count = 0;
    while (levels[level].names[count] != 0) count++;
    load_argument(program, 1);
    // Each name takes two instructions, after the name is loaded and before the refusal.
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, levels[level].level, 0, (uint8_t)(count * 2 + 2)));
    load_argument(program, 2);
    allow_those(program, levels[level].names, count);
  }
  refuse(program);
}

#pragma mark The filter

static const listed list[] = {
#define call(name, profiles, check) {SYS_##name, profiles, check},
#include "calls.h"
#undef call
};
enum { list_count = sizeof list / sizeof *list };

// Inserts a call where its number belongs. Not qsort(3), which may allocate: this runs in children of programs with threads.
static void insert(listed *calls, size_t count, listed call) {
  for (; count > 0 && calls[count - 1].number > call.number; count--) calls[count] = calls[count - 1];
  calls[count] = call;
}

// Finds the loaded number among sorted calls.
static void search(program *program, const listed *calls, size_t count) {
  if (count == 1) {
    refuse_unless(program, (uint32_t)calls->number);
    calls->check(program);
    return;
  }
  size_t half = count / 2;
  add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)calls[half].number, 0, 1));
  size_t jump = program->count;
  add(program, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 0));
  search(program, calls, half);
  if (jump < program->room) program->filter[jump].k = (uint32_t)(program->count - jump - 1);
  search(program, calls + half, count - half);
}

size_t sandbox_filter(sandbox_profile profile, const sandbox_test *test, struct sock_filter *filter, size_t room) {
  program program = {
      .filter = filter,
      .room = room,
      .profile = profile,
      .allowed = test ? test->allowed : SECCOMP_RET_ALLOW,
      .refused = test ? test->refused : SECCOMP_RET_ERRNO | EPERM,
  };
  listed calls[list_count];
  size_t count = 0;
  for (size_t index = 0; index < list_count; index++)
    if (list[index].number >= 0 && list[index].profiles & 1 << profile) insert(calls, count++, list[index]);

  load(&program, offsetof(struct seccomp_data, arch));
  skip_if(&program, own_arch);
  answer(&program, SECCOMP_RET_KILL_PROCESS);
  load(&program, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
  // The numbers of x32 begin here.
  add(&program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1));
  answer(&program, SECCOMP_RET_KILL_PROCESS);
#endif
  // Its flags are in memory, where no filter sees them: the C library goes on to clone.
  skip_unless(&program, SYS_clone3);
  answer(&program, test ? test->refused : SECCOMP_RET_ERRNO | ENOSYS);
  search(&program, calls, count);
  return program.count <= room ? program.count : 0;
}

#else

size_t sandbox_filter(sandbox_profile profile, const sandbox_test *test, struct sock_filter *filter, size_t room) {
  (void)profile, (void)test, (void)filter, (void)room;
  return 0;
}

#endif

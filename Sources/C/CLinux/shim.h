// What the kernel offers and Swift's Glibc module leaves out.
#include <linux/filter.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

// prctl is variadic, which Swift cannot call. Sets the calling thread's name, of which the kernel keeps 15 bytes.
static inline int prctl_set_name(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }

// dl_iterate_phdr(3) and the beginning of what it tells of an object, which link.h shows only to those who ask for all of GNU's.
struct linux_object {
  ElfW(Addr) address;
  const char *name;
  const ElfW(Phdr) *parts;
  ElfW(Half) count;
};
extern int linux_for_each_object(int (*each)(struct linux_object *, size_t, void *), void *data) __asm__("dl_iterate_phdr");

static int linux_drop_constant(struct linux_object *object, size_t size, void *none) {
  (void)size, (void)none;
  const ElfW(Addr) page = 4096;
  for (int index = 0; index < object->count; index++) {
    const ElfW(Phdr) *part = &object->parts[index];
    if (part->p_type != PT_LOAD || (part->p_flags & PF_W)) continue;
    ElfW(Addr) start = (object->address + part->p_vaddr) & ~(page - 1);
    madvise((void *)start, object->address + part->p_vaddr + part->p_memsz - start, MADV_DONTNEED);
  }
  return 0;
}

// Takes the code and the constants of the executable and of its libraries out of the process's memory; what is needed again comes from the page
// cache. Nothing is lost: these pages are never written.
static inline void linux_drop_constants(void) { (void)linux_for_each_object(linux_drop_constant, NULL); }

#include <sys/syscall.h>
#include <unistd.h>

// unshare(2) and setns(2), which sched.h shows only to those who ask for all of GNU's.
static inline int linux_unshare(int flags) { return (int)syscall(SYS_unshare, flags); }
static inline int linux_setns(int descriptor, int kind) { return (int)syscall(SYS_setns, descriptor, kind); }

// pipe2(2), likewise, closed on exec.
static inline int linux_pipe(int *ends) { return (int)syscall(SYS_pipe2, ends, 02000000); }

// accept4(2), likewise: the connection does not block, and is closed on exec.
static inline int linux_accept(int listener) { return (int)syscall(SYS_accept4, listener, NULL, NULL, 02004000); }

// ppoll(2), likewise: waits at most this time until a descriptor can be read (POLLIN). Returns whether it can.
static inline int linux_wait_readable(int descriptor, long nanoseconds) {
  struct { int descriptor; short events, results; } request = {descriptor, 1, 0};
  long time[2] = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  return syscall(SYS_ppoll, &request, 1, time, NULL, 0) > 0;
}

// pidfd_open(2), likewise: readable once the process has ended.
static inline int linux_pidfd_open(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }

// posix_spawn_file_actions_addclosefrom_np(3), of glibc 2.34, likewise. `actions` is a posix_spawn_file_actions_t: spawn.h would bring types here that
// are the Glibc module's.
extern int posix_spawn_file_actions_addclosefrom_np(void *actions, int first);
static inline int linux_spawn_closing_from(void *actions, int first) { return posix_spawn_file_actions_addclosefrom_np(actions, first); }

// fcntl(2) is variadic, which Swift cannot call, and fcntl.h would bring types here that are the Glibc module's. Below: the kernel's struct flock,
// and F_OFD_GETLK, F_OFD_SETLK, F_WRLCK and F_UNLCK by their numbers.
struct linux_flock {
  short type, whence;
  long start, length;
  int process;
};

// Locks one byte for reading, or for writing, without waiting. The lock belongs to the open file description.
static inline int linux_share_byte(int descriptor, long offset, int writes) {
  struct linux_flock lock = {writes ? 1 : 0, 0, offset, 1, 0};
  return (int)syscall(SYS_fcntl, descriptor, 37, &lock);
}

static inline int linux_unlock_byte(int descriptor, long offset) {
  struct linux_flock lock = {2, 0, offset, 1, 0};
  return (int)syscall(SYS_fcntl, descriptor, 37, &lock);
}

// 1 when another open file description has locked the byte, 0 when none has, -1 when it cannot be told.
static inline int linux_is_byte_locked(int descriptor, long offset) {
  struct linux_flock lock = {1, 0, offset, 1, 0};
  if (syscall(SYS_fcntl, descriptor, 36, &lock) != 0) return -1;
  return lock.type != 2;
}

// A byte of a range that another open file description has locked; -1 when none has, or when it cannot be told.
static inline long linux_locked_byte(int descriptor, long offset, long length) {
  struct linux_flock lock = {1, 0, offset, length, 0};
  if (syscall(SYS_fcntl, descriptor, 36, &lock) != 0 || lock.type == 2) return -1;
  return lock.start < offset ? offset : lock.start;
}

// clock_gettime(2), as nanoseconds: whose struct timespec is depends on what else is imported.
struct linux_time {
  long seconds, nanoseconds;
};
extern int linux_clock_gettime(int clock, struct linux_time *time) __asm__("clock_gettime");

// syncfs(2), likewise.
static inline int linux_syncfs(int descriptor) { return (int)syscall(SYS_syncfs, descriptor); }

#include <sys/socket.h>

// Two connected sockets that never block, closed on exec. As socketpair(2).
static inline int linux_stream_pair(int ends[2]) { return socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends); }

// Sends what a stream takes, or receives what it has. As send(2) and recv(2), without SIGPIPE.
static inline long linux_send(int socket, const void *bytes, size_t count) { return send(socket, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT); }
static inline long linux_receive(int socket, void *bytes, size_t count) { return recv(socket, bytes, count, MSG_DONTWAIT); }

// Writes iovec pieces to a pipe that takes them without waiting; fails with EAGAIN, or with EOPNOTSUPP for FIFOs and, before Linux 6.4, for all
// pipes. This header must not include sys/uio.h or poll.h, whose types Swift would then take from here or from Glibc, as it happens.
static inline long linux_write_without_waiting(int pipe, const void *pieces, long count) {
  // Position -1 is the current one, and 8 is RWF_NOWAIT of linux/fs.h.
  return syscall(SYS_pwritev2, pipe, pieces, count, -1L, -1L, 8);
}

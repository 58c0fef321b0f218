#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "SandboxProbe.h"

#pragma mark Calls

// The filter's answers: errors that the kernel never gives (MAX_ERRNO is 4095).
enum { answer_refused = 4001, answer_allowed = 4002 };

static const char *const no_files[] = {NULL};

bool probe_filter(sandbox_profile profile, const probe_call *calls, size_t count, probe_verdict *verdicts) {
  size_t size = (count + 1) * sizeof(int);
  int *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return false;
  pid_t child = fork();
  if (child == 0) {
    const sandbox_test test = {
        .landlock = 0, .allowed = SECCOMP_RET_ERRNO | answer_allowed, .refused = SECCOMP_RET_ERRNO | answer_refused};
    uint64_t own = (uint64_t)getpid();
    sandbox_confine(profile, NULL, no_files, &test);
    for (size_t index = 0; index < count; index++) {
      uint64_t given[6];
      for (int argument = 0; argument < 6; argument++)
        given[argument] = calls[index].arguments[argument] == probe_own_process ? own : calls[index].arguments[argument];
      errno = 0;
      syscall(calls[index].number, given[0], given[1], given[2], given[3], given[4], given[5]);
      shared[index] = errno == answer_refused ? probe_refused : errno == answer_allowed ? probe_allowed : probe_not_asked;
    }
    shared[count] = 1;
    // No call can end it any more.
    __builtin_trap();
  }
  if (child > 0) waitpid(child, NULL, 0);
  bool is_complete = child > 0 && shared[count] == 1;
  for (size_t index = 0; index < count; index++) {
    verdicts[index] = (probe_verdict)shared[index];
    if (verdicts[index] == probe_not_asked) is_complete = false;
  }
  munmap(shared, size);
  return is_complete;
}

int probe_foreign_call(bool is_x32) {
#if defined(__x86_64__)
  pid_t child = fork();
  if (child == 0) {
    sandbox_confine(sandbox_fetcher, NULL, no_files, NULL);
    if (is_x32) {
      syscall(0x40000000 | SYS_getpid);
    } else {
      long result;
      __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
    }
    _exit(0);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
#else
  (void)is_x32;
  return 0;
#endif
}

#pragma mark Changes

static const char *const change_names[] = {
    [change_write] = "open to write",
    [change_read_and_write] = "open to read and write",
    [change_by_neither_mode] = "futimens of a file that is open for neither",
    [change_truncate_on_open] = "open to write with O_TRUNC",
    [change_truncate_on_read] = "open to read with O_TRUNC",
    [change_truncate_by_open2] = "openat2 with O_TRUNC",
    [change_creat] = "creat",
    [change_truncate] = "truncate",
    [change_truncate_descriptor] = "ftruncate of a file that is open to read",
    [change_allocate] = "fallocate of a file that is open to read",
    [change_append_file] = "open to append",
    [change_create] = "create a file",
    [change_create_unnamed] = "create a file without a name",
    [change_create_executable] = "create a set-user-ID file in the store",
    [change_rename] = "rename",
    [change_rename_into_store] = "rename into the store",
    [change_rename_from_store] = "rename out of the store",
    [change_exchange] = "renameat2 with RENAME_EXCHANGE",
    [change_link] = "link",
    [change_link_into_store] = "link into the store",
    [change_link_of_descriptor] = "link of a descriptor",
    [change_symbolic_link] = "symlink",
    [change_unlink] = "unlink",
    [change_remove_folder] = "rmdir",
    [change_make_folder] = "mkdir",
    [change_make_pipe] = "mkfifo",
    [change_make_socket] = "bind of a Unix socket",
    [change_make_device] = "mknod",
    [change_mode] = "chmod",
    [change_mode_at] = "fchmodat",
    [change_mode_of_descriptor] = "fchmod",
    [change_mode_of_path_descriptor] = "chmod of /proc/self/fd",
    [change_mode_with_flags] = "fchmodat2 with AT_EMPTY_PATH",
    [change_owner] = "chown",
    [change_owner_of_link] = "lchown",
    [change_owner_at] = "fchownat",
    [change_owner_of_descriptor] = "fchown",
    [change_owner_of_path_descriptor] = "fchownat with AT_EMPTY_PATH",
    [change_attribute] = "setxattr",
    [change_attribute_of_link] = "lsetxattr",
    [change_attribute_of_descriptor] = "fsetxattr",
    [change_attribute_removed] = "removexattr",
    [change_times] = "utimensat with a path",
    [change_times_at] = "utimensat with a folder and a name",
    [change_times_of_descriptor] = "futimens with a time",
    [change_times_of_descriptor_to_now] = "futimens to now",
    [change_utime] = "utime",
    [change_utimes] = "utimes",
    [change_flags] = "ioctl FS_IOC_SETFLAGS",
    [change_by_handle] = "open_by_handle_at",
    [change_by_ring] = "io_uring_setup",
    [change_copy] = "copy_file_range",
    [change_mount] = "mount",
};

const char *probe_change_name(probe_change change) { return change_names[change]; }

typedef struct {
  char file[PATH_MAX], folder[PATH_MAX], other[PATH_MAX], inside[PATH_MAX], new_inside[PATH_MAX];
  const char *outside;
  int outside_folder, path_descriptor;
} places;

static int outcome(long result) {
  if (result < 0) return errno;
  return 0;
}

// An opened file is closed again: what counts is that it could be opened.
static int opened(long descriptor) {
  int result = outcome(descriptor);
  if (descriptor >= 0) close((int)descriptor);
  return result;
}

// A step on a file that is open to read; where it cannot be opened, its error.
static int by_descriptor(const char *path, int flags, long (*step)(int)) {
  int file = open(path, flags);
  if (file < 0) return errno;
  int result = outcome(step(file));
  close(file);
  return result;
}

static long truncate_it(int file) { return ftruncate(file, 0); }
static long allocate(int file) { return fallocate(file, 0, 0, 4096); }
static long change_mode_of(int file) { return fchmod(file, 04777); }
static long change_owner_of(int file) { return fchown(file, 1, 1); }
static long change_attribute_of(int file) { return fsetxattr(file, "user.attache", "x", 1, 0); }
static const struct timespec early[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
static long change_times_of(int file) { return futimens(file, early); }
static long change_times_to_now(int file) { return futimens(file, NULL); }
static long change_flags_of(int file) {
  int flags = FS_NOATIME_FL;
  return ioctl(file, FS_IOC_SETFLAGS, &flags);
}

static int try_change(probe_change change, const places *at) {
  switch (change) {
    case change_write: return opened(open(at->file, O_WRONLY));
    case change_read_and_write: return opened(open(at->file, O_RDWR));
    case change_by_neither_mode: return by_descriptor(at->file, O_ACCMODE, change_times_to_now);
    case change_truncate_on_open: return opened(open(at->file, O_WRONLY | O_TRUNC));
    case change_truncate_on_read: return opened(open(at->file, O_RDONLY | O_TRUNC));
    case change_truncate_by_open2: {
      const uint64_t how[3] = {O_RDONLY | O_TRUNC};
      return opened(syscall(437, AT_FDCWD, at->file, how, sizeof how));
    }
    case change_creat: return opened(creat(at->file, 0600));
    case change_truncate: return outcome(truncate(at->file, 0));
    case change_truncate_descriptor: return by_descriptor(at->file, O_RDONLY, truncate_it);
    case change_allocate: return by_descriptor(at->file, O_RDONLY, allocate);
    case change_append_file: return opened(open(at->file, O_WRONLY | O_APPEND));
    case change_create: return opened(open(at->other, O_WRONLY | O_CREAT | O_EXCL, 0600));
    case change_create_unnamed: return opened(open(at->outside, O_WRONLY | O_TMPFILE, 0600));
    case change_create_executable: return opened(open(at->new_inside, O_WRONLY | O_CREAT | O_EXCL, 04755));
    case change_rename: return outcome(rename(at->file, at->other));
    case change_rename_into_store: return outcome(rename(at->file, at->new_inside));
    case change_rename_from_store: return outcome(rename(at->inside, at->other));
    case change_exchange: return outcome(syscall(SYS_renameat2, AT_FDCWD, at->file, AT_FDCWD, at->inside, RENAME_EXCHANGE));
    case change_link: return outcome(link(at->file, at->other));
    case change_link_into_store: return outcome(link(at->file, at->new_inside));
    case change_link_of_descriptor: {
      char path[64];
      snprintf(path, sizeof path, "/proc/self/fd/%d", at->path_descriptor);
      return outcome(linkat(AT_FDCWD, path, AT_FDCWD, at->new_inside, AT_SYMLINK_FOLLOW));
    }
    case change_symbolic_link: return outcome(symlink("/etc", at->other));
    case change_unlink: return outcome(unlink(at->file));
    case change_remove_folder: return outcome(rmdir(at->folder));
    case change_make_folder: return outcome(mkdir(at->other, 0700));
    case change_make_pipe: return outcome(mkfifo(at->other, 0600));
    case change_make_socket: {
      struct sockaddr_un address = {.sun_family = AF_UNIX};
      snprintf(address.sun_path, sizeof address.sun_path, "%.100s", at->other);
      int opened = socket(AF_UNIX, SOCK_DGRAM, 0);
      if (opened < 0) return errno;
      int result = outcome(bind(opened, (struct sockaddr *)&address, sizeof address));
      close(opened);
      return result;
    }
    case change_make_device: return outcome(mknod(at->other, S_IFREG | 0600, 0));
    case change_mode: return outcome(chmod(at->file, 04777));
    case change_mode_at: return outcome(fchmodat(at->outside_folder, "file", 04777, 0));
    case change_mode_of_descriptor: return by_descriptor(at->file, O_RDONLY, change_mode_of);
    case change_mode_of_path_descriptor: {
      char path[64];
      snprintf(path, sizeof path, "/proc/self/fd/%d", at->path_descriptor);
      return outcome(chmod(path, 04777));
    }
    case change_mode_with_flags: return outcome(syscall(452, at->path_descriptor, "", 04777, AT_EMPTY_PATH));
    case change_owner: return outcome(chown(at->file, 1, 1));
    case change_owner_of_link: return outcome(lchown(at->file, 1, 1));
    case change_owner_at: return outcome(fchownat(at->outside_folder, "file", 1, 1, 0));
    case change_owner_of_descriptor: return by_descriptor(at->file, O_RDONLY, change_owner_of);
    case change_owner_of_path_descriptor: return outcome(fchownat(at->path_descriptor, "", 1, 1, AT_EMPTY_PATH));
    case change_attribute: return outcome(setxattr(at->file, "user.attache", "x", 1, 0));
    case change_attribute_of_link: return outcome(lsetxattr(at->file, "user.attache", "x", 1, 0));
    case change_attribute_of_descriptor: return by_descriptor(at->file, O_RDONLY, change_attribute_of);
    case change_attribute_removed: return outcome(removexattr(at->file, "user.kept"));
    case change_times: return outcome(utimensat(AT_FDCWD, at->file, early, 0));
    case change_times_at: return outcome(utimensat(at->outside_folder, "file", NULL, AT_SYMLINK_NOFOLLOW));
    case change_times_of_descriptor: return by_descriptor(at->file, O_RDONLY, change_times_of);
    case change_times_of_descriptor_to_now: return by_descriptor(at->file, O_RDONLY, change_times_to_now);
#ifdef SYS_utime
    case change_utime: return outcome(syscall(SYS_utime, at->file, NULL));
    case change_utimes: return outcome(syscall(SYS_utimes, at->file, NULL));
#else
    case change_utime:
    case change_utimes: return ENOSYS;
#endif
    case change_flags: return by_descriptor(at->file, O_RDONLY, change_flags_of);
    case change_by_handle: {
      struct {
        struct file_handle handle;
        char room[128];
      } handle = {.handle.handle_bytes = sizeof handle.room};
      int mount = 0;
      // The handle is known from elsewhere; here the call itself is what counts.
      (void)name_to_handle_at(AT_FDCWD, at->file, &handle.handle, &mount, 0);
      return opened(open_by_handle_at(at->outside_folder, &handle.handle, O_WRONLY));
    }
    case change_by_ring: {
      char parameters[120] = {0};
      return opened(syscall(SYS_io_uring_setup, 1, parameters));
    }
    case change_copy: {
      int source = open(at->inside, O_RDONLY), target = open(at->file, O_WRONLY);
      int result = outcome(copy_file_range(source, NULL, target, NULL, 1, 0));
      close(source);
      close(target);
      return result;
    }
    case change_mount: return outcome(mount("none", at->folder, "tmpfs", 0, NULL));
    case change_count: break;
  }
  return -1;
}

static void put(const char *path) {
  unlink(path);
  int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (write(file, "kept", 4) != 4) abort();
  close(file);
}

// Makes the files anew, as each change finds them.
static void reset(const places *at) {
  unlink(at->other);
  rmdir(at->other);
  unlink(at->new_inside);
  put(at->file);
  put(at->inside);
  mkdir(at->folder, 0700);
}

int probe_changes(sandbox_profile profile, long landlock, const char *store, const char *outside, int *results) {
  static places at;
  snprintf(at.file, sizeof at.file, "%s/file", outside);
  snprintf(at.folder, sizeof at.folder, "%s/folder", outside);
  snprintf(at.other, sizeof at.other, "%s/other", outside);
  snprintf(at.inside, sizeof at.inside, "%s/file", store);
  snprintf(at.new_inside, sizeof at.new_inside, "%s/new", store);
  at.outside = outside;
  int *shared = mmap(NULL, 2 * sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return -1;
  int missing = 0;
  for (int change = 0; change < change_count && missing >= 0; change++) {
    reset(&at);
    shared[0] = shared[1] = -1;
    pid_t child = fork();
    if (child == 0) {
      const sandbox_test test = {.landlock = landlock, .allowed = SECCOMP_RET_ALLOW, .refused = SECCOMP_RET_ERRNO | EPERM};
      at.outside_folder = open(outside, O_RDONLY | O_DIRECTORY);
      at.path_descriptor = open(at.file, O_PATH);
      const char *files[] = {at.file, NULL};
      shared[1] = sandbox_confine(profile, profile == sandbox_fetcher ? store : NULL, files, &test);
      shared[0] = try_change((probe_change)change, &at);
      _exit(0);
    }
    if (child > 0) waitpid(child, NULL, 0);
    results[change] = shared[0];
    missing = shared[1];
  }
  munmap(shared, 2 * sizeof(int));
  return missing;
}

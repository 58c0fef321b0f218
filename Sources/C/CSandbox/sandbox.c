#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#pragma mark The environment

// Where the kernel has put the environment. A variable that is removed later stays there.
static char *environment;
static size_t environment_length;

__attribute__((constructor)) static void find_environment(int count, char **words, char **variables) {
  (void)count, (void)words;
  environment = variables[0];
  for (; *variables; variables++) environment_length = (size_t)(*variables + strlen(*variables) - environment);
}

static void forget_environment(void) {
  static char *nothing[] = {NULL};
  if (environment) explicit_bzero(environment, environment_length);
  for (char **variable = environ; variable && *variable; variable++) explicit_bzero(*variable, strlen(*variable));
  environ = nothing;
}

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
                                     | LANDLOCK_ACCESS_FS_REFER | access_truncate;

static int allow(int rules, const char *path, uint64_t access) {
  struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = open(path, O_PATH | O_CLOEXEC)};
  // What is not there cannot be opened either.
  if (rule.parent_fd < 0) return 0;
  long result = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  close(rule.parent_fd);
  return (int)result;
}

// Returns what could not be done.
static int confine_files(const char *store, const char *const *readable, const sandbox_test *test) {
  long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (test && version > test->landlock) version = test->landlock;
  // Under the first version nobody moves a file from one folder to another, as the store does.
  if (version < (store ? 2 : 1)) return sandbox_open_files;
  struct ruleset all = {.files = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1};
  size_t size = sizeof all.files;
  if (version >= 2) all.files |= LANDLOCK_ACCESS_FS_REFER;
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
  if (rules < 0) return sandbox_open_files;
  int result = store ? allow(rules, store, access_store & all.files) : 0;
  for (; *readable && result == 0; readable++) result = allow(rules, *readable, LANDLOCK_ACCESS_FS_READ_FILE);
  if (result == 0) result = (int)syscall(SYS_landlock_restrict_self, rules, 0);
  close(rules);
  if (result != 0) return sandbox_open_files;
  return version < 3 ? sandbox_open_truncation : 0;
}

#pragma mark Calls

static int confine_calls(sandbox_profile profile, const sandbox_test *test) {
  struct sock_filter filter[1024];
  size_t count = sandbox_filter(profile, test, filter, sizeof filter / sizeof *filter);
  struct sock_fprog program = {.len = (unsigned short)count, .filter = filter};
  return count > 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ? 0 : sandbox_open_calls;
}

bool sandbox_end_threads(void) {
  // Another architecture has ended the process already.
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

#pragma mark Capabilities

static struct __user_cap_header_struct header(void) { return (struct __user_cap_header_struct){.version = _LINUX_CAPABILITY_VERSION_3}; }

static const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3];

uint64_t sandbox_exchange_capabilities(uint64_t effective) {
  struct __user_cap_header_struct head = header();
  struct __user_cap_data_struct own[_LINUX_CAPABILITY_U32S_3];
  if (syscall(SYS_capget, &head, own) != 0) return 0;
  uint64_t before = (uint64_t)own[1].effective << 32 | own[0].effective;
  own[0].effective = (uint32_t)effective;
  own[1].effective = (uint32_t)(effective >> 32);
  return syscall(SYS_capset, &head, own) == 0 ? before : 0;
}

static int drop_capabilities(void) {
  // Without CAP_SETPCAP the bounding set stays. It has no effect on a process that executes no program.
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  struct __user_cap_header_struct head = header();
  struct __user_cap_data_struct own[_LINUX_CAPABILITY_U32S_3];
  // A container may refuse the call. Then it matters only whether there was anything to drop.
  syscall(SYS_capset, &head, none);
  return syscall(SYS_capget, &head, own) == 0 && memcmp(own, none, sizeof none) == 0 ? 0 : sandbox_open_capabilities;
}

int sandbox_confine(sandbox_profile profile, const char *store, const char *const *readable, const sandbox_test *test) {
  forget_environment();
  int missing = drop_capabilities();
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return missing | sandbox_open_files | sandbox_open_calls;
  missing |= confine_files(store, readable, test);
  return missing | confine_calls(profile, test);
}

int sandbox_try_fetcher(long landlock) {
  pid_t child = fork();
  if (child == 0) {
    const sandbox_test test = {.landlock = landlock, .allowed = SECCOMP_RET_ALLOW, .refused = SECCOMP_RET_ERRNO | EPERM};
    static const char *const no_files[] = {NULL};
    int missing = sandbox_confine(sandbox_fetcher, "/", no_files, &test);
    if (!(missing & sandbox_open_calls) && !sandbox_end_threads()) missing |= sandbox_open_threads;
    _exit(missing);
  }
  int status = 0;
  pid_t ended;
  do ended = child < 0 ? -1 : waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  return ended == child && child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

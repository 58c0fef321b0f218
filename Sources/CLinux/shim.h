// What the kernel offers and Swift's Glibc module leaves out.
#include <linux/filter.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

// prctl is variadic, which Swift cannot call. Sets the calling thread's name, of which the kernel keeps 15 bytes.
static inline int prctl_set_name(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }

#include <sys/syscall.h>
#include <unistd.h>

// unshare(2) and setns(2), which sched.h shows only to those who ask for all of GNU's.
static inline int linux_unshare(int flags) { return (int)syscall(SYS_unshare, flags); }
static inline int linux_setns(int descriptor, int kind) { return (int)syscall(SYS_setns, descriptor, kind); }

// What the kernel offers and Swift's Glibc module leaves out.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

// prctl is variadic, which Swift cannot call. Sets the calling thread's name, of which the kernel keeps 15 bytes.
static inline int prctl_set_name(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }

#define _GNU_SOURCE
#include "include/CTripwire.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

struct place {
  uint8_t address[16];
  uint16_t port;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct places {
  struct place *first;
  size_t count, room;
};
// What a gate has passed, and what this process has bound a socket to.
static struct places passed, own;

static bool has(const struct places *places, const struct place *place) {
  for (size_t index = 0; index < places->count; index++)
    if (places->first[index].port == place->port && memcmp(places->first[index].address, place->address, 16) == 0) return true;
  return false;
}

static void add(struct places *places, const struct place *place) {
  pthread_mutex_lock(&lock);
  if (!has(places, place)) {
    if (places->count == places->room) {
      places->room = places->room ? 2 * places->room : 64;
      places->first = realloc(places->first, places->room * sizeof *place);
      if (!places->first) abort();
    }
    places->first[places->count++] = *place;
  }
  pthread_mutex_unlock(&lock);
}

void tripwire_pass(const uint8_t *address, uint16_t port) {
  struct place place = {.port = port};
  memcpy(place.address, address, 16);
  add(&passed, &place);
}

// Called by the Swift module beside this one, where it is linked in, before anything else.
__attribute__((weak)) void tripwire_install(void);
__attribute__((constructor)) static void install(void) {
  if (tripwire_install) tripwire_install();
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNARMED
#endif
#endif

#ifdef UNARMED
bool tripwire_is_armed(void) { return false; }
#else
bool tripwire_is_armed(void) { return true; }

// Whether a socket address is one of the internet's, and which.
static bool read_place(const struct sockaddr *name, socklen_t length, struct place *place) {
  memset(place, 0, sizeof *place);
  if (!name || length < sizeof(sa_family_t)) return false;
  if (name->sa_family == AF_INET && length >= sizeof(struct sockaddr_in)) {
    const struct sockaddr_in *ipv4 = (const struct sockaddr_in *)name;
    place->address[10] = place->address[11] = 0xff;
    memcpy(place->address + 12, &ipv4->sin_addr, 4);
    place->port = ntohs(ipv4->sin_port);
    return true;
  }
  if (name->sa_family == AF_INET6 && length >= sizeof(struct sockaddr_in6)) {
    const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *)name;
    memcpy(place->address, &ipv6->sin6_addr, 16);
    place->port = ntohs(ipv6->sin6_port);
    return true;
  }
  return false;
}

static bool is_loopback(const struct place *place) {
  static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  static const uint8_t ipv6[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  if (memcmp(place->address, mapped, 12) == 0) return place->address[12] == 127;
  return memcmp(place->address, ipv6, 16) == 0;
}

static void check(const char *call, const struct sockaddr *name, socklen_t length, const void *caller) {
  struct place place;
  if (!read_place(name, length, &place)) return;
  Dl_info library;
  const char *file = dladdr(caller, &library) && library.dli_fname ? library.dli_fname : "?";
  bool is_curl = strstr(file, "libcurl") != NULL;
  if (!is_curl && is_loopback(&place)) return;
  pthread_mutex_lock(&lock);
  bool is_passed = has(&passed, &place) || (!is_curl && has(&own, &place));
  pthread_mutex_unlock(&lock);
  if (is_passed) return;
  char text[INET6_ADDRSTRLEN] = "?";
  inet_ntop(AF_INET6, place.address, text, sizeof text);
  dprintf(2, "tripwire: %s to [%s]:%d by %s, which the address gate has not passed\n", call, text, place.port, file);
  void *frames[32];
  backtrace_symbols_fd(frames, backtrace(frames, 32), 2);
  // At once: not by way of a handler that takes its time.
  signal(SIGABRT, SIG_DFL);
  abort();
}

int bind(int descriptor, const struct sockaddr *name, socklen_t length) {
  int result = (int)syscall(SYS_bind, descriptor, name, length);
  struct place place;
  static const uint8_t any[16], any_mapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (result == 0 && read_place(name, length, &place) && memcmp(place.address, any, 16) != 0 && memcmp(place.address, any_mapped, 16) != 0)
    add(&own, &place);
  return result;
}

int connect(int descriptor, const struct sockaddr *name, socklen_t length) {
  check("connect", name, length, __builtin_return_address(0));
  return (int)syscall(SYS_connect, descriptor, name, length);
}

ssize_t sendto(int descriptor, const void *bytes, size_t size, int flags, const struct sockaddr *name, socklen_t length) {
  check("sendto", name, length, __builtin_return_address(0));
  return syscall(SYS_sendto, descriptor, bytes, size, flags, name, length);
}

ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags) {
  check("sendmsg", message->msg_name, message->msg_namelen, __builtin_return_address(0));
  return syscall(SYS_sendmsg, descriptor, message, flags);
}

int sendmmsg(int descriptor, struct mmsghdr *messages, unsigned int number, int flags) {
  for (unsigned int index = 0; index < number; index++)
    check("sendmmsg", messages[index].msg_hdr.msg_name, messages[index].msg_hdr.msg_namelen, __builtin_return_address(0));
  return (int)syscall(SYS_sendmmsg, descriptor, messages, number, flags);
}
#endif

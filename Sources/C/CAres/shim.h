// The C library's own module comes first: its types then are Glibc's, not copies that belong to this module.
#pragma clang module import SwiftGlibc
#include <ares.h>
#include <netdb.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

// c-ares does not say why it could not open a socket. These functions are what it does by itself, and keep the errno of socket(2) in `error`.
static inline ares_socket_t ares_open_socket(int family, int type, int protocol, void *error) {
  int descriptor = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
  if (descriptor < 0) *(int *)error = errno;
  return descriptor;
}
static inline int ares_close(ares_socket_t descriptor, void *error) { return (void)error, close(descriptor); }
static inline int ares_connect(ares_socket_t descriptor, const struct sockaddr *address, ares_socklen_t size, void *error) {
  return (void)error, connect(descriptor, address, size);
}
static inline ares_ssize_t ares_receive(
    ares_socket_t descriptor, void *bytes, size_t count, int flags, struct sockaddr *address, ares_socklen_t *size, void *error) {
  return (void)error, recvfrom(descriptor, bytes, count, flags, address, size);
}
static inline ares_ssize_t ares_send_parts(ares_socket_t descriptor, const struct iovec *parts, int count, void *error) {
  return (void)error, writev(descriptor, parts, count);
}
static const struct ares_socket_functions ares_socket_calls = {
    ares_open_socket, ares_close, ares_connect, ares_receive, ares_send_parts};
static inline void ares_keep_socket_error(ares_channel channel, int *error) { ares_set_socket_functions(channel, &ares_socket_calls, error); }

/* An origin that is no good: it accepts every connection and reads the request; then it says nothing, ever, or, where the path begins with
 * /cut/, a part of what it promises.
 *
 *   stall COUNTER ADDRESSES [PORT]
 *
 * Listens on 127.0.0.2 and the ADDRESSES - 1 that follow, on one port, and prints the port. COUNTER is a file of four bytes, mapped: how many
 * requests are being held at this moment.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <signal.h>
#include <unistd.h>

enum { most = 1 << 17 };
static volatile uint32_t *held;
static uint8_t kind[most]; /* of a descriptor: 'l' listens, 'c' connected, 'h' held */
static int poller;

static void fail(const char *what) { perror(what); exit(71); }

static void watch(int fd, uint8_t as) {
  if (fd < 0 || fd >= most) fail("descriptor");
  kind[fd] = as;
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event)) fail("epoll_ctl");
}

static int listener(int number, in_port_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), yes = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + number)};
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 4096)) fail("listen");
  return fd;
}

static void read_from(int fd) {
  char request[65536];
  const ssize_t count = recv(fd, request, sizeof request, MSG_DONTWAIT);
  if (count <= 0) {
    if (kind[fd] == 'h') --*held;
    kind[fd] = 0;
    close(fd);
  } else if (count > 9 && !memcmp(request, "GET /cut/", 9)) {
    static const char part[] = "HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: 5000\r\n\r\n\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0";
    send(fd, part, sizeof part - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(fd, SHUT_WR);
  } else if (kind[fd] == 'c') {
    kind[fd] = 'h';
    ++*held;
  }
}

int main(int argc, char **argv) {
  if (argc < 3) { fputs("stall COUNTER ADDRESSES [PORT]\n", stderr); return 64; }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max < most ? files.rlim_max : most;
  setrlimit(RLIMIT_NOFILE, &files);
  const int counter = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (counter < 0 || ftruncate(counter, 4)) fail(argv[1]);
  held = mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, counter, 0);
  if (held == MAP_FAILED) fail("mmap");
  *held = 0;
  poller = epoll_create1(EPOLL_CLOEXEC);

  const int first = listener(0, htons(argc > 3 ? atoi(argv[3]) : 0));
  struct sockaddr_in address;
  socklen_t length = sizeof address;
  getsockname(first, (struct sockaddr *)&address, &length);
  watch(first, 'l');
  for (int number = 1; number < atoi(argv[2]); number++) watch(listener(number, address.sin_port), 'l');
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);

  static struct epoll_event events[1024];
  for (;;) {
    const int count = epoll_wait(poller, events, 1024, -1);
    for (int i = 0; i < count; i++) {
      const int fd = events[i].data.fd;
      if (kind[fd] != 'l') { read_from(fd); continue; }
      for (int new; (new = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) watch(new, 'c');
    }
  }
}

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "child.h"
#include "vips.h"

#pragma mark The child

// Waits for the next picture. False when there is none any more.
static bool take_job(converter_job *job, int *input) {
  return child_receive(child_socket, job, sizeof *job, 0, input) == sizeof *job && *input >= 0;
}

static bool send_all(const converter_answer *answer, const vips_result *result) {
  if (write(child_socket, answer, sizeof *answer) != sizeof *answer) return false;
  for (size_t sent = 0; sent < result->count;) {
    size_t count = result->count - sent;
    if (count > converter_part_max) count = converter_part_max;
    if (write(child_socket, (const char *)result->bytes + sent, count) != (ssize_t)count) return false;
    sent += count;
  }
  return true;
}

static void convert_pictures(void *context, bool is_confined) {
  (void)context;
  // A thread's own arena would reserve 64 MiB of addresses.
  mallopt(M_ARENA_MAX, 1);
  for (;;) {
    converter_job job;
    int input = -1;
    if (!take_job(&job, &input)) return;
    // Time in which the child waits does not count. SIGPROF ends the process.
    const struct itimerval budget = child_timer(job.cpu_ms), wait = child_timer(job.wait_ms), none = child_timer(0);
    setitimer(ITIMER_PROF, &budget, NULL);
    // The parent may not be able to end it: SIGALRM does, even if the parent takes no bytes.
    setitimer(ITIMER_REAL, &wait, NULL);
    converter_answer answer = {.serial = job.serial, .end = converter_unreadable, .is_confined = is_confined};
    vips_result result = {0};
    void *bytes = mmap(NULL, job.bytes, PROT_READ, MAP_PRIVATE, input, 0);
    close(input);
    if (bytes == MAP_FAILED) {
      strcpy(answer.message, "the picture does not fit into the memory of a converter");
    } else {
      vips_convert(bytes, &job, &answer, &result);
      munmap(bytes, job.bytes);
    }
    bool is_sent = send_all(&answer, &result);
    vips_free(&result);
    // The next picture finds the memory of a small one, which saves a seventh of the time. That of a large one goes back to the kernel.
    if (mallinfo2().fordblks > converter_kept_bytes) malloc_trim(0);
    setitimer(ITIMER_REAL, &none, NULL);
    setitimer(ITIMER_PROF, &none, NULL);
    if (!is_sent) return;
  }
}

#pragma mark The parent

int converter_start(uint64_t memory, int32_t *child) {
  return child_start(child_converter, memory, convert_pictures, NULL, child);
}

// What a receive gave: the bytes, or what their absence means.
static converter_news receive(int socket, void *bytes, size_t *count) {
  ssize_t length;
  // The length of a message that is longer than the room for it is known by MSG_TRUNC.
  do length = recv(socket, bytes, *count, MSG_DONTWAIT | MSG_TRUNC);
  while (length < 0 && errno == EINTR);
  if (length < 0 && errno == EAGAIN) return converter_silent;
  if (length <= 0) return converter_ended;
  if ((size_t)length > *count) return converter_confused;
  *count = (size_t)length;
  return converter_received;
}

static bool is_text(const char *text) {
  size_t length = strnlen(text, converter_message_max);
  if (length == converter_message_max) return false;
  for (size_t index = 0; index < length; index++)
    if (text[index] < ' ' || text[index] > '~') return false;
  return true;
}

converter_news converter_receive(int socket, uint32_t serial, converter_answer *answer) {
  size_t count = sizeof *answer;
  converter_news news = receive(socket, answer, &count);
  if (news != converter_received) return news;
  bool is_answer = count == sizeof *answer && answer->serial == serial && answer->end <= converter_too_large && answer->format <= converter_gif
                   && is_text(answer->message);
  return is_answer ? converter_received : converter_confused;
}

converter_news converter_receive_part(int socket, void *bytes, size_t *count) {
  *count = converter_part_max;
  return receive(socket, bytes, count);
}

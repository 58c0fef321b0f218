/* A sender that does as little as a sender can: it keeps what it reads, as cat would, and answers each line with ok.
 *
 *   ok_sender FILE [envelope]      answers are objects with the line's id, which stands at its beginning
 *
 * What came together is answered together.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_all(int file, const char *bytes, size_t count) {
  while (count) {
    const ssize_t written = write(file, bytes, count);
    if (written < 0) { perror("ok_sender"); exit(74); }
    bytes += written;
    count -= (size_t)written;
  }
}

int main(int argc, char **argv) {
  static char input[1 << 20], answers[1 << 20];
  if (argc < 2) return 64;
  const int has_envelopes = argc > 2, file = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) { perror(argv[1]); return 73; }
  size_t held = 0;
  ssize_t count;
  while ((count = read(STDIN_FILENO, input + held, sizeof input - held)) > 0) {
    held += (size_t)count;
    size_t answered = 0, start = 0;
    for (char *end; (end = memchr(input + start, '\n', held - start)); start = (size_t)(end - input) + 1) {
      if (has_envelopes) answered += (size_t)sprintf(answers + answered, "{\"id\":%lld,\"answer\":\"ok\"}\n", atoll(input + start + strlen("{\"id\":")));
      else { memcpy(answers + answered, "ok\n", 3); answered += 3; }
    }
    write_all(file, input, start);
    write_all(STDOUT_FILENO, answers, answered);
    memmove(input, input + start, held - start);
    held -= start;
  }
  return 0;
}

/* What libcurl and libmagic can do on this machine in one thread, with as little as possible in between: the measure of the others.
 *
 *   limit --store DIR [--jobs 64] [--deadline-ms 30000] [--cacert FILE] [--database FILE] [--transfers] < payloads > payloads
 *
 * One line in, one line out, in order. Where aps["mutable-content"] is 1 and "image" is a string, the file is downloaded, its type found out
 * from its first 4 KB, and the line leaves with ,"attachment":{"path":…,"type":…,"size":…} before its last brace; else as it came.
 * --database takes the place of libmagic's default one; --transfers does nothing with what arrives but count it.
 */
#define _GNU_SOURCE
#include <cjson/cJSON.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { head_bytes = 4096, line_room = 768 };

static struct {
  int jobs;
  long deadline_ms;
  const char *store, *cacert, *database;
  bool transfers;
} options = {.jobs = 64, .deadline_ms = 30000};

static void fail(const char *what, const char *why) {
  fprintf(stderr, "limit: %s: %s\n", what, why);
  exit(1);
}

/* Lines in their order: a ring between the one to be written next and the one read last. */
typedef struct { char *text; size_t length; bool decided; char member[line_room]; } Line;
static Line *lines;
static unsigned long room, next_out, next_in;

static struct { char *bytes; size_t count, capacity; } output = {.capacity = 1 << 18};

static void flush_output(void) {
  for (size_t done = 0; done < output.count;) {
    const ssize_t count = write(1, output.bytes + done, output.count - done);
    if (count < 0 && errno != EINTR) fail("output", strerror(errno));
    if (count > 0) done += count;
  }
  output.count = 0;
}

static void put(const char *bytes, size_t count) {
  if (output.count + count > output.capacity) flush_output();
  if (count > output.capacity) output.bytes = realloc(output.bytes, output.capacity = count);
  memcpy(output.bytes + output.count, bytes, count);
  output.count += count;
}

static void write_decided(void) {
  for (Line *line; next_out < next_in && (line = &lines[next_out % room])->decided; next_out++) {
    const char *brace = *line->member ? memrchr(line->text, '}', line->length) : NULL;
    const size_t before = brace ? (size_t)(brace - line->text) : line->length;
    put(line->text, before);
    put(line->member, strlen(line->member));
    put(line->text + before, line->length - before);
    put("\n", 1);
    free(line->text);
  }
}

typedef struct Transfer {
  CURL *easy;
  struct Transfer *next;
  unsigned long line;
  int file;
  size_t size;
  unsigned char head[head_bytes];
} Transfer;
static Transfer *unused;
static CURLM *multi;
static magic_t magic;
static int store = -1, in_flight;

static size_t arrived(char *bytes, size_t one, size_t count, void *context) {
  Transfer *transfer = context;
  count *= one;
  if (options.transfers) { transfer->size += count; return count; }
  if (transfer->size < head_bytes) {
    const size_t left = head_bytes - transfer->size;
    memcpy(transfer->head + transfer->size, bytes, count < left ? count : left);
  }
  if (transfer->file < 0) {
    char name[32];
    snprintf(name, sizeof name, "%lu.part", transfer->line);
    if ((transfer->file = openat(store, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) < 0) return 0;
  }
  for (size_t done = 0; done < count;) {
    const ssize_t written = write(transfer->file, bytes + done, count - done);
    if (written < 0 && errno != EINTR) return 0;
    if (written > 0) done += written;
  }
  transfer->size += count;
  return count;
}

static void start(unsigned long line, const char *url) {
  Transfer *transfer = unused;
  unused = transfer->next;
  transfer->line = line;
  transfer->file = -1;
  transfer->size = 0;
  curl_easy_setopt(transfer->easy, CURLOPT_URL, url);
  /* Streams of one HTTP/2 connection need it; with plain HTTP everything would queue behind the first, slow answer. */
  curl_easy_setopt(transfer->easy, CURLOPT_PIPEWAIT, (long)!strncmp(url, "https:", 6));
  const CURLMcode code = curl_multi_add_handle(multi, transfer->easy);
  if (code) fail("libcurl", curl_multi_strerror(code));
  in_flight++;
}

static const char *extension(const char *type) {
  static const char *const known[][2] = {{"image/jpeg", "jpg"}, {"image/png", "png"}, {"image/gif", "gif"}, {"audio/mpeg", "mp3"},
    {"audio/x-m4a", "m4a"}, {"audio/x-wav", "wav"}, {"audio/x-aiff", "aiff"}, {"video/mp4", "mp4"}, {"video/mpeg", "mpg"}, {"video/x-msvideo", "avi"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) if (!strcmp(type, known[i][0])) return known[i][1];
  return "bin";
}

/* Gives the file its name and the line its member. */
static bool keep(Transfer *transfer, char *member) {
  if (options.transfers) { snprintf(member, line_room, ",\"attachment\":{\"size\":%zu}", transfer->size); return true; }
  const size_t count = transfer->size < head_bytes ? transfer->size : head_bytes;
  const char *type = magic_buffer(magic, transfer->head, count);
  if (!type) return false;
  char part[32], name[32];
  snprintf(part, sizeof part, "%lu.part", transfer->line);
  snprintf(name, sizeof name, "%lu.%s", transfer->line, extension(type));
  if (renameat(store, part, store, name)) return false;
  snprintf(member, line_room, ",\"attachment\":{\"path\":\"%s/%s\",\"type\":\"%s\",\"size\":%zu}", options.store, name, type, transfer->size);
  return true;
}

static void ended(CURL *easy, CURLcode code) {
  Transfer *transfer;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
  Line *line = &lines[transfer->line % room];
  if (transfer->file >= 0) close(transfer->file);
  if (code || !transfer->size || !keep(transfer, line->member)) {
    char part[32];
    snprintf(part, sizeof part, "%lu.part", transfer->line);
    if (transfer->file >= 0) unlinkat(store, part, 0);
  }
  line->decided = true;
  curl_multi_remove_handle(multi, easy);
  transfer->next = unused;
  unused = transfer;
  in_flight--;
}

static void take(const char *text, size_t length) {
  Line *line = &lines[next_in % room];
  line->text = malloc(length + 1);
  memcpy(line->text, text, length);
  line->text[length] = 0;
  line->length = length;
  line->member[0] = 0;
  line->decided = true;
  const unsigned long number = next_in++;
  cJSON *payload = cJSON_ParseWithLength(line->text, length);
  const cJSON *mutable = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(payload, "aps"), "mutable-content");
  const cJSON *url = cJSON_GetObjectItemCaseSensitive(payload, "image");
  if (cJSON_IsNumber(mutable) && mutable->valuedouble == 1 && cJSON_IsString(url)) {
    line->decided = false;
    start(number, url->valuestring);
  }
  cJSON_Delete(payload);
}

static struct { char *bytes; size_t begin, end, capacity; bool ended; } input = {.capacity = 1 << 20};

static void read_input(void) {
  memmove(input.bytes, input.bytes + input.begin, input.end -= input.begin);
  input.begin = 0;
  if (input.end == input.capacity) input.bytes = realloc(input.bytes, input.capacity *= 2);
  const ssize_t count = read(0, input.bytes + input.end, input.capacity - input.end);
  if (count < 0 && errno != EINTR) fail("input", strerror(errno));
  if (count == 0) input.ended = true;
  if (count > 0) input.end += count;
}

static bool has_room(void) { return unused && next_in - next_out < room; }

/* Takes whole lines for as long as there is room; says whether more could be read. */
static bool take_lines(void) {
  while (has_room()) {
    const char *from = input.bytes + input.begin, *feed = memchr(from, '\n', input.end - input.begin);
    if (!feed && !input.ended) return true;
    if (!feed && input.begin == input.end) return false;
    const size_t length = feed ? (size_t)(feed - from) : input.end - input.begin;
    take(from, length);
    input.begin += length + (feed != NULL);
    if (next_in - next_out == room) write_decided();
  }
  return false;
}

static bool finished(void) { return input.ended && input.begin == input.end && next_out == next_in; }

static void run(void) {
  while (!finished()) {
    const bool hungry = take_lines();
    int left;
    curl_multi_perform(multi, &left);
    for (const CURLMsg *message; (message = curl_multi_info_read(multi, &left));)
      if (message->msg == CURLMSG_DONE) ended(message->easy_handle, message->data.result);
    write_decided();
    if (finished() || (has_room() && !hungry && !(input.ended && input.begin == input.end))) continue;
    flush_output();
    struct curl_waitfd in = {.fd = 0, .events = CURL_WAIT_POLLIN};
    if (hungry && !in_flight) { read_input(); continue; }
    curl_multi_poll(multi, &in, hungry, 1000, NULL);
    if (hungry && in.revents) read_input();
  }
  flush_output();
}

static void prepare(Transfer *transfer) {
  CURL *easy = transfer->easy = curl_easy_init();
  transfer->next = unused;
  unused = transfer;
  curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, arrived);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, options.deadline_ms);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(easy, CURLOPT_MAXREDIRS, 5L);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
  /* libcurl allocates it for each transfer; from 128 KB on glibc maps and unmaps it each time, which costs 8 to 9 % at 5 KB. */
  curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 122880L);
  if (options.cacert) curl_easy_setopt(easy, CURLOPT_CAINFO, options.cacert);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(name, "--transfers")) { options.transfers = true; continue; }
    if (!strcmp(name, "--store")) options.store = value;
    else if (!strcmp(name, "--jobs")) options.jobs = atoi(value);
    else if (!strcmp(name, "--deadline-ms")) options.deadline_ms = atol(value);
    else if (!strcmp(name, "--cacert")) options.cacert = value;
    else if (!strcmp(name, "--database")) options.database = value;
    else fail(name, "unknown option");
    i++;
  }
  if (!options.store || strpbrk(options.store, "\"\\") || strlen(options.store) > 400) fail("--store", "a plain name is needed");
  if ((store = open(options.store, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) fail(options.store, strerror(errno));
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  if (!options.transfers) {
    magic = magic_open(MAGIC_MIME_TYPE);
    if (!magic || magic_load(magic, options.database)) fail("libmagic", magic ? magic_error(magic) : "no memory");
  }
  room = options.jobs * 4 > 4096 ? options.jobs * 4 : 4096;
  lines = calloc(room, sizeof *lines);
  output.bytes = malloc(output.capacity);
  input.bytes = malloc(input.capacity);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)options.jobs);
  curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 256L);
  for (int i = 0; i < options.jobs; i++) prepare(calloc(1, sizeof(Transfer)));
  run();
  return 0;
}

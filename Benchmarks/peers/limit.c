/* What libcurl and libmagic can do on this machine in one thread, with as little as possible in between: the measure of the others.
 *
 *   limit --store DIR [--jobs 64] [--deadline-ms 30000] [--cacert FILE] [--database FILE] [--transfers] [--shards N] < payloads > payloads
 *
 * One line in, one line out, in order. Where aps["mutable-content"] is 1 and "image" is a string, the file is downloaded, its type found out
 * from its first 4 KB, and the line leaves with ,"attachment":{"path":…,"type":…,"size":…} before its last brace; else as it came.
 * --database takes the place of libmagic's default one; --transfers does nothing with what arrives but count it.
 *
 * --shards runs N such loops, each in a process of its own with its part of the jobs: the measure of those that use more cores than one. A shard
 * hashes each body (SHA-256) as it arrives, keeps a small file in memory and writes it at once, and puts the hash into its name. Shard 0 stores in
 * DIR/0, shard 1 in DIR/1. The parent gives each line to the next shard and takes the answers in the same order. It writes them in large blocks, so
 * that nobody may wait for an answer before the input ends.
 */
#define _GNU_SOURCE
#include <cjson/cJSON.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <magic.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { head_bytes = 4096, line_room = 768, held_bytes = 128 << 10, pipe_bytes = 1 << 20, most_shards = 64 };

static struct {
  int jobs, shards;
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

typedef struct { int file; char *bytes; size_t count, capacity; } Output;
static Output output = {.file = 1, .capacity = 1 << 18};

static void flush(Output *to) {
  for (size_t done = 0; done < to->count;) {
    const ssize_t count = write(to->file, to->bytes + done, to->count - done);
    if (count < 0 && errno != EINTR) fail("output", strerror(errno));
    if (count > 0) done += count;
  }
  to->count = 0;
}

static void put(Output *to, const char *bytes, size_t count) {
  if (to->count + count > to->capacity) flush(to);
  if (count > to->capacity) to->bytes = realloc(to->bytes, to->capacity = count);
  memcpy(to->bytes + to->count, bytes, count);
  to->count += count;
}

static void write_decided(void) {
  for (Line *line; next_out < next_in && (line = &lines[next_out % room])->decided; next_out++) {
    const char *brace = *line->member ? memrchr(line->text, '}', line->length) : NULL;
    const size_t before = brace ? (size_t)(brace - line->text) : line->length;
    put(&output, line->text, before);
    put(&output, line->member, strlen(line->member));
    put(&output, line->text + before, line->length - before);
    put(&output, "\n", 1);
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
  EVP_MD_CTX *hash; /* this and the next are for shards */
  char *held;       /* the file, as long as it is small */
} Transfer;
static Transfer *unused;
static CURLM *multi;
static magic_t magic;
static EVP_MD *sha256;
static int store = -1, in_flight;

static bool append(Transfer *transfer, const char *bytes, size_t count) {
  for (size_t done = 0; done < count;) {
    const ssize_t written = write(transfer->file, bytes + done, count - done);
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) done += written;
  }
  return true;
}

/* Creates the file, with what is held of it. */
static bool create(Transfer *transfer) {
  char name[32];
  snprintf(name, sizeof name, "%lu.part", transfer->line);
  transfer->file = openat(store, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  return transfer->file >= 0 && append(transfer, transfer->held, transfer->size);
}

static size_t arrived(char *bytes, size_t one, size_t count, void *context) {
  Transfer *transfer = context;
  count *= one;
  if (options.transfers) { transfer->size += count; return count; }
  if (transfer->size < head_bytes) {
    const size_t left = head_bytes - transfer->size;
    memcpy(transfer->head + transfer->size, bytes, count < left ? count : left);
  }
  if (options.shards) EVP_DigestUpdate(transfer->hash, bytes, count);
  if (options.shards && transfer->file < 0 && transfer->size + count <= held_bytes) memcpy(transfer->held + transfer->size, bytes, count);
  else if ((transfer->file < 0 && !create(transfer)) || !append(transfer, bytes, count)) return 0;
  transfer->size += count;
  return count;
}

static void start(unsigned long line, const char *url) {
  Transfer *transfer = unused;
  unused = transfer->next;
  transfer->line = line;
  transfer->file = -1;
  transfer->size = 0;
  if (options.shards) EVP_DigestInit_ex(transfer->hash, sha256, NULL);
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

/* "-" and the hash, as it stands in a name. */
static void write_hash(Transfer *transfer, char *text) {
  unsigned char hash[32];
  EVP_DigestFinal_ex(transfer->hash, hash, NULL);
  *text++ = '-';
  for (size_t i = 0; i < sizeof hash; i++) {
    *text++ = "0123456789abcdef"[hash[i] >> 4];
    *text++ = "0123456789abcdef"[hash[i] & 15];
  }
  *text = 0;
}

/* Gives the file its name and the line its member. */
static bool keep(Transfer *transfer, char *member) {
  if (options.transfers) { snprintf(member, line_room, ",\"attachment\":{\"size\":%zu}", transfer->size); return true; }
  const size_t count = transfer->size < head_bytes ? transfer->size : head_bytes;
  const char *type = magic_buffer(magic, transfer->head, count);
  if (!type) return false;
  char part[32], hash[66] = "", name[96];
  if (options.shards) write_hash(transfer, hash);
  snprintf(part, sizeof part, "%lu.part", transfer->line);
  snprintf(name, sizeof name, "%lu%s.%s", transfer->line, hash, extension(type));
  if (renameat(store, part, store, name)) return false;
  snprintf(member, line_room, ",\"attachment\":{\"path\":\"%s/%s\",\"type\":\"%s\",\"size\":%zu}", options.store, name, type, transfer->size);
  return true;
}

static void ended(CURL *easy, CURLcode code) {
  Transfer *transfer;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
  Line *line = &lines[transfer->line % room];
  const bool is_whole = !code && transfer->size && (transfer->file >= 0 || options.transfers || create(transfer));
  if (transfer->file >= 0) close(transfer->file);
  if (!is_whole || !keep(transfer, line->member)) {
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
    flush(&output);
    struct curl_waitfd in = {.fd = 0, .events = CURL_WAIT_POLLIN};
    if (hungry && !in_flight) { read_input(); continue; }
    curl_multi_poll(multi, &in, hungry, 1000, NULL);
    if (hungry && in.revents) read_input();
  }
  flush(&output);
}

/* What the parent has of a shard: the lines on their way to it, and its answers. */
static struct { Output lines; FILE *answers; } shards[most_shards];

static void *deal(void *context) {
  for (int to = 0; !input.ended;) {
    read_input();
    for (const char *from, *feed; (feed = memchr(from = input.bytes + input.begin, '\n', input.end - input.begin)); to = (to + 1) % options.shards) {
      put(&shards[to].lines, from, feed + 1 - from);
      input.begin = feed + 1 - input.bytes;
    }
    if (input.ended) put(&shards[to].lines, input.bytes + input.begin, input.end - input.begin);
    for (int i = 0; i < options.shards; i++) flush(&shards[i].lines);
  }
  for (int i = 0; i < options.shards; i++) close(shards[i].lines.file);
  return context;
}

/* Ends early when a shard has died: the others then write to closed pipes and die too, and so does this process when it writes to theirs. */
static void merge(void) {
  pthread_t dealer;
  if ((errno = pthread_create(&dealer, NULL, deal, NULL))) fail("thread", strerror(errno));
  char *line = NULL;
  size_t capacity = 0;
  ssize_t count;
  for (int from = 0; (count = getline(&line, &capacity, shards[from].answers)) > 0; from = (from + 1) % options.shards) put(&output, line, count);
  flush(&output);
  for (int i = 0; i < options.shards; i++) fclose(shards[i].answers);
  pthread_join(dealer, NULL);
  for (int status; wait(&status) > 0;) if (status) fail("a shard", "did not end well");
}

/* Whether this process is a shard, ready to run; the parent comes back when all is written. */
static bool shard(void) {
  for (int i = 0; i < options.shards; i++) {
    int lines[2], answers[2];
    if (pipe(lines) || pipe(answers)) fail("pipe", strerror(errno));
    fcntl(lines[1], F_SETPIPE_SZ, pipe_bytes);
    fcntl(answers[1], F_SETPIPE_SZ, pipe_bytes);
    const pid_t process = fork();
    if (process < 0) fail("fork", strerror(errno));
    if (process == 0) {
      static char folder[512];
      snprintf(folder, sizeof folder, "%s/%d", options.store, i);
      options.store = folder;
      options.jobs = options.jobs > options.shards ? options.jobs / options.shards : 1;
      if (mkdir(folder, 0700)) fail(folder, strerror(errno));
      dup2(lines[0], 0);
      dup2(answers[1], 1);
      close_range(3, ~0u, 0);
      return true;
    }
    close(lines[0]);
    close(answers[1]);
    shards[i].lines = (Output){lines[1], malloc(output.capacity), 0, output.capacity};
    shards[i].answers = fdopen(answers[0], "r");
    setvbuf(shards[i].answers, NULL, _IOFBF, output.capacity);
  }
  merge();
  return false;
}

static void prepare(Transfer *transfer) {
  CURL *easy = transfer->easy = curl_easy_init();
  if (options.shards) {
    transfer->hash = EVP_MD_CTX_new();
    transfer->held = malloc(held_bytes);
  }
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
    else if (!strcmp(name, "--shards")) options.shards = atoi(value);
    else if (!strcmp(name, "--deadline-ms")) options.deadline_ms = atol(value);
    else if (!strcmp(name, "--cacert")) options.cacert = value;
    else if (!strcmp(name, "--database")) options.database = value;
    else fail(name, "unknown option");
    i++;
  }
  if (!options.store || strpbrk(options.store, "\"\\") || strlen(options.store) > 400) fail("--store", "a plain name is needed");
  if (options.shards < 0 || options.shards > most_shards) fail("--shards", "64 are the most");
  output.bytes = malloc(output.capacity);
  input.bytes = malloc(input.capacity);
  if (options.shards && !shard()) return 0;
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
  if (options.shards) sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)options.jobs);
  curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 256L);
  for (int i = 0; i < options.jobs; i++) prepare(calloc(1, sizeof(Transfer)));
  run();
  return 0;
}

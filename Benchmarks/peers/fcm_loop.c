/* Sends messages to FCM with libcurl over one HTTP/2 connection: what attache deliver --fcm does with a result, without a queue.
 *
 *   fcm_loop [--streams 100] [--cacert FILE] URL TOKEN < messages
 *
 * Each line of input is the body of a POST with the bearer TOKEN. Ends with 1 unless each gets an answer of 2xx; none is sent again.
 */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  CURL *easy;
  char *line;
  size_t room;
} transfer;

static CURLM *multi;
static unsigned long sent, accepted;

static void die(const char *what, const char *why) {
  fprintf(stderr, "fcm_loop: %s: %s\n", what, why);
  exit(1);
}

static size_t ignore(char *bytes, size_t size, size_t count, void *data) {
  (void)bytes, (void)data;
  return size * count;
}

static void prepare(transfer *transfer, const char *url, const struct curl_slist *fields, const char *cacert) {
  CURL *easy = transfer->easy = curl_easy_init();
  if (!easy) die("libcurl", "no memory");
  curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
  curl_easy_setopt(easy, CURLOPT_POST, 1L);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
  /* The first transfers wait for the connection, instead of opening one each. */
  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
  if (cacert) curl_easy_setopt(easy, CURLOPT_CAINFO, cacert);
}

/* Sends the next line, if there is one. */
static void begin(transfer *transfer) {
  ssize_t count = getline(&transfer->line, &transfer->room, stdin);
  if (count <= 0) return;
  if (transfer->line[count - 1] == '\n') count--;
  curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDS, transfer->line);
  curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDSIZE, (long)count);
  const CURLMcode code = curl_multi_add_handle(multi, transfer->easy);
  if (code) die("libcurl", curl_multi_strerror(code));
  sent++;
}

static void end(transfer *transfer, CURLcode code) {
  long status = 0;
  curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
  if (code) fprintf(stderr, "fcm_loop: %s\n", curl_easy_strerror(code));
  else if (status / 100 == 2) accepted++;
  else fprintf(stderr, "fcm_loop: status %ld\n", status);
  curl_multi_remove_handle(multi, transfer->easy);
}

static void run(void) {
  int running, left;
  do {
    CURLMcode code = curl_multi_perform(multi, &running);
    int begun = 0;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left)); begun = 1) {
      transfer *transfer;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
      end(transfer, message->data.result);
      begin(transfer);
    }
    if (!code && running && !begun) code = curl_multi_poll(multi, NULL, 0, 1000, NULL);
    if (code) die("libcurl", curl_multi_strerror(code));
    if (begun) running = 1;
  } while (running);
}

int main(int count, char **words) {
  long streams = 100;
  const char *cacert = NULL;
  int next = 1;
  for (; next + 1 < count && !strncmp(words[next], "--", 2); next += 2) {
    if (!strcmp(words[next], "--streams")) streams = atol(words[next + 1]);
    else if (!strcmp(words[next], "--cacert")) cacert = words[next + 1];
    else die(words[next], "unknown option");
  }
  if (count - next != 2 || streams < 1) die("usage", "fcm_loop [--streams 100] [--cacert FILE] URL TOKEN");
  const char *url = words[next], *token = words[next + 1];
  char authorization[4096];
  if (snprintf(authorization, sizeof authorization, "Authorization: Bearer %s", token) >= (int)sizeof authorization) die("TOKEN", "too long");
  struct curl_slist *fields = curl_slist_append(curl_slist_append(NULL, "Content-Type: application/json"), authorization);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  multi = curl_multi_init();
  transfer *all = calloc((size_t)streams, sizeof *all);
  if (!fields || !multi || !all) die("memory", "none is left");
  curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
  curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, 1L);
  curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, streams);
  for (long index = 0; index < streams; index++) {
    prepare(&all[index], url, fields, cacert);
    begin(&all[index]);
  }
  run();
  if (accepted == sent) return 0;
  fprintf(stderr, "fcm_loop: %lu of %lu were accepted\n", accepted, sent);
  return 1;
}

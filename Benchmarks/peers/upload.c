// Uploads files to a bucket of S3 with libcurl, 32 at once: what attache --upload does with a file, without fetching it. One HEAD, then one PUT that is
// signed, conditional and has a checksum.
//
//   upload HOST:PORT BUCKET PREFIX KEY SECRET FOLDER < payloads
//
// Each line of input has a member image with a URL, whose last part is the name of a file in FOLDER.
#include <curl/curl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { transfers = 32 };

static const char *host, *bucket, *prefix, *key, *secret, *folder;
static char **names;
static size_t name_count, next_name, finished;

typedef struct {
  CURL *easy;
  struct curl_slist *fields;
  unsigned char *bytes;
  size_t count, sent;
  char object[512], hash[65], checksum[64];
  int is_put;
} transfer;

static void die(const char *what) {
  fprintf(stderr, "upload: %s\n", what);
  exit(1);
}

static void hexadecimal(const unsigned char *bytes, size_t count, char *text) {
  for (size_t index = 0; index < count; index++) sprintf(text + 2 * index, "%02x", bytes[index]);
}

static void hash_of(const void *bytes, size_t count, char *text) {
  unsigned char digest[32];
  SHA256(bytes, count, digest);
  hexadecimal(digest, 32, text);
}

static void add(transfer *transfer, const char *name, const char *value) {
  char line[2048];
  snprintf(line, sizeof line, "%s: %s", name, value);
  transfer->fields = curl_slist_append(transfer->fields, line);
}

static void sign(transfer *transfer) {
  char date[20], day[10], request[4096], text[1024], digest[65], secret_key[256], names_of[256], fields[2048];
  static const char empty[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  time_t now = time(NULL);
  struct tm parts;
  gmtime_r(&now, &parts);
  strftime(date, sizeof date, "%Y%m%dT%H%M%SZ", &parts);
  strftime(day, sizeof day, "%Y%m%d", &parts);
  const char *hash = transfer->is_put ? transfer->hash : empty;
  if (transfer->is_put) {
    snprintf(names_of, sizeof names_of, "cache-control;content-type;host;if-none-match;x-amz-checksum-sha256;x-amz-content-sha256;x-amz-date");
    snprintf(fields, sizeof fields,
             "cache-control:public, max-age=31536000, immutable\ncontent-type:image/jpeg\nhost:%s\nif-none-match:*\nx-amz-checksum-sha256:%s\n"
             "x-amz-content-sha256:%s\nx-amz-date:%s\n",
             host, transfer->checksum, hash, date);
    add(transfer, "cache-control", "public, max-age=31536000, immutable");
    add(transfer, "content-type", "image/jpeg");
    add(transfer, "if-none-match", "*");
    add(transfer, "x-amz-checksum-sha256", transfer->checksum);
  } else {
    snprintf(names_of, sizeof names_of, "host;x-amz-content-sha256;x-amz-date");
    snprintf(fields, sizeof fields, "host:%s\nx-amz-content-sha256:%s\nx-amz-date:%s\n", host, hash, date);
  }
  snprintf(request, sizeof request, "%s\n%s\n\n%s\n%s\n%s", transfer->is_put ? "PUT" : "HEAD", transfer->object, fields, names_of, hash);
  hash_of(request, strlen(request), digest);
  snprintf(text, sizeof text, "AWS4-HMAC-SHA256\n%s\n%s/us-east-1/s3/aws4_request\n%s", date, day, digest);
  unsigned char signing[32];
  unsigned length = (unsigned)snprintf(secret_key, sizeof secret_key, "AWS4%s", secret);
  const char *steps[] = {day, "us-east-1", "s3", "aws4_request", text};
  HMAC(EVP_sha256(), secret_key, (int)length, (const void *)steps[0], strlen(steps[0]), signing, &length);
  for (int step = 1; step < 5; step++) HMAC(EVP_sha256(), signing, 32, (const void *)steps[step], strlen(steps[step]), signing, &length);
  hexadecimal(signing, 32, digest);
  snprintf(text, sizeof text, "AWS4-HMAC-SHA256 Credential=%s/%s/us-east-1/s3/aws4_request,SignedHeaders=%s,Signature=%s", key, day, names_of, digest);
  add(transfer, "authorization", text);
  add(transfer, "x-amz-content-sha256", hash);
  add(transfer, "x-amz-date", date);
  transfer->fields = curl_slist_append(transfer->fields, "Expect:");
  transfer->fields = curl_slist_append(transfer->fields, "Accept:");
}

static size_t give(char *room, size_t size, size_t count, void *data) {
  transfer *transfer = data;
  size_t left = transfer->count - transfer->sent, taken = left < size * count ? left : size * count;
  memcpy(room, transfer->bytes + transfer->sent, taken);
  transfer->sent += taken;
  return taken;
}

static size_t ignore(char *bytes, size_t size, size_t count, void *data) {
  (void)bytes, (void)data;
  return size * count;
}

static void send_request(CURLM *multi, transfer *transfer) {
  char url[1024];
  curl_easy_reset(transfer->easy);
  curl_slist_free_all(transfer->fields);
  transfer->fields = NULL;
  transfer->sent = 0;
  snprintf(url, sizeof url, "http://%s%s", host, transfer->object);
  sign(transfer);
  curl_easy_setopt(transfer->easy, CURLOPT_URL, url);
  curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->fields);
  curl_easy_setopt(transfer->easy, CURLOPT_PRIVATE, transfer);
  curl_easy_setopt(transfer->easy, CURLOPT_WRITEFUNCTION, ignore);
  if (transfer->is_put) {
    curl_easy_setopt(transfer->easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(transfer->easy, CURLOPT_READFUNCTION, give);
    curl_easy_setopt(transfer->easy, CURLOPT_READDATA, transfer);
    curl_easy_setopt(transfer->easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)transfer->count);
  } else {
    curl_easy_setopt(transfer->easy, CURLOPT_NOBODY, 1L);
  }
  curl_multi_add_handle(multi, transfer->easy);
}

static void begin(CURLM *multi, transfer *transfer) {
  if (next_name == name_count) return;
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, names[next_name++]);
  FILE *file = fopen(path, "rb");
  struct stat status;
  if (!file || fstat(fileno(file), &status) != 0) die(path);
  free(transfer->bytes);
  transfer->count = (size_t)status.st_size;
  transfer->bytes = malloc(transfer->count);
  if (!transfer->bytes || fread(transfer->bytes, 1, transfer->count, file) != transfer->count) die(path);
  fclose(file);
  unsigned char digest[32];
  SHA256(transfer->bytes, transfer->count, digest);
  hexadecimal(digest, 32, transfer->hash);
  EVP_EncodeBlock((unsigned char *)transfer->checksum, digest, 32);
  snprintf(transfer->object, sizeof transfer->object, "/%s/%s/%.2s/%s.jpg", bucket, prefix, transfer->hash, transfer->hash);
  transfer->is_put = 0;
  send_request(multi, transfer);
}

int main(int count, char **words) {
  if (count != 7) return 64;
  host = words[1], bucket = words[2], prefix = words[3], key = words[4], secret = words[5], folder = words[6];
  char *line = NULL;
  size_t room = 0;
  while (getline(&line, &room, stdin) > 0) {
    char *url = strstr(line, "\"image\":\""), *end = url ? strchr(url + 9, '"') : NULL, *start = NULL;
    if (end) *end = 0, start = strrchr(url, '/');
    if (!start) return 65;
    names = realloc(names, (name_count + 1) * sizeof *names);
    names[name_count++] = strdup(start + 1);
  }
  CURLM *multi = curl_multi_init();
  static transfer all[transfers];
  for (int index = 0; index < transfers; index++) {
    all[index].easy = curl_easy_init();
    begin(multi, &all[index]);
  }
  while (finished < name_count) {
    int running, left;
    curl_multi_perform(multi, &running);
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
      transfer *transfer;
      long status = 0;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
      curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
      if (message->data.result != CURLE_OK) die(curl_easy_strerror(message->data.result));
      curl_multi_remove_handle(multi, message->easy_handle);
      if (!transfer->is_put && status == 404) {
        transfer->is_put = 1;
        send_request(multi, transfer);
      } else if (status == 200 || status == 412) {
        finished++;
        begin(multi, transfer);
      } else {
        fprintf(stderr, "upload: status %ld for %s\n", status, transfer->object);
        return 1;
      }
    }
    if (finished < name_count) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
  return 0;
}

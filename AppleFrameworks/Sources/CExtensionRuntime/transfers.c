#include "runtime.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// Foundation's URLSession calls libcurl's multi interface in a shared library. The functions below have the same names, and the executable's symbols come
// first, so each transfer passes here.
//
// The types and numbers are those of curl/curl.h. They belong to libcurl's stable binary interface (https://curl.se/libcurl/abi.html), so that no
// development package of libcurl is needed to build an extension.
typedef void CURL;
typedef void CURLM;
typedef struct {
  int msg;
  CURL *easy_handle;
  union {
    void *whatever;
    int result;
  } data;
} CURLMsg;
struct curl_sockaddr {
  int family, socktype, protocol;
  unsigned int addrlen;
  struct sockaddr addr;
};
enum {
  CURLMSG_DONE = 1,
  CURLOPT_CAINFO = 10065,
  CURLOPT_CONNECT_TO = 10243,
  CURLOPT_PROTOCOLS_STR = 10318,
  CURLOPT_OPENSOCKETFUNCTION = 20163,
  CURL_SOCKET_BAD = -1,
  CURLINFO_EFFECTIVE_URL = 0x100001,
  CURLINFO_CONTENT_TYPE = 0x100012,
  CURLINFO_PRIMARY_IP = 0x100020,
  CURLINFO_RESPONSE_CODE = 0x200002,
  CURLINFO_SIZE_DOWNLOAD_T = 0x600008,
  CURLINFO_TOTAL_TIME_T = 0x600032,
};

static int (*set_option)(CURL *, int, ...);
static int (*get_info)(CURL *, int, ...);
static void *(*append_to_list)(void *, const char *);
static int (*add_handle)(CURLM *, CURL *);
static int (*remove_handle)(CURLM *, CURL *);
static CURLMsg *(*read_info)(CURLM *, int *);

static void look_up(void) {
  set_option = dlsym(RTLD_NEXT, "curl_easy_setopt");
  get_info = dlsym(RTLD_NEXT, "curl_easy_getinfo");
  append_to_list = dlsym(RTLD_NEXT, "curl_slist_append");
  add_handle = dlsym(RTLD_NEXT, "curl_multi_add_handle");
  remove_handle = dlsym(RTLD_NEXT, "curl_multi_remove_handle");
  read_info = dlsym(RTLD_NEXT, "curl_multi_info_read");
  if (!set_option || !get_info || !append_to_list || !add_handle || !remove_handle || !read_info) abort();
}
static pthread_once_t looked_up = PTHREAD_ONCE_INIT;

static runtime_network network;
static void *connect_list;
static int (*observe)(const runtime_transfer *);

void runtime_set_network(runtime_network value) {
  pthread_once(&looked_up, look_up);
  network = value;
  if (value.connect_to) connect_list = append_to_list(NULL, value.connect_to);
}

void runtime_set_observer(int (*observer)(const runtime_transfer *)) { observe = observer; }

#pragma mark The transfers under way

// A transfer that libcurl has, and its result once libcurl has told it.
typedef struct transfer {
  CURL *easy;
  char *url;
  // Where the redirects to the URL began, which Foundation's errors name.
  char *first;
  uint64_t number;
  // Why the transfer is refused: `runtime_insecure`, `runtime_denied`, or 0.
  int refusal;
  int code;
  struct transfer *next;
} transfer;
static transfer *transfers;
static uint64_t count;
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

// The URLs whose transfers failed last, and libcurl's codes.
enum { maximum_failures = 64 };
static struct {
  char *url;
  int code;
} failures[maximum_failures];
static size_t failure_count;

// `changing` is locked.
static void note_failure(const char *url, int code) {
  size_t place = failure_count++ % maximum_failures;
  free(failures[place].url);
  failures[place].url = strdup(url);
  failures[place].code = code;
}

int runtime_failure(const char *url) {
  int code = 0;
  pthread_mutex_lock(&changing);
  // The latest first.
  for (size_t back = 1; back <= maximum_failures && back <= failure_count && code == 0; back++) {
    size_t place = (failure_count - back) % maximum_failures;
    if (failures[place].url && strcmp(failures[place].url, url) == 0) code = failures[place].code;
  }
  pthread_mutex_unlock(&changing);
  return code;
}

// Where the redirects that a handle follows began. Foundation uses the same handle for the next URL.
static struct {
  CURL *easy;
  char *first;
} redirects[maximum_failures];
static size_t redirect_count;

// `changing` is locked. Returns the URL, which the caller frees, and forgets it.
static char *take_redirect(CURL *easy) {
  for (size_t place = 0; place < maximum_failures; place++) {
    if (redirects[place].easy != easy || !redirects[place].first) continue;
    char *first = redirects[place].first;
    redirects[place].first = NULL;
    return first;
  }
  return NULL;
}

// `changing` is locked. Takes the URL.
static void note_redirect(CURL *easy, char *first) {
  size_t place = redirect_count++ % maximum_failures;
  free(redirects[place].first);
  redirects[place].easy = easy;
  redirects[place].first = first;
}

static uint64_t remember(CURL *easy, const char *url) {
  transfer *new = malloc(sizeof *new);
  char *copy = strdup(url ? url : "");
  if (!new || !copy) {
    free(new);
    free(copy);
    return 0;
  }
  pthread_mutex_lock(&changing);
  *new = (transfer){.easy = easy, .url = copy, .first = take_redirect(easy), .number = ++count, .code = -1, .next = transfers};
  transfers = new;
  uint64_t number = new->number;
  pthread_mutex_unlock(&changing);
  return number;
}

static void refuse(CURL *easy, int refusal) {
  pthread_mutex_lock(&changing);
  for (transfer *each = transfers; each; each = each->next)
    if (each->easy == easy) each->refusal = refusal;
  pthread_mutex_unlock(&changing);
}

static void note_result(CURL *easy, int code) {
  pthread_mutex_lock(&changing);
  for (transfer *each = transfers; each; each = each->next) {
    if (each->easy != easy) continue;
    each->code = code;
    if (code == 0) continue;
    note_failure(each->url, each->refusal ? each->refusal : code);
    if (each->first) note_failure(each->first, each->refusal ? each->refusal : code);
  }
  pthread_mutex_unlock(&changing);
}

// The number is 0 for a transfer that is not known.
static transfer forget(CURL *easy, bool is_redirect) {
  transfer result = {.code = -1};
  pthread_mutex_lock(&changing);
  for (transfer **place = &transfers; *place; place = &(*place)->next) {
    if ((*place)->easy != easy) continue;
    transfer *old = *place;
    result = *old;
    *place = old->next;
    if (is_redirect) {
      note_redirect(easy, old->first ? old->first : old->url);
      if (old->first) free(old->url);
    } else {
      free(old->first);
      free(old->url);
    }
    free(old);
    break;
  }
  pthread_mutex_unlock(&changing);
  return result;
}

#pragma mark The gate

static bool is_public(const struct sockaddr *address) {
  if (address->sa_family == AF_INET) {
    uint32_t number = ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr);
    uint8_t first = number >> 24, second = number >> 16 & 0xFF, third = number >> 8 & 0xFF;
    // The blocks of IANA's special registry that are not globally reachable, and multicast.
    return !(first == 0 || first == 10 || first == 127 || first >= 224 || (first == 100 && (second & 0xC0) == 64) || (first == 169 && second == 254)
             || (first == 172 && (second & 0xF0) == 16) || (first == 192 && second == 0 && (third == 0 || third == 2))
             || (first == 192 && second == 88 && third == 99) || (first == 192 && second == 168) || (first == 198 && (second & 0xFE) == 18)
             || (first == 198 && second == 51 && third == 100) || (first == 203 && second == 0 && third == 113));
  }
  if (address->sa_family != AF_INET6) return false;
  const uint8_t *bytes = ((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr;
  // Global unicast only, without the blocks that embed an IPv4 address or are for documentation.
  return (bytes[0] & 0xE0) == 0x20 && !(bytes[0] == 0x20 && bytes[1] == 0x01 && bytes[2] < 0x02)
         && !(bytes[0] == 0x20 && bytes[1] == 0x01 && bytes[2] == 0x0D && bytes[3] == 0xB8) && !(bytes[0] == 0x20 && bytes[1] == 0x02)
         && !(bytes[0] == 0x3F && bytes[1] == 0xFF);
}

// The metadata services of clouds, as attache's own gate has them. No flag opens them.
static bool is_metadata_v4(const uint8_t *bytes) {
  static const uint8_t services[][4] = {
      {169, 254, 169, 254}, {169, 254, 169, 123}, {169, 254, 170, 2}, {169, 254, 170, 23}, {100, 100, 100, 200}, {192, 0, 0, 192}, {168, 63, 129, 16},
  };
  for (size_t index = 0; index < sizeof services / sizeof *services; index++)
    if (memcmp(bytes, services[index], 4) == 0) return true;
  return false;
}

static bool is_metadata(const struct sockaddr *address) {
  if (address->sa_family == AF_INET) return is_metadata_v4((const uint8_t *)&((const struct sockaddr_in *)address)->sin_addr);
  if (address->sa_family != AF_INET6) return false;
  static const char *const services[] = {"fd00:ec2::254", "fd20:ce::254"};
  const uint8_t *bytes = ((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr;
  for (size_t index = 0; index < sizeof services / sizeof *services; index++) {
    uint8_t service[16];
    if (inet_pton(AF_INET6, services[index], service) == 1 && memcmp(bytes, service, sizeof service) == 0) return true;
  }
  // The forms of IPv6 that embed an IPv4 address have it at some offset; Teredo has its bits inverted at the end.
  for (size_t offset = 0; offset <= 12; offset++)
    if (is_metadata_v4(bytes + offset)) return true;
  uint8_t inverted[4];
  for (size_t index = 0; index < 4; index++) inverted[index] = (uint8_t)~bytes[12 + index];
  return is_metadata_v4(inverted);
}

enum { maximum_nets = 64 };
static struct {
  int family, bits;
  uint8_t bytes[16];
} nets[maximum_nets];
static size_t net_count;

bool runtime_allow_net(const char *net) {
  char address[64];
  const char *slash = strchr(net, '/');
  if (!slash || (size_t)(slash - net) >= sizeof address || net_count == maximum_nets) return false;
  memcpy(address, net, (size_t)(slash - net));
  address[slash - net] = 0;
  int family = strchr(address, ':') ? AF_INET6 : AF_INET, bits = atoi(slash + 1);
  if (bits < 0 || bits > (family == AF_INET ? 32 : 128) || inet_pton(family, address, nets[net_count].bytes) != 1) return false;
  nets[net_count].family = family;
  nets[net_count++].bits = bits;
  return true;
}

static bool is_allowed(const struct sockaddr *address) {
  const uint8_t *bytes = address->sa_family == AF_INET ? (const uint8_t *)&((const struct sockaddr_in *)address)->sin_addr
                                                       : ((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr;
  for (size_t index = 0; index < net_count; index++) {
    if (nets[index].family != address->sa_family) continue;
    int whole = nets[index].bits / 8, rest = nets[index].bits % 8;
    uint8_t mask = (uint8_t)(0xFF << (8 - rest));
    if (memcmp(bytes, nets[index].bytes, (size_t)whole) == 0 && (rest == 0 || ((bytes[whole] ^ nets[index].bytes[whole]) & mask) == 0)) return true;
  }
  return false;
}

enum { maximum_ranges = 64 };
static struct {
  uint16_t first, last;
} ranges[maximum_ranges];
static size_t range_count;

bool runtime_allow_ports(uint16_t first, uint16_t last) {
  if (range_count == maximum_ranges) return false;
  ranges[range_count].first = first;
  ranges[range_count++].last = last;
  return true;
}

static bool has_allowed_port(const struct sockaddr *address) {
  uint16_t port = ntohs(address->sa_family == AF_INET ? ((const struct sockaddr_in *)address)->sin_port : ((const struct sockaddr_in6 *)address)->sin6_port);
  for (size_t index = 0; index < range_count; index++)
    if (port >= ranges[index].first && port <= ranges[index].last) return true;
  return false;
}

static bool is_loopback(const struct sockaddr *address) {
  if (address->sa_family == AF_INET) return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
  return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

static bool may_be_reached(const struct sockaddr *address) {
  if (address->sa_family != AF_INET && address->sa_family != AF_INET6) return false;
  if (network.loopback_only && !is_loopback(address)) return false;
  if (!network.public_only) return true;
  return !is_metadata(address) && (is_allowed(address) || (is_public(address) && has_allowed_port(address)));
}

static int open_socket(void *context, int purpose, struct curl_sockaddr *address) {
  (void)context, (void)purpose;
  const struct sockaddr *peer = &address->addr;
  if (!may_be_reached(peer)) return CURL_SOCKET_BAD;
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

#pragma mark libcurl's functions

int curl_multi_add_handle(CURLM *multi, CURL *easy) {
  pthread_once(&looked_up, look_up);
  if (network.roots) set_option(easy, CURLOPT_CAINFO, network.roots);
  if (connect_list) set_option(easy, CURLOPT_CONNECT_TO, connect_list);
  if (network.schemes) set_option(easy, CURLOPT_PROTOCOLS_STR, network.schemes);
  if (network.public_only || network.loopback_only) set_option(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
  runtime_transfer start = {0};
  get_info(easy, CURLINFO_EFFECTIVE_URL, &start.url);
  bool is_insecure = start.url && strncasecmp(start.url, "http:", 5) == 0 && network.schemes && strcmp(network.schemes, "https") == 0;
  start.number = remember(easy, start.url);
  int refusal = observe && start.number ? observe(&start) : 0;
  if (is_insecure) refusal = runtime_insecure;
  if (refusal) {
    // With no scheme that the network has, libcurl refuses the transfer.
    set_option(easy, CURLOPT_PROTOCOLS_STR, "file");
    refuse(easy, refusal);
  }
  return add_handle(multi, easy);
}

CURLMsg *curl_multi_info_read(CURLM *multi, int *left) {
  pthread_once(&looked_up, look_up);
  CURLMsg *message = read_info(multi, left);
  if (!message || message->msg != CURLMSG_DONE) return message;
  note_result(message->easy_handle, message->data.result);
  return message;
}

int curl_multi_remove_handle(CURLM *multi, CURL *easy) {
  pthread_once(&looked_up, look_up);
  long status = 0;
  get_info(easy, CURLINFO_RESPONSE_CODE, &status);
  transfer ended = forget(easy, status / 100 == 3);
  if (observe && ended.number) {
    runtime_transfer end = {.number = ended.number, .is_end = true, .status = status, .code = ended.code > 0 && ended.refusal ? ended.refusal : ended.code};
    get_info(easy, CURLINFO_EFFECTIVE_URL, &end.url);
    get_info(easy, CURLINFO_CONTENT_TYPE, &end.type);
    get_info(easy, CURLINFO_PRIMARY_IP, &end.address);
    get_info(easy, CURLINFO_SIZE_DOWNLOAD_T, &end.bytes);
    get_info(easy, CURLINFO_TOTAL_TIME_T, &end.microseconds);
    observe(&end);
  }
  return remove_handle(multi, easy);
}

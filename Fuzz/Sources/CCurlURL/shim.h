// libcurl's own parser of URLs, which the gate is held against.
#include <curl/curl.h>

#include <ares.h>
#include <netdb.h>

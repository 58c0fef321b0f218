#ifndef CTRIPWIRE_H
#define CTRIPWIRE_H

#include <stdbool.h>
#include <stdint.h>

// What keeps the test process from connecting to where it must not: in it, connect(2), sendto(2), sendmsg(2) and sendmmsg(2) are this module's.
//
// libcurl may connect to an address and port that was passed, and to no other. Everyone else - c-ares, clients and servers of tests - may reach loopback,
// what was passed, and what this process has bound a socket to. Anything else ends the process by SIGABRT, with a line that names the address.

// Passes an address: 16 bytes in network byte order, IPv4 mapped (RFC 4291, 2.5.5.2).
void tripwire_pass(const uint8_t *address, uint16_t port);

// Whether the calls are this module's; under the address and thread sanitizers, which have their own, they are not.
bool tripwire_is_armed(void);

#endif

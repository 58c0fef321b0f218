// Filled by the fault origin and the stub DNS server.

// The C library's own module comes first: its types then are Glibc's, not copies that belong to this module.
#pragma clang module import SwiftGlibc
// SHA256_Init and its kin count as deprecated since 3.0, and are there in every 3.x.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// What OpenSSL has as macros, which Swift cannot call. The names are OpenSSL's own, with `_shim`.
static inline EVP_PKEY *EVP_EC_gen_shim(const char *curve) { return EVP_EC_gen(curve); }
static inline EVP_PKEY *EVP_RSA_gen_shim(unsigned bits) { return EVP_RSA_gen(bits); }
static inline long BIO_get_mem_data_shim(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }
static inline int SSL_CTX_set_min_proto_version_shim(SSL_CTX *context, int version) {
  return SSL_CTX_set_min_proto_version(context, version);
}
static inline long SSL_CTX_set_mode_shim(SSL_CTX *context, long mode) { return SSL_CTX_set_mode(context, mode); }
static inline long SSL_CTX_set_session_cache_mode_shim(SSL_CTX *context, long mode) {
  return SSL_CTX_set_session_cache_mode(context, mode);
}
static inline long SSL_set_tlsext_host_name_shim(SSL *connection, const char *name) {
  return SSL_set_tlsext_host_name(connection, name);
}

#include "crypto.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

// Types and numbers of openssl/evp.h and openssl/obj_mac.h, which OpenSSL 3 keeps.
typedef void EVP_MD;
typedef void EVP_CIPHER;
typedef void EVP_CIPHER_CTX;
typedef void EVP_PKEY;
typedef void EVP_PKEY_CTX;
typedef void EVP_MD_CTX;
enum { EVP_CTRL_AEAD_SET_IVLEN = 9, EVP_CTRL_AEAD_GET_TAG = 16, EVP_CTRL_AEAD_SET_TAG = 17, EVP_PKEY_ED25519 = 1087, EVP_PKEY_EC = 408, tag_count = 16 };

// Each function of libcrypto that is used, with its type.
#define FUNCTIONS(F)                                                                                                     \
  F(const EVP_MD *, EVP_get_digestbyname, (const char *))                                                                \
  F(int, EVP_Digest, (const void *, size_t, uint8_t *, unsigned *, const EVP_MD *, void *))                              \
  F(uint8_t *, HMAC, (const EVP_MD *, const void *, int, const uint8_t *, size_t, uint8_t *, unsigned *))                \
  F(const EVP_CIPHER *, EVP_get_cipherbyname, (const char *))                                                            \
  F(EVP_CIPHER_CTX *, EVP_CIPHER_CTX_new, (void))                                                                        \
  F(void, EVP_CIPHER_CTX_free, (EVP_CIPHER_CTX *))                                                                       \
  F(int, EVP_CIPHER_CTX_ctrl, (EVP_CIPHER_CTX *, int, int, void *))                                                      \
  F(int, EVP_CipherInit_ex, (EVP_CIPHER_CTX *, const EVP_CIPHER *, void *, const uint8_t *, const uint8_t *, int))       \
  F(int, EVP_CipherUpdate, (EVP_CIPHER_CTX *, uint8_t *, int *, const uint8_t *, int))                                   \
  F(int, EVP_CipherFinal_ex, (EVP_CIPHER_CTX *, uint8_t *, int *))                                                       \
  F(EVP_PKEY *, d2i_AutoPrivateKey, (EVP_PKEY **, const uint8_t **, long))                                               \
  F(EVP_PKEY *, d2i_PUBKEY, (EVP_PKEY **, const uint8_t **, long))                                                       \
  F(int, i2d_PrivateKey, (const EVP_PKEY *, uint8_t **))                                                                 \
  F(int, i2d_PUBKEY, (const EVP_PKEY *, uint8_t **))                                                                     \
  F(int, EVP_PKEY_get_base_id, (const EVP_PKEY *))                                                                       \
  F(int, EVP_PKEY_set_utf8_string_param, (EVP_PKEY *, const char *, const char *))                                       \
  F(void, EVP_PKEY_free, (EVP_PKEY *))                                                                                   \
  F(EVP_PKEY_CTX *, EVP_PKEY_CTX_new, (EVP_PKEY *, void *))                                                              \
  F(void, EVP_PKEY_CTX_free, (EVP_PKEY_CTX *))                                                                           \
  F(int, EVP_PKEY_derive_init, (EVP_PKEY_CTX *))                                                                         \
  F(int, EVP_PKEY_derive_set_peer, (EVP_PKEY_CTX *, EVP_PKEY *))                                                         \
  F(int, EVP_PKEY_derive, (EVP_PKEY_CTX *, uint8_t *, size_t *))                                                         \
  F(int, EVP_PKEY_check, (EVP_PKEY_CTX *))                                                                               \
  F(int, EVP_PKEY_sign_init, (EVP_PKEY_CTX *))                                                                           \
  F(int, EVP_PKEY_sign, (EVP_PKEY_CTX *, uint8_t *, size_t *, const uint8_t *, size_t))                                  \
  F(int, EVP_PKEY_verify_init, (EVP_PKEY_CTX *))                                                                         \
  F(int, EVP_PKEY_verify, (EVP_PKEY_CTX *, const uint8_t *, size_t, const uint8_t *, size_t))                            \
  F(EVP_MD_CTX *, EVP_MD_CTX_new, (void))                                                                                \
  F(void, EVP_MD_CTX_free, (EVP_MD_CTX *))                                                                               \
  F(int, EVP_DigestSignInit, (EVP_MD_CTX *, void *, const EVP_MD *, void *, EVP_PKEY *))                                 \
  F(int, EVP_DigestSign, (EVP_MD_CTX *, uint8_t *, size_t *, const uint8_t *, size_t))                                   \
  F(int, EVP_DigestVerifyInit, (EVP_MD_CTX *, void *, const EVP_MD *, void *, EVP_PKEY *))                               \
  F(int, EVP_DigestVerify, (EVP_MD_CTX *, const uint8_t *, size_t, const uint8_t *, size_t))

#define DECLARE(result, name, parameters) static result(*name) parameters;
FUNCTIONS(DECLARE)

static bool is_loaded;

static void load(void) {
  void *library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
  is_loaded = library != NULL;
#define LOOK_UP(result, name, parameters) is_loaded = is_loaded && (name = dlsym(library, #name));
  FUNCTIONS(LOOK_UP)
}

static bool is_there(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return is_loaded;
}

size_t runtime_digest(const char *name, const void *data, size_t count, uint8_t *output) {
  const EVP_MD *digest = is_there() ? EVP_get_digestbyname(name) : NULL;
  unsigned length = 0;
  return digest && EVP_Digest(data ? data : "", count, output, &length, digest, NULL) == 1 ? length : 0;
}

size_t runtime_hmac(const char *name, const void *key, size_t key_count, const void *data, size_t count, uint8_t *output) {
  const EVP_MD *digest = is_there() ? EVP_get_digestbyname(name) : NULL;
  unsigned length = 0;
  return digest && HMAC(digest, key ? key : "", (int)key_count, data ? data : "", count, output, &length) ? length : 0;
}

bool runtime_aead(
    const char *name, bool encrypts, const void *key, const void *nonce, size_t nonce_count, const void *more, size_t more_count, const void *input,
    size_t count, uint8_t *output, uint8_t *tag) {
  const EVP_CIPHER *cipher = is_there() ? EVP_get_cipherbyname(name) : NULL;
  EVP_CIPHER_CTX *context = cipher && count < INT32_MAX && more_count < INT32_MAX ? EVP_CIPHER_CTX_new() : NULL;
  if (!context) return false;
  int length = 0;
  bool is_done = EVP_CipherInit_ex(context, cipher, NULL, NULL, NULL, encrypts) == 1
                 && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, (int)nonce_count, NULL) == 1
                 && EVP_CipherInit_ex(context, NULL, NULL, key, nonce, encrypts) == 1
                 && (encrypts || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, tag_count, tag) == 1)
                 && (more_count == 0 || EVP_CipherUpdate(context, NULL, &length, more, (int)more_count) == 1)
                 && (count == 0 || EVP_CipherUpdate(context, output, &length, input, (int)count) == 1)
                 && EVP_CipherFinal_ex(context, output + count, &length) == 1
                 && (!encrypts || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, tag_count, tag) == 1);
  EVP_CIPHER_CTX_free(context);
  return is_done;
}

// Reads a private key: PKCS #8, or SEC 1 for a NIST curve. libcrypto computes the public half if it is absent.
static EVP_PKEY *private_key(runtime_key key) {
  const uint8_t *at = key.der;
  return is_there() && key.count < INT32_MAX ? d2i_AutoPrivateKey(NULL, &at, (long)key.count) : NULL;
}

static EVP_PKEY *public_key(runtime_key key) {
  const uint8_t *at = key.der;
  return is_there() && key.count < INT32_MAX ? d2i_PUBKEY(NULL, &at, (long)key.count) : NULL;
}

// Writes a key, and releases it.
static size_t write_key(EVP_PKEY *key, int (*encode)(const EVP_PKEY *, uint8_t **), uint8_t *output) {
  if (!key) return 0;
  // A point may have been read in its compressed form, which would be kept.
  if (EVP_PKEY_get_base_id(key) == EVP_PKEY_EC) EVP_PKEY_set_utf8_string_param(key, "point-format", "uncompressed");
  int count = encode(key, NULL);
  bool fits = count > 0 && count <= runtime_maximum_key && encode(key, &output) == count;
  EVP_PKEY_free(key);
  return fits ? (size_t)count : 0;
}

size_t runtime_private_key(runtime_key key, uint8_t *output) {
  EVP_PKEY *parsed = private_key(key);
  EVP_PKEY_CTX *context = parsed ? EVP_PKEY_CTX_new(parsed, NULL) : NULL;
  bool is_valid = context && EVP_PKEY_check(context) == 1;
  if (context) EVP_PKEY_CTX_free(context);
  if (is_valid) return write_key(parsed, i2d_PrivateKey, output);
  if (parsed) EVP_PKEY_free(parsed);
  return 0;
}

size_t runtime_public_key(runtime_key key, uint8_t *output) { return write_key(public_key(key), i2d_PUBKEY, output); }

size_t runtime_public_half(runtime_key key, uint8_t *output) { return write_key(private_key(key), i2d_PUBKEY, output); }

size_t runtime_agree(runtime_key own_key, runtime_key other_key, uint8_t *secret) {
  EVP_PKEY *own = private_key(own_key), *other = public_key(other_key);
  EVP_PKEY_CTX *context = own && other ? EVP_PKEY_CTX_new(own, NULL) : NULL;
  size_t count = runtime_maximum_key;
  bool is_done = context && EVP_PKEY_derive_init(context) == 1 && EVP_PKEY_derive_set_peer(context, other) == 1
                 && EVP_PKEY_derive(context, secret, &count) == 1;
  if (context) EVP_PKEY_CTX_free(context);
  if (own) EVP_PKEY_free(own);
  if (other) EVP_PKEY_free(other);
  return is_done ? count : 0;
}

// Ed25519 signs the message itself, and has only these functions.
static bool sign_message(EVP_PKEY *key, const void *data, size_t count, uint8_t *signature, size_t *length) {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  bool is_done = context && EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1 && EVP_DigestSign(context, signature, length, data, count) == 1;
  if (context) EVP_MD_CTX_free(context);
  return is_done;
}

static bool verify_message(EVP_PKEY *key, const void *data, size_t count, const uint8_t *signature, size_t length) {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  bool is_valid = context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 && EVP_DigestVerify(context, signature, length, data, count) == 1;
  if (context) EVP_MD_CTX_free(context);
  return is_valid;
}

static bool sign_digest(EVP_PKEY *key, const void *digest, size_t count, uint8_t *signature, size_t *length) {
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(key, NULL);
  bool is_done = context && EVP_PKEY_sign_init(context) == 1 && EVP_PKEY_sign(context, signature, length, digest, count) == 1;
  if (context) EVP_PKEY_CTX_free(context);
  return is_done;
}

static bool verify_digest(EVP_PKEY *key, const void *digest, size_t count, const uint8_t *signature, size_t length) {
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(key, NULL);
  bool is_valid = context && EVP_PKEY_verify_init(context) == 1 && EVP_PKEY_verify(context, signature, length, digest, count) == 1;
  if (context) EVP_PKEY_CTX_free(context);
  return is_valid;
}

size_t runtime_sign(runtime_key own_key, const void *data, size_t count, uint8_t *signature) {
  EVP_PKEY *key = private_key(own_key);
  if (!key) return 0;
  size_t length = runtime_maximum_key;
  bool is_done = (EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 ? sign_message : sign_digest)(key, data ? data : "", count, signature, &length);
  EVP_PKEY_free(key);
  return is_done ? length : 0;
}

bool runtime_verify(runtime_key signer, const void *data, size_t count, const uint8_t *signature, size_t length) {
  EVP_PKEY *key = public_key(signer);
  if (!key) return false;
  bool is_valid = (EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 ? verify_message : verify_digest)(key, data ? data : "", count, signature, length);
  EVP_PKEY_free(key);
  return is_valid;
}

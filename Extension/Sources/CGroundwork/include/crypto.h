/// OpenSSL's algorithms, from the libcrypto that libcurl needs anyway.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Computes a digest. `name` is OpenSSL's, such as `SHA256`. `output` has room for 64 bytes.
///
/// - Returns: the length of the digest; 0 on failure.
size_t groundwork_digest(const char *_Nonnull name, const void *_Nullable data, size_t count, uint8_t *_Nonnull output);

/// Computes an HMAC (RFC 2104), as ``groundwork_digest``.
size_t groundwork_hmac(
    const char *_Nonnull name, const void *_Nullable key, size_t key_count, const void *_Nullable data, size_t count, uint8_t *_Nonnull output);

/// Encrypts or decrypts with authentication. `name` is OpenSSL's, such as `aes-256-gcm`. The output has as many bytes as the input. The tag of 16 bytes is
/// written when it encrypts, and checked when it decrypts.
bool groundwork_aead(
    const char *_Nonnull name, bool encrypts, const void *_Nonnull key, const void *_Nonnull nonce, size_t nonce_count, const void *_Nullable more,
    size_t more_count, const void *_Nullable input, size_t count, uint8_t *_Nonnull output, uint8_t *_Nonnull tag);

/// Computes the public key, of 32 bytes, of a private one. `signs` is for Ed25519, else X25519.
bool groundwork_public_key(bool signs, const uint8_t *_Nonnull private_key, uint8_t *_Nonnull public_key);

/// Computes the secret, of 32 bytes, that two keys of X25519 share.
bool groundwork_agree(const uint8_t *_Nonnull private_key, const uint8_t *_Nonnull public_key, uint8_t *_Nonnull secret);

/// Signs with Ed25519. The signature has 64 bytes.
bool groundwork_sign(const uint8_t *_Nonnull private_key, const void *_Nullable data, size_t count, uint8_t *_Nonnull signature);

/// Whether an Ed25519 signature of 64 bytes is valid.
bool groundwork_verify(const uint8_t *_Nonnull public_key, const void *_Nullable data, size_t count, const uint8_t *_Nonnull signature);

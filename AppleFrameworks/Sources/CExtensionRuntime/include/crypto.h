/// OpenSSL's algorithms, from the libcrypto that libcurl needs anyway.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Computes a digest. `name` is OpenSSL's, such as `SHA256`. `output` has room for 64 bytes.
///
/// - Returns: the length of the digest; 0 on failure.
size_t runtime_digest(const char *_Nonnull name, const void *_Nullable data, size_t count, uint8_t *_Nonnull output);

/// Computes an HMAC (RFC 2104), as ``runtime_digest``.
size_t runtime_hmac(
    const char *_Nonnull name, const void *_Nullable key, size_t key_count, const void *_Nullable data, size_t count, uint8_t *_Nonnull output);

/// Encrypts or decrypts with authentication. `name` is OpenSSL's, such as `aes-256-gcm`. The output has as many bytes as the input. The tag of 16 bytes is
/// written when it encrypts, and checked when it decrypts.
bool runtime_aead(
    const char *_Nonnull name, bool encrypts, const void *_Nonnull key, const void *_Nonnull nonce, size_t nonce_count, const void *_Nullable more,
    size_t more_count, const void *_Nullable input, size_t count, uint8_t *_Nonnull output, uint8_t *_Nonnull tag);

/// A key in DER: a public one as SubjectPublicKeyInfo (RFC 5280), a private one as PKCS #8 (RFC 5208) or, for a NIST curve, SEC 1 (RFC 5915).
typedef struct {
  const uint8_t *_Nonnull der;
  size_t count;
} runtime_key;

/// The room, in bytes, for a key in DER, a secret or a signature.
enum { runtime_maximum_key = 512 };

/// Checks a private key of a NIST curve.
///
/// - Parameter output: receives the key as SEC 1.
/// - Returns: the number of bytes; 0 if it is no valid key.
size_t runtime_private_key(runtime_key key, uint8_t *_Nonnull output);

/// Checks a public key.
///
/// - Parameter output: receives the key in DER. The point of a NIST curve, at its end, is not compressed.
/// - Returns: the number of bytes; 0 if it is no valid key.
size_t runtime_public_key(runtime_key key, uint8_t *_Nonnull output);

/// Computes the public key of a private one, as ``runtime_public_key`` writes it.
size_t runtime_public_half(runtime_key key, uint8_t *_Nonnull output);

/// Computes the secret that two keys of one curve share.
///
/// - Returns: the number of bytes; 0 on failure.
size_t runtime_agree(runtime_key own_key, runtime_key other_key, uint8_t *_Nonnull secret);

/// Signs the message itself with Ed25519, or a digest with a NIST curve (ECDSA, whose signature is in DER).
///
/// - Returns: the number of bytes; 0 on failure.
size_t runtime_sign(runtime_key own_key, const void *_Nullable data, size_t count, uint8_t *_Nonnull signature);

/// Whether a signature as ``runtime_sign`` makes it is valid.
bool runtime_verify(runtime_key signer, const void *_Nullable data, size_t count, const uint8_t *_Nonnull signature, size_t length);

/// An error of OpenSSL 3, parsed from libcurl's error text: `error:0A000410:SSL routines::…`.
struct OpenSSLError: Equatable {
  /// The part of OpenSSL that reports the error; 20 is TLS (ERR_LIB_SSL).
  var library: UInt32
  /// The reason code of sslerr.h. A code of 1000 or more is an alert from the peer: 1000 plus its
  /// number (RFC 8446, 6).
  var reason: UInt32

  private static let tls: UInt32 = 20

  init(library: UInt32 = tls, reason: UInt32) {
    (self.library, self.reason) = (library, reason)
  }

  /// - Returns: nil for a text without an error number.
  init?(in text: String) {
    guard let start = text.firstRange(of: "error:")?.upperBound, let number = UInt32(text[start...].prefix(8), radix: 16) else {
      return nil
    }
    self.init(library: number >> 23 & 0xFF, reason: number & 0x7F_FFFF)
  }

  /// What the error means for a handshake.
  var meaning: Reason {
    if self == Self.shortKey { return .tlsVersion }
    guard library == Self.tls else { return .tlsHandshake }
    if Self.noCommonGround.contains(reason) { return .tlsVersion }
    return reason == Self.unrecognisedName ? .tlsHost : .tlsHandshake
  }

  /// Whether the peer closed the connection during the handshake without an alert.
  var isUnanswered: Bool {
    self == OpenSSLError(reason: 294)
  }

  /// Whether the peer requests a client certificate. With TLS 1.3, it reports this only after the
  /// handshake.
  var asksForCertificate: Bool {
    self == OpenSSLError(reason: 1116)
  }

  /// A Diffie-Hellman group of fewer than 512 bits: DH_R_MODULUS_TOO_SMALL of ERR_LIB_DH.
  private static let shortKey = OpenSSLError(library: 5, reason: 126)

  private static let unrecognisedName: UInt32 = 1112

  /// The two sides share no version, cipher, group or signature, or no safe one.
  private static let noCommonGround: Set<UInt32> = [
    1040,  // alert handshake_failure
    1070,  // alert protocol_version
    1071,  // alert insufficient_security
    102,  // BAD_DH_VALUE
    118,  // NO_SUITABLE_SIGNATURE_ALGORITHM
    166,  // VERSION_TOO_HIGH
    181,  // NO_CIPHERS_AVAILABLE
    191,  // NO_PROTOCOLS_AVAILABLE
    193,  // NO_SHARED_CIPHER
    241,  // INSUFFICIENT_SECURITY
    248,  // UNKNOWN_CIPHER_RETURNED
    254,  // UNKNOWN_SSL_VERSION
    258,  // UNSUPPORTED_PROTOCOL
    261,  // WRONG_CIPHER_RETURNED
    266,  // WRONG_SSL_VERSION
    315,  // UNSUPPORTED_ELLIPTIC_CURVE
    333,  // LEGACY_SIGALG_DISALLOWED_OR_UNSUPPORTED
    338,  // UNSAFE_LEGACY_RENEGOTIATION_DISABLED
    370,  // WRONG_SIGNATURE_TYPE
    378,  // WRONG_CURVE
    394,  // DH_KEY_TOO_SMALL
    396,  // VERSION_TOO_LOW
    410,  // NO_SHARED_GROUPS
  ]
}

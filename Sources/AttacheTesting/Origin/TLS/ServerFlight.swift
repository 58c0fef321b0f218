/// The first flight of a TLS 1.2 server, built byte by byte (RFC 5246, 7.4). It contains messages
/// that no library would send.
struct ServerFlight {
  /// TLS_RSA_WITH_NULL_SHA256 and TLS_DHE_RSA_WITH_AES_128_GCM_SHA256.
  private static let (nullCipher, ephemeralCipher): ([UInt8], [UInt8]) = ([0x00, 0x3B], [0x00, 0x9E])

  private(set) var bytes: [UInt8] = []

  /// Selects a cipher that does not encrypt, regardless of the client's offer.
  static var withoutEncryption: ServerFlight {
    var flight = ServerFlight()
    flight.sayHello(nullCipher)
    return flight
  }

  /// Offers a Diffie-Hellman group of 480 bits.
  ///
  /// - Parameter leaf: a certificate for ``strangersKey``, in DER form.
  static func withShortKey(_ leaf: [UInt8]) -> ServerFlight {
    var flight = ServerFlight()
    flight.sayHello(ephemeralCipher)
    flight.say(11, counted(3, counted(3, leaf)))
    let prime = [UInt8](repeating: 0xFF, count: 60)
    // The group's prime, its generator and the server's share; then a signature (RSA, SHA-256) that
    // the client does not need to verify.
    let share = counted(2, prime) + counted(2, [2]) + counted(2, [UInt8](repeating: 0x55, count: 60))
    flight.say(12, share + [0x04, 0x01] + counted(2, [UInt8](repeating: 0x01, count: 256)))
    flight.say(14, [])
    return flight
  }

  /// Adds a ServerHello: the version, a random number, no session, the cipher, no compression, and
  /// secure renegotiation (RFC 5746).
  private mutating func sayHello(_ cipher: [UInt8]) {
    let random = [UInt8](repeating: 0x2A, count: 32)
    say(2, [0x03, 0x03] + random + [0] + cipher + [0] + Self.counted(2, [0xFF, 0x01, 0x00, 0x01, 0x00]))
  }

  /// Adds a handshake message in its own record.
  private mutating func say(_ type: UInt8, _ body: [UInt8]) {
    bytes += [0x16, 0x03, 0x03] + Self.counted(2, [type] + Self.counted(3, body))
  }

  /// Returns bytes preceded by their length, which takes `width` bytes.
  private static func counted(_ width: Int, _ body: [UInt8]) -> [UInt8] {
    (0..<width).map { UInt8(truncatingIfNeeded: body.count >> (8 * (width - 1 - $0))) } + body
  }

  /// An RSA public key whose private key was discarded.
  static let strangersKey = """
    -----BEGIN PUBLIC KEY-----
    MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA2pxaXSfg38HxdaqjiK7g
    n84TV53JiEMpCme5lqAZgg0AFAqWE431EmH3+LdWcqBjAL3AabmZXJCX2vJQCMKx
    znnSldz9xCdVfHg8E1/5P7Zb4z6uuIh2ZGAvXL/rnZpjBiscLmcDXgFwHQsS7Kqt
    q5+PkOiQRJJf6GPw5z+ITTqqqTj7xrtuh5emEuEPpcMdrC7sJUavVQHMwI2RHBIu
    ZjeTGDB5fXRXsGCkmLtO2nU8IzZCgLBC9Smq4ku0vkZQ0uVLmtm1btiZJUsZu6cD
    E3cxhdM5EXKnPOXsmXkpiXqk7g62FQ2nuOtcbuZoWD8eYx9bmoEBr2UgjrdG2EtA
    iwIDAQAB
    -----END PUBLIC KEY-----
    """
}

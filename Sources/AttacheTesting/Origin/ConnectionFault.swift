/// A fault of a whole origin that occurs before any request is read.
public enum ConnectionFault: Sendable, Hashable {
  /// Accepts connections, reads, and never sends anything: a TLS handshake or a request stalls.
  case silence
  /// Resets each connection (TCP RST) when the client's first bytes arrive. An earlier reset would
  /// hit either the connection attempt or the request, depending on timing.
  case reset
  /// Sends everything, including the handshake, in pieces of this many bytes.
  case drip(bytes: Int, every: Duration)
  /// Answers a ClientHello by selecting a cipher without encryption; requires TLS.
  case nullCipher
  /// Answers a ClientHello with a Diffie-Hellman group of 480 bits; requires TLS.
  case shortKey
  /// Selects `h2` in ALPN and then speaks HTTP/1; requires TLS.
  case falseProtocol
}

/// One misbehaviour of a whole origin, before any request is read.
public enum ConnectionFault: Sendable, Hashable {
  /// Accepts connections, reads what comes and never says a word: a TLS handshake stalls, and so
  /// does a request.
  case silence
  /// Breaks each connection with a TCP RST at the client's first bytes. A reset before them would
  /// meet the connection or the request, as time has it.
  case reset
  /// Sends everything, the handshake first, in pieces of so many bytes.
  case drip(bytes: Int, every: Duration)
  /// Answers a ClientHello by picking a cipher without encryption; needs TLS.
  case nullCipher
  /// Answers a ClientHello with a Diffie-Hellman group of 480 bits; needs TLS.
  case shortKey
  /// Takes `h2` of what ALPN offers, and then speaks HTTP/1; needs TLS.
  case falseProtocol
}

/// One misbehaviour of a whole origin, before any request is read.
public enum ConnectionFault: Sendable, Hashable {
  /// Accepts connections, reads what comes and never says a word: a TLS handshake stalls, and so does a request.
  case silence
  /// Breaks each connection with a TCP RST at the client's first bytes. A reset before them would meet the connection or the request, as time has it.
  case reset
}

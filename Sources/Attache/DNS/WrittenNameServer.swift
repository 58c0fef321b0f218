/// The text of a name server with its port: `127.0.0.1:5353` or `[::1]:5353`.
package enum WrittenNameServer {
  package static func isValid(_ text: String) -> Bool {
    WrittenEndpoint(text).map { $0.port > 0 } ?? false
  }
}

import Glibc
import Testing

@testable import Attache

/// An origin that answers each request with the same bytes, whatever they mean, and then with a
/// piece without end if there is one.
final class RawOrigin {
  let url: String
  private let descriptor: Int32

  init(_ answer: [UInt8], thenForEver piece: [UInt8] = []) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let codes = unsafe withUnsafeMutablePointer(to: &name) { name in
      unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        [unsafe bind(descriptor, name, length), listen(descriptor, 16), unsafe getsockname(descriptor, name, &length)]
      }
    }
    try #require(codes == [0, 0, 0])
    self.descriptor = descriptor
    url = "http://127.0.0.1:\(UInt16(bigEndian: name.sin_port))/a"
    try Thread.start("raw origin") {
      while case let connection = accept(descriptor, nil, nil), connection >= 0 {
        Self.serve(connection, answer, piece)
        close(connection)
      }
    }.detach()
  }

  deinit {
    // Wakes the thread from accept.
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
  }

  private static func serve(_ connection: Int32, _ answer: [UInt8], _ piece: [UInt8]) {
    var request = [UInt8](repeating: 0, count: 4096)
    guard unsafe recv(connection, &request, request.count, 0) > 0 else { return }
    guard unsafe send(connection, answer, answer.count, Int32(MSG_NOSIGNAL)) == answer.count, !piece.isEmpty else { return }
    while unsafe send(connection, piece, piece.count, Int32(MSG_NOSIGNAL)) > 0 {}
  }
}

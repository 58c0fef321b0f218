import Glibc

@testable import Attache

/// An origin that answers each request with the same raw bytes, and then repeats another piece
/// forever, if there is one.
final class RawOrigin {
  let url: String
  private let socket: LoopbackSocket

  init(_ answer: [UInt8], thenForEver piece: [UInt8] = []) throws {
    socket = try LoopbackSocket(backlog: 16)
    url = "http://127.0.0.1:\(socket.port)/a"
    // The thread keeps the socket open: another socket with its number would get this one's answers.
    try Thread.start("raw origin") { [socket] in
      while case let connection = accept(socket.descriptor, nil, nil), connection >= 0 {
        Self.serve(connection, answer, piece)
        close(connection)
      }
    }.detach()
  }

  deinit {
    // Wakes the thread that waits in accept.
    shutdown(socket.descriptor, Int32(SHUT_RDWR))
  }

  private static func serve(_ connection: Int32, _ answer: [UInt8], _ piece: [UInt8]) {
    var request = [UInt8](repeating: 0, count: 4096)
    guard unsafe recv(connection, &request, request.count, 0) > 0 else { return }
    guard unsafe send(connection, answer, answer.count, Int32(MSG_NOSIGNAL)) == answer.count, !piece.isEmpty else { return }
    while unsafe send(connection, piece, piece.count, Int32(MSG_NOSIGNAL)) > 0 {}
  }
}

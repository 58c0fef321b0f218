import Attache
import Foundation
import Glibc

/// Sends raw requests to a server on loopback.
enum LoopbackClient {
  struct Answer {
    var status: Int
    var head: String
    var body: String
  }

  /// Sends a request and reads to the end.
  static func ask(_ port: UInt16, _ path: String, method: String = "GET", fields: [String] = []) async throws -> Answer {
    let lines = ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1", "Connection: close"] + fields
    let text = try await send(lines.joined(separator: "\r\n") + "\r\n\r\n", to: port)
    let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
    let words = parts[0].split(separator: " ")
    return Answer(status: words.count > 1 ? Int(words[1]) ?? 0 : 0, head: String(parts[0]), body: parts.count > 1 ? String(parts[1]) : "")
  }

  /// Repeats the request until the response satisfies the condition.
  static func ask(_ port: UInt16, _ path: String, until isSo: (Answer) -> Bool) async throws -> Answer {
    while true {
      let answer = try await ask(port, path)
      if isSo(answer) { return answer }
      try Task.checkCancellation()
    }
  }

  private static func send(_ request: String, to port: UInt16) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      Foundation.Thread.detachNewThread { continuation.resume(with: Result { try exchange(request, port) }) }
    }
  }

  /// Connects, and sends nothing. The caller closes the descriptor.
  static func connect(to port: UInt16) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else {
      let error = SystemError(call: "connect", number: errno)
      close(descriptor)
      throw error
    }
    return descriptor
  }

  private static func exchange(_ request: String, _ port: UInt16) throws -> String {
    let descriptor = try connect(to: port)
    defer { close(descriptor) }
    let bytes = Array(request.utf8)
    _ = unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    var (answer, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
    while true {
      let count = unsafe read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return String(decoding: answer, as: UTF8.self) }
      answer += buffer[..<count]
    }
  }
}

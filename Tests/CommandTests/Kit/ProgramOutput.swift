import Foundation
import Glibc

/// The output of a program through a pipe.
final class ProgramOutput: Sendable {
  struct State: Sendable {
    var bytes: [UInt8] = []
    var lineFeeds = 0
    var isEnded = false
  }

  private let state: Watched<State>

  /// - Parameter descriptor: the read end, closed at its end; -1 for an output that has ended.
  init(_ descriptor: Int32) {
    state = Watched(State(isEnded: descriptor < 0))
    guard descriptor >= 0 else { return }
    Thread.detachNewThread { [state] in Self.read(descriptor, into: state) }
  }

  var bytes: [UInt8] { state.read(\.bytes) }

  /// The whole lines so far, without their line feeds.
  var lines: [String] {
    String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }

  /// Returns when the output satisfies the condition or has ended.
  func wait(until isSatisfied: @escaping @Sendable (State) -> Bool) async {
    await state.wait { isSatisfied($0) || $0.isEnded }
  }

  func everything() async -> [UInt8] {
    await state.wait { $0.isEnded }
    return bytes
  }

  private static func read(_ descriptor: Int32, into state: Watched<State>) {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      // read(2) fails with EIO on a terminal whose other side is closed.
      guard count > 0 else { break }
      let piece = buffer[..<count]
      let lineFeeds = unsafe piece.withUnsafeBytes { unsafe countLineFeeds($0) }
      state.change { state in
        state.bytes += piece
        state.lineFeeds += lineFeeds
      }
    }
    close(descriptor)
    state.change { $0.isEnded = true }
  }
}

/// Counts with memchr(3), since the output can be megabytes.
private func countLineFeeds(_ bytes: UnsafeRawBufferPointer) -> Int {
  var (count, rest) = (0, unsafe bytes)
  while let start = rest.baseAddress, let found = unsafe memchr(start, 10, rest.count) {
    count += 1
    unsafe rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(UnsafeRawPointer(found) - start + 1))
  }
  return count
}

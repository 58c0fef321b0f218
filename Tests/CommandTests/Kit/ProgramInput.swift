import Foundation
import Glibc

/// A program's standard input.
final class ProgramInput: Sendable {
  private struct State: Sendable {
    var pending: [[UInt8]] = []
    var isClosed = false
    var isWriting = false
  }

  private let descriptor: Int32
  private let state = Watched(State())

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit {
    // A write in progress retains this object, so the descriptor can be closed now.
    if !state.read(\.isClosed), descriptor >= 0 { Glibc.close(descriptor) }
  }

  /// Writes in order, without blocking the test.
  func write(_ bytes: [UInt8]) {
    let starts = state.change { state in
      state.pending.append(bytes)
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if starts { Thread.detachNewThread { [self] in writePending() } }
  }

  func write(_ text: String) {
    write(Array(text.utf8))
  }

  /// Ends the input once everything is written.
  func close() {
    let isIdle = state.change { state in
      defer { state.isClosed = true }
      return !state.isWriting && !state.isClosed
    }
    if isIdle, descriptor >= 0 { Glibc.close(descriptor) }
  }

  private func writePending() {
    while let bytes = next() {
      var offset = 0
      while offset < bytes.count {
        let count = unsafe bytes.withUnsafeBytes {
          unsafe Glibc.write(descriptor, $0.baseAddress?.advanced(by: offset), bytes.count - offset)
        }
        guard count > 0 else { break }
        offset += count
      }
    }
  }

  /// The next bytes to write; nil if there are none, and then this thread ends.
  private func next() -> [UInt8]? {
    let (bytes, closes) = state.change { state -> ([UInt8]?, Bool) in
      guard state.pending.isEmpty else { return (state.pending.removeFirst(), false) }
      state.isWriting = false
      return (nil, state.isClosed)
    }
    if closes { Glibc.close(descriptor) }
    return bytes
  }
}

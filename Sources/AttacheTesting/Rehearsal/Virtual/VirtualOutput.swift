internal import Attache
internal import Glibc
internal import Synchronization

/// The output file of a filter on a simulated machine, and the arrival times of its lines.
final class VirtualOutput: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    var arrivals: [MonotonicInstant] = []
  }

  let descriptor: Int32
  private let state = Mutex(State())

  init(at path: String) throws(StageError) {
    descriptor = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system(call: "open", errno: errno) }
  }

  deinit {
    close(descriptor)
  }

  /// The arrival time of each line.
  var arrivals: [MonotonicInstant] {
    state.withLock { $0.arrivals }
  }

  /// The bytes that the last ``look(at:)`` saw.
  var bytes: [UInt8] {
    state.withLock { $0.bytes }
  }

  /// Reads what was written since the last call.
  func look(at now: MonotonicInstant) {
    state.withLock { state in
      var piece = [UInt8](repeating: 0, count: 4096)
      while case let count = unsafe pread(descriptor, &piece, piece.count, state.bytes.count), count > 0 {
        state.bytes += piece[..<count]
        state.arrivals += Array(repeating: now, count: piece[..<count].count { $0 == UInt8(ascii: "\n") })
      }
    }
  }
}

internal import Attache
internal import Glibc
internal import Synchronization

/// The output file of a filter on a simulated machine, and the arrival times of its lines.
final class VirtualOutput: Sendable {
  private struct State {
    var size = 0
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

  var bytes: [UInt8] {
    read(from: 0)
  }

  /// Reads the lines written since the last call.
  func look(at now: MonotonicInstant) {
    state.withLock { state in
      let piece = read(from: state.size)
      state.size += piece.count
      let lines = piece.count { $0 == UInt8(ascii: "\n") }
      state.arrivals += Array(repeating: now, count: lines)
    }
  }

  private func read(from offset: Int) -> [UInt8] {
    var (bytes, piece): ([UInt8], [UInt8]) = ([], Array(repeating: 0, count: 4096))
    while true {
      let count = unsafe pread(descriptor, &piece, piece.count, offset + bytes.count)
      guard count > 0 else { return bytes }
      bytes += piece[..<count]
    }
  }
}

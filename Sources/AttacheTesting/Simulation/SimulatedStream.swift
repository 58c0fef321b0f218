internal import Attache

/// One end of a connection between two threads of a simulation, in memory. The other end takes
/// whatever is sent.
final class SimulatedStream: ByteStream {
  /// What was sent to an end and not read yet.
  struct Inbox: Sendable {
    var bytes: [UInt8] = []
    /// Whether the other end is closed.
    var isOver = false
    var reader: SimulatedWakeSignal?
  }

  let descriptor: Int32
  private let other: Int32
  private let simulation: Simulation

  init(_ descriptor: Int32, to other: Int32, _ simulation: Simulation) {
    (self.descriptor, self.other, self.simulation) = (descriptor, other, simulation)
  }

  deinit {
    simulation.close(descriptor, of: other)
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Int? {
    unsafe simulation.deliver(bytes, to: other) ? bytes.count : nil
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    guard let bytes = simulation.take(atMost: buffer.count, from: descriptor) else { return nil }
    unsafe buffer.copyBytes(from: bytes)
    return bytes.count
  }
}

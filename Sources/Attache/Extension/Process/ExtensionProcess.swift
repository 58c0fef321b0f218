internal import Glibc

/// A process in which a service extension runs. On the loop only.
final class ExtensionProcess {
  /// The most that waits to be read by the process, in bytes: several payloads of the longest kind.
  private static let maximumUnsent = 16 << 20
  private static let pageSize = sysconf(Int32(_SC_PAGESIZE))

  let number: Int
  let child: ChildProcess
  let start: MonotonicInstant
  /// The bytes that are read of the process's output in each interval.
  private static let outputPortion = 128 << 10
  static let outputInterval = Duration.milliseconds(250)
  private var outputStart = MonotonicInstant.distantPast
  private var outputCount = 0
  private var stream: FrameStream
  /// The calls that are not finished, by number.
  var calls: [UInt64: ExtensionCall] = [:]
  var isReady = false
  /// Whether it was ended, or has ended.
  var isEnded = false
  /// Whether it gets no further call, and ends with its last one.
  var isRetiring = false
  /// Why the host ends it; nil while it runs, or if it ends by itself.
  var verdict: Reason?
  /// The URLs of the transfers under way, by number.
  var transfers: [Int: UntrustedText] = [:]
  /// The most anonymous memory that was seen, in bytes.
  private(set) var peakMemory = 0

  var socket: Int32 { stream.descriptor }
  var process: StartedProcess { child.process }

  init(number: Int, child: ChildProcess, stream: SocketStream, start: MonotonicInstant) {
    (self.number, self.child, self.start) = (number, child, start)
    self.stream = FrameStream(stream, maximumFrame: ExtensionFrame.maximumBytes)
  }

  /// The number of calls without an answer.
  var load: Int { calls.values.count { !$0.isEnded } }

  /// Sends a frame as far as the process accepts it at the moment.
  ///
  /// - Returns: false if the process is gone or does not read.
  func send(on loop: EventLoop, _ content: (inout [UInt8]) -> Void, _ receive: @escaping () -> Void) -> Bool {
    stream.gather(content)
    return flush(on: loop, receive)
  }

  func flush(on loop: EventLoop, _ receive: @escaping () -> Void) -> Bool {
    guard (try? stream.flush()) != nil, stream.unsentBytes <= Self.maximumUnsent else { return false }
    if let interest = stream.changedInterest() { loop.watch(stream.descriptor, for: interest) { _, _ in receive() } }
    return true
  }

  func receive(_ take: (ArraySlice<UInt8>) throws(FrameStream.Fault) -> Void) throws(FrameStream.Fault) -> Bool {
    try stream.receive(take)
  }

  /// Passes on what the process has printed, once.
  ///
  /// - Returns: how many bytes there were; nil at the end.
  func readOutput(_ print: (ArraySlice<UInt8>) -> Void) -> Int? {
    guard let bytes = child.read() else { return nil }
    outputCount += bytes.count
    if !bytes.isEmpty { print(bytes[...]) }
    return bytes.count
  }

  /// Whether so much was read in this interval that the rest must wait for the next.
  func hasPrintedMuch(at now: MonotonicInstant) -> Bool {
    if outputStart == .distantPast || outputStart.duration(to: now) >= Self.outputInterval { (outputStart, outputCount) = (now, 0) }
    return outputCount >= Self.outputPortion
  }

  /// Reads the process's anonymous memory: what is resident and shared with no file.
  ///
  /// - Returns: nil if it cannot be read.
  func readMemory() -> Int? {
    guard let bytes = try? SmallFile.read("/proc/\(process.identifier)/statm", maximum: 256) else { return nil }
    let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
    guard fields.count > 2, let resident = Int(fields[1]), let shared = Int(fields[2]) else { return nil }
    let memory = max(0, resident - shared) * Self.pageSize
    peakMemory = max(peakMemory, memory)
    return memory
  }
}

internal import Glibc

/// A process in which a service extension runs. On the loop only.
final class ExtensionProcess {
  /// The most that waits to be read by the process, in bytes: several payloads of the longest kind.
  private static let maximumUnsent = 16 << 20
  private static let pageSize = sysconf(Int32(_SC_PAGESIZE))

  let number: Int
  let process: StartedProcess
  let start: MonotonicInstant
  /// The bytes that are read of the process's output in each interval.
  private static let outputPortion = 128 << 10
  static let outputInterval = Duration.milliseconds(250)
  private var outputStart = MonotonicInstant.distantPast
  private var outputCount = 0
  /// The end of the pipe from which the process's output is read; -1 once it has ended.
  private(set) var output: Int32
  private var stream: FrameStream
  private var isAwaitingRoom = false
  /// The calls that are not finished, by number.
  var calls: [UInt64: ExtensionCall] = [:]
  var isReady = false
  /// Whether it was ended, or has ended.
  var isEnded = false
  /// When it was ended; until then, the distant future.
  var endInstant = MonotonicInstant.distantFuture
  /// Whether it gets no further call, and ends with its last one.
  var isRetiring = false
  /// Why the host ends it; nil while it runs, or if it ends by itself.
  var verdict: Reason?
  /// The URLs of the transfers under way, by number.
  var transfers: [Int: UntrustedText] = [:]
  /// The most anonymous memory that was seen, in bytes.
  private(set) var peakMemory = 0

  var socket: Int32 { stream.descriptor }

  init(number: Int, process: StartedProcess, socket: Int32, output: Int32, start: MonotonicInstant) {
    (self.number, self.process, self.output, self.start) = (number, process, output, start)
    stream = FrameStream(SocketStream(socket), maximumFrame: ExtensionFrame.maximumBytes)
  }

  /// The number of calls without an answer.
  var load: Int { calls.values.count { !$0.isEnded } }

  /// Sends a frame as far as the process accepts it at the moment.
  ///
  /// - Returns: false if the process is gone or does not read.
  func send(on loop: EventLoop, _ append: (inout [UInt8]) -> Void, _ receive: @escaping () -> Void) -> Bool {
    stream.gather(append)
    return flush(on: loop, receive)
  }

  func flush(on loop: EventLoop, _ receive: @escaping () -> Void) -> Bool {
    guard (try? stream.flush()) != nil, stream.unsentBytes <= Self.maximumUnsent else { return false }
    watch(on: loop, receive)
    return true
  }

  private func watch(on loop: EventLoop, _ receive: @escaping () -> Void) {
    let needsRoom = stream.unsentBytes > 0
    guard needsRoom != isAwaitingRoom else { return }
    isAwaitingRoom = needsRoom
    watchAgain(on: loop, receive)
  }

  func watchAgain(on loop: EventLoop, _ receive: @escaping () -> Void) {
    loop.watch(stream.descriptor, for: isAwaitingRoom ? [.readable, .writable] : .readable) { _, _ in receive() }
  }

  func receive(_ take: (ArraySlice<UInt8>) throws(FrameStream.Fault) -> Void) throws(FrameStream.Fault) -> Bool {
    try stream.receive(take)
  }

  deinit {
    closeOutput()
  }

  /// What a read of the output gave.
  enum OutputRead {
    case bytes, nothing, ended
  }

  /// Reads what the process has printed, once.
  func readOutput(_ print: (ArraySlice<UInt8>) -> Void) -> OutputRead {
    guard output >= 0 else { return .ended }
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(output, $0.baseAddress, $0.count) }
    if count > 0 {
      outputCount += count
      print(buffer[..<count])
      return .bytes
    }
    return count < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .ended
  }

  /// Whether so much was read in this interval that the rest must wait for the next.
  func hasPrintedMuch(at now: MonotonicInstant) -> Bool {
    if outputStart == .distantPast || outputStart.duration(to: now) >= Self.outputInterval { (outputStart, outputCount) = (now, 0) }
    return outputCount >= Self.outputPortion
  }

  func closeOutput() {
    if output >= 0 { close(output) }
    output = -1
  }

  /// Reads the process's anonymous memory: what is resident and shared with no file.
  ///
  /// - Returns: nil if it cannot be read.
  func readMemory() -> Int? {
    guard let bytes = try? SmallFile.read("/proc/\(process.identifier)/statm", maximum: 256) else { return nil }
    let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
    guard fields.count > 2, let resident = Int(fields[1]), let shared = Int(fields[2]) else { return nil }
    let memory = max(0, resident - shared) * pageSize
    peakMemory = max(peakMemory, memory)
    return memory
  }

  private var pageSize: Int { Self.pageSize }
}

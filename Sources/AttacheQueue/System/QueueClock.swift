internal import CLinux
internal import Glibc

/// The clocks that a queue on this machine uses.
public protocol QueueClock: Sendable {
  /// The wall clock time since 1970. It may jump. The queue uses it only for times that a sender
  /// wrote or that people read.
  var wall: Duration { get }
  /// The time since the machine started, without suspension. It is the same for all processes of
  /// the machine and never jumps. Threads wait by the same clock, so after a suspension leases and
  /// workers agree about the time that has passed.
  var uptime: Duration { get }
  /// Identifies a start of the machine. An ``uptime`` of another start is meaningless, except that
  /// its process has gone.
  var boot: String { get }
}

/// The machine's own clocks.
public struct SystemQueueClock: QueueClock {
  /// The kernel's boot identifier; empty when /proc is not available.
  public let boot: String

  /// Creates a clock and reads the boot identifier.
  public init() {
    boot = Self.bootIdentifier
  }

  /// `CLOCK_REALTIME`.
  public var wall: Duration { Self.time(of: CLOCK_REALTIME) }

  /// `CLOCK_MONOTONIC`.
  public var uptime: Duration { Self.time(of: CLOCK_MONOTONIC) }

  private static func time(of clock: Int32) -> Duration {
    var time = linux_time()
    unsafe linux_clock_gettime(clock, &time)
    return .seconds(time.seconds) + .nanoseconds(time.nanoseconds)
  }

  /// A random text that stays the same until the machine starts again: random(4), "/proc
  /// interfaces". Empty when /proc is not available.
  private static var bootIdentifier: String {
    let file = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 36)
    let count = unsafe read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }
}

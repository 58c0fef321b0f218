internal import CLinux
internal import Glibc

/// What a queue of this machine measures time by.
public protocol QueueClock: Sendable {
  /// The wall clock, since 1970. It may jump: only what a sender wrote, and what people read, is
  /// compared to it.
  var wall: Duration { get }
  /// Since the machine was started, suspension excluded: the same for every process of the machine,
  /// and it never jumps. Threads wait by the same clock, so a machine that was suspended finds its
  /// leases as old as its workers do.
  var uptime: Duration { get }
  /// Which start of the machine: an ``uptime`` of another one says nothing, except that whoever
  /// noted it is gone.
  var boot: String { get }
}

/// The machine's own clocks.
public struct SystemQueueClock: QueueClock {
  public let boot: String

  public init() {
    boot = Self.bootIdentifier
  }

  public var wall: Duration { Self.time(of: CLOCK_REALTIME) }

  public var uptime: Duration { Self.time(of: CLOCK_MONOTONIC) }

  private static func time(of clock: Int32) -> Duration {
    var time = linux_time()
    unsafe linux_clock_gettime(clock, &time)
    return .seconds(time.seconds) + .nanoseconds(time.nanoseconds)
  }

  /// random(4), "/proc interfaces": a random text that is the same until the machine is started
  /// again; empty where /proc is missing.
  private static var bootIdentifier: String {
    let file = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 36)
    let count = unsafe read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }
}

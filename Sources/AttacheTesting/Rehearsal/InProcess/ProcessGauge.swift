internal import FoundationEssentials
internal import Glibc
internal import Synchronization

/// Measures the growth of this process during a run: its resident set and its descriptors.
final class ProcessGauge: Sendable {
  private let memoryBefore: Int?
  private let descriptorsBefore: Int
  private let most = Mutex(0)

  /// Starts measuring growth from the current values.
  init() {
    // Writing 5 resets the peak of the resident set (proc(5), /proc/pid/clear_refs).
    let isReset = (try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))) != nil
    memoryBefore = isReset ? Self.status("VmRSS") : nil
    descriptorsBefore = Self.descriptors
  }

  /// Counts the descriptors.
  /// - Parameter others: the number of them that do not belong to the filter.
  func look(others: Int) {
    let count = Self.descriptors - descriptorsBefore - others
    most.withLock { $0 = max($0, count) }
  }

  /// The growth of the resident set at its peak, in bytes; nil when the kernel does not report it.
  var memory: Int? {
    guard let memoryBefore, let peak = Self.status("VmHWM") else { return nil }
    return max(0, peak - memoryBefore)
  }

  var descriptors: Int { most.withLock { $0 } }

  private static var descriptors: Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
  }

  /// Returns a value of /proc/self/status in bytes; the file has kB.
  private static func status(_ name: String) -> Int? {
    // Read directly, because a file of /proc has no size.
    let descriptor = unsafe open("/proc/self/status", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 16_384)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    let lines = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
    let words = lines.first { $0.hasPrefix("\(name):") }?.split { $0 == " " || $0 == "\t" } ?? []
    return words.count > 1 ? Int(words[1]).map { $0 * 1024 } : nil
  }
}

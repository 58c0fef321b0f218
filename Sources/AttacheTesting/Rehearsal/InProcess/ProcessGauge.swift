internal import FoundationEssentials
internal import Glibc
internal import Synchronization

/// Measures the growth of this process during a run: its resident set and its descriptors.
final class ProcessGauge: Sendable {
  private static let process = CommandProcess(number: getpid())

  private let memoryBefore: Int?
  private let descriptorsBefore = ProcessGauge.process.descriptors
  private let most = Mutex(0)

  /// Starts measuring growth from the current values.
  init() {
    // Writing 5 resets the peak of the resident set (proc(5), /proc/pid/clear_refs).
    let isReset = (try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))) != nil
    memoryBefore = isReset ? Self.process.memory("VmRSS") : nil
  }

  /// Counts the descriptors.
  /// - Parameter others: the number of them that do not belong to the filter.
  func look(others: Int) {
    let count = Self.process.descriptors - descriptorsBefore - others
    most.withLock { $0 = max($0, count) }
  }

  /// The growth of the resident set at its peak, in bytes; nil when the kernel does not report it.
  var memory: Int? {
    guard let memoryBefore, let peak = Self.process.memory("VmHWM") else { return nil }
    return max(0, peak - memoryBefore)
  }

  var descriptors: Int { most.withLock { $0 } }
}

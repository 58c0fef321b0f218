internal import Synchronization

/// The progress of a filter.
public struct Progress: Hashable, Sendable {
  /// The number of lines read.
  public var lines: Int
  /// The number of decided lines with attachments.
  public var attached: Int
  /// The number of decided lines that fell back to the original.
  public var fallback: Int
}

/// Counters for a progress line, updated by the threads that decide.
final class Counters: Sendable {
  private let lines = Atomic<Int>(0)
  private let attached = Atomic<Int>(0)
  private let fallback = Atomic<Int>(0)

  func note(lines count: Int) {
    lines.store(count, ordering: .relaxed)
  }

  func note(_ outcome: Outcome) {
    switch outcome {
    case .attached: attached.wrappingAdd(1, ordering: .relaxed)
    case .fallback: fallback.wrappingAdd(1, ordering: .relaxed)
    case .passthrough, .invalid: break
    }
  }

  var progress: Progress {
    Progress(
      lines: lines.load(ordering: .relaxed), attached: attached.load(ordering: .relaxed), fallback: fallback.load(ordering: .relaxed))
  }
}

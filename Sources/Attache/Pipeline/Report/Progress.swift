internal import Synchronization

/// How far a filter is.
public struct Progress: Hashable, Sendable {
  /// Lines read.
  public var lines: Int
  public var attached: Int
  public var fallback: Int
}

/// Counts for a progress line, kept by whoever decides.
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

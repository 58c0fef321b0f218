/// The caller's handle of a running fetch.
public struct FetchTicket: Sendable {
  let waiter: FetchWaiter

  /// The current record of the fetch.
  public var record: MediaRecord {
    waiter.record(ending: nil)
  }

  /// What the fetch waits for, or last waited for, in words; nil if it never waited.
  var awaited: String? { waiter.awaited }

  /// Whether the complete picture is being converted.
  var isConverting: Bool { waiter.isConverting }

  /// Ends the fetch for this caller: its completion is not called any more. A download without
  /// other waiters is cancelled.
  public func cancel() {
    waiter.cancel()
  }
}

extension FetchTicket {
  /// Returns the record of a fetch that did not finish. At the deadline, it says whether the picture
  /// was being converted, or what the fetch waited for, if that took half of the time.
  func record(endedBy reason: Reason) -> MediaRecord {
    var record = record
    record.reason = reason
    guard reason == .deadline else { return record }
    if isConverting {
      record.reason = .convertDeadline
    } else if let wait = record.timing.wait, let total = record.timing.total, wait * 2 >= total, let awaited {
      let tenths = Int(wait.milliseconds / 100)
      record.explanation = "waited \(tenths / 10).\(tenths % 10) s for \(awaited); raise that limit, or --deadline"
    }
    return record
  }
}

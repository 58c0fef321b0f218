internal import Attache

/// Counts silent pushes per device, if the envelopes contain device and time.
struct SilentRate {
  /// Apple's limit is "two or three per hour", so more than three are too many.
  ///
  /// Source:
  /// https://developer.apple.com/documentation/usernotifications/pushing-background-updates-to-your-app
  static let maximumPerHour = 3
  private static let hour = 3600.0

  /// The maximum count. Higher counts do not change the finding.
  static let maximumCount = 1_000

  /// The times by device.
  private var pushes: [UntrustedText: SortedTimes] = [:]

  /// Adds a silent push.
  ///
  /// - Parameter time: in seconds since 1970.
  /// - Returns: the number of silent pushes to the device within the hour that ends with this one,
  ///   at most ``maximumCount``.
  mutating func add(_ token: UntrustedText, at time: Double) -> Int {
    pushes[token, default: SortedTimes()].add(time, within: Self.hour, upTo: Self.maximumCount)
  }
}

/// The times of one device, in order.
///
/// They are stored in blocks, so that inserting an out-of-order time moves at most one block. A
/// single array would take quadratic time.
private struct SortedTimes {
  private static let maximumOfBlock = 1_024

  /// The blocks, none of which is empty.
  private var blocks: [[Double]] = []

  /// Adds a time and counts the times within `length` before it, including itself.
  mutating func add(_ time: Double, within length: Double, upTo maximum: Int) -> Int {
    let start = time - length
    // Older times cannot count together with later ones, as long as times arrive in order.
    let old = blocks.prefix { $0[$0.count - 1] < start }.count
    if old > 0 { blocks.removeFirst(old) }
    var index = insert(time)
    var (count, end) = (0, blocks[index].firstPlace { $0 > time })
    while true {
      let first = blocks[index].firstPlace { $0 > start }
      count += end - first
      guard first == 0, index > 0, count < maximum else { return min(count, maximum) }
      index -= 1
      end = blocks[index].count
    }
  }

  /// Inserts a time after all that are not later.
  ///
  /// - Returns: the index of its block.
  private mutating func insert(_ time: Double) -> Int {
    guard !blocks.isEmpty else {
      blocks.append([time])
      return 0
    }
    let index = max(0, blocks.firstPlace { $0[0] > time } - 1)
    blocks[index].insert(time, at: blocks[index].firstPlace { $0 > time })
    guard blocks[index].count > Self.maximumOfBlock else { return index }
    let half = Array(blocks[index][(Self.maximumOfBlock / 2)...])
    blocks[index].removeLast(half.count)
    blocks.insert(half, at: index + 1)
    return half[0] > time ? index : index + 1
  }
}

extension Array {
  /// Returns the first index whose element is late, in an array where all late elements come after
  /// the others; the end if there is none.
  fileprivate func firstPlace(where isLate: (Element) -> Bool) -> Int {
    var (start, end) = (0, count)
    while start < end {
      let middle = start + (end - start) / 2
      if isLate(self[middle]) { end = middle } else { start = middle + 1 }
    }
    return start
  }
}

/// Counts silent pushes to each device, where the envelopes say device and time.
struct SilentRate {
  /// Apple's "two or three per hour": more than three are too many.
  ///
  /// Source:
  /// https://developer.apple.com/documentation/usernotifications/pushing-background-updates-to-your-app
  static let maximumPerHour = 3
  private static let hour = 3600.0

  /// The most that are counted: a device with more gets no other finding.
  static let maximumCount = 1_000

  /// By device.
  private var pushes: [UntrustedText: SortedTimes] = [:]

  /// Adds a silent push.
  ///
  /// - Parameter time: in seconds since 1970.
  /// - Returns: how many silent pushes the device got within the hour that ends with this one,
  ///   ``maximumCount`` for more.
  mutating func add(_ token: UntrustedText, at time: Double) -> Int {
    pushes[token, default: SortedTimes()].add(time, within: Self.hour, upTo: Self.maximumCount)
  }
}

/// The times of one device, in order.
///
/// They are kept in blocks, so that one that comes out of order moves no more than a block: a
/// single array would take quadratic time.
private struct SortedTimes {
  private static let maximumOfBlock = 1_024

  /// None of them is empty.
  private var blocks: [[Double]] = []

  /// Adds a time and counts those that came within `length` before it, itself included.
  mutating func add(_ time: Double, within length: Double, upTo maximum: Int) -> Int {
    let start = time - length
    // What is older cannot be too many with those to come, as long as they come in their order.
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

  /// Inserts a time behind all that are not later.
  ///
  /// - Returns: its block.
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
  /// The first index whose element is late, in an array whose late elements all stand behind the
  /// others; the end when there is none.
  fileprivate func firstPlace(where isLate: (Element) -> Bool) -> Int {
    var (start, end) = (0, count)
    while start < end {
      let middle = start + (end - start) / 2
      if isLate(self[middle]) { end = middle } else { start = middle + 1 }
    }
    return start
  }
}

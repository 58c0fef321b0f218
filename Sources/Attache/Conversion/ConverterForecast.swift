/// What follows from the pictures that wait for a queue's converters: how long a payload that begins now
/// would wait, and which pictures cannot be finished in time. A pure value.
///
/// Add the pictures that are being converted, then those that wait in the order of their turns.
struct ConverterForecast {
  struct Picture {
    var format: PictureFormat
    /// The pixels that it is charged for, and those that it surely has.
    var pixels, leastPixels: Int
  }

  /// The time for which the converters are busy with what comes before a payload that begins now. A
  /// picture counts as one turn at most, because a second converter takes smaller ones beside it.
  private(set) var load = Duration.zero
  private let pace: ConverterPace
  /// One conversion may be far faster than others were, but not many in a row. So what comes before a
  /// picture counts as this many times the least time.
  private static let caution = 1.25
  /// The least time until the added pictures of about the same size are finished.
  private var busy: [Int: Duration] = [:]

  init(_ pace: ConverterPace) {
    self.pace = pace
  }

  /// Adds a picture that is being converted.
  ///
  /// - Parameters:
  ///   - time: how long it has been converted.
  ///   - isMain: whether by the main converter, for which others of its size wait.
  mutating func addRunning(_ picture: Picture, for time: Duration, isMain: Bool) {
    load += max(.zero, pace.turn(picture.pixels, of: picture.format) - time)
    if isMain { busy[picture.size] = max(.zero, leastTime(of: picture) - time) }
  }

  /// Adds a picture that waits, unless it cannot be finished in time.
  ///
  /// - Parameters:
  ///   - isDue: whether it comes before a payload that begins now.
  ///   - left: the time that is left for it.
  /// - Returns: nil when it may be finished in time; otherwise the time that is needed for those before
  ///   it.
  mutating func add(_ picture: Picture, isDue: Bool, within left: Duration) -> Duration? {
    let (before, time) = (busy[picture.size] ?? .zero, leastTime(of: picture))
    guard before * Self.caution + time <= left else { return before * Self.caution }
    busy[picture.size] = before + time
    if isDue { load += pace.turn(picture.pixels, of: picture.format) }
    return nil
  }

  private func leastTime(of picture: Picture) -> Duration {
    pace.leastTime(picture.leastPixels, of: picture.format)
  }
}

extension ConverterForecast.Picture {
  /// Pictures with the same number differ by less than a factor of four, so that they are not converted
  /// at the same time (``ConverterPace/overtakes(_:running:isSlow:)``).
  fileprivate var size: Int { (Int.bitWidth - max(1, pixels).leadingZeroBitCount + 1) / 2 }
}

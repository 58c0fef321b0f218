/// A picture that waits for a converter or is being converted, and those who wait for it. On the loop
/// only.
final class ConverterJob {
  /// A request that waits for the job's result.
  final class Waiter {
    /// Its own file of the same bytes.
    let picture: SourcePicture
    /// When the conversion must have ended.
    var end: MonotonicInstant
    let isWanted: () -> Bool
    /// nil once it has its result.
    var answer: ((Result<StoredFile, FetchFailure>) -> Void)?
    var timer: TimerEntry?

    init(
      _ picture: SourcePicture, until end: MonotonicInstant, isWanted: @escaping () -> Bool,
      answer: @escaping (Result<StoredFile, FetchFailure>) -> Void
    ) {
      (self.picture, self.end, self.isWanted, self.answer) = (picture, end, isWanted, answer)
    }
  }

  let format: PictureFormat
  /// Whether the picture is damaged, according to its structure.
  let isRepair: Bool
  /// The hash of the picture's bytes.
  let source: SHA256.Digest
  /// The pixels that it is charged for.
  private(set) var pixels: Int
  /// The pixels that it surely has, as far as it can be trusted.
  let leastPixels: Int
  private let maximumPixels: Int
  private(set) var waiters: [Waiter] = []
  /// The payloads that wait for it, and the one whose turn it took.
  private(set) var payloads: [UInt64] = []
  var payload: UInt64 = 0
  /// The number in the queue, while it waits there.
  var number: Int?
  /// Whether it took far longer than its pixels say.
  private(set) var isUnderstated = false

  /// The maximum number of payloads that are remembered. Others wait as well, but do not count.
  private static let maximumPayloads = 16
  /// The number of pixels for each byte of a picture that does not say how many it has.
  private static let pixelsPerByte = 8

  init(_ picture: SourcePicture, source: SHA256.Digest, maximumPixels: Int) {
    (format, isRepair, self.source, self.maximumPixels) = (picture.format, picture.damage != nil, source, maximumPixels)
    let claimed = picture.claimedPixels
    pixels = max(1, min(maximumPixels, claimed ?? picture.file.size * Self.pixelsPerByte))
    // A picture of too many pixels is refused after its header, in no time.
    leastPixels = claimed.map { $0 <= maximumPixels ? $0 : 0 } ?? 0
  }

  /// When the last of those who wait needs the result.
  var end: MonotonicInstant { waiters.lazy.map(\.end).max() ?? .distantPast }
  var isWanted: Bool { waiters.contains { $0.answer != nil && $0.isWanted() } }

  var forecastPicture: ConverterForecast.Picture { .init(format: format, pixels: pixels, leastPixels: leastPixels) }

  func add(_ waiter: Waiter) { waiters.append(waiter) }

  func remove(_ waiter: Waiter) { waiters.removeAll { $0 === waiter } }

  func removeWaiters() -> [Waiter] {
    defer { waiters = [] }
    return waiters
  }

  /// - Returns: whether the payload is new.
  func join(_ payload: UInt64) -> Bool {
    guard payloads.count < Self.maximumPayloads, !payloads.contains(payload) else { return false }
    payloads.append(payload)
    return true
  }

  /// Records that the job took too long for what its pixels say. It counts as the largest picture.
  func noteUnderstatement() {
    (isUnderstated, pixels) = (true, maximumPixels)
  }
}

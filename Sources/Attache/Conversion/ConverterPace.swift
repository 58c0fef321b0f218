/// How fast this run's converters are, and what follows from it. A pure value.
struct ConverterPace {
  /// The pixels of one turn: those of a photo. Payloads with fewer are equals.
  static let turnPixels = 16_000_000
  /// A picture counts with the time of so many pixels at most, and never with more than a second, which
  /// a large photo takes on a slow machine. Those with twice as many still end in time.
  private static let countedPixels = 3 * turnPixels
  static let longestTurn = Duration.seconds(1)
  /// The time that a conversion of the smallest picture takes.
  static let overhead = Duration.milliseconds(5)
  /// A picture with fewer pixels says little about the speed.
  private static let smallestSample = 250_000
  /// A conversion is refused only if it would be late at this many times the measured speed.
  private static let margin = 1.5
  /// The measured speed may be this many times below or above the assumed one: a stranger's pictures
  /// are measured as well.
  private static let tolerance = 8.0
  /// Before the speed is known, a conversion may take this many times the assumed time.
  private static let caution = 3
  /// Below this many times the assumed speed, no conversion is refused beforehand.
  private static let slowest = 0.25

  /// Pixels a second, by format.
  private var measured: [PictureFormat: Double] = [:]

  /// Takes the time of a conversion.
  mutating func note(_ pixels: Int, of format: PictureFormat, took time: Duration) {
    guard pixels >= Self.smallestSample else { return }
    let seconds = max(time - Self.overhead, .milliseconds(1)).seconds
    let assumed = format.assumedSpeed
    let speed = min(max(Double(pixels) / seconds, assumed / Self.tolerance), assumed * Self.tolerance)
    measured[format] = measured[format].map { $0 + (speed - $0) / 4 } ?? speed
  }

  /// Returns the expected time of a conversion.
  func time(_ pixels: Int, of format: PictureFormat) -> Duration {
    Self.overhead + .seconds(Double(pixels) / (measured[format] ?? format.assumedSpeed))
  }

  /// Returns the time for which a conversion may keep a converter busy: the expected one, and before
  /// the speed is known, more.
  func work(_ pixels: Int, of format: PictureFormat) -> Duration {
    time(pixels, of: format) * (measured[format] == nil ? Self.caution : 1)
  }

  /// Returns the time that a picture counts for others. A second converter takes smaller ones beside a
  /// large one, so that it does not delay them for longer.
  func turn(_ pixels: Int, of format: PictureFormat) -> Duration {
    min(work(min(pixels, Self.countedPixels), of: format), Self.longestTurn)
  }

  /// Returns the number of pixels that are usually converted in a time.
  func pixels(in time: Duration, of format: PictureFormat) -> Int {
    Int(max(.zero, time - Self.overhead).seconds * (measured[format] ?? format.assumedSpeed))
  }

  /// Returns the time that a conversion surely takes. One with less time left is given up.
  func leastTime(_ pixels: Int, of format: PictureFormat) -> Duration {
    let speed = measured[format].map { max($0 * Self.margin, format.assumedSpeed * Self.slowest) }
    return .seconds(Double(pixels) / (speed ?? format.assumedSpeed * Self.tolerance))
  }

  // MARK: Shares

  /// Whether a picture may be converted beside one that is being converted.
  ///
  /// - Parameter isSlow: whether the other conversion takes far longer than expected.
  static func overtakes(_ pixels: Int, running: Int, isSlow: Bool) -> Bool {
    isSlow || pixels <= running / 4
  }

  /// Returns the time after which a conversion counts as slow.
  func slowTime(_ pixels: Int, of format: PictureFormat) -> Duration {
    max(.milliseconds(250), time(pixels, of: format) * 4)
  }

  /// Returns the time that a conversion may take: all that is left, or while others wait, half of it
  /// or what it surely needs.
  func limit(_ pixels: Int, of format: PictureFormat, left: Duration, othersWait: Bool) -> Duration {
    othersWait ? min(left, max(left / 2, time(pixels, of: format) * 3)) : left
  }
}

extension PictureFormat {
  /// The number of pixels that a converter decodes, shrinks and encodes in a second, before one of
  /// this format has been measured. Photos on one core of 2.6 GHz took between half and twice the
  /// time.
  fileprivate var assumedSpeed: Double {
    switch self {
    case .jpeg, .tiff: 60_000_000
    case .png, .gif, .webp: 30_000_000
    case .heic, .avif, .heif: 12_000_000
    }
  }
}

extension Duration {
  var seconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) / 1e18
  }
}

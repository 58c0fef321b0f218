@testable import Attache

/// A run whose pictures are converted, in virtual time: who is read, who is next and what is given up
/// is decided by the real rules. Downloads and conversions only take time.
struct ConversionRun {
  /// A line of the input.
  struct Line {
    var pictures = 0
    /// The pixels of each picture.
    var pixels = 0
    /// When it arrives, in milliseconds.
    var arrival = 0
  }

  private struct Picture {
    var payload: UInt64
    var pixels: Int
    /// When it must be converted.
    var end: Int
    var waiting: ConverterForecast.Picture { .init(format: .webp, pixels: pixels, leastPixels: pixels) }
  }

  private struct Lane {
    var picture: Picture
    var begun, end: Int
  }

  private struct Fetcher {
    var queue = FairQueue<Picture>(turn: ConverterPace.turnPixels)
    var pace = ConverterPace()
    var main: Lane?
    var beside: Lane?
    var isChanged = false
  }

  /// All times are in milliseconds.
  let deadline: Int
  /// The pixels that a converter converts in a millisecond.
  let speed: Int
  private let lines: [Line]
  private var fetchers = [Fetcher(), Fetcher()]
  private var backlog = ConversionBacklog(converters: 2)
  private var now = 0
  private var downloads = Ring<(end: Int, payload: UInt64)>()
  /// The undecided payloads, and how many of their pictures are not done.
  private var left: [UInt64: Int] = [:]
  /// When each line got its place.
  private(set) var placed: [Int] = []
  /// The number of converted pictures of each line.
  private(set) var converted: [Int]

  private static let (jobs, download) = (256, 30)

  init(_ lines: [Line], deadline: Int, speed: Int) {
    (self.lines, self.deadline, self.speed) = (lines, deadline, speed)
    converted = lines.map { _ in 0 }
    while placed.count < lines.count || !left.isEmpty {
      advance()
      now += 1
    }
  }

  /// The longest time for which no line got a place although one was there.
  var longestPause: Int {
    zip(placed.indices.dropFirst(), placed.dropFirst()).map { $1 - max(placed[$0 - 1], lines[$0].arrival) }.max() ?? 0
  }

  private mutating func advance() {
    while downloads.count > 0, downloads[0].end <= now, let payload = downloads.popFirst()?.payload { finishDownload(of: payload) }
    for fetcher in fetchers.indices { convert(in: fetcher) }
    while placed.count < lines.count, lines[placed.count].arrival <= now, hasPlace { place() }
  }

  private var hasPlace: Bool {
    left.isEmpty || left.count < min(Self.jobs, backlog.places(within: .milliseconds(deadline)))
  }

  private mutating func place() {
    let payload = UInt64(placed.count)
    left[payload] = lines[placed.count].pictures
    placed.append(now)
    backlog.begin(payload)
    downloads.append((now + Self.download, payload))
  }

  private mutating func finishDownload(of payload: UInt64) {
    let line = lines[Int(payload)]
    let fetcher = Int(payload % 2)
    fetchers[fetcher].isChanged = true
    for _ in 0..<line.pictures {
      let picture = Picture(payload: payload, pixels: line.pixels, end: placed[Int(payload)] + deadline * 9 / 10)
      backlog.note(fetchers[fetcher].pace.turn(picture.pixels, of: .webp), of: payload)
      fetchers[fetcher].queue.add(
        picture, work: picture.pixels, of: [payload], by: MonotonicInstant(nanoseconds: Int64(picture.end) * 1_000_000))
    }
    if line.pictures == 0 { decide(payload) }
  }

  private mutating func decide(_ payload: UInt64) {
    left[payload] = nil
    backlog.end(payload)
  }

  private mutating func end(_ picture: Picture) {
    guard let pictures = left[picture.payload] else { return }
    left[picture.payload] = pictures - 1
    if pictures == 1 { decide(picture.payload) }
  }

  // MARK: A fetcher's converters

  private mutating func convert(in fetcher: Int) {
    finish(\.main, in: fetcher)
    finish(\.beside, in: fetcher)
    if fetchers[fetcher].main == nil { begin(\.main, in: fetcher) }
    if let running = fetchers[fetcher].main?.picture, fetchers[fetcher].beside == nil,
      let next = fetchers[fetcher].queue.first(), ConverterPace.overtakes(next.pixels, running: running.pixels, isSlow: false)
    {
      begin(\.beside, in: fetcher)
    }
    if fetchers[fetcher].isChanged { forecast(in: fetcher) }
  }

  private mutating func finish(_ lane: WritableKeyPath<Fetcher, Lane?>, in fetcher: Int) {
    guard let done = fetchers[fetcher][keyPath: lane], done.end <= now else { return }
    (fetchers[fetcher][keyPath: lane], fetchers[fetcher].isChanged) = (nil, true)
    let time = Duration.milliseconds(done.end - done.begun)
    fetchers[fetcher].queue.charge(done.picture.payload, fetchers[fetcher].pace.pixels(in: time, of: .webp) - done.picture.pixels)
    if done.end < done.picture.end {
      fetchers[fetcher].pace.note(done.picture.pixels, of: .webp, took: time)
      converted[Int(done.picture.payload)] += 1
    }
    end(done.picture)
  }

  private mutating func begin(_ lane: WritableKeyPath<Fetcher, Lane?>, in fetcher: Int) {
    guard let picture = fetchers[fetcher].queue.popFirst()?.element else { return }
    fetchers[fetcher][keyPath: lane] = Lane(picture: picture, begun: now, end: min(now + 5 + picture.pixels / speed, picture.end))
    fetchers[fetcher].isChanged = true
  }

  private mutating func forecast(in fetcher: Int) {
    fetchers[fetcher].isChanged = false
    var forecast = ConverterForecast(fetchers[fetcher].pace)
    for (lane, isMain) in [(fetchers[fetcher].main, true), (fetchers[fetcher].beside, false)] {
      if let lane { forecast.addRunning(lane.picture.waiting, for: .milliseconds(now - lane.begun), isMain: isMain) }
    }
    for (number, picture, isDue) in fetchers[fetcher].queue.inOrder {
      if forecast.add(picture.waiting, isDue: isDue, within: .milliseconds(picture.end - now)) == nil { continue }
      fetchers[fetcher].queue.remove(number)
      end(picture)
    }
    _ = backlog.note(load: forecast.load, of: fetcher)
  }
}

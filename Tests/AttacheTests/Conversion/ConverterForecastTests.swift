import Testing

@testable import Attache

@Suite struct ConverterForecastTests {
  private var pace = ConverterPace()
  private let photo = ConverterForecast.Picture(format: .webp, pixels: 12_000_000, leastPixels: 12_000_000)
  private let vast = ConverterForecast.Picture(format: .webp, pixels: 81_000_000, leastPixels: 81_000_000)

  /// 30 million pixels a second, so that a photo takes 0.4 s, and in any case 0.27 s.
  init() {
    for _ in 0..<50 { pace.note(12_000_000, of: .webp, took: .milliseconds(405)) }
  }

  @Test func `the load is the time of what comes before a payload that begins now`() {
    var forecast = ConverterForecast(pace)
    forecast.addRunning(photo, for: .milliseconds(300), isMain: true)
    for _ in 0..<4 { #expect(forecast.add(photo, isDue: true, within: .seconds(5)) == nil) }
    #expect((1_650...1_750).contains(forecast.load.milliseconds), "\(forecast.load)")
    _ = forecast.add(photo, isDue: false, within: .seconds(5))
    #expect((1_650...1_750).contains(forecast.load.milliseconds))
  }

  @Test func `a large picture counts as a second at most`() {
    var forecast = ConverterForecast(pace)
    _ = forecast.add(vast, isDue: true, within: .seconds(5))
    #expect(forecast.load == .seconds(1))
    forecast.addRunning(vast, for: .seconds(2), isMain: true)
    #expect(forecast.load == .seconds(1), "it is as good as over")
    var unknown = ConverterForecast(ConverterPace())
    _ = unknown.add(vast, isDue: true, within: .seconds(5))
    #expect(unknown.load == .seconds(1))
  }

  @Test func `what cannot be finished in time is known, and delays nobody`() {
    var forecast = ConverterForecast(pace)
    var given = 0
    for _ in 0..<200 where forecast.add(vast, isDue: true, within: .milliseconds(9_100)) != nil { given += 1 }
    // 9.1 s at 36 million pixels a second.
    #expect(given == 196)
    #expect(forecast.load == .seconds(4))
    // A second converter takes photos beside them.
    #expect(forecast.add(photo, isDue: true, within: .milliseconds(300)) == nil)
    #expect(forecast.add(vast, isDue: true, within: .seconds(11)) == nil, "one with more time")
  }

  @Test func `the picture that is being converted comes first`() {
    var forecast = ConverterForecast(pace)
    forecast.addRunning(vast, for: .milliseconds(800), isMain: true)
    let before = forecast.add(vast, isDue: true, within: .milliseconds(2_500))
    #expect(before.map { (1_200...1_300).contains($0.milliseconds) } == true, "\(String(describing: before))")
    var beside = ConverterForecast(pace)
    beside.addRunning(vast, for: .milliseconds(800), isMain: false)
    #expect(beside.add(vast, isDue: true, within: .milliseconds(2_500)) == nil)
    var late = ConverterForecast(pace)
    late.addRunning(vast, for: .seconds(100), isMain: true)
    #expect(late.add(vast, isDue: true, within: .milliseconds(2_500)) == nil, "nobody knows when it ends")
  }

  @Test func `a picture of unknown size is never given up`() {
    var forecast = ConverterForecast(pace)
    let picture = ConverterForecast.Picture(format: .webp, pixels: 100_000_000, leastPixels: 0)
    for _ in 0..<1_000 { #expect(forecast.add(picture, isDue: false, within: .zero) == nil) }
    #expect(forecast.load == .zero)
  }
}

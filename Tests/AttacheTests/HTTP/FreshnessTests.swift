import Testing

@testable import Attache

/// RFC 9111 as a table: a header, and how long the response may be reused.
@Suite struct FreshnessTests {
  /// Sun, 06 Nov 1994 08:50:00 GMT.
  private static let now: Int64 = 784_111_800
  private static let date = "Date: Sun, 06 Nov 1994 08:50:00 GMT"

  private static func fields(_ lines: [String]) -> CacheFields {
    var head = ResponseHead()
    for line in ["HTTP/1.1 200 OK"] + lines + [""] { _ = unsafe Array((line + "\r\n").utf8).withUnsafeBytes { unsafe head.add($0) } }
    return head.caching
  }

  /// The remaining freshness in seconds when the response has arrived, half a second after the
  /// request.
  private static func left(_ lines: [String]) -> Double {
    let exchange = Freshness.Exchange(asked: .seconds(now), answered: .seconds(now) + .milliseconds(500))
    return (Freshness.expiry(of: fields(lines), exchange) - exchange.answered) / .seconds(1)
  }

  private static let lifetimes: [([String], Double)] = [
    // 4.2.1: s-maxage before max-age before Expires less Date. The half second is the exchange's
    // (4.2.3).
    (["Cache-Control: max-age=60", date], 59.5),
    (["Cache-Control: max-age=60, s-maxage=10", date], 9.5),
    (["Cache-Control: max-age=10, s-maxage=60", date], 59.5),
    (["Cache-Control: max-age=60", date, "Expires: Sun, 06 Nov 1994 08:50:10 GMT"], 59.5),
    ([date, "Expires: Sun, 06 Nov 1994 08:50:10 GMT"], 9.5),
    (["Expires: Sun, 06 Nov 1994 08:50:10 GMT"], 9.5),
    ([date, "Expires: Sun, 06 Nov 1994 08:49:00 GMT"], -0.5),
    // 5.3: an invalid date, or 0, counts as expired.
    ([date, "Expires: 0"], -0.5), ([date, "Expires: never"], -0.5), ([date, "Expires:"], -0.5),
    ([date, "Expires: Sun, 06 Nov 1994 08:50:10 GMT", "Expires: 0"], -0.5),
    ([date, "Expires: Sunday, 06-Nov-94 08:50:10 GMT"], 9.5), ([date, "Expires: Sun Nov  6 08:50:10 1994"], 9.5),
    // 4.2.3: the age on arrival is subtracted.
    (["Cache-Control: max-age=60", date, "Age: 20"], 39.5),
    (["Cache-Control: max-age=60", date, "Age: 20", "Age: 30"], 29.5),
    (["Cache-Control: max-age=60", date, "Age: soon"], 59.5),
    (["Cache-Control: max-age=60", "Date: Sun, 06 Nov 1994 08:49:30 GMT"], 30),
    (["Cache-Control: max-age=60", "Date: Sun, 06 Nov 1994 08:49:30 GMT", "Age: 40"], 19.5),
    (["Cache-Control: max-age=60", "Date: Sun, 06 Nov 1994 08:55:00 GMT"], 59.5),
    (["Cache-Control: max-age=60", "Age: 99999999999999999999"], -2_147_483_588.5),
    // 5.2.2.4: must be revalidated each time.
    (["Cache-Control: no-cache, max-age=60", date], 0), (["Cache-Control: max-age=60, no-cache=\"Set-Cookie\"", date], 0),
    (["Cache-Control: max-age=0", date], -0.5),
    // 4.2.1 and 1.2.2: invalid values mean stale, too large values are capped, and the stricter
    // value counts.
    (["Cache-Control: max-age=soon", date], -0.5), (["Cache-Control: max-age", date], -0.5), (["Cache-Control: max-age=-1", date], -0.5),
    (["Cache-Control: max-age=60, max-age=10", date], 9.5), (["Cache-Control: max-age=60", "Cache-Control: max-age=10", date], 9.5),
    (["Cache-Control: max-age=99999999999999999999", date], 2_147_483_647.5),
    (["Cache-Control: max-age=\"60\"", date], 59.5), (["cache-control: MAX-AGE=60", date], 59.5),
    (["Cache-Control: x=\"max-age=1, max-age=2\" , ,\tmax-age=60", date], 59.5),
    (["Cache-Control: x=\"\\\", max-age=1\", max-age=60"], 59.5),
    // 4.2.2: without freshness information, a tenth of the time since the last change, at least a
    // minute and at most a day.
    ([date], 59.5), ([], 59.5),
    ([date, "Last-Modified: Sun, 06 Nov 1994 08:40:00 GMT"], 59.5),
    ([date, "Last-Modified: Sun, 06 Nov 1994 07:50:00 GMT"], 359.5),
    (["Last-Modified: Sun, 06 Nov 1994 07:50:00 GMT"], 359.5),
    ([date, "Last-Modified: Sun, 06 Nov 1984 08:50:00 GMT"], 86_399.5),
    ([date, "Last-Modified: Sun, 06 Nov 2044 08:50:00 GMT"], 59.5), ([date, "Last-Modified: long ago"], 59.5),
    (["Cache-Control: public", date], 59.5), (["Cache-Control:", date], 59.5),
  ]

  @Test(arguments: lifetimes)
  func `a response is fresh for as long as it says, less what has passed`(lines: [String], seconds: Double) {
    #expect(Self.left(lines) == seconds)
  }

  private static let keeping: [([String], Bool)] = [
    ([], true), (["Cache-Control: public, max-age=60"], true), (["Cache-Control: no-cache"], true), (["Vary: Accept, Origin"], true),
    (["Cache-Control: no-store"], false), (["Cache-Control: max-age=60, No-Store"], false), (["Cache-Control: private"], false),
    (["Cache-Control: private=\"X, Y\", max-age=60"], false), (["Cache-Control: public, private"], false),
    (["Cache-Control: max-age=60", "Cache-Control: no-store"], false), (["Vary: *"], false), (["Vary: Accept", "Vary: Origin, *"], false),
    (["Cache-Control: x=\"no-store\""], true), (["Cache-Control: no-storehouse"], true),
  ]

  @Test(arguments: keeping)
  func `what is not to be kept by all is not kept (RFC 9111, 3, 4.1 and 5.2.2)`(lines: [String], isKept: Bool) {
    #expect(Self.fields(lines).mayBeKept == isKept)
  }

  private static let redirects: [(Int, [String], Int)] = [
    (301, [], 60), (308, [], 60), (302, [], 1), (303, [], 1), (307, [], 1),
    (302, ["Cache-Control: max-age=30"], 30), (302, ["Cache-Control: max-age=30", "Age: 10"], 20), (301, ["Cache-Control: max-age=0"], 0),
    (301, ["Cache-Control: no-store"], 0), (302, ["Cache-Control: no-cache"], 0), (308, ["Cache-Control: private"], 0),
    (301, ["Expires: 0"], 0),
  ]

  @Test(arguments: redirects)
  func `a redirect leads on for a while (RFC 9110, 15.4)`(_ redirect: (status: Int, lines: [String], seconds: Int)) {
    let (status, lines, seconds) = redirect
    let exchange = Freshness.Exchange(asked: .seconds(Self.now), answered: .seconds(Self.now))
    #expect(Freshness.redirectLifetime(status, Self.fields([Self.date] + lines), exchange) == .seconds(seconds))
  }

  @Test func `a 304 brings its own fields, and leaves those that it does not name (RFC 9111, 3.2 and 4.3.4)`() {
    let kept = Self.fields([Self.date, "Cache-Control: max-age=60", "Age: 50", "Last-Modified: Sun, 06 Nov 1994 07:50:00 GMT"])
    let same = kept.refreshed(by: Self.fields(["Date: Sun, 06 Nov 1994 08:51:00 GMT"]))
    #expect(same.control == kept.control && same.lastModified == kept.lastModified && same.age == nil)
    #expect(same.date?.text == "Sun, 06 Nov 1994 08:51:00 GMT")
    #expect(kept.refreshed(by: Self.fields(["Cache-Control: no-store"])).mayBeKept == false)
    #expect(kept.refreshed(by: Self.fields(["Cache-Control: max-age=5"])).control?.maximumAge == 5)
  }

  @Test(arguments: [
    ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
    ("Sun Nov  6 08:49:37 1994", 784_111_777),
    ("Sun Nov 16 08:49:37 1994", 784_975_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Tue, 29 Feb 2028 23:59:60 GMT", 1_835_481_600),
    ("Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
  ])
  func `a date is read in each of its three forms (RFC 9110, 5.6.7), and written in today's`(text: String, seconds: Int64) {
    let read = unsafe Array(text.utf8).withUnsafeBytes { unsafe HTTPDate($0) }
    #expect(read?.seconds == seconds)
    let written = HTTPDate(seconds: seconds).text
    #expect(unsafe Array(written.utf8).withUnsafeBytes { unsafe HTTPDate($0) }?.seconds == seconds)
    if text.hasSuffix("GMT"), text.dropFirst(3).hasPrefix(", "), !text.contains(":60") { #expect(written == text) }
  }

  @Test(arguments: [
    "", "0", "-1", "Sun", "Sun, 06 Nov 1994", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET",
    "Sun, 06 Nov 1994 24:00:00 GMT",
    "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
    "Sun, 06-Nov-1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37",
  ])
  func `what is no date is none`(text: String) {
    #expect(unsafe Array(text.utf8).withUnsafeBytes { unsafe HTTPDate($0) } == nil)
  }
}

internal import Attache

/// A situation in which a service extension is rehearsed: payloads, and what the origin does.
package struct ExtensionSituation: Sendable {
  /// A body that the origin serves.
  struct Body: Sendable {
    var path: String
    var bytes: [UInt8]
    var contentType: String
    var faults: [Fault] = []
  }

  /// How the payloads of a situation come.
  enum Order: Sendable {
    case oneAfterAnother, atOnce
  }

  /// What the payload says.
  enum Variant: Sendable {
    /// A URL of the origin with this path.
    case media(String)
    case alertText(String)
    /// A URL at which nothing listens.
    case refused(String)
    /// A URL of plain http, whose host leads to the origin.
    case plainHTTP(String)
    case plain, bare, badURL, wrongType
    /// A silent push with a URL of the origin with this path, or without a URL.
    case silent(String?, hasAlert: Bool)
  }

  package let name: String
  let about: String
  var variants: [Variant]
  var bodies: [Body] = []
  var order = Order.oneAfterAnother
  /// The time of a notification. iOS gives about 30 seconds; only large files need more than this.
  var budget = Duration.milliseconds(1_200)
  /// Whether the origin does not answer before the time is over.
  var isSlow = false
  /// Whether iOS asks for a background fetch instead of delivering a push.
  var isBackgroundFetch = false

  /// The situations that every extension is rehearsed in, in their order.
  package static var all: [ExtensionSituation] {
    let photo = standIn("jpg", 100_000)
    func one(_ name: String, _ about: String, _ file: String, _ bytes: [UInt8], _ type: String, _ faults: [Fault] = [])
      -> ExtensionSituation
    {
      let path = "/\(name)/\(file)"
      var situation = ExtensionSituation(
        name: name, about: about, variants: [.media(path)], bodies: [Body(path: path, bytes: bytes, contentType: type, faults: faults)])
      if bytes.count > 1_000_000 { situation.budget = .seconds(5) }
      return situation
    }
    let page = Array("<!DOCTYPE html><html><head><title>Oops</title></head><body>Nothing here.</body></html>".utf8)
    var slow = one(
      "slow", "the origin does not answer before the time is over", "photo.jpg", photo, "image/jpeg", [.stall(afterBytes: 1_000)])
    slow.isSlow = true
    func text(_ name: String, _ about: String, _ variant: Variant) -> ExtensionSituation {
      ExtensionSituation(name: name, about: about, variants: [variant])
    }
    return [
      one("ok", "the origin sends a JPEG of 100 KB", "photo.jpg", photo, "image/jpeg"),
      one("png", "the origin sends a PNG", "photo.png", standIn("png", 50_000), "image/png"),
      text("plain", "the payload names no media", .plain),
      ExtensionSituation(
        name: "alert-text", about: "the alert is a string, not an object", variants: [.alertText("/alert-text/photo.jpg")],
        bodies: [Body(path: "/alert-text/photo.jpg", bytes: photo, contentType: "image/jpeg")]),
      text("bare", "the payload has nothing but a body", .bare),
      text("bad-url", "the value is not a URL", .badURL),
      text("wrong-type", "the URL is replaced by a number", .wrongType),
      text("refused", "nothing listens at the origin's port", .refused("/photo.jpg")),
      ExtensionSituation(
        name: "http", about: "the URL has plain http, which App Transport Security refuses", variants: [.plainHTTP("/http/photo.jpg")],
        bodies: [Body(path: "/http/photo.jpg", bytes: photo, contentType: "image/jpeg")]),
      one("404", "the origin answers 404 with a page", "photo.jpg", page, "text/html", [.status(404)]),
      one("page", "the origin answers 200 with a page", "photo.jpg", page, "text/html"),
      one("cut", "the connection ends within the body", "photo.jpg", photo, "image/jpeg", [.closeEarly(afterBytes: 50_000)]),
      slow,
      one("over-limit", "the picture has 11 MB, and Apple allows 10", "photo.jpg", standIn("jpg", 11_000_000), "image/jpeg"),
      one("webp", "the origin sends WebP, which Apple does not list", "photo.webp", webp, "image/webp"),
      one("long-clip", "the video has 45 MB, and Apple allows 50", "clip.mp4", standIn("mp4", 45_000_000), "video/mp4"),
      several("three-in-a-row", "three notifications, one after another", 3, .oneAfterAnother),
      several("four-at-once", "four notifications at once, whose pictures have the same file name", 4, .atOnce),
    ]
  }

  /// The situations that every app's delegate is rehearsed in, in their order.
  package static var silent: [ExtensionSituation] {
    let photo = standIn("jpg", 100_000)
    func one(_ name: String, _ about: String, hasAlert: Bool = false, _ faults: [Fault] = []) -> ExtensionSituation {
      let path = "/\(name)/photo.jpg"
      return ExtensionSituation(
        name: name, about: about, variants: [.silent(path, hasAlert: hasAlert)],
        bodies: [Body(path: path, bytes: photo, contentType: "image/jpeg", faults: faults)])
    }
    var slow = one("silent-slow", "the origin does not answer before the time is over", [.stall(afterBytes: 1_000)])
    slow.isSlow = true
    var fetch = ExtensionSituation(
      name: "background-fetch", about: "iOS asks the app to fetch, without a push", variants: [.silent(nil, hasAlert: false)])
    fetch.isBackgroundFetch = true
    let clip = "/background-download/clip.mp4"
    let download = ExtensionSituation(
      name: "background-download", about: "the push names a video of 2 MB, which a background session may download after the app has ended",
      variants: [.silent(clip, hasAlert: false)],
      bodies: [Body(path: clip, bytes: standIn("mp4", 2_000_000), contentType: "video/mp4")])
    var burst = several("silent-burst", "four silent pushes at once, each with a picture of its own", 4, .atOnce)
    burst.variants = burst.bodies.map { .silent($0.path, hasAlert: false) }
    return [
      one("silent", "a silent push names a picture"), one("silent-with-alert", "the push also shows an alert", hasAlert: true),
      ExtensionSituation(name: "silent-plain", about: "the push has nothing but aps", variants: [.silent(nil, hasAlert: false)]),
      one("silent-404", "the origin answers 404", [.status(404)]), slow, fetch, burst, download,
    ]
  }

  /// Whether a push comes that shows nothing.
  var isSilent: Bool {
    !isBackgroundFetch
      && variants.contains { variant in
        if case .silent(_, hasAlert: false) = variant { true } else { false }
      }
  }

  /// Whether the origin speaks plain http.
  var isPlainHTTP: Bool {
    variants.contains { variant in
      if case .plainHTTP = variant { true } else { false }
    }
  }

  /// Whether nothing listens where the payloads lead.
  var isRefused: Bool {
    variants.contains { variant in
      if case .refused = variant { true } else { false }
    }
  }

  private static func several(_ name: String, _ about: String, _ count: Int, _ order: Order) -> ExtensionSituation {
    let bodies = (1...count).map { Body(path: "/\(name)/\($0)/photo.jpg", bytes: standIn("jpg", 50_000 + $0), contentType: "image/jpeg") }
    var situation = ExtensionSituation(name: name, about: about, variants: bodies.map { .media($0.path) }, bodies: bodies)
    situation.order = order
    return situation
  }

  private static func standIn(_ ending: String, _ size: Int) -> [UInt8] {
    (try? StandIn.bytes(ofType: ending, size: size)) ?? []
  }

  /// A picture of one pixel (RFC 9649).
  private static let webp: [UInt8] =
    Array("RIFF".utf8) + [0x1A, 0, 0, 0] + Array("WEBPVP8L".utf8) + [
      0x0D, 0, 0, 0, 0x2F, 0, 0, 0, 0x10, 7, 0x10, 0x11, 0x11, 0x88, 0x88, 0xFE, 7, 0,
    ]
}

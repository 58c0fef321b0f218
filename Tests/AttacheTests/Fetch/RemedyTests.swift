import Testing

@testable import Attache

/// What the messages about sizes and types tell the user to do.
@Suite struct RemedyTests {
  private static let small = MediaLimits(image: 1_000, audio: 1_000, video: 1_000)
  private static let large = MediaLimits(image: 90_000_000, audio: 90_000_000, video: 90_000_000)

  @Test(arguments: MediaKind.allCases) func `a limit is never to be raised above Apple's`(kind: MediaKind) {
    for limits in [MediaLimits(), Self.large] {
      #expect(!FetchFailure(tooLarge: kind, limits: DownloadLimits(limits)).message.contains("--limits"))
    }
    let message = FetchFailure(tooLarge: kind, limits: DownloadLimits(Self.small)).message
    #expect(message.contains("raise --limits \(kind.rawValue)=… (Apple accepts up to \(MediaLimits()[kind]) bytes)"), "\(message)")
  }

  @Test func `a picture that is too large is to be converted, and nothing else`() {
    for limits in [MediaLimits(), Self.small] {
      for kind in MediaKind.allCases {
        #expect(FetchFailure(tooLarge: kind, limits: DownloadLimits(limits)).message.contains("--convert") == (kind == .image))
      }
    }
    let converting = DownloadLimits(MediaLimits(), Conversion())
    #expect(FetchFailure(tooLarge: .image, limits: converting).message.hasSuffix("; shrink it or raise --source-limits"))
    #expect(
      FetchFailure(.tooManyPixels(width: 9, height: 9), limits: converting).message.hasSuffix("; shrink it or raise --max-source-pixels"))
    let pixels = FetchFailure(.tooManyPixels(width: 9, height: 9), limits: DownloadLimits(MediaLimits())).message
    #expect(pixels.hasSuffix("; shrink it, use --convert, or raise --max-pixels"), "\(pixels)")
  }

  @Test(arguments: [
    ("image/webp", "use --convert"), ("image/heic", "use --convert"), ("image/heif-sequence", "use --convert"),
    ("image/avif", "use --convert"),
    ("image/tiff", "use --convert"), ("image/svg+xml", "serve a JPEG, PNG or GIF"), ("audio/ogg", "serve AIFF, WAVE, MP3"),
    ("video/webm", "serve MPEG, MPEG-2"), ("text/html", "check what the URL serves"), ("application/json", "check what the URL serves"),
  ])
  func `a type that Apple does not accept has the remedy of its kind`(type: String, remedy: String) {
    let message = FetchFailure(unaccepted: type, reason: .typeUnsupported).message
    #expect(message.hasPrefix("the bytes are \(type); \(remedy)"), "\(message)")
  }

  @Test(arguments: [(401, "--header-file"), (403, "--user-agent"), (404, "check the URL"), (503, "check the origin")])
  func `a status has the remedy of its cause`(status: Int, remedy: String) {
    #expect(FetchFailure(.httpStatus, status: status).message.contains(remedy))
  }

  @Test func `a URL from HTML may be why the origin answers so`() {
    let failure = FetchFailure(.httpStatus, status: 403)
    #expect(
      failure.message(about: "https://a.example/b?c=1&amp;d=2") == failure.message
        + "; the URL contains '&amp;', which is HTML for '&': write '&'")
    #expect(failure.message(about: "https://a.example/b?c=1&d=2") == failure.message)
    #expect(FetchFailure(reason: .sizeImage).message(about: "https://a.example/b?c=1&amp;d=2") == Reason.sizeImage.advice)
  }

  @Test func `the advice for a reason says the same`() {
    for reason in Reason.allCases { #expect(!reason.advice.contains("--limits"), "\(reason.rawValue)") }
    for reason in [Reason.typeUnsupported, .sizeImage, .sizePixels] { #expect(reason.advice.contains("--convert"), "\(reason.rawValue)") }
    for words in ["has expired", "unknown authority", "without its intermediate certificate"] {
      #expect(Reason.tlsCertificate.advice.contains(words))
    }
  }
}

import Testing

@testable import Attache

/// Replaces the URLs of attached media, without threads and clock: every reference is attached.
struct RewriteStage {
  static let base = "https://cdn.example/push"

  private let stage: ContentStage
  var form = Attache.FilterConfiguration.AttachmentForm.url
  var type = MediaType.jpeg
  var path: JSONPointer?
  var dialects = DialectTable()
  var appliesOverrides = false
  var maximum = PayloadMaximum.automatic
  var fits = false
  /// The public URL of the store; nil for file addresses.
  var base: String? = RewriteStage.base
  /// Whether the media of a URL are attached.
  var isAttached: (String) -> Bool = { _ in true }
  /// The URLs whose payloads fail because of their media.
  var failed: Set<String> = []

  init() throws {
    stage = try ContentStage()
  }

  /// The file of a URL: each URL has another one.
  func file(_ url: UntrustedText) throws -> StoredFile {
    try #require(StoredFile(sha256: SHA256.hash(Array(url.utf8)).hexadecimal(), type: type, size: 9))
  }

  /// The public address of a URL's file.
  func address(_ url: UntrustedText) throws -> String {
    try Self.base + "/" + file(url).relativePath
  }

  func read(_ line: String) -> Reading {
    PayloadReader(payloadPath: path, dialects: dialects, appliesOverrides: appliesOverrides, publicURL: Self.base).read(line)
  }

  func decide(_ line: String, change: (inout NotificationContent) -> Void = { _ in }) throws -> Decision {
    let payloads = read(line).candidates
    let deliveries = try payloads.map { payload in
      if payload.references.contains(where: { failed.contains($0.url.string) }) { return ExtensionResult.original(.httpStatus) }
      var content = payload.content(in: Segment(line))
      content.attachments = try payload.references.filter { isAttached($0.url.string) }.map { reference in
        Attachment(identifier: "i", file: try file(reference.url), source: reference.url, options: reference.options)
      }
      change(&content)
      return ExtensionResult.content(content)
    }
    var configuration = Attache.FilterConfiguration()
    (configuration.attachAs, configuration.baseURL, configuration.maximumPayload) = (form, base, maximum)
    configuration.fitsPayload = fits
    return LineEnricher(configuration, store: stage.store).decision(deliveries, on: payloads, of: Segment(line))
  }

  /// Returns the rewritten line.
  func rewrite(_ line: String) throws -> String {
    try decide(line).text(of: line)
  }

  /// Returns a line with `<1>`, `<2>`… replaced by URLs, and by the addresses that replace them.
  func twins(_ marked: String) throws -> (line: String, twin: String) {
    var (line, twin) = (marked, marked)
    for number in 1...9 {
      let url = "https://a.example/\(number)"
      line = line.replacing("<\(number)>", with: url)
      twin = twin.replacing("<\(number)>", with: try address(UntrustedText(url)))
    }
    return (line, twin)
  }
}

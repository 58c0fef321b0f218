package import ArgumentParser
package import Attache

/// Where a payload and its media stand in a line, and what an attached one looks like.
package struct PayloadOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("A further place to look for a URL, as data.image or /data/image; comes first. Repeatable.", valueName: "key"),
    transform: { try JSONPointer(path: $0) })
  package var mediaKey: [JSONPointer] = []

  @Option(
    help: ArgumentHelp(
      "Where the payload stands in the line, as /message/apns/payload. (default: the whole line, or the envelope of a push service)",
      valueName: "pointer"),
    transform: { try JSONPointer(path: $0) })
  package var payloadPath: JSONPointer?

  @Option(
    help: ArgumentHelp("Look for media only in these dialects, in this order; attache dialects lists them. Repeatable.", valueName: "name"))
  package var dialect: [String] = []

  @Option(
    help: ArgumentHelp(
      "A file of dialects of one's own (JSON), which come first or take the place of those named alike. Repeatable.", valueName: "file"),
    transform: { try DialectFile(contentsOf: $0) })
  package var dialects: [DialectFile] = []

  @Flag(help: "Pass media over that the vendor's own helper would not load: without the type hint it needs, or from plain http.")
  package var strictDialects = false

  @Option(help: ArgumentHelp("The member that an attached payload gains.", valueName: "key"))
  package var outputKey = "attache"

  @Flag(help: "Give the alert of an attached payload the title, subtitle and body that the vendor's own helper would.")
  package var applyOverrides = false

  @Option(
    help: ArgumentHelp("The public address of the store, as https://cdn.example/; attachments have file URLs otherwise.", valueName: "url"))
  package var baseUrl: String?

  @Option(help: ArgumentHelp("The largest payload with its attachments, as 4096; beyond it the original goes.", valueName: "size"))
  package var maxPayload: ByteCountArgument?

  package init() {}

  package func validate() throws {
    guard outputKey != "aps" else { throw ValidationError("--output-key aps would take the alert's place; choose another name.") }
    guard !outputKey.isEmpty else { throw ValidationError("--output-key must not be empty.") }
    guard !outputKey.utf8.contains(UInt8(ascii: ".")) else {
      throw ValidationError("--output-key names one member at the payload's top level and is no path; leave the dot out.")
    }
    guard baseUrl.map({ $0.hasPrefix("https://") || $0.hasPrefix("http://") }) != false else {
      throw ValidationError("--base-url must be an absolute http(s) URL, as https://cdn.example/.")
    }
    if let dialect = try table().dialect(reading: outputKey) {
      throw ValidationError(
        "--output-key \(PrintableText.of(outputKey)) is where the dialect \(dialect) looks for media, and a payload that has the output member passes; "
          + "choose another name.")
    }
  }

  /// The dialects to look in.
  package func table() throws -> DialectTable {
    do {
      return try DialectTable(names: dialect.isEmpty ? nil : dialect, mediaKeys: mediaKey, files: dialects, isStrict: strictDialects)
    } catch {
      throw ValidationError("--dialect: \(error)")
    }
  }
}

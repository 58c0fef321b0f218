public import ArgumentParser
public import Attache

/// The flags for where a payload and its media are in a line, and for what an attached payload
/// looks like.
package struct PayloadOptions: ParsableArguments {
  /// The help of `--payload-path`, also for commands that take it alone.
  package static let pathHelp = ArgumentHelp(
    "Where the payload is in the line, such as /message/apns/payload. (default: the whole line, or the envelope of a push service)",
    valueName: "pointer")

  @Option(
    help: ArgumentHelp(
      "Another place to look for a URL, such as data.image or /data/image. It takes precedence. Repeatable.", valueName: "key"),
    transform: { try JSONPointer(path: $0) })
  package var mediaKey: [JSONPointer] = []

  @Option(help: PayloadOptions.pathHelp, transform: { try JSONPointer(path: $0) })
  package var payloadPath: JSONPointer?

  @Option(
    help: ArgumentHelp("Look for media only in these dialects, in this order; attache dialects lists them. Repeatable.", valueName: "name"))
  package var dialect: [String] = []

  @Option(
    help: ArgumentHelp(
      "A JSON file with further dialects. They take precedence, and replace dialects of the same name. Repeatable.", valueName: "file"),
    transform: { try DialectFile(contentsOf: $0) })
  package var dialects: [DialectFile] = []

  @Flag(
    help: "Refuse media that the vendor's own helper would not load: those without the type hint that it needs, and those with plain http.")
  package var strictDialects = false

  @Option(help: ArgumentHelp("The name of the member that is added to a payload.", valueName: "key"))
  package var outputKey = "attache"

  @Flag(help: "Replace title, subtitle and body of a payload with attachments as the vendor's own helper would.")
  package var applyOverrides = false

  @Option(
    help: ArgumentHelp(
      "The public URL of the store, such as https://cdn.example/. Without it, attachments have file URLs, or with --upload the bucket's.",
      valueName: "url"))
  package var baseUrl: String?

  @Option(
    help: ArgumentHelp(
      "Name attachments in an added member, by public addresses that replace the URLs in the payload, or both; url and both need --base-url or --upload.",
      valueName: "form"))
  package var attachAs = FilterConfiguration.AttachmentForm.member

  @Option(
    help: ArgumentHelp(
      "The size limit of a payload with its attachments, such as 4096, or none. Above it, the original is written. (default: what APNs accepts, if attachments have public addresses)",
      valueName: "size"))
  package var maxPayload: PayloadMaximum?

  @Flag(
    help: "Cut the alert's body of a payload that is too large with its attachments, at a letter and with an ellipsis, so that it fits.")
  package var fitPayload = false

  package init() {}

  package func validate() throws {
    guard Validation.isOn else { return }
    var configuration = try configuration()
    // `--upload` may give the base URL.
    if configuration.baseURL == nil {
      configuration.attachAs = .member
      if maxPayload == nil { configuration.fitsPayload = false }
    }
    if let mistake = configuration.mistake { throw ValidationError(mistake) }
  }

  /// Checks that there is a public URL if the payloads need one.
  ///
  /// - Parameter upload: may give the public URL.
  /// - Throws: `ValidationError`, also when the flags of the upload are wrong.
  package func checkAddress(_ upload: UploadOptions? = nil, _ fetching: FetchOptions? = nil) throws {
    let publicURL = try upload?.bucket(fetching)?.publicURL
    var configuration = FilterConfiguration()
    (configuration.baseURL, configuration.attachAs) = (baseUrl ?? publicURL, attachAs)
    (configuration.maximumPayload, configuration.fitsPayload) = (maxPayload ?? .automatic, fitPayload)
    if let mistake = configuration.mistake { throw ValidationError(mistake) }
  }

  /// Returns the filter's configuration as far as these flags describe it.
  ///
  /// - Throws: `ValidationError` when the table of dialects cannot be built.
  package func configuration() throws -> FilterConfiguration {
    var configuration = FilterConfiguration()
    configuration.outputKey = outputKey
    configuration.payloadPath = payloadPath
    do {
      configuration.dialects = try DialectTable(
        names: dialect.isEmpty ? nil : dialect, mediaKeys: mediaKey, files: dialects, isStrict: strictDialects)
    } catch {
      throw ValidationError("--dialect: \(error)")
    }
    configuration.appliesOverrides = applyOverrides
    configuration.baseURL = baseUrl
    configuration.attachAs = attachAs
    configuration.maximumPayload = maxPayload ?? .automatic
    configuration.fitsPayload = fitPayload
    return configuration
  }
}

extension FilterConfiguration.AttachmentForm: ExpressibleByArgument {}

extension PayloadMaximum: ExpressibleByArgument {
  /// Parses a size, or `none`.
  public init?(argument: String) {
    self.init(written: argument)
  }

  /// No completions: a size can be any number.
  public static var allValueStrings: [String] { [] }
}

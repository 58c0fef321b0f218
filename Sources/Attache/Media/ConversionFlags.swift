/// A conversion as a command line describes it. The flags of its limits need the flag `--convert`.
package struct ConversionFlags: Sendable {
  package var converts = false
  package var maximumSide: Int?
  package var sourceBytes: Int64?
  package var sourcePixels: Int?

  package init() {}

  /// Why these flags are wrong together, for the user; nil if they are not.
  package var mistake: String? {
    guard !converts else { return nil }
    let given = [
      ("--max-side", maximumSide != nil), ("--source-limits", sourceBytes != nil), ("--max-source-pixels", sourcePixels != nil),
    ]
    return given.first { $0.1 }.map { "\($0.0) needs --convert: without it, no picture is converted" }
  }

  package var steps: [MediaStep] {
    guard converts else { return [] }
    var conversion = Conversion()
    if let maximumSide { conversion.maximumSide = maximumSide }
    if let sourceBytes { conversion.sourceBytes = Int(clamping: sourceBytes) }
    if let sourcePixels { conversion.sourcePixels = sourcePixels }
    return [.convert(conversion)]
  }
}

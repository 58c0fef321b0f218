extension FilterConfiguration {
  /// What is wrong with these values, as a message that names their flags; nil if nothing is.
  package var mistake: String? {
    if outputKey == "aps" { return "--output-key aps would replace the alert; choose another name." }
    if outputKey.isEmpty { return "--output-key must not be empty." }
    if outputKey.utf8.contains(UInt8(ascii: ".")) {
      return "--output-key is the name of a top-level member, not a path; remove the dot."
    }
    if let baseURL, !baseURL.hasPrefix("https://"), !baseURL.hasPrefix("http://") {
      return "--base-url must be an absolute http(s) URL, such as https://cdn.example/."
    }
    if attachAs != .member, baseURL == nil {
      return "--attach-as \(attachAs.rawValue) writes public addresses into the payload; "
        + "set --base-url to the public URL of the store, such as https://cdn.example/, or --upload."
    }
    if fitsPayload, maximumPayload == .unlimited || maximumPayload == .automatic && baseURL == nil {
      return "--fit-payload cuts nothing, because the payload has no limit; set --max-payload to a size, or --base-url or --upload."
    }
    return dialects.dialect(reading: outputKey).map { dialect in
      "--output-key \(PrintableText.of(outputKey)) is where the dialect \(dialect) looks for media, and attache passes payloads with the output member through; "
        + "choose another name."
    }
  }

  /// The base URL of the addresses that replace the media's URLs; nil if these stay.
  package var rewritingURL: String? { attachAs == .member ? nil : baseURL }
}

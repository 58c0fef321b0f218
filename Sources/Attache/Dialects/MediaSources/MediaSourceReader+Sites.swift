/// Where the engine says that it found a reference.
package enum MediaTracing: Sendable {
  /// Nowhere.
  case none
  /// In ``MediaReference/path``, as a JSON pointer.
  case paths
  /// In the list of sites, from which the URLs of attachments can be replaced.
  case sites
}

extension MediaSourceReader {
  /// Returns the sites of a reference: of its URL, and of each fallback. A URL that is composed of
  /// several texts has none.
  ///
  /// - Parameter written: the string that contains the URL.
  func sites(of reference: MediaReference, _ find: DialectWalk.Find, written: UntrustedText, _ fields: FieldReader) -> [MediaSite] {
    guard case .url = place.source.origin, reference.role == .attachment else { return [] }
    let (url, path) = (reference.url, path(to: find.steps))
    var sites = [MediaSite(written: written, url: url, media: url, path: path, hint: hint(of: reference, find, fields))]
    for fallback in place.source.fallbacks {
      guard let text = payload.value(at: fallback)?.text, let steps = fallback.first(from: payload) else { continue }
      sites.append(MediaSite(written: text, url: text.asURL, media: url, path: [steps]))
    }
    return sites
  }

  /// A hint has a place if the payload contains it, and if the dialect adds nothing to it.
  private func hint(of reference: MediaReference, _ find: DialectWalk.Find, _ fields: FieldReader) -> MediaSite.Hint? {
    guard let text = reference.typeHint, let field = fields.source(place.source.typeHint), field.framed("").isEmpty else { return nil }
    guard let path = hintPath(field, find) else { return nil }
    let source = place.source
    guard case .at(let at) = field.origin, source.json == nil else {
      return MediaSite.Hint(path: path, text: text, kind: reference.hintKind, words: source.hintWords)
    }
    return MediaSite.Hint(path: path, text: text, kind: reference.hintKind, words: source.hintWords, place: at, conditions: source.when)
  }

  private func hintPath(_ field: Field, _ find: DialectWalk.Find) -> MediaSite.Path? {
    switch field.origin {
    case .inside(let inside): find.item.flatMap(inside.first).map { path(to: find.steps.prefix(find.itemDepth) + $0) }
    case .at(let at): at.first(from: payload).map { [$0] }
    case .text, .boolean, .number, .rectangle, .key, .index, .file, .url, .query, .differs: nil
    }
  }

  private func path(to steps: [JSONPointer.Token]) -> MediaSite.Path {
    string.map { [$0, steps] } ?? [steps]
  }
}

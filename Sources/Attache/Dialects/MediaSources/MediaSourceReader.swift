/// Reads the references at one source's place. Values of the wrong type are skipped.
struct MediaSourceReader {
  let place: MediaPlace
  let payload: JSONElement
  let shared: SharedFields
  let tracing: MediaTracing
  /// The dialect whose own helper must follow a reference; nil if that does not matter.
  let strictDialect: String?
  /// The number of references that were offered before this source's.
  let start: Int
  /// The path of the string that holds the source's JSON document; nil if there is no such string.
  var string: [JSONPointer.Token]?

  /// Reads the references in the order of the places, up to the source's maximum.
  ///
  /// - Parameters:
  ///   - root: the value that the source's path starts from: the payload, or the JSON inside one of
  ///     its strings.
  ///   - steps: the path of `root`.
  func read(from root: JSONElement, steps: [JSONPointer.Token] = [], into references: inout MediaReferenceList) {
    switch place.source.origin {
    case .url(let path):
      DialectWalk(path, isLocated: tracing != .none).forEach(from: root, steps: steps) { add($0, to: &references) }
    case .build(let pieces):
      if let url = build(pieces, root) {
        add(url, DialectWalk.Find(value: root, item: root, steps: steps + pieces.firstPlace), to: &references)
      }
    }
  }

  /// Reads the value at a source with a single place.
  ///
  /// - Parameter item: the object that contains the value.
  func read(_ value: JSONElement, item: JSONElement?, into references: inout MediaReferenceList) {
    let find = DialectWalk.Find(value: value, item: item, steps: tracing == .none ? [] : place.tokens, itemDepth: place.tokens.count - 1)
    add(find, to: &references)
  }

  private func add(_ find: DialectWalk.Find, to references: inout MediaReferenceList) {
    guard place.source.takesAnyForm else {
      find.value.text.map { add($0, find, to: &references) }
      return
    }
    guard find.value.isArray else { return addOne(find, to: &references) }
    var index = 0
    find.value.forEachElement { element in
      var next = find
      next.value = element
      next.index = index
      if tracing != .none { next.steps.append(JSONPointer.Token(index: index)) }
      addOne(next, to: &references)
      index += 1
    }
  }

  /// Adds a string, which has no further properties, or an object with a URL.
  private func addOne(_ find: DialectWalk.Find, to references: inout MediaReferenceList) {
    var find = find
    if let url = find.value.text {
      find.item = nil
      add(url, find, to: &references)
    } else if find.value.isObject, let url = find.value.member("url")?.text {
      (find.item, find.itemDepth) = (find.value, find.steps.count)
      if tracing != .none { find.steps.append(JSONPointer.Token("url")) }
      add(url, find, to: &references)
    }
  }

  private func add(_ text: UntrustedText, _ find: DialectWalk.Find, to references: inout MediaReferenceList) {
    let url = text.asURL
    guard references.offered - start < place.source.maximum, !url.isEmpty, !place.source.needsScheme || url.isMeantAsURL else { return }
    var sites: [MediaSite] = []
    var ignored: MediaReference?
    references.add(place.source.role) {
      let fields = FieldReader(payload: payload, shared: shared, item: find.item, key: find.key, index: find.index, url: url)
      var reference = reference(url, fields)
      complete(&reference, fields)
      if tracing == .paths {
        reference.path = UntrustedText(JSONPointer(tokens: string ?? find.steps).description)
        reference.isHintFixed = fields.source(place.source.typeHint)?.isFixed ?? false
      }
      if let strictDialect {
        if let fault = reference.strictFault {
          let place = JSONPointer(tokens: string ?? find.steps)
          reference.misfit = MediaMisfit(dialect: strictDialect, text: url, place: place, fault)
          ignored = reference
          return nil
        }
        if reference.needs.contains(.https) { reference.fallbacks.removeAll { !$0.isHTTPS } }
      }
      if tracing == .sites { sites = self.sites(of: reference, find, written: text, fields) }
      return reference
    }
    if !sites.isEmpty { references.add(sites) }
    if let ignored { references.addIgnored(ignored) }
  }

  private func reference(_ url: UntrustedText, _ fields: FieldReader) -> MediaReference {
    MediaReference(
      url: url,
      identifier: fields.text(place.source.identifier),
      typeHint: fields.text(place.source.typeHint, takesIntegers: true).flatMap { $0.utf8.count > MediaReference.longestHint ? nil : $0 },
      options: AttachmentOptions(
        thumbnailHidden: fields.boolean(place.source.thumbnailHidden),
        thumbnailClippingRect: fields.rectangle(place.source.thumbnailClippingRect),
        thumbnailTime: fields.seconds(place.source.thumbnailTime)))
  }

  /// Sets in place the properties that most references do not have, because copying a reference is
  /// expensive.
  private func complete(_ reference: inout MediaReference, _ fields: FieldReader) {
    if let hint = reference.typeHint {
      reference.hintKind = place.source.hintKind ?? MediaReference.HintKind(of: hint)
      reference.hintedType = place.source.hintWords[hint]
    }
    reference.isLazy = fields.boolean(place.source.lazy) ?? false
    reference.fallbacks = shared.fallbacks(of: place, in: payload)
    reference.role = place.source.role
    reference.needs = place.source.needs
    // A source for relative URLs also reads those that begin with two slashes.
    if reference.needs.contains(.baseURL), reference.url.hasAuthority { reference.needs.subtract([.baseURL, .credentials]) }
  }

  private func build(_ pieces: [MediaSource.Piece], _ root: JSONElement) -> UntrustedText? {
    var url: [UInt8] = []
    for piece in pieces {
      switch piece {
      case .text(let text):
        // Write only one slash between a base URL and its path, even if both have one.
        if text.utf8.first == UInt8(ascii: "/"), url.last == UInt8(ascii: "/") { url.removeLast() }
        url += text.utf8
      case .value(let path):
        let value = root.value(at: path)
        guard let text = value?.text?.string ?? value?.integer.map(String.init) else { return nil }
        url += text.utf8
      }
    }
    return UntrustedText(decoding: url)
  }
}

extension MediaReference {
  /// Why the vendor's own helper would not follow the reference; nil if it would.
  fileprivate var strictFault: MediaMisfit.Fault? {
    if needs.contains(.typeHint), typeHint == nil { return .noHint }
    return needs.contains(.https) && !url.isHTTPS ? .plainHTTP : nil
  }
}

extension UntrustedText {
  fileprivate var isHTTPS: Bool {
    utf8.prefix(8).elementsEqual("https://".utf8) { ($0 | 0x20) == ($1 | 0x20) }
  }
}

extension [MediaSource.Piece] {
  /// The path of the first value.
  fileprivate var firstPlace: [JSONPointer.Token] {
    for case .value(let path) in self { return path.tokens }
    return []
  }
}

extension MediaReference.HintKind {
  /// Derives the kind of a hint from its own form.
  init(of hint: UntrustedText) {
    if hint.utf8.contains(UInt8(ascii: "/")) {
      self = .mime
    } else if ["image", "video", "audio"].contains(hint) {
      self = .mediaClass
    } else {
      self = hint.utf8.contains(UInt8(ascii: ".")) ? .uniformType : .fileExtension
    }
  }
}

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

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

/// The media that a payload names, in reading order: the first ``maximum`` distinct URLs, and the
/// number of references that were left out.
package struct MediaReferenceList {
  /// The maximum number of references kept per payload. APNs accepts 4,096 bytes, so 64 references
  /// have 64 bytes each, including keys and quotes. A line of 1 MiB has room for 139,760.
  package static let maximum = 64

  private var kept: [MediaReference] = []
  /// References that are not followed, each with its misfit.
  private var ignored: [MediaReference] = []
  /// Where the URLs of attachments were read, if the caller asked for it. A URL may have several
  /// sites.
  private(set) var sites: [MediaSite] = []
  private var isFull = false
  private var omitted = 0
  /// The number of calls of ``add(_:_:)``.
  private(set) var offered = 0
  /// The number of references added, including those left out and those with a repeated URL.
  private(set) var count = 0
  /// The number of attachments among them.
  private(set) var attachmentCount = 0

  /// Adds a reference. If the list is full, only counts it and does not call `make`.
  ///
  /// - Parameter make: reads the reference; returns nil if there is none.
  mutating func add(_ role: MediaReference.Role, _ make: () -> MediaReference?) {
    offered += 1
    if isFull {
      omitted += 1
    } else {
      guard let reference = make() else { return }
      kept.append(reference)
      if kept.count == 2 * Self.maximum { dropRepeated() }
    }
    count += 1
    if role == .attachment { attachmentCount += 1 }
  }

  /// Adds sites, up to ``MediaSite/maximum``.
  mutating func add(_ sites: [MediaSite]) {
    self.sites += sites.prefix(MediaSite.maximum - self.sites.count)
  }

  /// Adds a reference that is not followed, and that no other reference replaces.
  mutating func addIgnored(_ reference: MediaReference) {
    if ignored.count < Self.maximum { ignored.append(reference) }
  }

  /// The references, and the number of those left out. A URL that is repeated after the list is
  /// full counts again.
  var bounded: (references: [MediaReference], omitted: Int) {
    let distinct = ignored.isEmpty ? kept.distinct : (kept + ignored).distinct
    guard distinct.count > Self.maximum else { return (distinct, omitted) }
    return (Array(distinct.prefix(Self.maximum)), omitted + distinct.count - Self.maximum)
  }

  /// Removes repeated URLs. The list is full if the maximum number of URLs remains.
  private mutating func dropRepeated() {
    kept = kept.distinct
    isFull = kept.count >= Self.maximum
  }
}

extension [MediaReference] {
  /// The references without repetitions of a URL; the first of each is kept. A picture that is both
  /// the sender's and an attachment counts as two.
  var distinct: [MediaReference] {
    guard count > 1 else { return self }
    var keys: Set<Key> = []
    return filter { keys.insert(Key(url: $0.url, role: $0.role)).inserted }
  }
}

private struct Key: Hashable {
  let url: UntrustedText
  let role: MediaReference.Role
}

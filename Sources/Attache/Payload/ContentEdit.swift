/// Changes of a notification's content. They replace the bytes of the changed members in the line;
/// all other bytes stay the same.
///
/// Both a service extension that changes content and `--apply-overrides` use it.
struct ContentEdit: Hashable, Sendable {
  /// The largest payload that APNs accepts, in bytes. For VoIP it is 5,120, but no such push wakes
  /// a service extension.
  ///
  /// Source:
  /// https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification
  static let maximumPayload = LineOpener.maximumPayload
  /// The maximum number of edits, because each one in a string needs a pass over the string.
  static let maximumEdits = 256

  private static let textNames: [UntrustedText] = ["title", "subtitle", "body"]
  /// The members of an alert that give the device the key of a text, in the order of ``textNames``.
  private static let keyNames: [UntrustedText] = ["title-loc-key", "subtitle-loc-key", "loc-key"]

  /// The changes of the alert's texts, in the order of ``textNames``.
  private var texts: [MemberChange] = []
  /// The removals of the keys that the texts replace.
  private var keys: [MemberChange] = []
  /// The changes of `aps` outside its alert.
  private var aps: [MemberChange] = []
  private var userInfo: [MemberChange] = []

  /// Creates an edit without changes.
  init() {}

  /// Creates the replacements of a vendor's helper. If two are for the same text, the first
  /// is used.
  init(_ overrides: [DialectText.Override]) {
    texts = Self.textNames.compactMap { name in
      overrides.first { $0.name == name.string }.map { MemberChange(name, string: $0.value) }
    }
  }

  /// Creates the changes from one content to another; nil if a changed value cannot be written.
  init?(from original: NotificationContent.Members, to changed: NotificationContent.Members) {
    let before = [original.title, original.subtitle, original.body]
    for (index, change) in Self.changes(Self.textNames, from: before, to: [changed.title, changed.subtitle, changed.body]) {
      texts.append(change)
      keys.append(MemberChange(Self.keyNames[index], nil))
    }
    if changed.badge != original.badge {
      guard changed.badge ?? 0 >= 0 else { return nil }
      aps.append(MemberChange("badge", changed.badge.map { Array("\($0)".utf8) }))
    }
    aps += Self.changes(
      ["sound", "category", "thread-id"], from: [original.sound ?? "", original.category, original.thread],
      to: [changed.sound ?? "", changed.category, changed.thread]
    ).map(\.change)
    let others = changed.aps.compactMap(\.source)
    guard others.isEmpty || Self.areJSON(others) else { return nil }
    aps += changed.aps
    let names = Set(original.userInfo.keys).union(changed.userInfo.keys).filter { original.userInfo[$0] != changed.userInfo[$0] }
    let values = names.compactMap { changed.userInfo[$0] }
    guard !names.contains("aps"), values.isEmpty || Self.areJSON(values) else { return nil }
    userInfo = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      .map { MemberChange($0, changed.userInfo[$0].map { JSONText($0).compact }) }
  }

  /// Compares the bytes: two strings that are canonically equivalent may differ.
  private static func changes(
    _ names: [UntrustedText], from before: [String], to after: [String]
  ) -> [(index: Int, change: MemberChange)] {
    names.indices.filter { !before[$0].utf8.elementsEqual(after[$0].utf8) }.map { index in
      let text = UntrustedText(after[index])
      return (index, text.isEmpty ? MemberChange(names[index], nil) : MemberChange(names[index], string: text))
    }
  }

  private static func areJSON(_ values: [[UInt8]]) -> Bool {
    let check = JSONCheck(capacity: values.reduce(0) { max($0, $1.count) })
    // The parser skips a byte order mark, which JSON does not allow within a text.
    return values.allSatisfy { $0.first != 0xEF && check.isJSON($0) }
  }

  /// Whether there is nothing to change.
  var isEmpty: Bool { texts.isEmpty && aps.isEmpty && userInfo.isEmpty }

  /// The JSON pointers of the members that change, within the payload.
  var pointers: [String] {
    texts.map { "/aps/alert" + JSONPointer.part($0.name).string } + aps.map { "/aps" + JSONPointer.part($0.name).string }
      + userInfo.map { JSONPointer.part($0.name).string }
  }

  /// Whether a text of the alert changes.
  var hasTexts: Bool { !texts.isEmpty }

  /// Whether the body of the alert changes.
  var changesBody: Bool { texts.contains { $0.isNamed("body") } }

  /// The JSON string that the body becomes; nil if it stays, or is removed.
  var body: [UInt8]? { texts.first { $0.isNamed("body") && $0.isText }?.source }

  /// Returns these changes with another body.
  ///
  /// - Parameter source: its JSON string.
  func with(body source: [UInt8]) -> ContentEdit {
    var all = self
    all.texts = Self.textNames.compactMap { name in
      name == "body" ? MemberChange(name, source) : texts.first { $0.name == name }
    }
    return all
  }

  /// Returns whether the user info of that name changes.
  func changesUserInfo(_ name: String) -> Bool {
    userInfo.contains { $0.name == UntrustedText(name) }
  }

  /// Returns these changes and, for other texts, the overrides.
  func over(_ overrides: ContentEdit) -> ContentEdit {
    guard !overrides.isEmpty else { return self }
    var all = self
    all.texts = Self.textNames.compactMap { name in (texts + overrides.texts).first { $0.name == name } }
    return all
  }

  /// Returns the edits of a text; nil if it has no place for one of the changes.
  ///
  /// - Parameter payload: the payload's object in the text.
  fileprivate func edits(at place: AlertPlace, of payload: Range<Int>, in text: JSONText) -> [LineEdit]? {
    guard place.isAps || (aps.isEmpty && userInfo.isEmpty && texts.allSatisfy { $0.source != nil }) else { return nil }
    let alert = place.name.map { text.value($0, of: place.holder) } ?? place.holder
    let texts = leavesText(alert, place, in: text) ? self.texts : self.texts.filter(\.isText)
    var members = aps
    var edits: [LineEdit] = []
    if let alert, text.isObject(alert) {
      edits = text.edits(of: alert, changes(texts, of: alert, place, in: text))
    } else if !texts.isEmpty {
      let object = Self.object(texts, instead: alert, place, in: text)
      if let alert {
        edits = [LineEdit(alert, object)]
      } else {
        members.insert(MemberChange(UntrustedText(place.name ?? ""), object), at: 0)
      }
    }
    if let index = members.firstIndex(where: { $0.name == "sound" && $0.isText }), let sound = text.object("sound", of: place.holder) {
      edits += text.edits(of: sound, [MemberChange("name", members.remove(at: index).source)])
    }
    edits += text.edits(of: place.holder, members) + text.edits(of: payload, userInfo)
    return edits.count <= Self.maximumEdits ? edits : nil
  }

  /// Returns the changes of an alert that is an object. If a text is added, the texts that the
  /// service would have shown are added too.
  private func changes(_ texts: [MemberChange], of alert: Range<Int>, _ place: AlertPlace, in text: JSONText) -> [MemberChange] {
    let written = text.sources(of: alert)
    func isWritten(_ change: MemberChange) -> Bool { written[Array(change.name.utf8)] != nil }
    let isAdding = texts.contains { $0.source != nil && !isWritten($0) }
    let given = place.given.filter { given in
      !(written[Array(given.name.utf8)].map(GorushEnvelope.isFilled) ?? false) && !texts.contains { $0.name == given.name }
    }
    return texts + (isAdding ? given : []) + (place.name != nil ? keys : [])
  }

  /// Whether the alert has text after all changes. If not, the changes to empty texts are skipped.
  private func leavesText(_ alert: Range<Int>?, _ place: AlertPlace, in text: JSONText) -> Bool {
    if texts.contains(where: \.isText) { return true }
    func isChanged(_ name: UntrustedText) -> Bool { texts.contains { $0.name == name } }
    if let alert, text.isText(alert) { return !isChanged("body") }
    return (Self.textNames.filter { !isChanged($0) } + Self.keyNames).contains { name in
      alert.flatMap { text.value(name.string, of: $0) }.map(text.isText) ?? false
    } || place.given.contains { !isChanged($0.name) }
  }

  /// Returns an object that replaces an alert that is a string, or is missing.
  private static func object(_ texts: [MemberChange], instead alert: Range<Int>?, _ place: AlertPlace, in text: JSONText) -> [UInt8] {
    var others = place.given
    if let alert, text.isText(alert) { others = [MemberChange("body", Array(text.source(alert)))] }
    return JSONWriter.object(textNames.compactMap { name in (texts + others).first { $0.name == name } })
  }
}

extension ContentEdit {
  /// Returns the edits of the text that contains the payload; nil if there is no place for a change,
  /// or if the service builds a changed member of user info from other members.
  func edits(at place: PayloadPlace, in text: JSONText) -> [LineEdit]? {
    guard let alert = place.alert else { return nil }
    if let built = place.built.map({ JSONText($0) }), !userInfo.isEmpty {
      let (sent, written) = (built.sources(of: built.root), text.sources(of: place.object))
      guard userInfo.allSatisfy({ sent[Array($0.name.utf8)] == written[Array($0.name.utf8)] }) else { return nil }
    }
    return edits(at: alert, of: place.object, in: text)
  }
}

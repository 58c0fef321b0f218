extension Dialect {
  enum Member: String, CaseIterable {
    case name, vendor, aliases, source, precedence, when, media, overrides
    case onFailure = "on_failure"
    case actions, encrypted, note, sample
  }

  /// Parses a row of a dialect file.
  ///
  /// - Parameter isWhole: whether to parse also the parts that do not concern media.
  init(form: JSONElement, isWhole: Bool) throws(FormFault) {
    var row = Dialect()
    var texts: DialectTexts?
    try form.readMembers(Member.self) { (member, value) throws(FormFault) in
      switch member {
      case .name: row.name = try value.readName()
      case .aliases: row.aliases = try value.readOneOrMany { element throws(FormFault) in try element.readName() }
      case .precedence: row.precedence = try value.readChoice(of: Precedence.inForm)
      case .when: row.when = try Condition.all(form: value)
      case .media: row.media = try value.readElements(MediaSource.alternatives(form:))
      case .encrypted: row.encrypted = try value.readText()
      case .overrides where isWhole: texts = (texts ?? DialectTexts()).with(overrides: try DialectTexts.Override.all(form: value))
      case .onFailure where isWhole: texts = (texts ?? DialectTexts()).with(onFailure: try DialectTexts.Override.all(form: value))
      case .actions where isWhole:
        texts = (texts ?? DialectTexts()).with(actions: try value.readOneOrMany(DialectTexts.Actions.init(form:)))
      case .vendor where isWhole, .source where isWhole, .note where isWhole: _ = try value.readText()
      case .sample where isWhole: try value.checkSample()
      case .overrides, .onFailure, .actions, .vendor, .source, .note, .sample: break
      }
    }
    row.texts = texts
    guard !row.name.isEmpty else { throw FormFault("“name” is missing; write one, such as “my-vendor”") }
    if isWhole { try row.check() }
    self = row
  }

  private func check() throws(FormFault) {
    guard !media.isEmpty || texts != nil || encrypted != nil else {
      throw FormFault(#"the dialect is empty; write where its media are, for example "media": [{"url": "data.image"}]"#)
    }
    guard encrypted == nil || !when.isEmpty else { throw FormFault("“encrypted” needs “when”; write how to recognise such a payload") }
  }
}

extension DialectTexts {
  fileprivate func with(
    overrides: [Override]? = nil, onFailure: [Override]? = nil, actions: [Actions]? = nil
  ) -> DialectTexts {
    DialectTexts(overrides: overrides ?? self.overrides, onFailure: onFailure ?? self.onFailure, actions: actions ?? self.actions)
  }
}

extension JSONElement {
  fileprivate func readName() throws(FormFault) -> String {
    let name = try readText()
    let isPlain = name.utf8.allSatisfy { 0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 || $0 == UInt8(ascii: "-") }
    guard isPlain else { throw FormFault("“\(name)” is not a dialect name; use lower-case letters, digits and hyphens") }
    guard name.utf8.count <= Dialect.maximumNameLength else {
      throw FormFault("the name is longer than \(Dialect.maximumNameLength) characters; write a shorter one")
    }
    return name
  }

  fileprivate func checkSample() throws(FormFault) {
    guard isObject else { throw FormFault(#"this is not an object; write {"payload": {…}, "media": […]}"#) }
    guard member("payload")?.isObject == true else { throw FormFault("“payload” is missing; write an object") }
    guard member("media").map(\.isArray) != false else { throw FormFault("“media” is not an array; write […]") }
  }
}

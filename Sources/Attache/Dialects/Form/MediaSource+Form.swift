extension MediaSource {
  enum Member: String, CaseIterable {
    case url, build, json, form, when
    case needsScheme = "needs_scheme"
    case identifier
    case typeHint = "type_hint"
    case hintKind = "hint_kind"
    case hintWords = "hint_words"
    case hidden, crop, time, lazy, fallback, role, needs
    case atMost = "at_most"
  }

  enum Form: String, CaseIterable {
    case text, any
  }

  enum Need: String, CaseIterable {
    case baseURL = "base-url"
    case credentials, https
    case typeHint = "type-hint"

    var need: MediaReference.Needs {
      switch self {
      case .baseURL: .baseURL
      case .credentials: .credentials
      case .https: .https
      case .typeHint: .typeHint
      }
    }
  }

  /// Parses an entry of a dialect's `media`: a source, or an array of alternatives.
  static func alternatives(form: JSONElement) throws(FormFault) -> [MediaSource] {
    try form.readOneOrMany(MediaSource.init(form:))
  }

  private init(form: JSONElement) throws(FormFault) {
    var origins: [Origin] = []
    var source = MediaSource(.build([]))
    try form.readMembers(Member.self) { (member, value) throws(FormFault) in
      switch member {
      case .url: origins.append(.url(try value.readPath()))
      case .build: origins.append(.build(try Piece.all(in: try value.readText())))
      case .json: source.json = try value.readPath()
      case .form: source.takesAnyForm = try value.readChoice(of: Form.allCases) == .any
      case .when: source.when = try Condition.all(form: value)
      case .needsScheme: source.needsScheme = try value.readFlag()
      case .identifier: source.identifier = try Field.all(form: value)
      case .typeHint: source.typeHint = try Field.all(form: value)
      case .hintKind: source.hintKind = try value.readChoice(of: MediaReference.HintKind.allCases)
      case .hintWords: source.hintWords = try value.readWords()
      case .hidden: source.thumbnailHidden = try Field.all(form: value, .flag)
      case .crop: source.thumbnailClippingRect = try Field.all(form: value, .rectangle)
      case .time: source.thumbnailTime = try Field.all(form: value, .seconds)
      case .lazy: source.lazy = try Field.all(form: value, .flag)
      case .fallback: source.fallbacks = try value.readOneOrMany { element throws(FormFault) in try element.readPath() }
      case .role: source.role = try value.readChoice(of: MediaReference.Role.allCases)
      case .needs:
        let needs = try value.readOneOrMany { element throws(FormFault) in try element.readChoice(of: Need.allCases) }
        source.needs = MediaReference.Needs(needs.map(\.need))
      case .atMost: source.maximum = try value.readInteger(from: 1)
      }
    }
    guard origins.count == 1 else { throw FormFault("a source has one place for its URL; write either “url” or “build”") }
    source.origin = origins[0]
    self = source
  }
}

extension MediaSource.Piece {
  /// Splits a template such as `{host}/avatar/{sender.username}` into its pieces.
  fileprivate static func all(in template: String) throws(FormFault) -> [MediaSource.Piece] {
    var pieces: [MediaSource.Piece] = []
    var rest = Substring(template).utf8
    while let open = rest.firstIndex(of: UInt8(ascii: "{")) {
      let inner = rest[rest.index(after: open)...]
      guard let close = inner.firstIndex(of: UInt8(ascii: "}")) else {
        throw FormFault("a { has no }; write {path} for a text of the payload")
      }
      if open > rest.startIndex { pieces.append(.text(String(Substring(rest[..<open])))) }
      do { pieces.append(.value(try DialectPath(String(Substring(inner[..<close]))))) } catch { throw FormFault("\(error)") }
      rest = inner[inner.index(after: close)...]
    }
    guard !pieces.isEmpty else { throw FormFault("the template uses nothing from the payload; write {path} for a text of the payload") }
    if !rest.isEmpty { pieces.append(.text(String(Substring(rest)))) }
    return pieces
  }
}

extension JSONElement {
  /// Parses an object whose members are all texts.
  fileprivate func readWords() throws(FormFault) -> [UntrustedText: String] {
    guard isObject else { throw FormFault(#"this is not an object; write {"the vendor's word": "public.jpeg"}"#) }
    var words: [UntrustedText: String] = [:]
    try forEachMember { (name: UntrustedText, value: JSONElement) throws(FormFault) in
      do throws(FormFault) { words[name] = try value.readText() } catch { throw error.under(.member(name.string)) }
    }
    return words
  }
}

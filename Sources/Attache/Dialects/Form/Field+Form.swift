extension Field {
  /// The type of value that a field must give.
  enum Kind {
    case text
    /// A text or a whole number.
    case count
    case flag, seconds, rectangle
  }

  enum Member: String, CaseIterable {
    case inside, at, fixed, key, index, file, url, query, differs, from, prefix, suffix, when
  }

  /// Parses a field of a dialect file, or an array of them.
  static func all(form: JSONElement, _ kind: Kind = .text) throws(FormFault) -> [Field] {
    guard form.isObject || form.isArray else { throw FormFault(#"this is not a field; write {"at": …}, {"inside": …} or {"fixed": …}"#) }
    return try form.readOneOrMany { element throws(FormFault) in try Field(form: element, kind) }
  }

  private convenience init(form: JSONElement, _ kind: Kind) throws(FormFault) {
    var origins: [Origin] = []
    var other: DialectPath?
    var difference: DialectPath?
    var (prefix, suffix, when) = ("", "", [Condition]())
    try form.readMembers(Member.self) { (member, value) throws(FormFault) in
      switch member {
      case .inside: origins.append(.inside(try value.readPath()))
      case .at: origins.append(.at(try value.readPath()))
      case .fixed: origins.append(try Origin(fixed: value, kind))
      case .key:
        try value.readTrue()
        origins.append(.key)
      case .index: origins.append(.index(try value.readInteger(from: 0)))
      case .file:
        try value.readTrue()
        origins.append(.file)
      case .url:
        try value.readTrue()
        origins.append(.url)
      case .query: origins.append(.query(try value.readText()))
      case .differs: difference = try value.readPath()
      case .from: other = try value.readPath()
      case .prefix: prefix = try value.readText()
      case .suffix: suffix = try value.readText()
      case .when: when = try Condition.all(form: value)
      }
    }
    if difference != nil || other != nil {
      guard let difference, let other else { throw FormFault("“differs” and “from” need each other; write both") }
      origins.append(.differs(difference, from: other))
    }
    guard origins.count == 1 else {
      throw FormFault("a field has one source; write one of inside, at, fixed, key, index, file, url, query, differs")
    }
    self.init(origin: origins[0], prefix: prefix, suffix: suffix, when: when)
  }
}

extension Field.Origin {
  fileprivate init(fixed value: JSONElement, _ kind: Field.Kind) throws(FormFault) {
    switch kind {
    case .text:
      guard value.isString else { throw FormFault("this is not a text; write a string") }
      self = .text(value.text?.string ?? "")
    case .count:
      guard value.integer != nil || value.isString else { throw FormFault("this is not a count; write a whole number") }
      self = value.number.map(Self.number) ?? .text(value.text?.string ?? "")
    case .flag: self = .boolean(try value.readFlag())
    case .seconds:
      guard let number = value.number, number >= 0 else { throw FormFault("this is not a time; write a number of seconds, 0 or more") }
      self = .number(number)
    case .rectangle:
      guard let rectangle = ClippingRect(value) else {
        throw FormFault("this is not a rectangle; write an object with x, y, width and height, each a number from 0 to 1")
      }
      self = .rectangle(rectangle)
    }
  }
}

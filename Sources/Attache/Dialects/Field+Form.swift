extension Field {
  private enum Member: String, CaseIterable {
    case inside, at, fixed, key, index, file, url, query, differs, from, prefix, suffix, when
  }

  /// Reads a field of a dialect's form, or an array of them.
  static func all(form: JSONElement) throws(FormFault) -> [Field] {
    guard form.isObject || form.isArray else { throw FormFault(#"this is no field; write {"at": …}, {"inside": …} or {"fixed": …}"#) }
    return try form.readOneOrMany(Field.init(form:))
  }

  private convenience init(form: JSONElement) throws(FormFault) {
    var origins: [Origin] = []
    var other: DialectPath?
    var difference: DialectPath?
    var (prefix, suffix, when) = ("", "", [Condition]())
    try form.readMembers(Member.self) { (member, value) throws(FormFault) in
      switch member {
      case .inside: origins.append(.inside(try value.readPath()))
      case .at: origins.append(.at(try value.readPath()))
      case .fixed: origins.append(try Origin(fixed: value))
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
      guard let difference, let other else { throw FormFault("“differs” and “from” stand together; write both") }
      origins.append(.differs(difference, from: other))
    }
    guard origins.count == 1 else {
      throw FormFault("a field says one thing; write one of inside, at, fixed, key, index, file, url, query, differs")
    }
    self.init(origin: origins[0], prefix: prefix, suffix: suffix, when: when)
  }
}

extension Field.Origin {
  fileprivate init(fixed value: JSONElement) throws(FormFault) {
    if value.isString {
      self = .text(value.text ?? "")
    } else if let boolean = value.boolean {
      self = .boolean(boolean)
    } else if let number = value.number {
      self = .number(number)
    } else if let rectangle = ClippingRect(value) {
      self = .rectangle(rectangle)
    } else {
      throw FormFault("this can be no fixed value; write a text, true, false, a number, or x, y, width and height from 0 to 1")
    }
  }
}

extension Condition {
  enum Member: String, CaseIterable {
    case at, `is`, equals, starts, absent, any, none
  }

  /// The maximum nesting depth of conditions, which are parsed and evaluated recursively.
  private static let maximumDepth = 16

  /// Parses a condition of a dialect file.
  init(form: JSONElement) throws(FormFault) {
    try self.init(form: form, depth: 1)
  }

  fileprivate init(form: JSONElement, depth: Int) throws(FormFault) {
    guard depth <= Self.maximumDepth else {
      throw FormFault("conditions are nested more than \(Self.maximumDepth) deep; write them side by side")
    }
    var path: DialectPath?
    var tests: [(DialectPath) -> Condition] = []
    var groups: [Condition] = []
    try form.readMembers(Member.self) { (member, value) throws(FormFault) in
      switch member {
      case .at: path = try value.readPath()
      case .is:
        let kind = try value.readChoice(of: Kind.allCases)
        tests.append { .kind($0, kind) }
      case .equals:
        let scalars = try value.readSome(Scalar.init(form:))
        tests.append { .equals($0, scalars) }
      case .starts:
        let prefixes = try value.readSome { element throws(FormFault) in try element.readText() }
        tests.append { .starts($0, prefixes) }
      case .absent:
        try value.readTrue()
        tests.append { .absent($0) }
      case .any: groups.append(.any(try value.readConditions(depth: depth + 1)))
      case .none: groups.append(.none(try value.readConditions(depth: depth + 1)))
      }
    }
    if let group = groups.first {
      guard path == nil, tests.isEmpty, groups.count == 1 else {
        throw FormFault("“any” and “none” allow no other member beside them; put the rest into another condition")
      }
      self = group
    } else {
      guard let path else { throw FormFault("“at” is missing; write the path that the condition tests") }
      guard tests.count < 2 else {
        throw FormFault("a condition has one test; for several, write an array of conditions, all of which must hold")
      }
      self = tests.first?(path) ?? .present(path)
    }
  }

  /// Parses a condition, or an array of them.
  static func all(form: JSONElement) throws(FormFault) -> [Condition] {
    try form.readOneOrMany(Condition.init(form:))
  }
}

extension JSONElement {
  fileprivate func readConditions(depth: Int) throws(FormFault) -> [Condition] {
    guard isArray else { throw FormFault("this is not an array; write […]") }
    return try readSome { element throws(FormFault) in try Condition(form: element, depth: depth) }
  }
}

extension Condition.Scalar {
  fileprivate init(form: JSONElement) throws(FormFault) {
    if let text = form.text {
      self = .text(text.string)
    } else if let number = form.number {
      self = .number(number)
    } else if let boolean = form.boolean {
      self = .boolean(boolean)
    } else {
      throw FormFault("nothing equals this value; write a text, a number, true or false")
    }
  }
}

extension DialectTexts.Override {
  /// Parses an object whose members name texts of the notification.
  static func all(form: JSONElement) throws(FormFault) -> [DialectTexts.Override] {
    var overrides: [DialectTexts.Override] = []
    try form.readMembers(Name.self) { (name, value) throws(FormFault) in
      overrides.append(DialectTexts.Override(name: name, fields: try Field.all(form: value, name == .badge ? .count : .text)))
    }
    return overrides
  }
}

extension DialectTexts.Actions {
  enum Member: String, CaseIterable {
    case json, each, identifier, title, url, icon, destructive
  }

  /// Parses the places of a dialect's buttons.
  init(form: JSONElement) throws(FormFault) {
    var path: DialectPath?
    var actions = DialectTexts.Actions(each: DialectPath(JSONPointer()))
    try form.readMembers(Member.self) { (member, value) throws(FormFault) in
      switch member {
      case .json: actions.json = try value.readPath()
      case .each: path = try value.readPath()
      case .identifier: actions.identifier = try Field.all(form: value)
      case .title: actions.title = try Field.all(form: value)
      case .url: actions.url = try Field.all(form: value)
      case .icon: actions.icon = try Field.all(form: value)
      case .destructive: actions.destructive = try Condition.all(form: value)
      }
    }
    guard let path else { throw FormFault("“each” is missing; write the path of the buttons") }
    guard !actions.title.isEmpty else { throw FormFault("“title” is missing; write the path of a button's title") }
    actions.each = path
    self = actions
  }
}

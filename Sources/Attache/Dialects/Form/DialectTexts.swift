/// The places where a dialect defines its helper's changes to a payload's text.
struct DialectTexts: Sendable {
  /// A text of the notification, such as `title`, and the fields that may replace it.
  struct Override: Sendable {
    enum Name: String, Sendable, CaseIterable {
      case title, subtitle, body, badge, sound, category
      case threadID = "thread-id"
      case interruptionLevel = "interruption-level"
      /// A text that is appended to the body.
      case bodyAppend = "body_append"
    }

    var name: Name
    var fields: [Field]
  }

  /// The places of the buttons.
  struct Actions: Sendable {
    /// The path of a string that holds JSON. The path `each` then starts from that JSON.
    var json: DialectPath?
    /// The path of the buttons, each of which is an object.
    var each: DialectPath
    var identifier: [Field] = []
    var title: [Field] = []
    var url: [Field] = []
    var icon: [Field] = []
    /// Conditions that start from the button.
    var destructive: [Condition] = []
  }

  var overrides: [Override] = []
  var onFailure: [Override] = []
  /// Sources of buttons. Only the first that yields a button is used.
  var actions: [Actions] = []

  /// Returns the text changes that a payload asks for; nil if there are none.
  ///
  /// - Parameter documents: parses the JSON inside the payload's strings.
  func read(_ payload: JSONElement, dialect: String, _ documents: InnerDocument, _ shared: SharedFields) -> DialectText? {
    var text = DialectText(dialect: dialect)
    text.overrides = read(overrides, payload, shared)
    text.onFailure = read(onFailure, payload, shared)
    for actions in actions where text.actions.isEmpty {
      let root = actions.json.map { documents.document(at: $0, in: payload) } ?? payload
      if let root { text.actions = read(actions, in: root, payload, shared) }
      if !text.actions.isEmpty { text.actionsPath = UntrustedText((actions.json ?? actions.each).container) }
    }
    return text.overrides.isEmpty && text.onFailure.isEmpty && text.actions.isEmpty ? nil : text
  }

  private func read(_ overrides: [Override], _ payload: JSONElement, _ shared: SharedFields) -> [DialectText.Override] {
    let fields = FieldReader(payload: payload, shared: shared, item: payload)
    return overrides.compactMap { override in
      let value =
        switch override.name {
        case .badge: fields.text(override.fields, takesIntegers: true)
        case .sound: fields.sound(override.fields)
        default: fields.text(override.fields)
        }
      return value.map { DialectText.Override(name: override.name.rawValue, value: $0) }
    }
  }

  /// Returns the buttons that have a title. For an array, each element is read.
  private func read(_ actions: Actions, in root: JSONElement, _ payload: JSONElement, _ shared: SharedFields) -> [DialectText.Action] {
    var buttons: [DialectText.Action] = []
    DialectWalk(actions.each).forEach(from: root) { find in
      guard find.value.isArray else {
        let fields = FieldReader(payload: payload, shared: shared, item: find.value, key: find.key, index: find.index)
        read(actions, find.value, fields).map { buttons.append($0) }
        return
      }
      var index = 0
      find.value.forEachElement { element in
        let fields = FieldReader(payload: payload, shared: shared, item: element, key: find.key, index: index)
        read(actions, element, fields).map { buttons.append($0) }
        index += 1
      }
    }
    return buttons
  }

  private func read(_ actions: Actions, _ item: JSONElement, _ fields: FieldReader) -> DialectText.Action? {
    guard item.isObject, let title = fields.text(actions.title) else { return nil }
    var action = DialectText.Action(identifier: fields.text(actions.identifier, takesIntegers: true), title: title)
    action.url = fields.text(actions.url)
    action.icon = fields.text(actions.icon)
    action.isDestructive = !actions.destructive.isEmpty && actions.destructive.hold(in: item)
    return action
  }
}

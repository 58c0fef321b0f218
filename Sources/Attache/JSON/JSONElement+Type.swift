extension JSONElement {
  package var isNull: Bool { !isPresent && !isString }

  /// The name of the value's type in a sentence.
  package var typeName: String {
    if isObject { return "a dictionary" }
    if isArray { return "an array" }
    if isString { return "a string" }
    if let boolean { return boolean ? "true" : "false" }
    if let number { return "the number \(integer.map(String.init) ?? "\(number)")" }
    return "null"
  }
}

extension JSONElement {
  /// Throws if an object has two members with the same name. A row's `sample` is not checked,
  /// because a payload may have such members.
  ///
  /// - Parameter depth: the maximum nesting depth to check; valid dialects are nested less deeply.
  func checkMembersAreDistinct(depth: Int = 128) throws(FormFault) {
    guard depth > 0 else { return }
    if isArray {
      _ = try readElements { element throws(FormFault) in try element.checkMembersAreDistinct(depth: depth - 1) }
    } else if isObject {
      var names: Set<UntrustedText> = []
      try forEachMember { (name: UntrustedText, value: JSONElement) throws(FormFault) in
        do throws(FormFault) {
          guard names.insert(name).inserted else { throw FormFault("this member occurs twice; remove one of the two") }
          if name != "sample" { try value.checkMembersAreDistinct(depth: depth - 1) }
        } catch { throw error.under(.member(name.string)) }
      }
    }
  }
}

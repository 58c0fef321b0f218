extension JSONElement {
  /// Refuses a member that an object of the form has twice; a row's `sample` may hold what a
  /// payload may.
  ///
  /// - Parameter depth: how deep objects and arrays are looked into; the form nests them less.
  func checkMembersAreDistinct(depth: Int = 128) throws(FormFault) {
    guard depth > 0 else { return }
    if isArray {
      _ = try readElements { element throws(FormFault) in try element.checkMembersAreDistinct(depth: depth - 1) }
    } else if isObject {
      var names: Set<UntrustedText> = []
      try forEachMember { (name: UntrustedText, value: JSONElement) throws(FormFault) in
        do throws(FormFault) {
          guard names.insert(name).inserted else { throw FormFault("this member is there twice; leave one of the two out") }
          if name != "sample" { try value.checkMembersAreDistinct(depth: depth - 1) }
        } catch { throw error.under(.member(name.string)) }
      }
    }
  }
}

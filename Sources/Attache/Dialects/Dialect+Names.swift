extension [Dialect] {
  /// Checks that no two rows share a name and that no alias equals another row's name. Such an
  /// alias would never select its row.
  ///
  /// - Parameter others: the names of rows outside this list.
  func checkNames(beside others: [String]) throws(FormFault) {
    let names = Set(map(\.name) + others)
    var before: Set<String> = []
    for (index, row) in enumerated() {
      guard before.insert(row.name).inserted else {
        throw FormFault("there is a dialect “\(row.name)” before; choose another name").under(.member("name")).under(.element(index))
      }
      if let alias = row.aliases.first(where: { $0 != row.name && names.contains($0) }) {
        throw FormFault("“\(alias)” is the name of another dialect; leave it out, or choose another alias").under(.member("aliases"))
          .under(.element(index))
      }
    }
  }
}

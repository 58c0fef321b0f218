extension DialectTable {
  /// What the row of that name or alias says.
  package func entry(named name: String) throws(DialectTableError) -> DialectEntry {
    let entries = entries
    if let entry = entries.first(where: { $0.name == name }) ?? entries.first(where: { $0.aliases.contains(name) }) { return entry }
    throw .unknown(name, nearest: Spelling.nearest(to: name, of: entries.flatMap { [$0.name] + $0.aliases }))
  }
}

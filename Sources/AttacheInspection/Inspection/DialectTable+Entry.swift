package import Attache

extension DialectTable {
  /// Returns the entry of the row with that name or alias. A name takes precedence over an alias.
  ///
  /// - Throws: ``DialectTableError/unknown(_:nearest:)`` if there is none.
  package func entry(named name: String) throws(DialectTableError) -> DialectEntry {
    let entries = entries
    if let entry = entries.first(where: { $0.name == name }) ?? entries.first(where: { $0.aliases.contains(name) }) { return entry }
    throw .unknown(name, nearest: Spelling.nearest(to: name, of: entries.flatMap { [$0.name] + $0.aliases }))
  }
}

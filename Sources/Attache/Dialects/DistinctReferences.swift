/// References in the order in which they were found, each URL once: a sender's picture that is attached too is two.
struct DistinctReferences {
  private struct Key: Hashable {
    let url: String
    let role: MediaReference.Role

    init(_ reference: MediaReference) {
      url = reference.url
      role = reference.role
    }
  }

  private(set) var references: [MediaReference] = []
  private var keys: Set<Key> = []

  /// Keeps a reference whose URL is new; of two with the same URL the first stays.
  mutating func add(_ reference: MediaReference) {
    if references.isEmpty {
      references.append(reference)
      return
    }
    if keys.isEmpty { keys.insert(Key(references[0])) }
    if keys.insert(Key(reference)).inserted { references.append(reference) }
  }
}

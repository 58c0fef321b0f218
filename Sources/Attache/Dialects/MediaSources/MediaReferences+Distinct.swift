extension [MediaReference] {
  /// The references without repetitions of a URL; the first of each is kept. A picture that is both
  /// the sender's and an attachment counts as two.
  var distinct: [MediaReference] {
    guard count > 1 else { return self }
    var keys: Set<Key> = []
    return filter { keys.insert(Key(url: $0.url, role: $0.role)).inserted }
  }
}

private struct Key: Hashable {
  let url: UntrustedText
  let role: MediaReference.Role
}

extension [MediaReference] {
  /// Each URL once, the first of several: a sender's picture that is attached too is two.
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

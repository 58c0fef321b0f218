/// A media reference, and what the gates say to it.
package struct InspectedMedia: Hashable, Sendable {
  package var reference: MediaReference
  /// In the order in which the gates are asked.
  package var gates: [GateAnswer]
  /// The further URLs of the reference, each with what the gates say.
  package var fallbacks: [Fallback] = []
  /// What became of it, when it was fetched.
  package var fetch: MediaRecord?

  /// A further URL of the same media.
  package struct Fallback: Hashable, Sendable {
    package var url: UntrustedText
    package var gates: [GateAnswer]
    /// What became of it, when it was tried.
    package var fetch: MediaRecord?
  }

  /// Whether a filter would try to fetch it, names not looked up yet.
  package var isFollowed: Bool {
    gates.allSatisfy { $0.passes != false }
  }

  /// Takes the records of this reference off the front: one for its URL, and one for each further
  /// URL that was tried after a failure.
  mutating func take(_ records: inout ArraySlice<MediaRecord>) {
    guard let first = records.popFirst() else { return }
    fetch = first
    var hasFailed = first.reason != nil
    for index in fallbacks.indices {
      guard hasFailed, let next = records.first, next.url == fallbacks[index].url else { return }
      fallbacks[index].fetch = next
      hasFailed = next.reason != nil
      records = records.dropFirst()
    }
  }
}

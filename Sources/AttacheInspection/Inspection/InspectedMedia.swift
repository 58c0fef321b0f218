package import Attache

/// A media reference, and the gates' answers for it.
package struct InspectedMedia: Hashable, Sendable {
  package var reference: MediaReference
  /// The answers, in the order in which the gates are checked.
  package var gates: [GateAnswer]
  /// The further URLs of the reference, each with the gates' answers.
  package var fallbacks: [Fallback] = []
  /// The result of the fetch, if it was fetched.
  package var fetch: MediaRecord?

  /// A further URL of the same media.
  package struct Fallback: Hashable, Sendable {
    package var url: UntrustedText
    package var gates: [GateAnswer]
    /// The result of the fetch, if it was tried.
    package var fetch: MediaRecord?
  }

  /// Whether a filter would try to fetch it; name lookups are not considered.
  package var isFollowed: Bool {
    gates.allSatisfy { $0.passes != false }
  }

  /// Whether its URL is replaced although no service extension runs.
  var isReplaced: Bool { reference.isForOthers && gates.first?.passes == true }

  /// Removes the records of this reference from the front: one for its URL, and one for each
  /// further URL that was tried after a failure.
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

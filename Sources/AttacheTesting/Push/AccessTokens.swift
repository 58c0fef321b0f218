internal import Synchronization

/// The access tokens that a server has issued.
final class AccessTokens: Sendable {
  private struct State {
    /// When each token ends, in seconds since 1970.
    var ends: [String: Double] = [:]
    var count = 0
  }

  private let state = Mutex(State())

  /// The number of tokens issued.
  var count: Int { state.withLock { $0.count } }

  /// Returns a new random token that ends at a time, in seconds since 1970.
  func issue(until end: Double) -> String {
    let token = "ya29." + (0..<4).map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 36) }.joined()
    state.withLock { state in
      state.ends[token] = end
      state.count += 1
    }
    return token
  }

  /// Returns whether a token was issued, and neither ended nor was revoked.
  func isValid(_ token: String, at now: Double) -> Bool {
    state.withLock { $0.ends[token].map { now < $0 } ?? false }
  }

  /// Makes all tokens issued so far invalid.
  func revoke() {
    state.withLock { $0.ends = [:] }
  }
}

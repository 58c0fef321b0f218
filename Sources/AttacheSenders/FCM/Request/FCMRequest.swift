package import AttacheQueue

/// A message that is to be sent.
///
/// `@unchecked Sendable`: until it is given to the client, one thread uses it; then only the client's.
package final class FCMRequest: @unchecked Sendable {
  package let token: LeaseToken
  /// The registration token; nil for a topic or a condition.
  package let deviceToken: String?
  let body: [UInt8]
  /// The ``AccessToken/number`` of the access token that it was sent with.
  var accessToken = 0
  /// Whether Google has rejected an access token that it was sent with.
  var hasNewToken = false

  init(_ token: LeaseToken, deviceToken: String?, body: [UInt8]) {
    (self.token, self.deviceToken, self.body) = (token, deviceToken, body)
  }
}

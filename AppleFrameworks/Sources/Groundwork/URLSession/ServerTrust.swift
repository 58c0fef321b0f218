import Foundation
import FoundationNetworking

// Foundation for Linux declares these as unavailable: libcurl verifies the server's certificate
// before any delegate could.

/// The certificates of a server. libcurl has verified them.
public final class SecTrust: NSObject, @unchecked Sendable {
  package static let verified = SecTrust()
}

public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"

extension URLProtectionSpace {
  public var serverTrust: SecTrust? { .verified }
}

extension URLCredential {
  public convenience init(trust: SecTrust) {
    self.init(user: "", password: "", persistence: .none)
  }
}

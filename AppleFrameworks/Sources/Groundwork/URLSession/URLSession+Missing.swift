import Foundation
import FoundationNetworking
import OriginalFoundation

extension URLSessionConfiguration {
  /// Accepted, and without effect: a transfer fails if there is no network.
  public var waitsForConnectivity: Bool {
    get { false }
    set {}
  }

  /// Accepted, and without effect.
  public var sharedContainerIdentifier: String? {
    get { nil }
    set {}
  }

  /// Accepted, and without effect.
  public var isDiscretionary: Bool {
    get { false }
    set {}
  }

  /// Accepted, and without effect.
  public var sessionSendsLaunchEvents: Bool {
    get { true }
    set {}
  }

  /// Accepted, and without effect: there is one network.
  public var allowsExpensiveNetworkAccess: Bool {
    get { true }
    set {}
  }

  /// Accepted, and without effect: there is one network.
  public var allowsConstrainedNetworkAccess: Bool {
    get { true }
    set {}
  }
}

extension URLRequest {
  /// Accepted, and without effect: there is one network.
  public var allowsExpensiveNetworkAccess: Bool {
    get { true }
    set {}
  }

  /// Accepted, and without effect: there is one network.
  public var allowsConstrainedNetworkAccess: Bool {
    get { true }
    set {}
  }
}

extension URLResponse {
  /// The file name of the header `Content-Disposition`; else the last component of the URL, with
  /// the extension of the MIME type if it has none.
  public var suggestedFilename: String? {
    if let name = originalSuggestedFilename(self), name != "Unknown" { return name }
    let last = url?.lastPathComponent ?? ""
    let name = last.isEmpty || last == "/" ? "Unknown" : last
    guard (name as NSString).pathExtension.isEmpty, let type = mimeType, let known = FileType(mime: type) else { return name }
    return name + "." + known.extensions[0]
  }
}

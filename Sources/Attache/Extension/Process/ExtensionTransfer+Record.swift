extension ExtensionTransfer {
  /// What the report says about a transfer that gave no file; nil for one that did.
  ///
  /// - Parameter isLate: whether time was over when the extension answered.
  func failedRecord(isLate: Bool) -> MediaRecord? {
    guard let reason = reason(isLate: isLate) else { return nil }
    return MediaRecord(url: url, reason: reason, status: status > 0 ? status : nil, bytes: max(0, bytes), attempts: 1)
  }

  /// libcurl's numbers are those of its stable ABI: https://curl.se/libcurl/c/libcurl-errors.html.
  private func reason(isLate: Bool) -> Reason? {
    switch code {
    case 0: (200..<300).contains(status) ? nil : .httpStatus
    case -1: isLate ? .deadline : .cancelled
    case 28: .deadline
    case 1, Self.insecure: .policyScheme
    case Self.denied: .policyHost
    case 3: .policyURL
    case 6: .dnsNotFound
    // The address is refused by the rules of the network, or by the origin.
    case 7: .connectFailed
    case 18: .httpTruncated
    case 35: .tlsHandshake
    case 51, 60: .tlsCertificate
    case 52, 55, 56: .connectReset
    case 8, 16, 92: .httpProtocol
    default: .internal
    }
  }
}

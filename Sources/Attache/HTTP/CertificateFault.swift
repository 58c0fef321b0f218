/// Why a certificate was not accepted: what OpenSSL reports of the chain that the origin sent.
package enum CertificateFault: Hashable, Sendable {
  /// A certificate has expired.
  ///
  /// - Parameters:
  ///   - on: its last day, in UTC.
  ///   - authority: the authority whose certificate it is; nil for the origin's own.
  case expired(on: String, authority: String?)
  /// A certificate is not valid before a day.
  case early(until: String)
  /// The origin sends its certificate alone, and no certificate of the issuer, although its own says where browsers find one.
  case incomplete(issuer: String)
  /// The chain ends at an authority that is not trusted.
  ///
  /// - Parameter isSent: whether the origin sends the authority's own certificate.
  case unknownAuthority(String, isSent: Bool)
  /// The origin's own certificate is for other hosts.
  ///
  /// - Parameters:
  ///   - names: the first of them, as far as they can be shown.
  ///   - more: the number of the others.
  case otherHost(names: [String], more: Int)
  /// Two causes, each of which must be removed.
  indirect case both(CertificateFault, CertificateFault)
  /// Another error, in OpenSSL's words.
  case other(String)

  /// What happened and what the user can do about it.
  ///
  /// - Parameter host: the host that was asked.
  func message(toGet host: String) -> String {
    switch self {
    case .expired(let day, nil): "the origin's certificate expired on \(day); renew it"
    case .expired(let day, let authority?):
      "the certificate of the authority '\(authority)', which the origin sends, expired on \(day); install a current chain at the origin"
    case .early(let day): "the origin's certificate is not valid before \(day); check this machine's clock, or replace the certificate"
    case .incomplete(let issuer):
      "the origin does not send its intermediate certificate, that of '\(issuer)', which browsers and phones find by themselves; "
        + "install the full chain at the origin (if '\(issuer)' is a root of your own, name it with --cacert)"
    case .unknownAuthority(let name, let isSent):
      "the origin's certificate comes from an unknown authority, '\(name)'; name its root with --cacert, "
        + (isSent ? "or replace the certificate" : "or install the full chain at the origin, if that is an intermediate authority")
    case .otherHost(let names, let more):
      names.isEmpty
        ? "the origin's certificate names no host (subjectAltName), not even '\(PrintableText.of(host))'; give the origin a certificate for its name"
        : "the origin's certificate is for \(names.map { "'\($0)'" }.joined(separator: ", "))\(more > 0 ? " and \(more) more" : ""), not for "
          + "'\(PrintableText.of(host))'; check the URL, or give the origin a certificate for its name"
    case .both(let one, let other): "\(one.message(toGet: host)); also, \(other.message(toGet: host))"
    case .other(let text): "the origin's certificate is not valid (\(text)); replace it"
    }
  }
}

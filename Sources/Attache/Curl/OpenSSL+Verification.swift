internal import Glibc

/// What OpenSSL reports of a certificate that it does not accept. It decides alone: nothing here
/// changes its verdict.
extension OpenSSL {
  private typealias Pointer = UnsafeRawPointer
  private typealias Verify = @convention(c) (CInt, Pointer?) -> CInt
  private typealias SetVerify = @convention(c) (UnsafeMutableRawPointer, CInt, Verify) -> Void
  private typealias GetNumber = @convention(c) (Pointer) -> CInt
  private typealias GetIndex = @convention(c) () -> CInt
  private typealias GetData = @convention(c) (Pointer, CInt) -> Pointer?
  private typealias GetPart = @convention(c) (Pointer) -> Pointer?
  private typealias FindExtension = @convention(c) (Pointer, CInt, CInt) -> CInt
  private typealias CopyName = @convention(c) (Pointer, CInt, UnsafeMutablePointer<CChar>, CInt) -> CInt
  private typealias ReadTime = @convention(c) (Pointer, UnsafeMutablePointer<tm>) -> CInt
  private typealias GetText = @convention(c) (CLong) -> UnsafePointer<CChar>?

  private static let setVerify: SetVerify? = unsafe function("SSL_CTX_set_verify")
  private static let getError: GetNumber? = unsafe function("X509_STORE_CTX_get_error")
  private static let getDepth: GetNumber? = unsafe function("X509_STORE_CTX_get_error_depth")
  private static let getCertificate: GetPart? = unsafe function("X509_STORE_CTX_get_current_cert")
  private static let getLeaf: GetPart? = unsafe function("X509_STORE_CTX_get0_cert")
  private static let compareWithNow: GetNumber? = unsafe function("X509_cmp_current_time")
  private static let getConnectionIndex: GetIndex? = function("SSL_get_ex_data_X509_STORE_CTX_idx")
  private static let getConnection: GetData? = unsafe function("X509_STORE_CTX_get_ex_data")
  private static let getEnd: GetPart? = unsafe function("X509_get0_notAfter")
  private static let getStart: GetPart? = unsafe function("X509_get0_notBefore")
  private static let getSubject: GetPart? = unsafe function("X509_get_subject_name")
  private static let getIssuer: GetPart? = unsafe function("X509_get_issuer_name")
  private static let findExtension: FindExtension? = unsafe function("X509_get_ext_by_NID")
  private static let copyName: CopyName? = unsafe function("X509_NAME_get_text_by_NID")
  private static let readTime: ReadTime? = unsafe function("ASN1_TIME_to_tm")
  private static let getText: GetText? = unsafe function("X509_verify_cert_error_string")

  /// SSL_VERIFY_PEER
  private static let verifyPeer: CInt = 1

  /// Notes why a certificate of a connection is not accepted. Call it after ``notify(_:ofClosesIn:)``.
  ///
  /// - Parameter context: the `SSL_CTX` of the new connection.
  static func noteFaults(in context: UnsafeMutableRawPointer) {
    unsafe setVerify?(context, verifyPeer, verified)
  }

  private static let verified: Verify = { isAccepted, store in
    if isAccepted != 1, let store = unsafe store, let getConnection = unsafe getConnection, let index = getConnectionIndex?(),
      let connection = unsafe getConnection(store, index), let fault = unsafe fault(of: store)
    {
      unsafe note(fault, of: connection)
    }
    return isAccepted
  }

  private static func fault(of store: Pointer) -> CertificateFault? {
    guard let error = unsafe getError?(store), let depth = unsafe getDepth?(store) else { return nil }
    let certificate = unsafe getCertificate?(store)
    switch error {
    // X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED
    case 9: if let day = unsafe certificate.flatMap({ unsafe Self.day(getStart?($0)) }) { return .early(until: day) }
    case 10:
      if let day = unsafe certificate.flatMap({ unsafe Self.day(getEnd?($0)) }) {
        return .expired(on: day, authority: depth == 0 ? nil : unsafe certificate.map { unsafe name(getSubject?($0)) })
      }
    // X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, …_GET_ISSUER_CERT_LOCALLY, …_VERIFY_LEAF_SIGNATURE
    case 2, 20, 21:
      guard let certificate = unsafe certificate else { break }
      let issuer = unsafe name(getIssuer?(certificate))
      // Roots need not be sent, so behind an authority's certificate nothing may be missing.
      let isIncomplete = unsafe depth == 0 && namesIssuersPlace(certificate)
      return unsafe withDays(of: store, isIncomplete ? .incomplete(issuer: issuer) : .unknownAuthority(issuer, isSent: false))
    // X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN
    case 18, 19:
      if let certificate = unsafe certificate {
        return unsafe withDays(of: store, .unknownAuthority(name(getSubject?(certificate)), isSent: true))
      }
    // X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH
    case 62, 64: if let leaf = unsafe getLeaf?(store) { return unsafe otherHost(leaf) }
    default: break
    }
    return unsafe getText?(CLong(error)).map { .other(unsafe String(cString: $0)) }
  }

  /// Returns a fault of the chain, with that of the days of the origin's own certificate, if they have
  /// one: OpenSSL does not check the days of a chain that ends nowhere.
  private static func withDays(of store: Pointer, _ fault: CertificateFault) -> CertificateFault {
    guard let leaf = unsafe getLeaf?(store), let end = unsafe getEnd?(leaf), let start = unsafe getStart?(leaf),
      let compare = unsafe compareWithNow
    else { return fault }
    if unsafe compare(end) < 0, let day = unsafe day(end) { return .both(.expired(on: day, authority: nil), fault) }
    if unsafe compare(start) > 0, let day = unsafe day(start) { return .both(.early(until: day), fault) }
    return fault
  }

  /// NID_info_access: the authority information access of a certificate (RFC 5280, 4.2.2.1).
  private static let informationAccess: CInt = 177

  private static func namesIssuersPlace(_ certificate: Pointer) -> Bool {
    unsafe findExtension.map { unsafe $0(certificate, informationAccess, -1) >= 0 } ?? false
  }

  /// NID_commonName, NID_organizationName
  private static let nameParts: [CInt] = [13, 17]

  /// Returns the common name or the organization of a name, as far as it can be shown.
  private static func name(_ name: Pointer?) -> String {
    guard let name = unsafe name, let copyName = unsafe copyName else { return "?" }
    for part in nameParts {
      var text = [CChar](repeating: 0, count: 65)
      guard unsafe copyName(name, part, &text, CInt(text.count)) > 0, text[0] != 0 else { continue }
      return PrintableText.of(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
    return "?"
  }

  /// Returns the day of a time, in UTC.
  private static func day(_ time: Pointer?) -> String? {
    var parts = unsafe tm()
    guard let time = unsafe time, let readTime = unsafe readTime, unsafe readTime(time, &parts) == 1 else { return nil }
    func twoDigits(_ number: Int32) -> String { (number < 10 ? "0" : "") + "\(number)" }
    let (year, month, day) = unsafe (parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday)
    return "\(year)-\(twoDigits(month))-\(twoDigits(day))"
  }
}

internal import Glibc

/// The hosts that a certificate is for, to show them.
extension OpenSSL {
  private typealias Pointer = UnsafeRawPointer
  private typealias GetExtension = @convention(c) (Pointer, CInt, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Pointer?
  private typealias GetCount = @convention(c) (Pointer) -> CInt
  private typealias GetElement = @convention(c) (Pointer, CInt) -> Pointer?
  private typealias GetName = @convention(c) (Pointer, UnsafeMutablePointer<CInt>) -> Pointer?
  private typealias GetBytes = @convention(c) (Pointer) -> UnsafePointer<UInt8>?
  private typealias Free = @convention(c) (Pointer) -> Void

  private static let getExtension: GetExtension? = unsafe function("X509_get_ext_d2i")
  private static let getCount: GetCount? = unsafe function("OPENSSL_sk_num")
  private static let getElement: GetElement? = unsafe function("OPENSSL_sk_value")
  private static let getName: GetName? = unsafe function("GENERAL_NAME_get0_value")
  private static let getBytes: GetBytes? = unsafe function("ASN1_STRING_get0_data")
  private static let getLength: GetCount? = unsafe function("ASN1_STRING_length")
  private static let free: Free? = unsafe function("GENERAL_NAMES_free")

  /// NID_subject_alt_name
  private static let alternativeNames: CInt = 85
  /// GEN_DNS, GEN_IPADD
  private static let (dnsName, address): (CInt, CInt) = (2, 7)
  /// The number of names that are shown, and the longest that is, in bytes: a host has at most 253.
  private static let (maximumShown, longestShown) = (3, 253)

  /// Returns the fault of a certificate that is for other hosts.
  static func otherHost(_ certificate: UnsafeRawPointer) -> CertificateFault {
    var names: [String] = []
    var count = 0
    guard let list = unsafe getExtension?(certificate, alternativeNames, nil, nil) else { return .otherHost(names: [], more: 0) }
    defer { unsafe free?(list) }
    for index in 0..<(unsafe getCount?(list) ?? 0) {
      guard let element = unsafe getElement?(list, index), let name = unsafe host(element) else { continue }
      count += 1
      if names.count < maximumShown { names.append(name) }
    }
    return .otherHost(names: names, more: count - names.count)
  }

  /// Returns a name that is a host, as far as it can be shown; nil for another, such as an address of mail.
  private static func host(_ element: Pointer) -> String? {
    var kind: CInt = -1
    guard let value = unsafe getName?(element, &kind), kind == dnsName || kind == address, let bytes = unsafe getBytes?(value),
      let length = unsafe getLength?(value), length >= 0
    else { return nil }
    let text = unsafe UnsafeBufferPointer(start: bytes, count: Int(length))
    guard kind == dnsName else {
      let bits = unsafe text.prefix(16).reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
      return text.count == 4 ? "\(IPAddress.v4(UInt32(bits)))" : text.count == 16 ? "\(IPAddress.v6(bits))" : nil
    }
    return unsafe PrintableText.of(String(decoding: text.prefix(longestShown), as: UTF8.self), maximumLength: longestShown)
  }
}

internal import Glibc

/// TLS settings that libcurl has no option for, made directly in the OpenSSL that libcurl is linked
/// with. The functions are looked up by name: libcurl loads the library, so its headers are no
/// dependency.
enum OpenSSL {
  private typealias Parameter = UnsafeMutableRawPointer
  private typealias GetParameter = @convention(c) (UnsafeMutableRawPointer) -> Parameter?
  private typealias SetFlags = @convention(c) (Parameter, CUnsignedInt) -> Void
  private typealias SetHost = @convention(c) (Parameter, UnsafePointer<CChar>, Int) -> CInt
  private typealias SetAddress = @convention(c) (Parameter, UnsafePointer<CChar>) -> CInt
  private typealias GetPending = @convention(c) (UnsafeRawPointer) -> CInt
  private typealias GetProtocol =
    @convention(c) (UnsafeRawPointer, UnsafeMutablePointer<UnsafePointer<UInt8>?>, UnsafeMutablePointer<CUnsignedInt>) -> Void

  private typealias MakeStore = @convention(c) () -> UnsafeMutableRawPointer?
  private typealias LoadStore = @convention(c) (UnsafeMutableRawPointer, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> CInt
  private typealias SetStoreFlags = @convention(c) (UnsafeMutableRawPointer, CUnsignedLong) -> CInt
  private typealias FreeStore = @convention(c) (UnsafeMutableRawPointer) -> Void
  private typealias SetStore = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void

  private typealias Notify = @convention(c) (UnsafeRawPointer?, CInt, CInt) -> Void
  private typealias SetNotify = @convention(c) (UnsafeMutableRawPointer, Notify) -> Void
  private typealias GetContext = @convention(c) (UnsafeRawPointer) -> UnsafeRawPointer?
  private typealias SetData = @convention(c) (UnsafeMutableRawPointer, CInt, UnsafeMutableRawPointer) -> CInt
  private typealias GetData = @convention(c) (UnsafeRawPointer, CInt) -> UnsafeMutableRawPointer?

  private typealias SetUp = @convention(c) (UInt64, UnsafeRawPointer?) -> CInt

  /// OPENSSL_INIT_NO_ATEXIT
  private static let noCleanUp: UInt64 = 0x80000
  private static let setUp: SetUp? = unsafe function("OPENSSL_init_crypto")

  /// X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
  private static let neverCheckSubject: CUnsignedInt = 0x20

  private static let getParameter: GetParameter? = unsafe function("SSL_CTX_get0_param")
  private static let setFlags: SetFlags? = unsafe function("X509_VERIFY_PARAM_set_hostflags")
  private static let setHost: SetHost? = unsafe function("X509_VERIFY_PARAM_set1_host")
  private static let setAddress: SetAddress? = unsafe function("X509_VERIFY_PARAM_set1_ip_asc")
  private static let getProtocol: GetProtocol? = unsafe function("SSL_get0_alpn_selected")
  private static let getPending: GetPending? = unsafe function("SSL_pending")
  private static let makeStore: MakeStore? = unsafe function("X509_STORE_new")
  private static let loadStore: LoadStore? = unsafe function("X509_STORE_load_locations")
  private static let setStoreFlags: SetStoreFlags? = unsafe function("X509_STORE_set_flags")
  private static let freeStore: FreeStore? = unsafe function("X509_STORE_free")
  private static let setStore: SetStore? = unsafe function("SSL_CTX_set1_cert_store")
  private static let setNotify: SetNotify? = unsafe function("SSL_CTX_set_info_callback")
  private static let getContext: GetContext? = unsafe function("SSL_get_SSL_CTX")
  private static let setData: SetData? = unsafe function("SSL_CTX_set_ex_data")
  private static let getData: GetData? = unsafe function("SSL_CTX_get_ex_data")

  /// Requires a certificate whose alternative names include the host. For a certificate without
  /// any, libcurl checks the subject, which is not verified to be a host (RFC 9525, 6.3).
  ///
  /// - Parameter context: the `SSL_CTX` of the new connection.
  /// - Returns: false when the requirement cannot be set.
  static func demand(_ url: CheckedURL, of context: UnsafeMutableRawPointer) -> Bool {
    guard let getParameter = unsafe getParameter, let setFlags = unsafe setFlags, let setHost = unsafe setHost,
      let setAddress = unsafe setAddress, let parameter = unsafe getParameter(context)
    else { return false }
    unsafe setFlags(parameter, neverCheckSubject)
    return unsafe (url.address == nil ? setHost(parameter, url.host, 0) : setAddress(parameter, url.host)) == 1
  }

  /// Root certificates that many connections share: an `X509_STORE`, whose references OpenSSL
  /// counts and which it locks.
  ///
  /// `@unchecked Sendable`: the pointer is constant, and OpenSSL locks what it points to.
  @safe
  final class Roots: @unchecked Sendable {
    private let store: UnsafeMutableRawPointer

    /// X509_V_FLAG_TRUSTED_FIRST and X509_V_FLAG_PARTIAL_CHAIN, as libcurl 7.88.1 sets them. With
    /// the second, a certificate of the file that is not a root is also trusted.
    private static let flags: CUnsignedLong = 0x8000 | 0x80000

    /// Parses a PEM file.
    ///
    /// - Returns: nil when parsing fails.
    init?(contentsOf path: String) {
      guard let makeStore = unsafe makeStore, let loadStore = unsafe loadStore, let setStoreFlags = unsafe setStoreFlags,
        unsafe freeStore != nil, unsafe setStore != nil, let store = unsafe makeStore()
      else { return nil }
      unsafe self.store = unsafe store
      guard unsafe loadStore(store, path, nil) == 1, unsafe setStoreFlags(store, Self.flags) == 1 else { return nil }
    }

    deinit {
      unsafe freeStore?(store)
    }

    /// Makes a connection trust these roots.
    ///
    /// - Parameter context: the `SSL_CTX` of the new connection.
    func use(in context: UnsafeMutableRawPointer) -> Bool {
      guard let setStore = unsafe setStore else { return false }
      unsafe setStore(context, store)
      return true
    }
  }

  /// Returns whether ALPN selected HTTP/2.
  ///
  /// - Parameter connection: an `SSL` whose handshake is complete.
  static func speaksHTTP2(_ connection: UnsafeRawPointer) -> Bool {
    guard let getProtocol = unsafe getProtocol else { return false }
    var name: UnsafePointer<UInt8>?
    var length: CUnsignedInt = 0
    unsafe getProtocol(connection, &name, &length)
    return unsafe UnsafeBufferPointer(start: name, count: Int(length)).elementsEqual("h2".utf8)
  }

  /// Returns whether OpenSSL holds unread bytes of a record; true when this is unknown.
  ///
  /// - Parameter connection: an `SSL` whose handshake is complete.
  static func holdsBytes(_ connection: UnsafeRawPointer) -> Bool {
    guard let getPending = unsafe getPending else { return true }
    return unsafe getPending(connection) != 0
  }

  /// Reports each close_notify of a peer to `connections`.
  ///
  /// libcurl 7.88.1 treats the end of a TLS connection without a close_notify as the end of a body,
  /// and does not report the difference.
  ///
  /// - Parameters:
  ///   - context: the `SSL_CTX` of the new connection.
  ///   - connections: must outlive the connection.
  /// - Returns: false when the reports cannot be set up.
  static func notify(_ connections: CurlConnections, ofClosesIn context: UnsafeMutableRawPointer) -> Bool {
    guard let setNotify = unsafe setNotify, let setData = unsafe setData, unsafe getContext != nil, unsafe getData != nil else {
      return false
    }
    guard unsafe setData(context, applicationData, Unmanaged.passUnretained(connections).toOpaque()) == 1 else { return false }
    unsafe setNotify(context, heard)
    return true
  }

  /// The index that SSL_CTX_set_app_data uses.
  private static let applicationData: CInt = 0
  /// SSL_CB_READ_ALERT
  private static let readAlert: CInt = 0x4004

  private static let heard: Notify = { connection, event, alert in
    // The low byte is the description of the alert; 0 is close_notify (RFC 8446, 6).
    guard event == readAlert, alert & 0xFF == 0, let connection = unsafe connection, let (_, connections) = unsafe place(of: connection)
    else { return }
    connections.noteClose(of: UInt(bitPattern: connection))
  }

  /// Records why the certificate of a connection is not accepted.
  ///
  /// - Parameter connection: an `SSL` that is verifying its peer.
  static func note(_ fault: CertificateFault, of connection: UnsafeRawPointer) {
    guard let (context, connections) = unsafe place(of: connection) else { return }
    connections.note(fault, in: context)
  }

  /// Returns the address of a connection's `SSL_CTX`, and what its events are reported to.
  private static func place(of connection: UnsafeRawPointer) -> (context: UInt, connections: CurlConnections)? {
    guard let getContext = unsafe getContext, let getData = unsafe getData, let context = unsafe getContext(connection),
      let connections = unsafe getData(context, applicationData)
    else { return nil }
    return (UInt(bitPattern: context), unsafe Unmanaged<CurlConnections>.fromOpaque(connections).takeUnretainedValue())
  }

  /// Disables OpenSSL's clean-up at the end of the process. Call this before anything else
  /// initialises OpenSSL.
  static func skipCleanUpAtExit() {
    _ = setUp?(noCleanUp, nil)
  }

  static func function<Function>(_ name: String) -> Function? {
    unsafe dlsym(nil, name).map { unsafe unsafeBitCast($0, to: Function.self) }
  }
}

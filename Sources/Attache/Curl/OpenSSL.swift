internal import Glibc

/// What libcurl cannot be told of TLS, said to the OpenSSL that it is linked with. The functions
/// are found by their names: libcurl brings them along, and their headers are no dependency.
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

  /// Demands a certificate that is for the host by its alternative names: without any, libcurl
  /// looks at the subject, which nobody vouches for to be a host (RFC 9525, 6.3).
  ///
  /// - Parameter context: the `SSL_CTX` of the connection that is to come.
  /// - Returns: false when it cannot be demanded.
  static func demand(_ url: CheckedURL, of context: UnsafeMutableRawPointer) -> Bool {
    guard let getParameter = unsafe getParameter, let setFlags = unsafe setFlags, let setHost = unsafe setHost,
      let setAddress = unsafe setAddress, let parameter = unsafe getParameter(context)
    else { return false }
    unsafe setFlags(parameter, neverCheckSubject)
    return unsafe (url.address == nil ? setHost(parameter, url.host, 0) : setAddress(parameter, url.host)) == 1
  }

  /// Root certificates that many connections share, an `X509_STORE`, which OpenSSL counts
  /// references to and locks.
  ///
  /// `@unchecked Sendable`: the pointer is constant, and what it points to is OpenSSL's to lock.
  @safe
  final class Roots: @unchecked Sendable {
    private let store: UnsafeMutableRawPointer

    /// X509_V_FLAG_TRUSTED_FIRST and X509_V_FLAG_PARTIAL_CHAIN, as libcurl 7.88.1 sets them: the
    /// second lets a certificate of the file that is no root vouch, too.
    private static let flags: CUnsignedLong = 0x8000 | 0x80000

    /// Parses a file in PEM form.
    ///
    /// - Returns: nil when that fails.
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

    /// - Parameter context: the `SSL_CTX` of the connection that is to come.
    func use(in context: UnsafeMutableRawPointer) -> Bool {
      guard let setStore = unsafe setStore else { return false }
      unsafe setStore(context, store)
      return true
    }
  }

  /// Whether ALPN came to HTTP/2.
  ///
  /// - Parameter connection: an `SSL` whose handshake is over.
  static func speaksHTTP2(_ connection: UnsafeRawPointer) -> Bool {
    guard let getProtocol = unsafe getProtocol else { return false }
    var name: UnsafePointer<UInt8>?
    var length: CUnsignedInt = 0
    unsafe getProtocol(connection, &name, &length)
    return unsafe UnsafeBufferPointer(start: name, count: Int(length)).elementsEqual("h2".utf8)
  }

  /// Whether what is left of a record waits to be read; true when that cannot be known.
  ///
  /// - Parameter connection: an `SSL` whose handshake is over.
  static func holdsBytes(_ connection: UnsafeRawPointer) -> Bool {
    guard let getPending = unsafe getPending else { return true }
    return unsafe getPending(connection) != 0
  }

  /// Has the connections told when a peer says that it sends nothing more.
  ///
  /// libcurl 7.88.1 takes the end of a TLS connection without a close_notify for the end of a body,
  /// and says so nowhere.
  ///
  /// - Parameters:
  ///   - context: the `SSL_CTX` of the connection that is to come.
  ///   - connections: outlives the connection.
  /// - Returns: false when that cannot be had.
  static func notify(_ connections: CurlConnections, ofClosesIn context: UnsafeMutableRawPointer) -> Bool {
    guard let setNotify = unsafe setNotify, let setData = unsafe setData, unsafe getContext != nil, unsafe getData != nil else {
      return false
    }
    guard unsafe setData(context, applicationData, Unmanaged.passUnretained(connections).toOpaque()) == 1 else { return false }
    unsafe setNotify(context, heard)
    return true
  }

  /// The index of what SSL_CTX_set_app_data sets.
  private static let applicationData: CInt = 0
  /// SSL_CB_READ_ALERT
  private static let readAlert: CInt = 0x4004

  private static let heard: Notify = { connection, event, alert in
    // The low byte is the description of the alert, 0 is close_notify (RFC 8446, 6).
    guard event == readAlert, alert & 0xFF == 0, let connection = unsafe connection, let getContext = unsafe getContext,
      let getData = unsafe getData, let context = unsafe getContext(connection), let connections = unsafe getData(context, applicationData)
    else { return }
    unsafe Unmanaged<CurlConnections>.fromOpaque(connections).takeUnretainedValue().noteClose(of: UInt(bitPattern: connection))
  }

  /// Has the process end without OpenSSL's clean-up: to be called before all else that sets OpenSSL
  /// up.
  static func skipCleanUpAtExit() {
    _ = setUp?(noCleanUp, nil)
  }

  private static func function<Function>(_ name: String) -> Function? {
    unsafe dlsym(nil, name).map { unsafe unsafeBitCast($0, to: Function.self) }
  }
}

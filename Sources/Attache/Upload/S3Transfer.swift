internal import CCurl
internal import Glibc

/// One request to the store: libcurl's easy handle. Used on the loop only.
@safe
final class S3Transfer: CurlHandle {
  enum Body {
    case none
    case bytes([UInt8])
    /// A descriptor, which stays the caller's, and the number of bytes.
    case file(Int32, size: Int)

    var size: Int {
      switch self {
      case .none: 0
      case .bytes(let bytes): bytes.count
      case .file(_, let size): size
      }
    }
  }

  /// What is sent.
  struct Request {
    var method: String
    var url: String
    var fields: [(String, String)]
    var body = Body.none
    /// How long the request may take.
    var timeout: Duration
  }

  /// How long a connection may take.
  private static let connectTimeout = Duration.seconds(5)

  let easy: UnsafeMutableRawPointer
  private let onEnd: (S3Answer, [UInt8]) -> Void
  private let sent: Body
  private var offset = 0
  private var head = ResponseHead()
  private var region = ""
  private var body: [UInt8] = []
  private var fields: UnsafeMutablePointer<curl_slist>?
  /// libcurl's error message. libcurl writes this buffer until the handle is freed.
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  /// - Parameter onEnd: receives the response and its body, of which at most
  ///   ``S3Answer/longestBody`` bytes are read.
  /// - Throws: ``CurlError`` when libcurl refuses an option.
  init(_ request: Request, rootCertificates: String?, onEnd: @escaping (S3Answer, [UInt8]) -> Void) throws(CurlError) {
    guard let easy = unsafe curl_easy_init() else { throw CurlError(call: "curl_easy_init", code: CURLE_FAILED_INIT.rawValue) }
    unsafe self.easy = unsafe easy
    self.onEnd = onEnd
    sent = request.body
    unsafe errorText.pointee = 0
    try set(CURLOPT_URL, request.url)
    try set(CURLOPT_PROTOCOLS_STR, "http,https")
    // Neither the environment nor the user's files change a request.
    try set(CURLOPT_PROXY, "")
    try set(CURLOPT_NOPROXY, "")
    for (option, value) in [
      (CURLOPT_NOSIGNAL, 1), (CURLOPT_FOLLOWLOCATION, 0), (CURLOPT_PATH_AS_IS, 1), (CURLOPT_TCP_NODELAY, 1),
      (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)), (CURLOPT_HTTP09_ALLOWED, 0), (CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue)),
      (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)), (CURLOPT_SSL_VERIFYPEER, 1), (CURLOPT_SSL_VERIFYHOST, 2),
      (CURLOPT_CONNECTTIMEOUT_MS, Int(Self.connectTimeout / .milliseconds(1))),
      (CURLOPT_TIMEOUT_MS, max(1, Int(request.timeout / .milliseconds(1)))),
    ] { try set(option, value) }
    if let rootCertificates { try set(CURLOPT_CAINFO, rootCertificates) }
    try setMethod(request)
    // Fields that libcurl would add by itself are not signed, and no request waits for “100 Continue”.
    for (name, value) in request.fields { unsafe fields = unsafe curl_slist_append(fields, "\(name): \(value)") }
    for line in ["Expect:", "Accept:"] { unsafe fields = unsafe curl_slist_append(fields, line) }
    try check(CURLOPT_HTTPHEADER, unsafe curl_easy_setopt_list(easy, CURLOPT_HTTPHEADER, fields))
    try setCallbacks()
  }

  deinit {
    unsafe curl_easy_cleanup(easy)
    unsafe curl_slist_free_all(fields)
    unsafe errorText.deallocate()
  }

  private func setMethod(_ request: Request) throws(CurlError) {
    switch request.method {
    case "HEAD": try set(CURLOPT_NOBODY, 1)
    case "PUT":
      try set(CURLOPT_UPLOAD, 1)
      try check(CURLOPT_INFILESIZE_LARGE, unsafe curl_easy_setopt_offset(easy, CURLOPT_INFILESIZE_LARGE, request.body.size))
    default: try set(CURLOPT_CUSTOMREQUEST, request.method)
    }
  }

  private func setCallbacks() throws(CurlError) {
    let me = unsafe Unmanaged.passUnretained(self).toOpaque()
    for option in [CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA] {
      try check(option, unsafe curl_easy_setopt_pointer(easy, option, me))
    }
    try check(CURLOPT_ERRORBUFFER, unsafe curl_easy_setopt_pointer(easy, CURLOPT_ERRORBUFFER, errorText))
    try check(
      CURLOPT_WRITEFUNCTION,
      unsafe curl_easy_setopt_data_function(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, me in
        guard let transfer = unsafe S3Transfer.of(me) else { return 0 }
        let room = S3Answer.longestBody - transfer.body.count
        unsafe transfer.body += UnsafeRawBufferPointer(start: bytes, count: size * count).prefix(room)
        return size * count <= room ? size * count : 0
      })
    try check(
      CURLOPT_HEADERFUNCTION,
      unsafe curl_easy_setopt_data_function(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, me in
        guard let transfer = unsafe S3Transfer.of(me) else { return 0 }
        return unsafe transfer.receive(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
      })
    try check(
      CURLOPT_READFUNCTION,
      unsafe curl_easy_setopt_read_function(easy) { bytes, size, count, me in
        guard let transfer = unsafe S3Transfer.of(me) else { return Int(CURL_READFUNC_ABORT) }
        let got = unsafe transfer.read(UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
        transfer.offset += max(0, got)
        return got < 0 ? Int(CURL_READFUNC_ABORT) : got
      })
    // libcurl sends a body again when a reused connection turns out to be closed.
    try check(
      CURLOPT_SEEKFUNCTION,
      unsafe curl_easy_setopt_seek_function(easy) { me, offset, origin in
        guard let transfer = unsafe S3Transfer.of(me), origin == SEEK_SET, offset >= 0 else { return CURL_SEEKFUNC_CANTSEEK }
        transfer.offset = offset
        return CURL_SEEKFUNC_OK
      })
  }

  private static func of(_ pointer: UnsafeMutableRawPointer?) -> S3Transfer? {
    unsafe pointer.map { unsafe Unmanaged<S3Transfer>.fromOpaque($0).takeUnretainedValue() }
  }

  private func receive(_ line: UnsafeRawBufferPointer) -> Bool {
    let name = "x-amz-bucket-region:"
    if unsafe line.prefix(name.utf8.count).map(\.lowercasedASCII) == Array(name.utf8) {
      region = S3Answer.printable(unsafe line.dropFirst(name.utf8.count).filter { !" \t\r\n".utf8.contains($0) })
    }
    return unsafe head.add(line)
  }

  /// Reads the next bytes of the body.
  ///
  /// - Returns: their number, or -1 when the file cannot be read.
  private func read(_ room: UnsafeMutableRawBufferPointer) -> Int {
    switch sent {
    case .none: return 0
    case .bytes(let bytes):
      let piece = bytes.dropFirst(offset).prefix(room.count)
      unsafe room.copyBytes(from: piece)
      return piece.count
    case .file(let file, _): return unsafe pread(file, room.baseAddress, room.count, offset)
    }
  }

  /// Reports the end of the request.
  func conclude(_ code: CURLcode) {
    var answer = S3Answer(status: head.status, region: region)
    if code == CURLE_OK {
      answer.code = S3Answer.code(in: body)
      if let date = head.caching.date, let modified = head.caching.lastModified { answer.age = .seconds(date.seconds - modified.seconds) }
    } else {
      answer = S3Answer(failure: text(of: code))
    }
    onEnd(answer, body)
  }

  /// A failure in words, with libcurl's code.
  private func text(of code: CURLcode) -> String {
    var number = 0
    unsafe curl_easy_getinfo_long(easy, CURLINFO_OS_ERRNO, &number)
    if code == CURLE_OUT_OF_MEMORY { return "\(SystemError.noMemory)" }
    let lack = code == CURLE_COULDNT_CONNECT ? Shortage(Int32(clamping: number)) : nil
    if code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT, let lack = lack ?? Shortage.ofDescriptors {
      return "this machine could not make a connection: \(lack)"
    }
    let detail = unsafe String(cString: errorText)
    return "\(detail.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : detail) (libcurl's code \(code.rawValue))"
  }

  private func set(_ option: CURLoption, _ value: Int) throws(CurlError) {
    try check(option, unsafe curl_easy_setopt_long(easy, option, value))
  }

  private func set(_ option: CURLoption, _ value: String) throws(CurlError) {
    try check(option, unsafe curl_easy_setopt_string(easy, option, value))
  }

  private func check(_ option: CURLoption, _ code: CURLcode) throws(CurlError) {
    guard code == CURLE_OK else { throw CurlError(call: "curl_easy_setopt(\(option.rawValue))", code: code.rawValue) }
  }
}

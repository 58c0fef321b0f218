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

  let easy: CurlEasy
  private let onEnd: (S3Answer, [UInt8]) -> Void
  private let sent: Body
  private var offset = 0
  private var head = ResponseHead()
  private var region = ""
  private var body: [UInt8] = []

  /// - Parameter onEnd: receives the response and its body, of which at most
  ///   ``S3Answer/longestBody`` bytes are read.
  /// - Throws: ``CurlError`` when libcurl refuses an option.
  init(_ request: Request, rootCertificates: String?, onEnd: @escaping (S3Answer, [UInt8]) -> Void) throws(CurlError) {
    easy = try CurlEasy()
    self.onEnd = onEnd
    sent = request.body
    try easy.set(CURLOPT_URL, request.url)
    try easy.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    try easy.set(CURLOPT_CONNECTTIMEOUT_MS, Int(Self.connectTimeout / .milliseconds(1)))
    try easy.set(CURLOPT_TIMEOUT_MS, max(1, Int(request.timeout / .milliseconds(1))))
    if let rootCertificates { try easy.set(CURLOPT_CAINFO, rootCertificates) }
    try setMethod(request)
    // Fields that libcurl would add by itself are not signed, and no request waits for “100 Continue”.
    try easy.set(CURLOPT_HTTPHEADER, lines: request.fields.map { "\($0): \($1)" } + ["Expect:", "Accept:"])
    try setCallbacks()
  }

  private func setMethod(_ request: Request) throws(CurlError) {
    switch request.method {
    case "HEAD": try easy.set(CURLOPT_NOBODY, 1)
    case "PUT":
      try easy.set(CURLOPT_UPLOAD, 1)
      try easy.check(CURLOPT_INFILESIZE_LARGE, unsafe curl_easy_setopt_offset(easy.handle, CURLOPT_INFILESIZE_LARGE, request.body.size))
    default: try easy.set(CURLOPT_CUSTOMREQUEST, request.method)
    }
  }

  private func setCallbacks() throws(CurlError) {
    let handle = unsafe easy.handle
    try easy.set([CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA], owner: self)
    try easy.check(
      CURLOPT_WRITEFUNCTION,
      unsafe curl_easy_setopt_data_function(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, me in
        guard let transfer = unsafe S3Transfer.of(me) else { return 0 }
        let room = S3Answer.longestBody - transfer.body.count
        unsafe transfer.body += UnsafeRawBufferPointer(start: bytes, count: size * count).prefix(room)
        return size * count <= room ? size * count : 0
      })
    try easy.check(
      CURLOPT_HEADERFUNCTION,
      unsafe curl_easy_setopt_data_function(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, me in
        guard let transfer = unsafe S3Transfer.of(me) else { return 0 }
        return unsafe transfer.receive(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
      })
    try easy.check(
      CURLOPT_READFUNCTION,
      unsafe curl_easy_setopt_read_function(handle) { bytes, size, count, me in
        guard let transfer = unsafe S3Transfer.of(me) else { return Int(CURL_READFUNC_ABORT) }
        let got = unsafe transfer.read(UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
        transfer.offset += max(0, got)
        return got < 0 ? Int(CURL_READFUNC_ABORT) : got
      })
    // libcurl sends a body again when a reused connection turns out to be closed.
    try easy.check(
      CURLOPT_SEEKFUNCTION,
      unsafe curl_easy_setopt_seek_function(handle) { me, offset, origin in
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
      answer = S3Answer(failure: easy.text(of: code))
    }
    onEnd(answer, body)
  }
}

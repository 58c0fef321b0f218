internal import Attache
internal import CNGHTTP2

/// A request on a stream of an ``HTTP2Session``, and what has arrived of its answer.
struct HTTP2Stream {
  var request: PushRequest
  var id: Int32 = 0
  var sentBytes = 0
  var status = 0
  var headerBytes = 0
  var body: [UInt8] = []
  var retryAfter: [UInt8] = []
  var openedAt: MonotonicInstant
  /// Why it was given up; nil when it was not.
  var fault: String?

  /// Records a header field.
  ///
  /// - Returns: the size of all fields so far; 0 for a stream that was given up.
  mutating func take(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Int {
    guard fault == nil else { return 0 }
    headerBytes += name.count + value.count + 32
    if unsafe name.elementsEqual(":status".utf8) {
      let number = unsafe Int(String(decoding: value, as: UTF8.self)) ?? 0
      status = 100...999 ~= number ? number : 0
    } else if unsafe name.elementsEqual("retry-after".utf8), value.count <= 32 {
      retryAfter = unsafe Array(value)
    }
    return headerBytes
  }

  /// Copies the next bytes of the request's body.
  mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> (count: Int, isLast: Bool) {
    let body = request.body
    let count = min(buffer.count, body.count - sentBytes)
    unsafe body.withUnsafeBytes {
      unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[sentBytes..<sentBytes + count]))
    }
    sentBytes += count
    return (count, sentBytes == body.count)
  }

  /// Returns how the request ended.
  ///
  /// - Parameter code: the error code with which the stream was closed.
  func ending(_ code: UInt32) -> HTTP2Session.Ending {
    if let fault {
      .broken(fault)
    } else if code == NGHTTP2_REFUSED_STREAM.rawValue {
      .notProcessed
    } else if code != NGHTTP2_NO_ERROR.rawValue {
      .broken("the server aborted the request: \(unsafe String(cString: nghttp2_http2_strerror(code)))")
    } else if status == 0 {
      .broken("the answer has no status")
    } else {
      .answered(status: status, body: body, retryAfter: retryAfter)
    }
  }
}

extension HTTP2Session {
  /// How a request ended.
  enum Ending {
    case answered(status: Int, body: [UInt8], retryAfter: [UInt8])
    /// The server certainly has not processed it.
    case notProcessed
    /// The stream ended without a complete answer. One line says how.
    case broken(String)
  }
}

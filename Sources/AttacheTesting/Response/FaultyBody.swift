/// The content of a path: bytes, and the faults of its responses.
struct FaultyBody: Sendable {
  var bytes: [UInt8]
  var contentType = "application/octet-stream"
  var faults: [Fault] = []

  static func plainText(_ text: String, _ faults: Fault...) -> FaultyBody {
    FaultyBody(bytes: Array(text.utf8), contentType: "text/plain; charset=utf-8", faults: faults)
  }

  /// Whether a fault depends on the number of earlier requests.
  var countsRequests: Bool {
    faults.contains { $0.active(turn: 1) != $0 }
  }

  /// Returns the response to a request.
  ///
  /// - Parameter turn: the number of the request for this path; the first is 1.
  func response(to request: RecordedRequest, turn: Int = 1) -> ResponseScript {
    let active = faults.compactMap { $0.active(turn: turn) }
    if request.httpVersion == "2", let fault = active.first(where: { !$0.worksOverHTTP2 }) {
      return Self.plainText("\(fault) needs HTTP/1\n", .status(501)).response(to: request)
    }
    var translation = FaultTranslation(bytes, contentType: contentType, for: request)
    for fault in active { translation.apply(fault) }
    return translation.script()
  }
}

internal import NIOCore

/// A response to which faults are applied, and finally the steps that send it. It uses no clock and
/// no connection.
struct ResponsePlan {
  enum Framing { case length, chunked, close }

  /// A position in the body and the step that runs there.
  struct Cut {
    var offset: Int
    var step: ResponseStep
  }

  var head: ResponseHead
  var body: ByteBuffer
  var framing = Framing.length
  /// A number added to the real length where the length is declared.
  var lengthError = 0
  var declaresTwoLengths = false
  var opening: [ResponseStep] = []
  var cuts: [Cut] = []
  var bytesPerSecond: Int?
  var bodyIsEndless = false
  var headIsEndless = false
  var keepsAlive = true
  /// The bytes sent instead of HTTP.
  var garbage: ByteBuffer?

  init(status: Int = 200, body: ByteBuffer, contentType: String) {
    head = ResponseHead(status: status, fields: [HeaderField("Content-Type", contentType)])
    self.body = body
  }

  /// Sets a field, replacing an existing one.
  mutating func set(_ name: String, _ value: String) {
    head.fields.removeAll { $0.name == name }
    head.fields.append(HeaderField(name, value))
  }

  /// Returns the steps that send this response.
  /// - Parameter hasBody: false for a HEAD request: the fields describe the body, but it is not
  ///   sent.
  func steps(hasBody: Bool) -> [ResponseStep] {
    if let garbage { return opening + [.raw(garbage), .close] }
    if headIsEndless { return opening + [.endlessHead(head)] }
    let end = ResponseStep.end(keepsAlive: keepsAlive && framing != .close && lengthError <= 0)
    guard hasBody, allowsBody else { return opening + [.head(framedHead), end] }
    return opening + [.head(framedHead)] + bodySteps(end: end)
  }

  /// RFC 9110: 1xx, 204 and 304 have no body.
  private var allowsBody: Bool {
    head.status >= 200 && head.status != 204 && head.status != 304
  }

  private var framedHead: ResponseHead {
    var head = head
    if framing == .chunked {
      head.isChunked = true
      head.fields.append(HeaderField("Transfer-Encoding", "chunked"))
    } else if framing == .length, allowsBody {
      let (sum, overflows) = body.readableBytes.addingReportingOverflow(lengthError)
      let length = overflows ? .max - 1 : max(0, sum)
      if declaresTwoLengths { head.fields.append(HeaderField("Content-Length", String(length + 1))) }
      head.fields.append(HeaderField("Content-Length", String(length)))
    }
    return head
  }

  /// Returns the body in pieces, split at each cut. Nothing follows a step that ends the
  /// connection.
  private func bodySteps(end: ResponseStep) -> [ResponseStep] {
    var steps: [ResponseStep] = []
    var rest = body
    var sent = 0
    let ordered = cuts.enumerated().sorted { ($0.element.offset, $0.offset) < ($1.element.offset, $1.offset) }
    for cut in ordered.map(\.element) {
      let count = min(max(0, cut.offset - sent), rest.readableBytes)
      if let piece = rest.readSlice(length: count), count > 0 { steps.append(paced(piece)) }
      sent += count
      steps.append(cut.step)
      if cut.step == .reset || cut.step == .close { return steps }
    }
    if rest.readableBytes > 0 { steps.append(paced(rest)) }
    return steps + [bodyIsEndless ? .endlessBody(body) : end]
  }

  private func paced(_ piece: ByteBuffer) -> ResponseStep {
    bytesPerSecond.map { .drip(piece, bytesPerSecond: $0) } ?? .body(piece)
  }
}

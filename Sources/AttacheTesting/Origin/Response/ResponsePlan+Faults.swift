internal import NIOCore

extension ResponsePlan {
  /// Applies a fault; `request` is used only for redirects and validators.
  mutating func apply(_ fault: Fault, to request: RecordedRequest) {
    switch fault {
    case .delay(let duration): opening.append(.wait(duration))
    case .stallBeforeHeaders: opening.append(.stall)
    case .resetBeforeHeaders: opening.append(.reset)
    case .closeBeforeHeaders: opening.append(.close)
    case .stall(let count): cuts.append(Cut(offset: count, step: .stall))
    case .reset(let count): cuts.append(Cut(offset: count, step: .reset))
    case .closeEarly(let count): cuts.append(Cut(offset: count, step: .close))
    case .drip(let rate): bytesPerSecond = max(1, rate)
    case .status(let status, let seconds): answer(status: status, retryAfter: seconds)
    case .redirect(let location, let status): redirect(to: location, status: status)
    case .redirectLoop: redirect(to: request.target, status: 302)
    case .redirectChain(let hops): redirect(chainOf: hops, request)
    case .etag(let tag): answer(EntityTag(tag).condition(of: request, length: body.readableBytes), tag: tag)
    case .gzip: encode()
    case .contentType(let type): set("Content-Type", type)
    case .header(let name, let value): head.fields.append(HeaderField(name, value))
    case .headerFlood(let count): head.fields.insert(contentsOf: HeaderField.flood(count), at: 0)
    case .endlessHeaders: headIsEndless = true
    case .notHTTP: garbage = ByteBuffer(string: "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")
    case .contentLength, .endlessChunks, .chunked, .noContentLength, .twoContentLengths, .connectionClose, .http10: frame(fault)
    case .times, .after: break  // resolved to the fault in force before it comes here
    }
  }

  /// Applies a fault that changes how the end of the body is marked.
  private mutating func frame(_ fault: Fault) {
    switch fault {
    case .contentLength(let count): lengthError = count
    case .endlessChunks: (framing, bodyIsEndless) = (.chunked, true)
    case .chunked: framing = .chunked
    case .noContentLength: framing = .close
    case .twoContentLengths: declaresTwoLengths = true
    case .connectionClose:
      set("Connection", "close")
      keepsAlive = false
    case .http10:
      head.minorVersion = 0
      keepsAlive = false
    default: break
    }
  }

  private mutating func answer(status: Int, retryAfter seconds: Int?) {
    head.status = status
    if let seconds { set("Retry-After", String(seconds)) }
  }

  private mutating func redirect(to location: String, status: Int) {
    head.status = status
    set("Location", location)
    body.clear()
  }

  /// The query counts the hops, so that the origin needs no state for them.
  private mutating func redirect(chainOf hops: Int, _ request: RecordedRequest) {
    let query = request.target.dropFirst(request.path.count)
    let hop = query.hasPrefix("?hop=") ? Int(query.dropFirst(5)) ?? 0 : 0
    if hop < hops { redirect(to: "\(request.path)?hop=\(hop + 1)", status: 302) }
  }

  private mutating func encode() {
    set("Content-Encoding", "gzip")
    body = StoredGzip.encode(body)
  }

  /// Validators and ranges apply only to a response that would be a 200.
  private mutating func answer(_ condition: EntityTag.Condition, tag: String) {
    set("ETag", tag)
    set("Accept-Ranges", "bytes")
    guard head.status == 200 else { return }
    let length = body.readableBytes
    switch condition {
    case .whole: break
    case .notModified:
      head.status = 304
      body.clear()
    case .unsatisfiable:
      head.status = 416
      set("Content-Range", "bytes */\(length)")
      body.clear()
    case .part(let range):
      head.status = 206
      set("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)")
      body = body.getSlice(at: body.readerIndex + range.lowerBound, length: range.count) ?? ByteBuffer()
    }
  }
}

extension HeaderField {
  /// Returns the n-th field of a flood; it has about 100 bytes.
  static func flood(number: Int) -> HeaderField {
    HeaderField("X-Flood-\(number)", String(repeating: "f", count: 84))
  }

  static func flood(_ count: Int) -> [HeaderField] {
    (0..<max(0, count)).map(flood(number:))
  }
}

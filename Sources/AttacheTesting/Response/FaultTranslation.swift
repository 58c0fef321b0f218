internal import Attache

/// Translates faults into the script of one response. It uses no clock and no connection.
struct FaultTranslation {
  /// The highest number of pieces that a drip sends per second.
  private static let dripsPerSecond = 10
  /// The minimum number of bytes in a chunk of an endless body, so that a short body does not
  /// consist mainly of chunk headers.
  private static let smallestChunk = 16_384

  private let request: RecordedRequest
  private var head: ResponseScript.Head
  private var body: [UInt8]
  /// A number added to the real length where the length is declared.
  private var lengthError = 0
  private var declaresTwoLengths = false
  private var bytesPerSecond: Int?
  private var bodyIsEndless = false
  private var headIsEndless = false
  private var isGarbage = false
  /// Offsets in the body, in order, and the action at each.
  private var cuts: [(offset: Int, action: ResponseScript.Action)] = []
  private var items: [ResponseScript.Item] = []
  /// The pause before the next action.
  private var pause = Duration.zero

  init(_ bytes: [UInt8], contentType: String, for request: RecordedRequest) {
    self.request = request
    head = ResponseScript.Head(status: 200, fields: [HeaderField("Content-Type", contentType)], framing: .length(bytes.count))
    body = bytes
  }

  /// Applies a fault. `times` and `after` must be resolved.
  mutating func apply(_ fault: Fault) {
    switch fault {
    case .delay(let duration): pause += duration
    case .stallBeforeHeaders: add(.stall)
    case .resetBeforeHeaders: add(.reset)
    case .closeBeforeHeaders: add(.close)
    case .stall(let count): cut(after: count, .stall)
    case .reset(let count): cut(after: count, .reset)
    case .closeEarly(let count): cut(after: count, .close)
    case .drip(let rate): bytesPerSecond = max(1, rate)
    case .contentLength(let count): lengthError = count
    case .twoContentLengths: declaresTwoLengths = true
    case .endlessChunks: (head.framing, bodyIsEndless) = (.chunked, true)
    case .chunked: head.framing = .chunked
    case .noContentLength: head.framing = .asWritten
    case .status(let status, let seconds):
      head.status = status
      if let seconds { set("Retry-After", String(seconds)) }
    case .redirect(let location, let status): redirect(to: location, status: status)
    case .redirectLoop: redirect(to: request.target, status: 302)
    case .redirectChain(let hops): redirect(hops: hops)
    case .etag(let tag): answer(EntityTag(tag).condition(of: request, length: body.count), tag: tag)
    case .gzip:
      set("Content-Encoding", "gzip")
      body = StoredGzip.encode(body)
    case .contentType(let type): set("Content-Type", type)
    case .header(let name, let value): head.fields.append(HeaderField(name, value))
    case .headerFlood(let count): head.fields.insert(contentsOf: (0..<max(0, count)).map(HeaderField.flood), at: 0)
    case .endlessHeaders: headIsEndless = true
    case .notHTTP: isGarbage = true
    case .connectionClose:
      set("Connection", "close")
      head.keepsAlive = false
    case .http10: (head.minorVersion, head.keepsAlive) = (0, false)
    case .times, .after: break
    }
  }

  /// The query counts the hops, so that the origin needs no state for them.
  private mutating func redirect(hops: Int) {
    let query = request.target.dropFirst(request.path.count)
    let hop = query.hasPrefix("?hop=") ? Int(query.dropFirst(5)) ?? 0 : 0
    if hop < hops { redirect(to: "\(request.path)?hop=\(hop + 1)", status: 302) }
  }

  /// Returns the script of the response. Call it once, after the last fault.
  mutating func script() -> ResponseScript {
    if isGarbage {
      add(.raw(Array("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n".utf8)))
      add(.close)
    } else if headIsEndless {
      add(.head(head, isOpen: true))
      let field = HeaderField.flood(number: 0)
      items.append(.step(OriginStep(.header(name: field.name, value: field.value), repetition: .forever)))
    } else {
      declareLength()
      add(.head(head, isOpen: false))
      if request.method != "HEAD", head.allowsBody { addBody() }
      add(.end)
    }
    return ResponseScript(head: head, items: items)
  }

  private mutating func add(_ action: ResponseScript.Action) {
    items.append(.move(ResponseScript.Move(moment: .after(pause), action: action)))
    pause = .zero
  }

  private mutating func cut(after offset: Int, _ action: ResponseScript.Action) {
    cuts.insert((offset, action), at: cuts.firstIndex { $0.offset > offset } ?? cuts.endIndex)
  }

  /// Sets a field, replacing an existing one.
  private mutating func set(_ name: String, _ value: String) {
    head.fields.removeAll { $0.name == name }
    head.fields.append(HeaderField(name, value))
  }
}

// MARK: The head

extension FaultTranslation {
  private mutating func redirect(to location: String, status: Int) {
    head.status = status
    set("Location", location)
    body = []
  }

  /// Validators and ranges apply only to a response that would be a 200.
  private mutating func answer(_ condition: EntityTag.Condition, tag: String) {
    set("ETag", tag)
    set("Accept-Ranges", "bytes")
    guard head.status == 200 else { return }
    switch condition {
    case .whole: break
    case .notModified: (head.status, body) = (304, [])
    case .unsatisfiable:
      set("Content-Range", "bytes */\(body.count)")
      (head.status, body) = (416, [])
    case .part(let range):
      set("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(body.count)")
      (head.status, body) = (206, Array(body[range]))
    }
  }

  /// Adds the fields that declare the length, and decides whether the connection stays open.
  private mutating func declareLength() {
    switch head.framing {
    case .chunked: head.fields.append(HeaderField("Transfer-Encoding", "chunked"))
    case .length where head.allowsBody:
      let (sum, overflows) = body.count.addingReportingOverflow(lengthError)
      let length = overflows ? .max - 1 : max(0, sum)
      head.fields += (declaresTwoLengths ? [length + 1, length] : [length]).map { HeaderField("Content-Length", String($0)) }
    case .asWritten: head.keepsAlive = false
    case .length, .untilClose: break
    }
    if lengthError > 0 { head.keepsAlive = false }
  }
}

// MARK: The body

extension FaultTranslation {
  /// Adds the body in pieces, split at each cut.
  private mutating func addBody() {
    var sent = 0
    for cut in cuts {
      let end = min(max(sent, cut.offset), body.count)
      add(body: body[sent..<end])
      add(cut.action)
      sent = end
    }
    add(body: body[sent...])
    guard bodyIsEndless else { return }
    let unit = body.isEmpty ? Array("x".utf8) : body
    let chunk = Array(repeatElement(unit, count: (Self.smallestChunk + unit.count - 1) / unit.count).joined())
    add(.body(chunk))
    items.append(.step(OriginStep(.hex(chunk), repetition: .forever)))
  }

  private mutating func add(body piece: ArraySlice<UInt8>) {
    guard !piece.isEmpty else { return }
    guard let rate = bytesPerSecond else { return add(.body(Array(piece))) }
    let size = max(1, rate / Self.dripsPerSecond)
    let times = (piece.count - 1) / size + 1
    // Each piece is a medium of its own, because a script continues a medium where it left off.
    let medium = Medium(name: String(piece.startIndex), bytes: Array(piece))
    let every = Duration.seconds(1) * size / rate
    items.append(.step(OriginStep(.send(medium, count: size), repetition: .times(times), every: every)))
    pause = .seconds(1) * (piece.count - (times - 1) * size) / rate
  }
}

extension HeaderField {
  /// Returns the n-th field of a flood; it has about 100 bytes.
  fileprivate static func flood(number: Int) -> HeaderField {
    HeaderField("X-Flood-\(number)", String(repeating: "f", count: 84))
  }
}

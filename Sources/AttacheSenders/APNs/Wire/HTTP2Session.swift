internal import Attache
internal import CNGHTTP2

/// The client side of one HTTP/2 connection, without a socket: it converts requests to bytes, and
/// received bytes to answers.
///
/// It owns an `nghttp2_session`, and one thread uses it. Everything that the server sends is
/// limited: the header fields and the body of an answer by the figures below, frames and their
/// number by nghttp2.
@safe
final class HTTP2Session {
  /// The maximum size of an answer's body in bytes. Apple's have less than 100.
  static let maximumBody = 4_096
  /// The maximum size of an answer's header fields in bytes, with 32 added for each (RFC 9113,
  /// 6.5.2).
  static let maximumHeaders = 16_384
  /// The maximum number of concurrent streams, whatever the server allows.
  static let maximumStreams = 4_096
  /// The number of bytes that are collected before they are written: the size of a TLS record.
  private static let portion = 16_384

  private var session: OpaquePointer?
  private let authority: [UInt8]
  private var fields: [nghttp2_nv] = unsafe []
  /// Indexed by slot. A stream's user data is its slot plus one.
  private var streams: [HTTP2Stream?] = []
  private var freeSlots: [Int] = []

  /// The number of open streams.
  private(set) var openStreams = 0
  /// The requests that have ended since the last ``takeEnded()``.
  private var ended: [(request: PushRequest, ending: Ending)] = []
  /// Whether the server has sent its settings.
  private(set) var hasSettings = false
  /// Whether the server accepts no further stream.
  private(set) var isGoingAway = false
  /// The data of the server's GOAWAY, at most ``maximumBody`` bytes.
  private(set) var goAwayData: [UInt8] = []
  /// The bytes to write.
  private(set) var output: [UInt8] = []
  private var written = 0

  /// Creates a session; nil when there is no memory.
  init?(authority: String) {
    self.authority = Array(authority.utf8)
    var callbacks: OpaquePointer?
    guard unsafe nghttp2_session_callbacks_new(&callbacks) == 0 else { return nil }
    defer { unsafe nghttp2_session_callbacks_del(callbacks) }
    unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks, Self.onHeader)
    unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Self.onData)
    unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Self.onFrame)
    unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Self.onClose)
    guard unsafe nghttp2_session_client_new(&session, callbacks, Unmanaged.passUnretained(self).toOpaque()) == 0 else { return nil }
    let settings = [
      nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: UInt32(Self.maximumHeaders)),
    ]
    guard unsafe nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count) == 0 else { return nil }
  }

  deinit {
    unsafe nghttp2_session_del(session)
  }

  /// The number of further requests that the server accepts now.
  var room: Int {
    guard hasSettings, !isGoingAway else { return 0 }
    let allowed = unsafe nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
    return max(0, min(Int(allowed), Self.maximumStreams) - openStreams)
  }

  /// Whether the session is over: nothing is left to read or to write.
  var isOver: Bool {
    unsafe nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0 && isWritten
  }

  // MARK: - Requests

  /// Starts a request. Call it when there is ``room``.
  ///
  /// - Parameter authorization: the header's value; nil for none.
  /// - Returns: false when the session accepts no request; ``isGoingAway`` is then true.
  func submit(_ request: PushRequest, authorization: [UInt8]?, at now: MonotonicInstant) -> Bool {
    let slot = freeSlots.popLast() ?? streams.count
    if slot == streams.count { streams.append(nil) }
    streams[slot] = HTTP2Stream(request: request, openedAt: now)
    let mark = unsafe UnsafeMutableRawPointer(bitPattern: slot + 1)
    var provider = unsafe nghttp2_data_provider(source: nghttp2_data_source(ptr: mark), read_callback: Self.readBody)
    let id = unsafe withFields(of: request, authorization) { fields in
      unsafe nghttp2_submit_request(session, nil, fields.baseAddress, fields.count, &provider, mark)
    }
    guard id > 0 else {
      streams[slot] = nil
      freeSlots.append(slot)
      isGoingAway = true
      return false
    }
    streams[slot]?.id = id
    openStreams += 1
    return true
  }

  /// Calls `body` with a request's header fields. nghttp2 copies their values, but not their names.
  private func withFields(
    of request: PushRequest, _ authorization: [UInt8]?, _ body: (UnsafeBufferPointer<nghttp2_nv>) -> Int32
  ) -> Int32 {
    unsafe request.values.withUnsafeBufferPointer { values in
      unsafe authority.withUnsafeBufferPointer { authority in
        unsafe (authorization ?? []).withUnsafeBufferPointer { token in
          unsafe fields.removeAll(keepingCapacity: true)
          unsafe add(":method", Self.bytes("POST"))
          unsafe add(":scheme", Self.bytes("https"))
          unsafe add(":authority", authority)
          // Names that begin with a colon come first (RFC 9113, 8.3). The path is the first of the
          // request's headers.
          for (index, (header, range)) in request.headers.enumerated() {
            unsafe add(header.name, UnsafeBufferPointer(rebasing: values[range]), isUnique: header.isUnique)
            if index == 0, authorization != nil { unsafe add("authorization", token) }
          }
          return unsafe fields.withUnsafeBufferPointer { unsafe body($0) }
        }
      }
    }
  }

  private static func bytes(_ text: StaticString) -> UnsafeBufferPointer<UInt8> {
    unsafe UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
  }

  private func add(_ name: StaticString, _ value: UnsafeBufferPointer<UInt8>, isUnique: Bool = false) {
    let flags = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue) | (isUnique ? UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) : 0)
    unsafe fields.append(
      nghttp2_nv(
        name: UnsafeMutablePointer(mutating: name.utf8Start), value: UnsafeMutablePointer(mutating: value.baseAddress),
        namelen: name.utf8CodeUnitCount, valuelen: value.count, flags: flags))
  }

  /// Returns the requests that have ended since the last call.
  func takeEnded() -> [(request: PushRequest, ending: Ending)] {
    defer { ended.removeAll(keepingCapacity: true) }
    return ended
  }

  /// Removes and returns all open requests, when the connection is lost.
  func takeOpen() -> [PushRequest] {
    let open = streams.compactMap { $0?.request }
    streams = []
    freeSlots = []
    openStreams = 0
    return open
  }

  /// When the request was opened that has waited for the longest time; nil if none is open.
  var oldest: MonotonicInstant? { streams.lazy.compactMap { $0?.openedAt }.min() }

  /// Gives up the requests that were opened before an instant. They end as broken.
  func expire(openedBefore instant: MonotonicInstant) {
    for slot in streams.indices {
      guard let stream = streams[slot], stream.openedAt < instant, stream.fault == nil else { continue }
      giveUp(slot, "there was no answer in time")
    }
  }

  private func giveUp(_ slot: Int, _ fault: String) {
    guard let stream = streams[slot] else { return }
    streams[slot]?.fault = fault
    _ = unsafe nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, NGHTTP2_CANCEL.rawValue)
  }

  // MARK: - Bytes

  /// Processes bytes from the server.
  ///
  /// - Returns: nil, or an error message; the connection is then unusable.
  func receive(_ bytes: UnsafeRawBufferPointer) -> String? {
    let result = unsafe nghttp2_session_mem_recv(session, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
    guard result < 0 else { return nil }
    return unsafe "HTTP/2: " + String(cString: nghttp2_strerror(Int32(clamping: result)))
  }

  /// Whether all of ``output`` was written.
  var isWritten: Bool { written == output.count }

  /// Writes the pending bytes, in one or more calls of `body`.
  ///
  /// - Parameter body: writes bytes and returns their number; nil when the connection accepts none
  ///   now.
  /// - Returns: whether everything was written.
  func write(_ body: (UnsafeRawBufferPointer) -> Int?) -> Bool {
    while true {
      if isWritten { fill() }
      guard !isWritten else { return true }
      let count = unsafe output.withUnsafeBytes { unsafe body(UnsafeRawBufferPointer(rebasing: $0[written...])) }
      guard let count else { return false }
      written += count
    }
  }

  private func fill() {
    output.removeAll(keepingCapacity: true)
    written = 0
    while output.count < Self.portion {
      var bytes: UnsafePointer<UInt8>?
      let count = unsafe nghttp2_session_mem_send(session, &bytes)
      guard count > 0 else { return }
      unsafe output.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
    }
  }

  /// Sends the server a PING.
  func ping() {
    _ = unsafe nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
  }

  /// Announces that no further request follows.
  func end() {
    _ = unsafe nghttp2_session_terminate_session(session, NGHTTP2_NO_ERROR.rawValue)
  }

  // MARK: - Callbacks

  private func slot(of id: Int32) -> Int? {
    let mark = unsafe Int(bitPattern: nghttp2_session_get_stream_user_data(session, id))
    return mark > 0 && mark <= streams.count && streams[mark - 1] != nil ? mark - 1 : nil
  }

  private static func owner(_ pointer: UnsafeMutableRawPointer?) -> HTTP2Session? {
    unsafe pointer.map { unsafe Unmanaged<HTTP2Session>.fromOpaque($0).takeUnretainedValue() }
  }

  private func take(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, of id: Int32) {
    guard let slot = slot(of: id), let count = unsafe streams[slot]?.take(name, value), count > Self.maximumHeaders else { return }
    giveUp(slot, "the answer's header fields are longer than \(Self.maximumHeaders) bytes")
  }

  private func take(_ bytes: UnsafeBufferPointer<UInt8>, of id: Int32) {
    guard let slot = slot(of: id), let stream = streams[slot], stream.fault == nil else { return }
    guard stream.body.count + bytes.count <= Self.maximumBody else {
      return giveUp(slot, "the answer's body is longer than \(Self.maximumBody) bytes")
    }
    unsafe streams[slot]?.body.append(contentsOf: bytes)
  }

  private func take(_ frame: UnsafePointer<nghttp2_frame>) {
    switch unsafe nghttp2_frame_type(UInt32(frame.pointee.hd.type)) {
    case NGHTTP2_SETTINGS:
      if unsafe frame.pointee.hd.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 { hasSettings = true }
    case NGHTTP2_GOAWAY:
      isGoingAway = true
      let said = unsafe UnsafeBufferPointer(start: frame.pointee.goaway.opaque_data, count: frame.pointee.goaway.opaque_data_len)
      goAwayData = unsafe Array(said.prefix(Self.maximumBody))
    default: break
    }
  }

  private func close(_ id: Int32, _ code: UInt32) {
    guard let slot = slot(of: id), let stream = streams[slot].take() else { return }
    freeSlots.append(slot)
    openStreams -= 1
    ended.append((stream.request, stream.ending(code)))
  }

  /// Copies the next bytes of a request's body.
  private func read(_ slot: Int, into buffer: UnsafeMutableRawBufferPointer) -> (count: Int, isLast: Bool)? {
    guard streams.indices.contains(slot) else { return nil }
    return unsafe streams[slot]?.read(into: buffer)
  }

  private static let onHeader: nghttp2_on_header_callback = { _, frame, name, nameCount, value, valueCount, _, owner in
    guard let frame = unsafe frame, let session = unsafe HTTP2Session.owner(owner) else { return 0 }
    unsafe session.take(
      UnsafeBufferPointer(start: name, count: nameCount), UnsafeBufferPointer(start: value, count: valueCount),
      of: frame.pointee.hd.stream_id)
    return 0
  }

  private static let onData: nghttp2_on_data_chunk_recv_callback = { _, _, id, bytes, count, owner in
    unsafe HTTP2Session.owner(owner)?.take(UnsafeBufferPointer(start: bytes, count: count), of: id)
    return 0
  }

  private static let onFrame: nghttp2_on_frame_recv_callback = { _, frame, owner in
    guard let frame = unsafe frame else { return 0 }
    unsafe HTTP2Session.owner(owner)?.take(frame)
    return 0
  }

  private static let onClose: nghttp2_on_stream_close_callback = { _, id, code, owner in
    unsafe HTTP2Session.owner(owner)?.close(id, code)
    return 0
  }

  private static let readBody: nghttp2_data_source_read_callback = { _, _, buffer, length, flags, source, owner in
    let failed = Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    guard let source = unsafe source, let flags = unsafe flags, let session = unsafe HTTP2Session.owner(owner) else { return failed }
    let slot = unsafe Int(bitPattern: source.pointee.ptr) - 1
    guard let read = unsafe session.read(slot, into: UnsafeMutableRawBufferPointer(start: buffer, count: length)) else { return failed }
    if read.isLast { unsafe flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return read.count
  }
}

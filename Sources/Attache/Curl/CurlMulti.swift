package import CCurl

/// An exchange that a ``CurlMulti`` drives: libcurl's easy handle and what belongs to it.
package protocol CurlHandle: AnyObject {
  var easy: CurlEasy { get }
}

/// libcurl's multi handle, driven by the loop: `curl_multi_socket_action` runs for ready sockets
/// and for libcurl's one timer. May be created on any thread. After that, it is used on the loop
/// only.
@safe
package final class CurlMulti {
  private let loop: EventLoop
  private let multi: UnsafeMutableRawPointer
  private var running: [UnsafeMutableRawPointer: any CurlHandle] = unsafe [:]
  private var timer: TimerEntry?
  private lazy var whenReady: (Int32, Readiness) -> Void = { [unowned self] socket, ready in act(socket, mask(ready)) }
  private var hasNews = false
  private var isOpen = true

  private let idleConnections: Int

  /// Whether it has no transfer.
  package var isIdle: Bool { unsafe running.isEmpty }

  /// - Parameters:
  ///   - idleConnections: how many connections are kept for reuse when no transfer uses them.
  ///   - connectionsPerHost: how many connections to one host may be open; nil sets no limit.
  /// - Throws: ``CurlError`` when libcurl cannot be initialised.
  package init(loop: EventLoop, idleConnections: Int, connectionsPerHost: Int? = nil) throws(CurlError) {
    guard NetworkLibraries.areSetUp, let multi = unsafe curl_multi_init() else {
      throw CurlError(call: "curl_multi_init", code: CURLM_OUT_OF_MEMORY.rawValue)
    }
    self.loop = loop
    self.idleConnections = idleConnections
    unsafe self.multi = unsafe multi
    let me = unsafe Unmanaged.passUnretained(self).toOpaque()
    try check("CURLMOPT_SOCKETDATA", unsafe curl_multi_setopt_pointer(multi, CURLMOPT_SOCKETDATA, me))
    try check("CURLMOPT_SOCKETFUNCTION", unsafe curl_multi_setopt_socket_function(multi, Self.socketChanged))
    try check("CURLMOPT_TIMERDATA", unsafe curl_multi_setopt_pointer(multi, CURLMOPT_TIMERDATA, me))
    try check("CURLMOPT_TIMERFUNCTION", unsafe curl_multi_setopt_timer_function(multi, Self.timerChanged))
    try check("CURLMOPT_PIPELINING", unsafe curl_multi_setopt_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX)))
    if let connectionsPerHost {
      try check("CURLMOPT_MAX_HOST_CONNECTIONS", unsafe curl_multi_setopt_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connectionsPerHost))
    }
  }

  /// Cancels every transfer without notifying its owner, and closes all connections. A second call
  /// does nothing.
  package func shutdown() {
    guard isOpen else { return }
    isOpen = false
    let handles = unsafe Array(running.keys)
    unsafe handles.forEach { unsafe curl_multi_remove_handle(multi, $0) }
    unsafe running.removeAll()
    unsafe curl_multi_cleanup(multi)
    if let timer { loop.cancel(timer) }
  }

  /// Starts a transfer. ``deliverEnds(_:)`` reports its end.
  package func add(_ transfer: any CurlHandle) throws(CurlError) {
    guard isOpen else { throw CurlError(call: "curl_multi_add_handle", code: CURLM_BAD_HANDLE.rawValue) }
    try check("curl_multi_add_handle", unsafe curl_multi_add_handle(multi, transfer.easy.handle))
    unsafe running[transfer.easy.handle] = transfer
    limitConnections()
  }

  /// Removes a transfer. Closes its connection unless its body has been read to the end.
  package func remove(_ transfer: any CurlHandle) {
    guard unsafe running.removeValue(forKey: transfer.easy.handle) != nil else { return }
    unsafe curl_multi_remove_handle(multi, transfer.easy.handle)
    limitConnections()
  }

  /// Sets the maximum number of open connections. libcurl counts those in use as well, and closes
  /// idle ones to stay within it. With a fixed limit, many stalled transfers would prevent all
  /// reuse.
  private func limitConnections() {
    _ = unsafe curl_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, running.count + idleConnections)
  }

  /// Removes the transfers that have ended. Called when no callback of libcurl is on the stack.
  package func deliverEnds(_ notify: (any CurlHandle, CURLcode) -> Void) {
    guard hasNews, isOpen else { return }
    hasNews = false
    var left: Int32 = 0
    while let message = unsafe curl_multi_info_read(multi, &left) {
      guard unsafe message.pointee.msg == CURLMSG_DONE, let easy = unsafe message.pointee.easy_handle else { continue }
      let code = unsafe curl_message_result(message)
      guard let transfer = unsafe running[easy] else { continue }
      remove(transfer)
      notify(transfer, code)
    }
  }

  private func act(_ socket: curl_socket_t, _ mask: Int32) {
    var running: Int32 = 0
    unsafe curl_multi_socket_action(multi, socket, mask, &running)
    hasNews = true
  }

  private func check(_ call: String, _ code: CURLMcode) throws(CurlError) {
    guard code == CURLM_OK else { throw CurlError(call: call, code: code.rawValue) }
  }

  private static let socketChanged:
    @convention(c) (UnsafeMutableRawPointer?, curl_socket_t, Int32, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32 = {
      _, socket, what, me, _ in
      guard let me = unsafe me else { return -1 }
      let multi = unsafe Unmanaged<CurlMulti>.fromOpaque(me).takeUnretainedValue()
      guard what != CURL_POLL_REMOVE else {
        multi.loop.unwatch(socket)
        return 0
      }
      var readiness: Readiness = []
      if what & CURL_POLL_IN != 0 { readiness.insert(.readable) }
      if what & CURL_POLL_OUT != 0 { readiness.insert(.writable) }
      multi.loop.watch(socket, for: readiness, multi.whenReady)
      return 0
    }

  private func mask(_ ready: Readiness) -> Int32 {
    var mask: Int32 = 0
    if ready.contains(.readable) { mask |= CURL_CSELECT_IN }
    if ready.contains(.writable) { mask |= CURL_CSELECT_OUT }
    if !ready.isDisjoint(with: .failed) { mask |= CURL_CSELECT_ERR }
    return mask
  }

  /// Sets libcurl's one timer. A negative time stops it.
  private func setTimer(_ milliseconds: Int) {
    guard milliseconds >= 0 else {
      if let timer { loop.cancel(timer) }
      return timer = nil
    }
    let instant = loop.now.advanced(by: .milliseconds(milliseconds))
    if let timer { return loop.move(timer, to: instant) }
    timer = loop.schedule(at: instant) { [unowned self] in
      timer = nil
      act(CURL_SOCKET_TIMEOUT, 0)
    }
  }

  private static let timerChanged: @convention(c) (UnsafeMutableRawPointer?, Int, UnsafeMutableRawPointer?) -> Int32 = {
    _, milliseconds, me in
    guard let me = unsafe me else { return -1 }
    let multi = unsafe Unmanaged<CurlMulti>.fromOpaque(me).takeUnretainedValue()
    multi.setTimer(milliseconds)
    return 0
  }
}

/// A failed call of libcurl, with its error code.
package struct CurlError: Error, Hashable, Sendable, CustomStringConvertible {
  package var call: String
  package var code: Int32

  init(call: String, code: some BinaryInteger) {
    self.call = call
    self.code = Int32(truncatingIfNeeded: code)
  }

  package var description: String {
    "libcurl: \(call) failed with code \(code)"
  }
}

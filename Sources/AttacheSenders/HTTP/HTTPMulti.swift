internal import Attache
internal import AttacheQueue
internal import CCurl

/// The requests of an ``HTTPSender`` that are in progress, run by libcurl.
///
/// `@unchecked Sendable`: one thread uses it, except for ``wake()``.
@safe
final class HTTPMulti: @unchecked Sendable {
  private let configuration: HTTPSender.Configuration
  private let multi: UnsafeMutableRawPointer
  private var running: [UnsafeMutableRawPointer: HTTPRequest] = unsafe [:]
  private var idle: [HTTPRequest] = []
  private var bearer = TokenFile()

  init(_ configuration: HTTPSender.Configuration) throws(HTTPSenderError) {
    guard NetworkLibraries.areSetUp, let multi = unsafe curl_multi_init() else { throw .option("libcurl", reason: "out of memory") }
    self.configuration = configuration
    unsafe self.multi = unsafe multi
    _ = unsafe curl_multi_setopt_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    _ = unsafe curl_multi_setopt_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, configuration.connections)
    _ = unsafe curl_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, configuration.connections)
    // Reject a wrong configuration now, not at the first result.
    do throws(HTTPSenderError) {
      idle = [try HTTPRequest(configuration)]
    } catch {
      unsafe curl_multi_cleanup(multi)
      throw error
    }
  }

  deinit {
    _ = cancelAll()
    unsafe curl_multi_cleanup(multi)
  }

  /// Returns the token in the configuration's file; nil without a file.
  func token() throws(HTTPSenderError) -> String? {
    guard let file = configuration.bearerFile else { return nil }
    return try bearer.read(file)
  }

  /// Begins to send a result.
  ///
  /// - Returns: nil, or the answer when the request cannot begin.
  func begin(_ delivery: Delivery) -> DeliveryAnswer? {
    do throws(HTTPSenderError) {
      let request = if let idle = idle.popLast() { idle } else { try HTTPRequest(configuration) }
      try request.prepare(delivery, token: token())
      guard unsafe curl_multi_add_handle(multi, request.easy) == CURLM_OK else { throw .option("libcurl", reason: "out of memory") }
      unsafe running[request.easy] = request
      return nil
    } catch {
      return .refused(reason: "\(error)")
    }
  }

  /// Cancels all requests.
  ///
  /// - Returns: the tokens of their results.
  func cancelAll() -> [LeaseToken] {
    let requests = unsafe running.values.map(\.self)
    unsafe running.removeAll()
    for request in requests { unsafe curl_multi_remove_handle(multi, request.easy) }
    return requests.compactMap(\.token)
  }

  /// Runs the transfers as far as possible without waiting.
  ///
  /// - Returns: the answers that have arrived.
  func advance() -> [(token: LeaseToken, answer: DeliveryAnswer)] {
    var count: Int32 = 0
    unsafe curl_multi_perform(multi, &count)
    var answers: [(token: LeaseToken, answer: DeliveryAnswer)] = []
    while let message = unsafe curl_multi_info_read(multi, &count) {
      guard unsafe message.pointee.msg == CURLMSG_DONE, let easy = unsafe message.pointee.easy_handle,
        let request = unsafe running.removeValue(forKey: easy)
      else { continue }
      let code = unsafe curl_message_result(message)
      unsafe curl_multi_remove_handle(multi, easy)
      if let token = request.token { answers.append((token, request.answer(code))) }
      idle.append(request)
    }
    return answers
  }

  /// Waits for network activity or ``wake()``, at most 60 s.
  func wait() {
    _ = unsafe curl_multi_poll(multi, nil, 0, 60_000, nil)
  }

  /// Ends the current wait, or the next one. Any thread may call it.
  func wake() {
    unsafe curl_multi_wakeup(multi)
  }
}

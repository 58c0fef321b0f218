internal import Attache
internal import AttacheQueue
internal import CCurl
internal import Glibc

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
  private typealias Try = (request: HTTPRequest, start: MonotonicInstant)
  /// Tries that may wait for another request's connection, and the others, in the order of their
  /// starts. Some of them no longer wait.
  private var (sharing, alone): (ArraySlice<Try>, ArraySlice<Try>) = ([], [])
  /// Answers for the next ``advance()``.
  private var ended: [(token: LeaseToken, answer: DeliveryAnswer)] = []
  /// When the endpoint last answered.
  private var answeredAt = MonotonicInstant.distantPast
  private let isSecure: Bool

  /// How long a request waits for another one's connection, at most, before it gets its own.
  private static let longestShare = Duration.seconds(1)

  init(_ configuration: HTTPSender.Configuration) throws(HTTPSenderError) {
    guard NetworkLibraries.areSetUp, let multi = unsafe curl_multi_init() else { throw .option("libcurl", reason: "out of memory") }
    self.configuration = configuration
    isSecure = configuration.url.utf8.starts(with: "https://".utf8)
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
      try start(request, shares: isSecure, isFresh: false)
      return nil
    } catch {
      return .refused(reason: "\(error)")
    }
  }

  private func start(_ request: HTTPRequest, shares: Bool, isFresh: Bool) throws(HTTPSenderError) {
    request.begin(shares: shares, isFresh: isFresh)
    guard unsafe curl_multi_add_handle(multi, request.easy) == CURLM_OK else { throw .option("libcurl", reason: "out of memory") }
    unsafe running[request.easy] = request
    if shares { sharing.append((request, request.start)) } else { alone.append((request, request.start)) }
  }

  /// Sends a request that was not sent on a connection of its own.
  ///
  /// - Returns: nil, or the answer when this fails.
  private func startAgain(_ request: HTTPRequest) -> DeliveryAnswer? {
    do throws(HTTPSenderError) {
      try start(request, shares: false, isFresh: true)
      return nil
    } catch {
      return .refused(reason: "\(error)")
    }
  }

  private var longestShare: Duration { min(Self.longestShare, configuration.answerTimeout / 4) }

  /// Ends the waits that are too long: for another request's connection, and for any connection.
  /// libcurl itself has no time limit for either.
  private func endWaits() {
    while let request = overdue(&sharing, after: longestShare) {
      if let answer = startAgain(request) { finish(request, answer) }
    }
    while let request = overdue(&alone, after: configuration.answerTimeout) { finish(request, .unanswered) }
  }

  /// Cancels the first of the tries if it waits for a connection and is overdue. Removes those before
  /// it that no longer wait.
  private func overdue(_ tries: inout ArraySlice<Try>, after limit: Duration) -> HTTPRequest? {
    while let (request, start) = tries.first {
      let isRunning = unsafe running[request.easy] != nil
      let waits = isRunning && request.start == start && !request.hasTried && !request.isSent
      if waits, start.advanced(by: limit) > .now { return nil }
      tries.removeFirst()
      guard waits else { continue }
      unsafe curl_multi_remove_handle(multi, request.easy)
      unsafe running.removeValue(forKey: request.easy)
      return request
    }
    return nil
  }

  private func finish(_ request: HTTPRequest, _ answer: DeliveryAnswer) {
    if let token = request.token { ended.append((token, answer)) }
    idle.append(request)
  }

  /// Cancels all requests.
  ///
  /// - Returns: the tokens of their results.
  func cancelAll() -> [LeaseToken] {
    let requests = unsafe running.values.map(\.self)
    unsafe running.removeAll()
    (sharing, alone) = ([], [])
    for request in requests { unsafe curl_multi_remove_handle(multi, request.easy) }
    return requests.compactMap(\.token)
  }

  /// Runs the transfers as far as possible without waiting.
  ///
  /// - Returns: the answers that have arrived.
  func advance() -> [(token: LeaseToken, answer: DeliveryAnswer)] {
    endWaits()
    var count: Int32 = 0
    unsafe curl_multi_perform(multi, &count)
    while let message = unsafe curl_multi_info_read(multi, &count) {
      guard unsafe message.pointee.msg == CURLMSG_DONE, let easy = unsafe message.pointee.easy_handle,
        let request = unsafe running.removeValue(forKey: easy)
      else { continue }
      let code = unsafe curl_message_result(message)
      let end = request.end(code)
      unsafe curl_multi_remove_handle(multi, easy)
      if let answer = answer(request, end, isLate: code == CURLE_OPERATION_TIMEDOUT) { finish(request, answer) }
    }
    defer { ended = [] }
    return ended
  }

  /// Returns the answer that the end of a request means; nil when it is sent again.
  private func answer(_ request: HTTPRequest, _ end: HTTPRequest.End, isLate: Bool) -> DeliveryAnswer? {
    switch end {
    case .answered(let answer):
      answeredAt = .now
      return answer
    case .broken(let text): return .retry(after: nil, reason: text)
    case .unsent(let text):
      // It says something about the endpoint only if a connection of its own has failed, too, and
      // the endpoint has answered no other request meanwhile.
      if request.isFirst, !(isLate && request.hasTried) { return startAgain(request) }
      return request.hasTried && answeredAt < request.start ? .refused(reason: text) : .unanswered
    }
  }

  /// Waits for network activity or ``wake()``, at most 60 s.
  ///
  /// - Throws: ``SystemError`` of `poll`, without having waited.
  func wait() throws(SystemError) {
    let ends = [sharing.first?.start.advanced(by: longestShare), alone.first?.start.advanced(by: configuration.answerTimeout)]
    let code = unsafe curl_multi_poll(multi, nil, 0, min(60_000, ends.compactMap(\.self).min()?.pollTimeout ?? 60_000), nil)
    guard code == CURLM_OK else { throw SystemError(call: "poll", number: code == CURLM_OUT_OF_MEMORY ? ENOMEM : errno) }
  }

  /// Ends the current wait, or the next one. Any thread may call it.
  func wake() {
    unsafe curl_multi_wakeup(multi)
  }
}

internal import Glibc

/// The uploader's side of the connection: it sends the host's files to the bucket.
///
/// `@unchecked Sendable`: confined to the loop's thread.
final class UploadServer: @unchecked Sendable {
  /// The number of connections to the store.
  private static let connections = 32
  /// The pause before another try.
  private static let pause = Duration.milliseconds(50)
  /// How long after its deadline a request is ended. The host decides at the deadline, so an upload
  /// that ends a little later serves the next payload.
  private static let afterDeadline = Duration.seconds(1)

  /// A job of the host.
  private final class Job {
    let number: UInt64
    let start: MonotonicInstant
    var deadline: MonotonicInstant
    /// The file, which the job owns; -1 for a probe.
    let file: Int32

    init(_ number: UInt64, from start: MonotonicInstant, until deadline: MonotonicInstant, file: Int32) {
      (self.number, self.start, self.deadline, self.file) = (number, start, deadline, file)
    }

    deinit {
      if file >= 0 { close(file) }
    }
  }

  private let bucket: Bucket
  private let connection: Int32
  private let loop: EventLoop
  private let multi: CurlMulti
  private let beforeRequest: @Sendable () -> Void
  private let onEnd: @Sendable () -> Void
  private var credentials: S3Credentials?
  private var jobs: [UInt64: Job] = [:]
  /// Requests that wait for one of ``connections``.
  private var waiting = Ring<() -> Void>()
  private var running = 0
  /// Replies that the connection does not take yet.
  private var unsent = Ring<[UInt8]>()
  private var isConditional = true
  /// Whether the connection has ended.
  private var isOver = false

  /// Serves the host on a thread of its own.
  ///
  /// - Parameters:
  ///   - connection: keeps the bounds of messages; stays the caller's.
  ///   - beforeRequest: called on that thread before each request.
  ///   - onEnd: called once, on that thread, when the host has closed the connection.
  /// - Returns: false when the system refuses a descriptor or a thread.
  static func start(
    _ bucket: Bucket, _ connection: Int32, beforeRequest: @escaping @Sendable () -> Void = {}, onEnd: @escaping @Sendable () -> Void
  ) -> Bool {
    guard let server = try? UploadServer(bucket, connection, beforeRequest, onEnd: onEnd) else { return false }
    server.loop.post { server.begin() }
    return true
  }

  private init(
    _ bucket: Bucket, _ connection: Int32, _ beforeRequest: @escaping @Sendable () -> Void, onEnd: @escaping @Sendable () -> Void
  ) throws {
    (self.bucket, self.connection, self.beforeRequest, self.onEnd) = (bucket, connection, beforeRequest, onEnd)
    loop = try EventLoop(name: "upload")
    multi = try CurlMulti(loop: loop, idleConnections: Self.connections)
  }

  private func begin() {
    SurvivedFailures.process.report { [weak self] sentence in
      guard let self else { return false }
      loop.post { self.reply(.notice("the uploader: \(sentence)")) }
      return true
    }
    watch()
    loop.atTurnEnd { [self] in
      multi.deliverEnds { handle, code in (handle as? S3Transfer)?.conclude(code) }
    }
  }

  private func watch() {
    loop.watch(connection, for: unsent.isEmpty ? .readable : [.readable, .writable]) { [self] _, readiness in
      if readiness.contains(.writable) { flush() }
      if readiness != .writable { receive() }
    }
  }

  private func end() {
    isOver = true
    loop.unwatch(connection)
    multi.shutdown()
    jobs = [:]
    loop.stop()
    onEnd()
  }

  // MARK: The host

  private func receive() {
    guard let (message, file) = MessageSocket.receive(from: connection) else { return end() }
    guard let request = try? UploadFrame.request(message) else {
      if file >= 0 { close(file) }
      return end()
    }
    carryOut(request, file)
  }

  private func carryOut(_ request: UploadRequest, _ file: Int32) {
    beforeRequest()
    switch request {
    case .extend(let number, let deadline):
      if let job = jobs[number] { job.deadline = max(job.deadline, deadline) }
    case .probe(let number, let deadline):
      begin(Job(number, from: loop.now, until: deadline, file: -1)) { [self] in probe($0) }
    case .upload(let number, let stored, let deadline):
      begin(Job(number, from: loop.now, until: deadline, file: file)) { [self] job in
        let state = S3UploadState(keep: bucket.keep, isConditional: isConditional)
        send(.head, state, stored, job)
      }
    }
  }

  private func begin(_ job: Job, _ work: @escaping (Job) -> Void) {
    jobs[job.number] = job
    do throws(StartError) {
      if credentials == nil { credentials = try S3Credentials(bucket.credentials, now: loop.now) }
    } catch {
      return fail(job, isRefused: false, "\(error)")
    }
    if let mistake = credentials?.refresh(now: loop.now) { reply(.notice("\(mistake); the earlier key stays in use")) }
    work(job)
  }

  private func reply(_ reply: UploadReply) {
    unsent.append(UploadFrame.bytes(of: reply))
    flush()
  }

  private func flush() {
    guard !isOver else { return }
    while !unsent.isEmpty {
      // If the host is gone, the next read shows it.
      if !MessageSocket.send(unsent[0], over: connection), errno == EAGAIN { break }
      _ = unsent.popFirst()
    }
    watch()
  }

  private func publish(_ job: Job, age: Duration) {
    jobs[job.number] = nil
    reply(.published(job.number, youth: max(.zero, bucket.keep - age)))
  }

  private func fail(_ job: Job, isRefused: Bool, _ explanation: String) {
    jobs[job.number] = nil
    reply(.failed(job.number, isRefused: isRefused, explanation: explanation))
  }

  // MARK: The store

  private func send(_ request: S3UploadState.Request, _ state: S3UploadState, _ stored: StoredFile, _ job: Job) {
    let path = stored.relativePath
    let hash = stored.sha256
    // The type of the bytes, so that the browser need not guess.
    let kept = [("content-type", stored.type.mime), ("cache-control", "public, max-age=31536000, immutable")]
    let (method, fields, body): (String, [(String, String)], S3Transfer.Body) =
      switch request {
      case .head: ("HEAD", [], .none)
      case .put(let isConditional):
        // Some servers check only one of the two hashes (SeaweedFS 4.48).
        (
          "PUT",
          kept + [("x-amz-checksum-sha256", SHA256.Digest(words: stored.name.digest.bigEndian).base64)]
            + (isConditional ? [("if-none-match", "*")] : []),
          .file(job.file, size: stored.size)
        )
      case .copy:
        (
          "PUT",
          kept + [
            ("x-amz-copy-source", "/\(bucket.name)/\(S3Signature.encoded(bucket.prefix + path, keepsSlashes: true))"),
            ("x-amz-metadata-directive", "REPLACE"),
          ], .none
        )
      }
    perform(method, bucket.prefix + path, fields, body, hash: body.size == 0 ? S3Signature.emptyHash : hash, job) { [self] answer, _ in
      var state = state
      let action = state.handle(answer)
      if request == .put(isConditional: true), !state.isConditional { isConditional = false }
      switch action {
      case .send(let next): send(next, state, stored, job)
      case .sendAgain(let next, let explanation):
        again(job, explanation) { [self] in send(next, state, stored, job) }
      case .published(let age): publish(job, age: age)
      case .failed(let explanation): fail(job, isRefused: false, explanation)
      case .refused(let explanation): fail(job, isRefused: true, explanation)
      }
    }
  }

  private func mayTryAgain(_ job: Job) -> Bool {
    loop.now.duration(to: job.deadline) >= job.start.duration(to: job.deadline) / 4
  }

  /// Tries again if a quarter of the budget is left.
  private func again(_ job: Job, _ explanation: String, _ work: @escaping () -> Void) {
    guard mayTryAgain(job) else { return fail(job, isRefused: false, explanation) }
    let left = loop.now.duration(to: job.deadline)
    _ = loop.schedule(at: loop.now.advanced(by: min(Self.pause, left / 4))) { work() }
  }

  /// Puts, reads and removes an object.
  private func probe(_ job: Job) {
    let text = Array("attache\n".utf8)
    let refuse = { [self] (answer: S3Answer, what: String) in
      fail(job, isRefused: !answer.isTransient, "cannot \(what) \(bucket.url(of: ".attache-probe")): \(answer.words): \(answer.advice)")
    }
    perform("PUT", bucket.probeKey, [], .bytes(text), hash: SHA256.hash(text).hexadecimal(), job) { [self] answer, _ in
      guard 200...299 ~= answer.status else { return refuse(answer, "write") }
      perform("GET", bucket.probeKey, [], .none, hash: S3Signature.emptyHash, job) { [self] answer, body in
        // Another worker that starts at the same moment may have removed the object.
        if answer.status == 404, mayTryAgain(job) { return again(job, "") { [self] in probe(job) } }
        guard answer.status == 200, body == text else { return refuse(answer, "read") }
        // Without the right to delete, the object stays.
        perform("DELETE", bucket.probeKey, [], .none, hash: S3Signature.emptyHash, job) { [self] _, _ in publish(job, age: .zero) }
      }
    }
  }

  /// Sends a request, when a connection is free.
  private func perform(
    _ method: String, _ key: String, _ fields: [(String, String)], _ body: S3Transfer.Body, hash: String, _ job: Job,
    then: @escaping (S3Answer, [UInt8]) -> Void
  ) {
    guard running < Self.connections else {
      return waiting.append { [self] in perform(method, key, fields, body, hash: hash, job, then: then) }
    }
    guard let signingKey = credentials?.key else { return fail(job, isRefused: false, "there are no credentials") }
    let path = bucket.endpoint.path(of: key)
    let signature = S3Signature(key: signingKey, region: bucket.region, time: Int64(time(nil)))
    let signed = signature.fields(method, host: bucket.endpoint.host, path: path, fields, payloadHash: hash)
    // The first try leaves three tenths of the budget for another one.
    let left = loop.now.duration(to: job.deadline)
    let isFirst = left > job.start.duration(to: job.deadline) / 2
    let timeout = isFirst ? left * 7 / 10 : left + Self.afterDeadline
    let request = S3Transfer.Request(
      method: method, url: bucket.endpoint.origin + path, fields: signed, body: body, timeout: timeout)
    do throws(CurlError) {
      running += 1
      let transfer = try S3Transfer(request, rootCertificates: bucket.rootCertificates) { [self] answer, body in
        running -= 1
        then(answer, body)
        waiting.popFirst()?()
      }
      try multi.add(transfer)
    } catch {
      running -= 1
      then(S3Answer(failure: "\(error)"), [])
      waiting.popFirst()?()
    }
  }

}

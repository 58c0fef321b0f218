/// The queue of pictures from a loop's fetches to the loop's converters. On the loop only.
///
/// Payloads take turns, weighted by pixels. The main converter takes one picture after the other. While
/// it has a large one, a second converter takes the next pictures that are far smaller, so that no
/// picture takes all the time. The same bytes are converted once, for all that wait for them.
///
/// It is as long as there are fetches whose bytes are complete, which `--jobs` bounds.
final class ConverterQueue {
  /// A request's place in the queue.
  struct Claim {
    fileprivate let job: ConverterJob?
    fileprivate let waiter: ConverterJob.Waiter
    /// The time that its picture counts (``ConverterPace/turn(_:of:)``); zero if nothing is converted for
    /// it alone.
    let turn: Duration
  }

  private let loop: EventLoop
  private let store: AttachmentStore
  private let conversion: Conversion
  private let converted: ConvertedPictures
  private let startProcess: HelperProcess.Start
  private let limits: MediaLimits
  private lazy var main = makeLane()
  private lazy var beside = makeLane()
  private var waiting = FairQueue<ConverterJob>(turn: ConverterPace.turnPixels)
  /// The jobs that wait or run, by the hash of their picture.
  private var jobs: [SHA256.Digest: ConverterJob] = [:]
  private var pace = ConverterPace()
  /// Wakes the loop when the main converter's job counts as slow.
  private var slowTimer: TimerEntry?
  /// Whether pictures have begun to wait, begun or ended since the last forecast.
  private var isChanged = false
  /// Called at the end of a turn with the new ``ConverterForecast/load``.
  var loadChanged: ((Duration) -> Void)?

  /// - Parameter cache: where the results are found by other loops and later runs; nil for this
  ///   queue's memory alone.
  init(
    _ conversion: Conversion, _ limits: MediaLimits, store: AttachmentStore, cache: HTTPCache? = nil, on loop: EventLoop,
    startProcess: @escaping HelperProcess.Start = ConverterProcess.start
  ) {
    (self.conversion, self.limits, self.store, self.loop, self.startProcess) = (conversion, limits, store, loop, startProcess)
    converted = ConvertedPictures(store: store, cache: cache)
  }

  private func makeLane() -> ConverterLane {
    ConverterLane(conversion, limits, store: store, on: loop, startProcess: startProcess) { [weak self] job, result, time in
      self?.ended(job, result, after: time)
    }
  }

  /// Converts a picture, unless the same bytes have been converted or are being converted.
  ///
  /// - Parameters:
  ///   - payloads: those that wait for the picture. They are told apart by their numbers.
  ///   - end: when the conversion must have ended.
  ///   - isWanted: called when the picture's turn has come. If nobody wants it, the picture is
  ///     dropped.
  ///   - answer: called with the stored file, pinned once, or with ``Reason/convertFailed``,
  ///     ``Reason/convertDeadline`` or another reason; in a later step.
  func convert(
    _ picture: SourcePicture, for payloads: [UInt64], until end: MonotonicInstant, isWanted: @escaping () -> Bool,
    answer: @escaping (Result<StoredFile, FetchFailure>) -> Void
  ) -> Claim {
    let waiter = ConverterJob.Waiter(picture, until: end, isWanted: isWanted, answer: answer)
    let source = picture.file.digest
    if let file = converted.file(of: source) {
      loop.later { answer(.success(file)) }
      return Claim(job: nil, waiter: waiter, turn: .zero)
    }
    let running = jobs[source]
    let job = running ?? ConverterJob(picture, source: source, maximumPixels: conversion.sourcePixels)
    guard loop.now.advanced(by: leastTime(of: job)) <= end else {
      let failure = lateness(of: job, left: loop.now.duration(to: end))
      loop.later { answer(.failure(failure)) }
      return Claim(job: nil, waiter: waiter, turn: .zero)
    }
    job.add(waiter)
    let claim = Claim(job: job, waiter: waiter, turn: running == nil ? pace.turn(job.pixels, of: job.format) : .zero)
    join(job, payloads)
    if running == nil {
      jobs[source] = job
      enqueue(job)
    }
    watch(waiter, of: job)
    return claim
  }

  /// Lets further payloads wait for a picture.
  ///
  /// - Parameter end: when the conversion must have ended for the last of them.
  func join(_ claim: Claim, _ payloads: [UInt64], until end: MonotonicInstant) {
    guard let job = claim.job, claim.waiter.answer != nil else { return }
    join(job, payloads)
    guard end > claim.waiter.end else { return }
    claim.waiter.end = end
    watch(claim.waiter, of: job)
  }

  /// Called at the end of a turn: begins the next conversions, and gives up those that would be late.
  /// ``convert(_:for:until:isWanted:answer:)`` does not begin them, because it may be called on the
  /// transport's stack.
  func turnEnded() {
    while main.job == nil, begin(in: main) {}
    while beside.job == nil, let running = main.job, let next = waiting.first(), !next.isUnderstated,
      ConverterPace.overtakes(next.pixels, running: running.pixels, isSlow: isSlow(running)), begin(in: beside)
    {}
    if isChanged { forecast() }
  }

  /// Ends the processes, and drops all pictures.
  func shutdown() {
    for job in jobs.values { drop(job) }
    _ = waiting.removeAll()
    for lane in [main, beside] { lane.shutdown() }
    if let slowTimer { loop.cancel(slowTimer) }
    slowTimer = nil
  }

  // MARK: Turns

  private func join(_ job: ConverterJob, _ payloads: [UInt64]) {
    for payload in payloads where job.join(payload) {
      if let number = job.number { waiting.join(number, payload) }
    }
  }

  private func enqueue(_ job: ConverterJob) {
    job.number = waiting.add(job, work: job.pixels, of: job.payloads, by: job.end)
    isChanged = true
  }

  /// Begins the next conversion, or answers it from what is known by now.
  ///
  /// - Returns: whether a picture waited.
  private func begin(in lane: ConverterLane) -> Bool {
    guard let (job, payload) = waiting.popFirst() else { return false }
    (job.number, job.payload, isChanged) = (nil, payload, true)
    let left = loop.now.duration(to: job.end)
    guard job.isWanted, let picture = job.waiters.first?.picture else {
      drop(job)
      return true
    }
    if let file = converted.file(of: job.source) {
      hand(.success(file), to: job)
    } else if left <= leastTime(of: job) {
      hand(.failure(lateness(of: job, left: left, hasWaited: true)), to: job)
    } else {
      let limit = pace.limit(job.pixels, of: job.format, left: left, othersWait: !waiting.isEmpty)
      lane.begin(job, picture, within: lane === beside ? min(limit, slowTime(with: job)) : limit)
      if lane === main { watchForSlowness(job) }
    }
    return true
  }

  /// Gives up the pictures that cannot be finished in time or that nobody wants, and reports the load.
  private func forecast() {
    isChanged = false
    var forecast = ConverterForecast(pace)
    for lane in [main, beside] {
      if let job = lane.job { forecast.addRunning(job.forecastPicture, for: lane.begun.duration(to: loop.now), isMain: lane === main) }
    }
    for (number, job, isDue) in waiting.inOrder {
      guard job.isWanted else {
        waiting.remove(number)
        drop(job)
        continue
      }
      let left = loop.now.duration(to: job.end)
      guard let before = forecast.add(job.forecastPicture, isDue: isDue, within: left) else { continue }
      waiting.remove(number)
      job.number = nil
      hand(.failure(lateness(of: job, after: before, left: left)), to: job)
    }
    loadChanged?(forecast.load)
  }

  private func lateness(
    of job: ConverterJob, after before: Duration = .zero, left: Duration, hasWaited: Bool = false
  ) -> FetchFailure {
    FetchFailure(
      conversionOf: job.leastPixels, takes: leastTime(of: job), after: before, behind: hasWaited ? jobs.count - 1 : 0, left: left)
  }

  private func leastTime(of job: ConverterJob) -> Duration {
    pace.leastTime(job.leastPixels, of: job.format)
  }

  private func slowTime(with job: ConverterJob) -> Duration {
    pace.slowTime(job.pixels, of: job.format)
  }

  private func isSlow(_ running: ConverterJob) -> Bool {
    main.begun.duration(to: loop.now) >= slowTime(with: running)
  }

  private func watchForSlowness(_ job: ConverterJob) {
    if let slowTimer { loop.cancel(slowTimer) }
    // The turn that begins with this timer ends with ``turnEnded()``.
    slowTimer = loop.schedule(at: loop.now.advanced(by: slowTime(with: job))) { [weak self] in self?.slowTimer = nil }
  }

  // MARK: Ends

  /// Watches the time of a request: while its picture waits, until the conversion would be late.
  private func watch(_ waiter: ConverterJob.Waiter, of job: ConverterJob) {
    if let timer = waiter.timer { loop.cancel(timer) }
    let isRunning = main.job === job || beside.job === job
    let instant = waiter.end.advanced(by: isRunning ? ConverterLane.margin : .zero - leastTime(of: job))
    waiter.timer = loop.schedule(at: instant) { [weak self, weak waiter, weak job] in
      guard let self, let waiter, let job else { return }
      waiter.timer = nil
      if !isRunning, main.job === job || beside.job === job { return watch(waiter, of: job) }
      giveUp(waiter, of: job)
    }
  }

  private func giveUp(_ waiter: ConverterJob.Waiter, of job: ConverterJob) {
    let isWaiting = job.number != nil
    job.remove(waiter)
    answer(
      waiter,
      .failure(
        isWaiting
          ? lateness(of: job, left: loop.now.duration(to: waiter.end), hasWaited: true) : FetchFailure(reason: .convertDeadline)))
    guard job.waiters.isEmpty, let number = job.number else { return }
    waiting.remove(number)
    drop(job)
    isChanged = true
  }

  /// Handles the end of a conversion.
  private func ended(_ job: ConverterJob, _ result: Result<StoredFile, FetchFailure>, after took: Duration) {
    isChanged = true
    waiting.charge(job.payload, pace.pixels(in: took, of: job.format) - job.pixels)
    switch result {
    case .success(let file):
      converted.note(file, of: job.source)
      if !job.isUnderstated { pace.note(job.pixels, of: job.format, took: took) }
      hand(result, to: job)
    case .failure(let failure):
      guard failure.reason == .convertDeadline, !job.isUnderstated else { return hand(result, to: job) }
      // It needs more time than it had. It waits again, as the largest picture, for those who still
      // have that time.
      for waiter in job.waiters where loop.now.duration(to: waiter.end) <= took {
        job.remove(waiter)
        answer(waiter, result)
      }
      job.noteUnderstatement()
      if job.waiters.isEmpty { return drop(job) }
      enqueue(job)
      for waiter in job.waiters { watch(waiter, of: job) }
    }
  }

  /// Gives a result to all that wait for it. A file is pinned once for the first.
  private func hand(_ result: Result<StoredFile, FetchFailure>, to job: ConverterJob) {
    jobs[job.source] = nil
    let waiters = job.removeWaiters()
    if case .success(let file) = result {
      for _ in waiters.dropFirst() { store.pin(file) }
      if waiters.isEmpty { store.unpin(file) }
    }
    for waiter in waiters { answer(waiter, result) }
  }

  private func answer(_ waiter: ConverterJob.Waiter, _ result: Result<StoredFile, FetchFailure>) {
    if let timer = waiter.timer { loop.cancel(timer) }
    waiter.timer = nil
    guard let answer = waiter.answer.take() else { return }
    // This may be called at the end of a turn. The answer belongs to the next one.
    loop.later { answer(result) }
  }

  private func drop(_ job: ConverterJob) {
    jobs[job.source] = nil
    for waiter in job.removeWaiters() {
      if let timer = waiter.timer { loop.cancel(timer) }
      (waiter.timer, waiter.answer) = (nil, nil)
    }
  }
}

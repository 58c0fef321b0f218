/// The conversion of a picture between its last byte and its attachment.
extension Fetch {
  /// Converts the complete picture within the budget. What remains of the budget then is enough to
  /// attach the original, if it is acceptable.
  func convert() {
    guard let picture, let converters = engine.converters else { return fail(FetchFailure(reason: .internal)) }
    let end = engine.loop.now.advanced(by: Self.conversionTime(within: budget))
    tracker.note { $0.isConverting = true }
    let claim = converters.convert(picture, for: tracker.waiter?.payloads ?? [], until: end) { [self] in
      tracker.isAwaited
    } answer: { [self] result in
      takeConverted(result, of: picture)
    }
    self.claim = claim
    tracker.waiter?.noteConversion(claim.turn)
  }

  /// Called when another payload waits for the file.
  func joined(by waiter: FetchWaiter) {
    guard let claim, let converters = engine.converters else { return }
    let end = engine.loop.now.advanced(by: Self.conversionTime(within: engine.loop.now.duration(to: waiter.deadline)))
    converters.join(claim, waiter.payloads, until: end)
  }

  /// The part of each budget that a conversion may not use: `ConverterLane.margin` for a
  /// converter that does not end, 50 ms of grace (`--grace`), and the rest to decide.
  static let conversionReserve = Duration.milliseconds(150)

  /// Returns the time for a conversion: all but a tenth of the budget, and at least the reserve.
  static func conversionTime(within budget: Duration) -> Duration {
    max(.zero, budget - max(conversionReserve, budget / 10))
  }

  private func takeConverted(_ result: Result<StoredFile, FetchFailure>, of picture: SourcePicture) {
    (self.picture, claim) = (nil, nil)
    tracker.note { $0.isConverting = false }
    if case .failure = result, state.isOver { return }
    switch result.flatMapError(picture.unconverted) {
    case .success(let file): take(file)
    case .failure(let failure): fail(failure)
    }
  }
}

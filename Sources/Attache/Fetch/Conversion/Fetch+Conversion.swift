/// The conversion of a picture between its last byte and its attachment.
extension Fetch {
  /// Converts the complete picture within the budget. What remains of the budget then is enough to
  /// attach the original, if it is acceptable.
  func convert() {
    guard let picture, let converters = engine.converters else { return fail(FetchFailure(reason: .internal)) }
    let end = engine.loop.now.advanced(by: Self.conversionTime(within: budget))
    tracker.note { $0.isConverting = true }
    converters.convert(picture, until: end) { [self] in
      tracker.isAwaited
    } answer: { [self] result in
      takeConverted(result, of: picture)
    }
  }

  /// The part of each budget that a conversion may not use: `ConverterQueue.margin` for a
  /// converter that does not end, 50 ms of grace (`--grace`), and the rest to decide.
  static let conversionReserve = Duration.milliseconds(150)

  /// Returns the time for a conversion: all but a tenth of the budget, and at least the reserve.
  static func conversionTime(within budget: Duration) -> Duration {
    max(.zero, budget - max(conversionReserve, budget / 10))
  }

  private func takeConverted(_ result: Result<StoredFile, FetchFailure>, of picture: SourcePicture) {
    self.picture = nil
    tracker.note { $0.isConverting = false }
    if case .failure = result, state.isOver { return }
    switch result.flatMapError(picture.unconverted) {
    case .success(let file): take(file)
    case .failure(let failure): fail(failure)
    }
  }
}

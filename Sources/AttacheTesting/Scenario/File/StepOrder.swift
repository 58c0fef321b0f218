/// Checks that the steps of a response are in a valid order.
struct StepOrder {
  private var hasBody = false
  private var isRaw = false
  private var isOver = false
  private var latest = Duration.zero
  private var hasStatus = false

  /// Adds the next step.
  ///
  /// - Returns: the error in it, or nil.
  mutating func mistake(adding step: OriginStep) -> String? {
    if isOver {
      return "nothing can follow stall, reset, close, cut, goaway, a flood of headers, a fetcher's fault or a step that repeats forever"
    }
    if let at = step.at {
      if at < latest { return "`at` counts from the arrival of the request, so it cannot be earlier than the step before" }
      latest = at
    }
    if step.every != nil, step.repetition == nil { return "`every` needs `repeat`" }
    switch step.action {
    case .status, .header, .redirect, .length:
      if hasBody { return "the header has already been sent: put this before the first send, text, hex, stall or raw" }
      if step.repetition != nil, !step.isHeader { return "only send, text, hex, raw and header can repeat" }
      if case .status = step.action {
        if hasStatus { return "the response already has a status; remove one" }
        hasStatus = true
      }
      isOver = step.repetition == .forever
    case .send, .text, .hex:
      hasBody = true
      isOver = step.repetition == .forever
    case .raw:
      if hasBody, !isRaw { return "raw replaces HTTP: nothing can be sent before it" }
      (hasBody, isRaw) = (true, true)
      isOver = step.repetition == .forever
    case .stall, .reset, .close, .cut, .goAway, .flood, .fetcher:
      if step.repetition != nil { return "only send, text, hex, raw and header can repeat" }
      isOver = true
    }
    return nil
  }
}

extension OriginStep {
  fileprivate var isHeader: Bool {
    if case .header = action { true } else { false }
  }
}

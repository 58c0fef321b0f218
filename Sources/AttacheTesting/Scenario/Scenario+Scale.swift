internal import Attache

extension Scenario {
  /// Returns the scenario with all its times multiplied: those of the origins, of DNS, of the
  /// filter and of the expectation.
  public func scaled(by factor: Double) -> Scenario {
    var scenario = self
    scenario.deadline = deadline.scaled(by: factor)
    scenario.grace = grace?.scaled(by: factor)
    if let stop { scenario.stop?.at = stop.at.scaled(by: factor) }
    scenario.expectation.lateness = expectation.lateness.scaled(by: factor)
    scenario.origins = origins.mapValues { $0.scaled(by: factor) }
    scenario.names = names.mapValues { script in
      NameScript(
        script.turns.map { NameScript.Turn($0.answer, delay: $0.delay.scaled(by: factor), timeToLive: $0.timeToLive) })
    }
    return scenario
  }
}

extension OriginScript {
  fileprivate func scaled(by factor: Double) -> OriginScript {
    var origin = self
    origin.paths = paths.mapValues { path in
      PathScript(responses: path.responses.map { steps in steps.map { $0.scaled(by: factor) } })
    }
    return origin
  }
}

extension OriginStep {
  fileprivate func scaled(by factor: Double) -> OriginStep {
    var step = self
    step.at = at?.scaled(by: factor)
    step.every = every?.scaled(by: factor)
    return step
  }
}

extension Duration {
  /// Returns the scaled duration, rounded to the nanosecond and limited to a hundred years.
  fileprivate func scaled(by factor: Double) -> Duration {
    .nanoseconds(Int64(min(max(Double(nanoseconds) * factor, -3.2e18), 3.2e18).rounded()))
  }
}

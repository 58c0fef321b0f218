internal import Attache

/// The time of a notification in a rehearsal, which is shorter than on a phone.
struct RehearsedTime: Sendable {
  /// What a phone gives: "about 30 seconds" by Apple's documentation.
  static let phone = Duration.seconds(30)

  /// The time of the situation, before ``factor`` applies.
  private let unscaled: Duration
  /// The time that the notification has.
  let budget: Duration

  /// - Parameter factor: that of `--time-scale`.
  init(of situation: ExtensionSituation, factor: Double) {
    (unscaled, budget) = (situation.budget, situation.budget * factor)
  }

  /// The factor for time-outs that an extension's author has chosen for a phone.
  var scale: Double { min(1, budget / Self.phone) }

  /// The time in words, and how to rehearse with a phone's.
  var words: String {
    guard scale < 1 else { return "a phone gives about 30 s" }
    let seconds = (budget / .seconds(1) * 10).rounded() / 10
    let factor = Int((Self.phone / unscaled).rounded(.up))
    return "the rehearsal gives \(seconds) s, a phone about 30 s; --time-scale \(factor) gives as much"
  }
}

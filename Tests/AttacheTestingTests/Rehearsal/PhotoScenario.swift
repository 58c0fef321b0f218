import Attache
import AttacheTesting
import Foundation

/// Scenarios around one photo.
enum PhotoScenario {
  static let photo = Medium(name: "photo.jpg", bytes: fixture("photo.jpg"))

  /// - Parameters:
  ///   - url: the media reference of the payload.
  ///   - steps: the steps of `/photo.jpg`.
  static func make(
    _ url: String = "{{origin}}/photo.jpg", times: Int = 1, steps: [OriginStep] = [OriginStep(.send(photo, count: nil))],
    change: (inout Scenario) -> Void = { _ in }
  ) -> Scenario {
    let payload = #"{"aps":{"alert":"Hi {{n}}","mutable-content":1},"image":"\#(url)"}"#
    var scenario = Scenario(name: "photo", file: "photo.yaml", payloads: Array(repeating: payload, count: times))
    var origin = OriginScript()
    origin.paths = ["/photo.jpg": PathScript(responses: [steps])]
    scenario.origins = ["origin": origin]
    scenario.deadline = .seconds(5)
    change(&scenario)
    return scenario
  }

  private static func fixture(_ name: String) -> [UInt8] {
    let folder = URL(filePath: #filePath).appending(path: "../../../../Fixtures/media").standardized
    return (try? Data(contentsOf: folder.appending(path: name))).map { [UInt8]($0) } ?? []
  }
}

extension Scenario {
  /// Sets a short deadline, and a grace that is long enough on a busy machine.
  mutating func isDecidedByDeadline() {
    // The decision comes after 350 ms. The rest is for a machine whose processors are busy.
    deadline = .milliseconds(1_600)
    grace = .milliseconds(1_250)
  }

  /// The expectation for every payload.
  mutating func expect(_ outcome: Outcome, _ reason: Reason? = nil, requests: Int? = nil) {
    let attachments: [ScenarioExpectation.OfAttachment] =
      outcome == .attached ? [.init(type: "public.jpeg", size: PhotoScenario.photo.bytes.count)] : []
    expectation.payloads = [.init(outcome: outcome, reason: reason, attachments: attachments)]
    if let requests { expectation.requests["/photo.jpg"] = requests }
  }
}

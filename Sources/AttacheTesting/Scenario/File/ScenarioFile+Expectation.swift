internal import Attache

extension ScenarioField {
  private static let ofPayload = ["outcome", "reason", "attachments", "media"]
  private static let ofRun = ["payloads", "requests", "fields", "connections", "names", "lateness", "memory", "descriptors", "exit"]

  /// Parses the expected result.
  func expectation(payloads count: Int, origins: [String]) throws(ScenarioError) -> ScenarioExpectation {
    let fields = try members(of: Self.ofPayload + Self.ofRun)
    var expectation = ScenarioExpectation()
    expectation.payloads = try payloads(fields, count: count)
    for (path, field) in try fields["requests"]?.members() ?? [] {
      let origin = path.hasPrefix("/") ? "origin" : String(path.prefix { $0 != "/" })
      guard path.contains("/"), origins.contains(origin) else {
        throw field.error("no origin serves it; write /PATH, or NAME/PATH of an entry of `origins`")
      }
      expectation.requests[path] = try field.number()
    }
    if let list = try fields["fields"]?.list() {
      var names: [String] = []
      for item in list { names.append(try item.text().lowercased()) }
      expectation.fields = names
    }
    expectation.connections = try fields["connections"]?.number()
    expectation.names = try fields["names"]?.number()
    if let field = fields["lateness"] { expectation.lateness = try field.duration() }
    expectation.memory = try fields["memory"]?.bytes()
    expectation.descriptors = try fields["descriptors"]?.number()
    if let field = fields["exit"] { expectation.exitStatus = try field.exitStatus() }
    return expectation
  }

  private func exitStatus() throws(ScenarioError) -> Int32 {
    guard let status = UInt8(exactly: try number()) else { throw error("an exit status is a number from 0 to 255") }
    return Int32(status)
  }

  private func payloads(_ fields: [String: ScenarioField], count: Int) throws(ScenarioError) -> [ScenarioExpectation.OfPayload] {
    let common = Self.ofPayload.compactMap { fields[$0] }
    guard let list = fields["payloads"] else { return common.isEmpty ? [] : [try ScenarioField.ofPayload(fields)] }
    if let first = common.first { throw first.error("it is also in `payloads`: write it there for each, or here for all") }
    let items = try list.list()
    guard items.count == count else { throw list.error("there are \(count) payloads but \(items.count) expectations; write one for each") }
    var payloads: [ScenarioExpectation.OfPayload] = []
    for item in items { payloads.append(try ScenarioField.ofPayload(try item.members(of: Self.ofPayload))) }
    return payloads
  }

  private static func ofPayload(_ fields: [String: ScenarioField]) throws(ScenarioError) -> ScenarioExpectation.OfPayload {
    var payload = ScenarioExpectation.OfPayload()
    payload.outcome = try fields["outcome"]?.choice()
    if let field = fields["reason"] { payload.reason = try field.reason() }
    if let field = fields["attachments"] {
      var attachments: [ScenarioExpectation.OfAttachment] = []
      for item in try field.list() { attachments.append(try item.attachment()) }
      payload.attachments = attachments
    }
    if let field = fields["media"] {
      var reasons: [Reason?] = []
      for item in try field.list() { reasons.append(try item.reason()) }
      payload.media = reasons
    }
    if payload.outcome == .fallback, payload.reason == nil, let field = fields["outcome"] {
      throw field.error("a fallback has a reason; add `reason:` (attache reasons lists the codes)")
    }
    return payload
  }

  private func reason() throws(ScenarioError) -> Reason? {
    guard !isNull else { return nil }
    guard let reason = Reason(rawValue: try text()) else {
      throw error("“\(try text())” is not a reason code; attache reasons lists them")
    }
    return reason
  }

  private func attachment() throws(ScenarioError) -> ScenarioExpectation.OfAttachment {
    let fields = try members(of: ["type", "size"])
    guard let type = fields["type"] else { throw error("`type:` is missing, such as public.jpeg") }
    guard MediaType(rawValue: try type.text()) != nil else {
      throw type.error("“\(try type.text())” is not one of \(MediaType.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return ScenarioExpectation.OfAttachment(type: try type.text(), size: try fields["size"]?.bytes())
  }
}

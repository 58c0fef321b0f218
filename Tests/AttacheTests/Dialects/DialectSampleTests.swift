import Testing

@testable import Attache

/// Every sample gives its expected answer, with all dialects active.
struct DialectSampleTests {
  private let stage = DialectStage(DialectTable())

  @Test(arguments: DialectSample.all)
  func `a sample is answered as it says`(sample: DialectSample) {
    let payload = sample.payload
    #expect(stage.media(payload).map(\.sample) == sample.media)
    if let dialect = sample.dialect, !sample.media.isEmpty { #expect(stage.dialect(payload) == dialect) }
    let text = stage.text(payload)
    #expect(Self.dictionary(text?.overrides) == sample.overrides)
    #expect(Self.dictionary(text?.onFailure) == sample.onFailure)
    #expect(text?.actions.map(\.sample) ?? [] == sample.actions)
    #expect((stage.encrypted(payload) != nil) == sample.isEncrypted)
  }

  @Test func `each row of the table has a sample, and the fixtures have the others`() {
    #expect(DialectSample.all.count >= DialectTable.knownNames.count + 53)
    for name in DialectTable.knownNames { #expect(DialectSample.all.contains { $0.description == "\(name): its own" }, "\(name)") }
  }

  private static func dictionary(_ overrides: [DialectText.Override]?) -> [String: String] {
    Dictionary((overrides ?? []).map { ($0.name, $0.value.string) }) { $1 }
  }
}

extension MediaReference {
  /// As a sample writes it.
  fileprivate var sample: String {
    var object: [String: Any] = ["url": url.string]
    object["identifier"] = identifier?.string
    object["type_hint"] = typeHint?.string
    var options: [String: Any] = [:]
    options["thumbnailHidden"] = self.options.thumbnailHidden
    options["thumbnailTime"] = self.options.thumbnailTime
    options["thumbnailClippingRect"] = self.options.thumbnailClippingRect.map {
      ["x": $0.x, "y": $0.y, "width": $0.width, "height": $0.height]
    }
    if !options.isEmpty { object["options"] = options }
    if role == .avatar { object["role"] = "avatar" }
    if isLazy { object["lazy"] = true }
    if !fallbacks.isEmpty { object["fallbacks"] = fallbacks.map(\.string) }
    let names: [(Needs, String)] = [(.baseURL, "base-url"), (.credentials, "credentials"), (.https, "https"), (.typeHint, "type-hint")]
    if !needs.isEmpty { object["needs"] = names.filter { needs.contains($0.0) }.map(\.1) }
    return DialectSample.json(object)
  }
}

extension DialectText.Action {
  fileprivate var sample: String {
    var object: [String: Any] = ["title": title.string]
    object["identifier"] = identifier?.string
    object["url"] = url?.string
    object["icon"] = icon?.string
    if isDestructive { object["destructive"] = true }
    return DialectSample.json(object)
  }
}

import Attache
import AttacheInspection
import AttacheTesting

/// Makes what the page shows from the lines of a run.
struct ItemBuilder {
  private let inspector: Inspector
  /// Reads the lines after the run. An inspector remembers the silent pushes that it saw.
  private let afterInspector: Inspector
  private let categories: NotificationCategories
  private let parser = JSONParser()

  init(_ flags: FilterFlags, _ categories: NotificationCategories) throws {
    var configuration = try flags.inspection()
    configuration.categories = categories
    (inspector, afterInspector) = (Inspector(configuration), Inspector(configuration))
    self.categories = categories
  }

  /// Returns the notifications of a line: one, or several of an envelope.
  ///
  /// - Parameter before: the line before the run; nil if it is not known.
  func items(from before: InputPayload?, to after: InputPayload, _ entry: ReportLine?) -> [PreviewItem] {
    let files = StoreName.names(in: after.bytes)
    let ends = afterInspector.inspect(after)
    let starts = before.map { inspector.inspect($0) } ?? ends
    let ending = members(after, count: ends.count)
    let starting = before.map { members($0, count: starts.count) } ?? ending
    return ends.indices.map { index in
      let (end, start) = (ends[index], starts.indices.contains(index) ? starts[index] : ends[index])
      var item = PreviewItem(
        line: end.line, kind: end.kind.name, why: Self.why(end), before: card(start, starting), after: card(end, ending))
      (item.outcome, item.reason) = (entry?.outcome, entry?.reason)
      (item.placeWait, item.elapsed) = (entry?.placeWaitMs, entry?.elapsedMs)
      item.dialect = entry?.dialect ?? start.dialect
      item.media = entry?.media.map { PreviewItem.Tried($0) } ?? []
      (item.scenario, item.expected, item.deviations) = (entry?.scenario, entry?.expected, entry?.deviations ?? [])
      // The files of a line with several notifications are those of all of them.
      item.after.media = files
      item.findings = start.findings.map {
        PreviewItem.Finding(
          code: $0.code.rawValue, severity: $0.code.severity.rawValue, text: $0.text, path: $0.path.string, advice: $0.code.advice)
      }
      return item
    }
  }

  private static func why(_ inspection: Inspection) -> String? {
    switch inspection.kind {
    case .push(.alert): nil
    case .push(.silent): "Shows nothing: a silent push wakes the app in the background."
    case .push(.soundOrBadge): "Shows no text: it only plays a sound or sets the badge."
    case .push(.nothing), .invalid: "Shows nothing\(inspection.why.map { ": \($0)" } ?? "")."
    }
  }

  private func card(_ inspection: Inspection, _ members: ApsMembers) -> PreviewItem.Card {
    let content = inspection.content
    var card = PreviewItem.Card(title: content.title, subtitle: content.subtitle, body: content.body)
    (card.titleIsKey, card.subtitleIsKey, card.bodyIsKey) = (members.titleIsKey, members.subtitleIsKey, members.bodyIsKey)
    (card.badge, card.sound) = (content.badge, content.sound)
    card.category = content.categoryIdentifier.isEmpty ? nil : content.categoryIdentifier
    card.thread = content.threadIdentifier.isEmpty ? nil : content.threadIdentifier
    (card.level, card.relevance) = (members.level, members.relevance)
    let own = categories.actions(of: UntrustedText(content.categoryIdentifier))
    card.actions = own?.map { PreviewItem.Action($0) } ?? inspection.text?.actions.map { PreviewItem.Action($0) } ?? []
    return card
  }

  /// Returns what ``NotificationContent`` does not have. It is read only if the line has one
  /// notification.
  private func members(_ payload: InputPayload, count: Int) -> ApsMembers {
    guard count == 1, let line = parser.parse(copying: payload.bytes) else { return ApsMembers() }
    return ApsMembers(in: line)
  }
}

extension PreviewItem.Tried {
  fileprivate init(_ medium: ReportLine.Medium) {
    self.init(
      url: medium.url, reason: medium.reason, explanation: medium.explanation, status: medium.status, bytes: medium.bytes,
      type: medium.type, total: medium.totalMs)
  }
}

extension PreviewItem.Action {
  fileprivate init(_ action: NotificationCategories.Action) {
    self.init(
      title: action.title, destructive: action.isDestructive, authentication: action.asksToUnlock, input: action.takesText,
      icon: action.icon)
  }

  fileprivate init(_ action: DialectText.Action) {
    self.init(title: action.title.string, destructive: action.isDestructive, icon: action.icon?.string)
  }
}

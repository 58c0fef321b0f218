internal import Attache

// The sentences that describe an inspection to the user.
extension Inspection {
  /// What the payload is.
  var headline: String {
    let place = envelope.map { " in an envelope of \($0.form.vendor)" } ?? ""
    let what: String =
      switch kind {
      case .invalid: "is not a payload"
      case .push where isUnopened:
        "is \(envelope?.notification == nil ? "an envelope" : "a message") of \(envelope?.form.vendor ?? "a push service") that attache does not open"
      case .push(.alert): "is an alert\(place)" + (shown.isEmpty ? "" : ": " + shown)
      case .push(.soundOrBadge): "is a push\(place) that plays a sound or badges the icon, but shows nothing"
      case .push(.silent): "is a silent push\(place): it wakes the app and shows nothing"
      case .push(.nothing): "is a push\(place) that shows nothing and wakes no app"
      }
    let number = envelope?.notification.map { ", notification \($0)," } ?? ""
    return "Line \(line)\(number) \(what)" + (what.hasSuffix("”") ? "" : ".")
  }

  private var shown: String {
    [content.title, content.subtitle, content.body].filter { !$0.isEmpty }.map { "“\(PrintableText.of($0))”" }.joined(separator: ", ")
  }

  /// What happens to the payload, before its media.
  var sentences: [String] {
    [runSentence, enrichedSentence, deliverySentence].compactMap { $0 } + textSentences
      + [encryptedSentence, mediaSentence].compactMap { $0 }
  }

  /// Whether the payload itself is known.
  private var isOpen: Bool { kind != .invalid && !isUnopened }

  private var runSentence: String? {
    guard isOpen else { return why.map { "attache leaves it unchanged: \($0)." } }
    guard let why else {
      let beside = matrix.contentAvailable ? " content-available accompanies it." : ""
      return "A service extension runs for it: it shows an alert, and mutable-content is 1.\(beside)"
    }
    return "No service extension runs for it: \(why)."
  }

  private var enrichedSentence: String? {
    isEnriched ? "The line already has the output member, from an earlier run or from its producer: attache passes it through." : nil
  }

  private var deliverySentence: String? {
    guard let envelope else { return nil }
    let parts = [
      envelope.token.map { "for the device “\(PrintableText.of($0))”" }, envelope.priority.map { "priority \($0)" },
      envelope.pushType.map { "push type \(PrintableText.of($0))" }, envelope.expiration.map { "expiration \($0)" },
    ].compactMap { $0 }
    return parts.isEmpty ? nil : "The envelope says: \(parts.joined(separator: ", "))."
  }

  private var textSentences: [String] {
    guard let text else { return [] }
    let name = vendor ?? text.dialect
    var sentences: [String] = []
    if !text.overrides.isEmpty { sentences.append("The helper of \(name) shows other text: \(Self.list(text.overrides)).") }
    if !text.onFailure.isEmpty { sentences.append("Without media it shows: \(Self.list(text.onFailure)).") }
    if !text.actions.isEmpty {
      let titles = text.actions.map { "“\(PrintableText.of($0.title))”" }.joined(separator: ", ")
      sentences.append("It offers \(text.actions.count == 1 ? "one action" : "\(text.actions.count) actions"): \(titles).")
    }
    return sentences
  }

  private static func list(_ texts: [DialectText.Override]) -> String {
    texts.map { "\($0.name) “\(PrintableText.of($0.value))”" }.joined(separator: ", ")
  }

  private var encryptedSentence: String? {
    encrypted.map { "Its content is encrypted: \($0)" }.map { $0.hasSuffix(".") ? $0 : $0 + "." }
  }

  private var mediaSentence: String? {
    guard isOpen else { return nil }
    guard !media.isEmpty else { return encrypted == nil ? "It names no media." : nil }
    let named = Self.number(media.count + omitted)
    let part = omitted > 0 ? ", of which attache reads the first \(media.count)," : ""
    let count = named == "1" ? "It names one media file" : "It names \(named) media files"
    let end = runs || media.contains(where: \.isReplaced) ? ":" : named == "1" ? ", which is not fetched:" : ", which are not fetched:"
    guard let dialect else { return "\(count)\(part)\(end)" }
    if dialect == "media-key" { return "\(count)\(part) at the path of --media-key\(end)" }
    return "\(count)\(part) as in \(vendor.map { "\($0) (\(PrintableText.of(dialect)))" } ?? PrintableText.of(dialect))\(end)"
  }

  var sizeSentence: String {
    guard isOpen else { return "It has \(Self.number(size)) bytes." }
    let sentence = "It has \(Self.number(size)) \(size > maximumSize ? "bytes, more than" : "of") \(limit)."
    return attachedSize.map { "\(sentence) \(attachedSentence($0))" } ?? sentence
  }

  /// The maximum size, and why it is that.
  var limit: String {
    let added = envelope?.form.addedBytes ?? 0
    guard added > 0, let form = envelope?.form else { return "the \(Self.number(maximumSize)) bytes that APNs accepts" }
    let accepted = Self.number(maximumSize + added)
    return
      "the \(Self.number(maximumSize)) bytes that \(form.vendor) may get: APNs accepts \(accepted), of which \(added) stay free for what it adds"
  }

  private func attachedSentence(_ size: Int) -> String {
    let bytes = Self.number(size)
    return isTooLarge
      ? "With its attachments it would have \(bytes), more than it may have: attache leaves it unchanged (payload.maximum)."
      : "With its attachments it has \(bytes)."
  }

  /// Returns the number with commas between groups of three digits.
  static func number(_ value: Int) -> String {
    let digits = String(value)
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
      text.append(digit)
    }
    return text
  }
}

extension Envelope.Form {
  /// The name of the vendor, for display.
  fileprivate var vendor: String {
    switch self {
    case .fcm: "FCM v1"
    case .fcmLegacy: "FCM's legacy API"
    case .sns: "Amazon SNS"
    case .gorush: "gorush"
    case .oneSignal: "OneSignal's server"
    case .expo: "Expo's server"
    case .path: "your own"
    }
  }
}

internal import Attache

/// Finds what a service extension does wrong in a situation.
struct ExtensionJudge {
  private let situation: ExtensionSituation
  private let evidence: ExtensionEvidence
  private let time: RehearsedTime
  private var findings: [Finding] = []

  static func findings(_ situation: ExtensionSituation, _ evidence: ExtensionEvidence, _ time: RehearsedTime) -> [Finding] {
    var judge = ExtensionJudge(situation, evidence, time)
    for (index, request) in evidence.requests.enumerated() {
      judge.look(at: request, number: evidence.requests.count > 1 ? index + 1 : nil)
    }
    judge.lookAtProcesses()
    judge.lookAtTransfers()
    judge.lookAtNotes()
    return judge.findings
  }

  private init(_ situation: ExtensionSituation, _ evidence: ExtensionEvidence, _ time: RehearsedTime) {
    (self.situation, self.evidence, self.time) = (situation, evidence, time)
  }

  private mutating func add(_ kind: Finding.Kind, _ number: Int? = nil, _ message: String) {
    findings.append(Finding(kind, payload: number, message))
  }

  private mutating func look(at request: ExtensionEvidence.Request, number: Int?) {
    lookAtAnswers(of: request, number)
    lookAtContent(of: request, number)
    lookAtAttachments(of: request, number)
    if request.isAlive, !request.answers.isEmpty { add(.leak, number, "the instance still exists 100 ms after its answer") }
  }

  private mutating func lookAtAnswers(of request: ExtensionEvidence.Request, _ number: Int?) {
    guard !request.isCrashed else { return }
    if let expired = request.expired {
      if request.isUnanswered {
        let message = "the content handler was not called, neither in time nor at the expiry; iOS shows the original"
        add(.answerNever, number, "\(message) (\(time.words))")
      } else if !situation.isSlow {
        let message = "the content handler was not called before the time was over, although nothing was slow"
        add(.answerAtExpiry, number, "\(message) (\(time.words))")
      }
      if situation.isSlow, let began = request.began, request.returned.map({ $0 >= expired }) ?? true {
        let held = request.returned.map { "\(began.duration(to: $0).inMilliseconds) ms" } ?? "all the time"
        add(.blocks, number, "didReceive did not return while it downloaded (\(held))")
      }
    }
    if request.answers.count > 1, !request.isUnanswered {
      let when = situation.isSlow ? ": at the expiry, and when the download ended" : ""
      add(.answerTwice, number, "the content handler was called \(request.answers.count) times\(when)")
    }
    if request.isChangedAfter { add(.answerChangedAfter, number, "the content was changed after the content handler had received it") }
  }

  private mutating func lookAtContent(of request: ExtensionEvidence.Request, _ number: Int?) {
    guard let answer = request.answer else { return }
    let alert = (try? JSONReader.read(request.payload[...]))?.value(at: ["aps", "alert"])
    let texts = ["title", "subtitle", "body"].map { name -> String in
      guard let change = answer.changes.first(where: { $0.isNamed(name) }) else {
        return alert?.text(at: [name]) ?? (name == "body" ? alert?.text : nil) ?? ""
      }
      return change.text ?? ""
    }
    if texts.allSatisfy(\.isEmpty) { add(.answerEmpty, number, "the answer has no title, subtitle or body") }
    if let text = texts.first(where: { $0.contains("[modified]") }) { add(.answerTemplate, number, "people read “\(text)”") }
  }

  private mutating func lookAtAttachments(of request: ExtensionEvidence.Request, _ number: Int?) {
    for attached in request.attached {
      let name = attached.attachment.path.string.split(separator: "/").last.map(String.init) ?? ""
      switch attached.file {
      case .success(let file):
        if !attached.attachment.type.utf8.elementsEqual(file.type.rawValue.utf8) {
          add(.attachType, number, "\(name) is attached as \(attached.attachment.type.string), and its bytes are \(file.type.rawValue)")
        }
        if let expected = request.expected, file.sha256 != SHA256.hash(expected).hexadecimal() {
          add(.attachMismatch, number, "\(name) has not the bytes of this notification's picture")
        }
      case .failure(let failure):
        look(at: failure, name, attached.attachment, number)
      }
    }
    if request.attached.isEmpty, request.expected != nil, situation.order == .atOnce,
      evidence.requests.contains(where: { !$0.attached.isEmpty })
    {
      add(.attachMismatch, number, "the notification has no picture, and others that came at the same time have theirs")
    }
  }

  private mutating func look(at failure: FetchFailure, _ name: String, _ attachment: AnsweredAttachment, _ number: Int?) {
    if failure.message.contains("text/html") {
      add(.attachErrorPage, number, "\(name) is attached as \(attachment.type.string), and is a web page")
      if evidence.transfers.contains(where: { $0.end?.result.status ?? 0 >= 400 }) {
        add(
          .fetchStatus, number,
          "the origin answered \(evidence.transfers.compactMap { $0.end?.result.status }.max() ?? 0), and the body was used")
      }
    } else if failure.reason == .extensionFile, situation.order == .atOnce {
      add(.attachMismatch, number, "\(name) was gone when the system took it: another notification has the same file name")
    } else if failure.reason == .extensionFile {
      add(.attachFile, number, failure.message)
    } else {
      add(.attachType, number, "\(name) is attached as \(attachment.type.string); \(failure.message)")
    }
  }

  private mutating func lookAtProcesses() {
    findings += Self.findings(of: evidence.deaths, evidence)
  }

  /// Returns the findings about the processes that ended.
  static func findings(of deaths: [ExtensionEvidence.Death], _ evidence: ExtensionEvidence) -> [Finding] {
    deaths.map { death in
      guard death.isForMemory else {
        return Finding(.crash, "the extension ended by itself (\(death.end))\(ExtensionCrash(output: evidence.output).sentence)")
      }
      let largest = evidence.transfers.max { $0.end?.result.bytes ?? 0 < $1.end?.result.bytes ?? 0 }
      let under = largest.map { "; it was downloading \($0.url)" } ?? ""
      return Finding(
        .memory, "the extension used \(death.peakMemory / 1_000_000) MB of memory, measured with Foundation for Linux\(under)")
    }
  }

  private mutating func lookAtTransfers() {
    if situation.isSlow, let expired = evidence.requests.compactMap(\.expired).first {
      let late = evidence.transfers.filter { transfer in
        guard let end = transfer.end else { return true }
        return end.result.code != -1 && end.at > expired
      }
      if let first = late.first { add(.fetchAfterExpiry, nil, "the download of \(first.url) went on after the time was over") }
    }
    var seen: Set<String> = []
    // An extension may add a query to the URL that the rehearsal has put into the payload.
    for transfer in evidence.transfers
    where transfer.isRefusedForScheme && evidence.rehearsedHTTP.map({ !transfer.url.utf8.starts(with: $0.utf8) }) ?? true {
      guard seen.insert(transfer.url).inserted else { continue }
      add(.fetchScheme, nil, "the extension requested \(transfer.url); App Transport Security refuses plain http (error -1022)")
    }
    let limit = 10_000_000
    if situation.name == "over-limit", let transfer = evidence.transfers.first(where: { $0.end?.result.bytes ?? 0 > limit }) {
      add(.fetchUnbounded, nil, "\(transfer.end?.result.bytes ?? 0) bytes of a picture were downloaded, and \(limit) may be attached")
    }
  }

  private mutating func lookAtNotes() {
    for refusal in evidence.refusals {
      add(
        .attachRefused, nil,
        "UNNotificationAttachment refused \(refusal.path.split(separator: "/").last ?? ""): \(refusal.message) (\(refusal.code))")
    }
    var seen: Set<String> = []
    for note in evidence.notes where seen.insert(note.name + note.text).inserted {
      let kind: Finding.Kind? =
        switch note.name {
        case "image.transcoded": .imageTranscoded
        case "userinfo.unserialisable": .userInfoUnserialisable
        case "attach.hint": .attachHint
        case "categories.race": .categoriesRace
        default: nil
        }
      if let kind { add(kind, nil, note.text) }
    }
    if !evidence.filesLeft.isEmpty {
      let shown = evidence.filesLeft.prefix(3).joined(separator: ", ")
      add(.filesLeft, nil, "\(evidence.filesLeft.count) \(evidence.filesLeft.count == 1 ? "file was" : "files were") left: \(shown)")
    }
  }
}

extension Duration {
  /// The whole milliseconds.
  fileprivate var inMilliseconds: Int { Int(self / .milliseconds(1)) }
}

/// The last words of a process that crashed.
struct ExtensionCrash {
  /// The message, with a colon before it; empty if there is none.
  let sentence: String

  init(output: String) {
    let lines = output.split(separator: "\n")
    let message = lines.last { line in
      ["Fatal error", "Could not cast value", "Simultaneous accesses"].contains { line.contains($0) }
    }
    // The backtrace names the file and the line of the frame that crashed.
    let place = lines.first { $0.contains(" at ") && $0.contains(".swift:") }.flatMap { line in
      line.firstRange(of: " at ").map { line[$0.upperBound...] }
    }
    sentence = (message.map { ": \($0)" } ?? "") + (place.map { " (\($0))" } ?? "")
  }
}

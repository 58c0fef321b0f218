package import Attache

/// Reports for one payload after another what attache would do with it, and why, without using the
/// network.
///
/// An inspector owns parsers, so only one thread at a time may use it. Use it for the payloads of
/// one input.
package final class Inspector {
  package struct Configuration {
    /// The name of the member that is added to an attached payload.
    package var outputKey = "attache"
    /// The place of the payload in the line; nil means the whole line, or the place that a push
    /// service's envelope defines.
    package var payloadPath: JSONPointer?
    package var dialects = DialectTable()
    /// The rules of the gates.
    package var policy = URLPolicy()
    /// The maximum number of media references to follow.
    package var maximumAttachments = 10
    /// Whether URLs are replaced by public addresses (`--attach-as url` or `both`).
    package var rewrites = false
    /// Whether pictures are converted (`--convert`).
    package var converts = false
    /// The categories of the app; none if they are not known.
    package var categories = NotificationCategories()

    package init() {}

    /// Creates the configuration of an inspection of what a filter reads.
    package init(_ filter: FilterConfiguration, policy: URLPolicy, converts: Bool, maximumAttachments: Int) {
      (outputKey, payloadPath, dialects) = (filter.outputKey, filter.payloadPath, filter.dialects)
      rewrites = filter.attachAs != .member
      (self.policy, self.converts, self.maximumAttachments) = (policy, converts, maximumAttachments)
    }
  }

  private let configuration: Configuration
  private let opener: LineOpener
  /// Parses the whole line, in addition to the opener, to find the locations of values.
  private let parser = JSONParser()
  private let apsReader = ApsReader()
  private let dialects: DialectEngine
  private let unread = UnreadMediaSearch()
  /// The table's entries for display, by name.
  private lazy var entries = Dictionary(configuration.dialects.entries.map { ($0.name, $0) }) { first, _ in first }
  private let report: GateReport
  /// The same gates with plain http allowed.
  private let lenientReport: GateReport
  private var rate = SilentRate()

  package init(_ configuration: Configuration) {
    self.configuration = configuration
    opener = LineOpener(outputKey: configuration.outputKey, path: configuration.payloadPath, readsDelivery: true)
    dialects = DialectEngine(configuration.dialects)
    report = GateReport(configuration.policy)
    var lenient = configuration.policy
    lenient.allowHTTP = true
    lenientReport = GateReport(lenient)
  }

  /// Inspects the payload of a line, or each of several notifications. Call it in the order of the
  /// input.
  package func inspect(_ input: InputPayload) -> [Inspection] {
    guard input.length <= PayloadReader.maximumLineLength else {
      return [.invalid(input, .payloadSize, why: "the line has \(input.length) bytes; attache does not read lines of more than 1 MiB")]
    }
    let line = Segment(copying: input.lineBytes(parser), padding: JSONParser.padding)
    return unsafe line.withUnsafeBytes { unsafe inspect(input, $0) }
  }

  private func inspect(_ input: InputPayload, _ line: UnsafeRawBufferPointer) -> [Inspection] {
    var inspections: [Inspection] = []
    switch unsafe opener.open(line) {
    case .payload(let first):
      let root = unsafe parser.parse(UnsafeRawBufferPointer(rebasing: line[opener.json])) ?? first
      let (places, text) = (LinePlaces(root), JSONPlaces(JSONText(unsafe Array(line[opener.json]))))
      var next: JSONElement? = first
      while let payload = next {
        var inspection = Inspection(
          line: input.line, kind: .push(apsReader.read(opener.aps)), size: unsafe opener.splice(of: line).payloadCount)
        inspection.sent = unsafe sent(payload, line)
        let written = WrittenPlaces(opener.place, unsafe opener.splice(of: line), in: text, at: opener.json.lowerBound)
        let paths = LinePaths(root, places, written, opener.envelope)
        complete(&inspection, payload, paths)
        inspections.append(inspection)
        next = opener.next()
      }
      if let unopened = opener.unopened { inspections.append(.unopened(unopened, line: input.line, size: unsafe size(of: unopened, line))) }
    case .unopened(let envelope):
      inspections = [.unopened(envelope, line: input.line, size: unsafe size(of: envelope, line))]
      inspections[0].isEnriched = opener.isEnriched
    case .blank, .overlong: inspections = [.invalid(input, .payloadJSON, why: "the line is not a JSON object")]
    case .invalid:
      let mistake = unsafe JSONMistake(of: line)
      // The columns of a payload over several lines are not those of the file.
      let place = input.isSpread ? "" : "at column \(mistake.column), "
      inspections = [.invalid(input, .payloadJSON, why: "the line is not a JSON object: \(place)\(mistake.text)")]
    case .empty:
      inspections = [Inspection(line: input.line, kind: .push(.nothing), size: input.length)]
      inspections[0].why = "there is no payload at \(configuration.payloadPath?.description ?? "its place")"
      inspections[0].isEnriched = opener.isEnriched
    }
    return inspections
  }

  /// The size of an envelope, or of the message of it that cannot be opened, in bytes.
  private func size(of envelope: UnopenedEnvelope, _ line: UnsafeRawBufferPointer) -> Int {
    guard let number = envelope.notification else { return opener.json.count }
    let text = JSONText(unsafe Array(line[opener.json]))
    return text.elements(of: text.root).dropFirst(number - 1).first?.count ?? opener.json.count
  }

  private func sent(_ payload: JSONElement, _ line: UnsafeRawBufferPointer) -> SentPayload {
    SentPayload(
      json: unsafe opener.payload(in: line),
      sites: configuration.rewrites ? dialects.references(in: payload, tracing: .sites).sites : [],
      isEmptyObject: unsafe opener.splice(of: line).isEmptyObject)
  }

  private func complete(_ inspection: inout Inspection, _ payload: JSONElement, _ paths: LinePaths) {
    inspection.maximumSize = opener.maximumSize
    inspection.isEnriched = opener.isEnriched
    if inspection.kind == .push(.nothing) { inspection.shape = opener.shape }
    addPush(opener.aps, to: &inspection)
    addDialects(payload, to: &inspection)
    addGates(paths, to: &inspection)
    addFindings(payload, paths, to: &inspection)
    if inspection.media.isEmpty, let picture = Self.pictureForOthers(paths, opener.envelope?.form) { inspection.media = [picture] }
  }

  /// Returns the first picture of a request that its service does not send to Apple's devices.
  private static func pictureForOthers(_ paths: LinePaths, _ form: Envelope.Form?) -> InspectedMedia? {
    let names: [UntrustedText] =
      switch form {
      case .gorush: ["image"]
      case .oneSignal: ["big_picture", "huawei_big_picture", "adm_big_picture", "chrome_web_image"]
      case .fcm, .fcmLegacy, .sns, .expo, .path, nil: []
      }
    guard let found = names.lazy.compactMap({ paths.text(of: $0) }).first else { return nil }
    let place = form == .gorush ? "data, under a key that attache dialects lists" : "ios_attachments"
    var reference = MediaReference(url: found.text.asURL)
    (reference.isForOthers, reference.path) = (true, found.path)
    let why = "the service does not send it to Apple's devices; for these, write the URL into \(place)"
    return InspectedMedia(reference: reference, gates: [.refuses(.payload, nil, why)])
  }

  private func addPush(_ aps: JSONElement?, to inspection: inout Inspection) {
    inspection.envelope = opener.envelope
    inspection.content = apsReader.content()
    inspection.matrix = PushMatrix(
      alert: inspection.kind == .push(.alert), contentAvailable: aps?.member("content-available")?.isSet ?? false,
      mutableContent: apsReader.isMutable)
    inspection.isLiveActivity = apsReader.isLiveActivity
    inspection.why = inspection.reasonNotToRun(aps)
    inspection.runs = inspection.why == nil
  }

  private func addDialects(_ payload: JSONElement, to inspection: inout Inspection) {
    let found = dialects.references(in: payload, tracing: .paths)
    inspection.media = found.references.map { InspectedMedia(reference: $0, gates: []) }
    inspection.misfits = dialects.misfits(in: payload)
    inspection.misfits += found.references.compactMap(\.misfit).filter { !inspection.misfits.contains($0) }
    addPictures(to: &inspection)
    inspection.omitted = found.omitted
    let hasAttachment = found.references.contains { $0.role == .attachment }
    if !hasAttachment, inspection.runs { addUnread(payload, besides: found.references, to: &inspection) }
    inspection.text = dialects.text(in: payload)
    let encrypted = dialects.encrypted(in: payload)
    inspection.encrypted = encrypted?.sentence
    let service = inspection.media.isEmpty ? nil : "firebase"
    inspection.dialect = found.dialect ?? service ?? encrypted?.dialect ?? inspection.text?.dialect
    inspection.vendor = inspection.dialect.flatMap { entries[$0]?.vendor }
  }

  /// Adds the pictures of a message that no dialect reads, or that only replaced URLs concern.
  private func addPictures(to inspection: inout Inspection) {
    for picture in opener.place?.pictures ?? [] {
      guard let index = inspection.media.firstIndex(where: { $0.reference.url == picture.url }) else {
        inspection.media.append(InspectedMedia(reference: picture.reference, gates: []))
        continue
      }
      if configuration.rewrites, !inspection.runs { inspection.media[index].reference = picture.reference }
    }
  }

  private func addUnread(_ payload: JSONElement, besides pictures: [MediaReference], to inspection: inout Inspection) {
    func add(_ media: UnreadMedia, _: JSONElement) -> Bool {
      inspection.unread.append(media)
      return inspection.unread.count < Inspection.maximumUnread
    }
    unread.forEach(in: payload, besides: pictures, add)
    guard inspection.unread.isEmpty, let message = opener.message else { return }
    let read = configuration.rewrites ? inspection.media.map(\.reference) : []
    unread.forEach(outside: message, besides: pictures + read, apsReader.content(), add)
  }

  private func addGates(_ paths: LinePaths, to inspection: inout Inspection) {
    var rules = FollowPolicy(
      inspection, paths, outputKey: configuration.outputKey, maximum: configuration.maximumAttachments, rewrites: configuration.rewrites)
    for index in inspection.media.indices {
      let reference = inspection.media[index].reference
      inspection.media[index].gates = [rules.answer(to: reference)] + (reference.misfit == nil ? report.answers(to: reference.url) : [])
      inspection.media[index].fallbacks = reference.fallbacks.map { url in
        InspectedMedia.Fallback(url: url, gates: report.answers(to: url))
      }
    }
  }

  private func addFindings(_ payload: JSONElement, _ paths: LinePaths, to inspection: inout Inspection) {
    let subject = FindingSubject(
      inspection: inspection, payload: payload, aps: opener.aps, paths: paths, report: lenientReport, converts: configuration.converts,
      categories: configuration.categories, sources: { [entries] in entries[$0]?.source })
    inspection.findings = (subject.findings() + rateFindings(subject)).bounded
    for index in inspection.media.indices {
      let reference = inspection.media[index].reference
      guard !reference.isForOthers else { continue }
      inspection.media[index].reference.path = reference.path.map(paths.path)
    }
  }

  private func rateFindings(_ subject: FindingSubject) -> [LintFinding] {
    let (matrix, envelope) = (subject.inspection.matrix, subject.inspection.envelope)
    guard matrix.contentAvailable, !matrix.alert, let token = envelope?.token, let time = envelope?.time else { return [] }
    let count = rate.add(token, at: time)
    guard count > SilentRate.maximumPerHour else { return [] }
    let number = count < SilentRate.maximumCount ? "\(count)" : "\(Inspection.number(count)) or a later one"
    let text =
      "this is silent push \(number) within an hour to the device “\(PrintableText.of(token))”; the system delays or drops the rest"
    return [subject.finding(.silentRate, at: "", text)]
  }
}

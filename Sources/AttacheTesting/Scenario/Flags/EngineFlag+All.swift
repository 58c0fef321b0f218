internal import Attache

extension EngineFlag {
  /// All flags, in the order of the help.
  package static let all = time + payloads + fetching + store + upload + serviceExtension + reporting

  private static let time = [
    EngineFlag("--deadline", "time", [.own, .unrecorded]) { $0.engine.filter.deadline = try $1.duration() },
    EngineFlag("--grace", "time", [.own, .unrecorded]) { $0.engine.grace = try $1.duration() },
    EngineFlag("--on-expiry", "choice") { $0.engine.onExpiry = try $1.choice() },
    EngineFlag("--jobs", "n") { $0.engine.filter.jobs = try $1.count() },
    EngineFlag("--max-attachments", "n") { $0.engine.maximumAttachments = try $1.count() },
    EngineFlag("--window", "size", in: [.filter, .record]) { $0.engine.filter.windowBytes = try $1.bytes() },
    EngineFlag("--unordered", in: [.filter, .record]) { settings, _ in settings.engine.filter.isOrdered = false },
  ]

  private static let payloads = [
    EngineFlag("--media-key", "key", .opens) { $0.mediaKeys.append(try $1.parse(JSONPointer.init(path:))) },
    EngineFlag("--payload-path", "pointer") { $0.engine.filter.payloadPath = try $1.parse(JSONPointer.init(path:)) },
    EngineFlag("--dialect", "name") { $0.dialects.append($1.text) },
    EngineFlag("--dialects", "file", [.refused, .unrecorded]) { $0.dialectFiles.append(try $1.parse(DialectFile.init(contentsOf:))) },
    EngineFlag("--strict-dialects") { settings, _ in settings.isStrictAboutDialects = true },
    EngineFlag("--output-key", "key") { $0.engine.filter.outputKey = $1.text },
    EngineFlag("--apply-overrides") { settings, _ in settings.engine.filter.appliesOverrides = true },
    EngineFlag("--base-url", "url") { $0.engine.filter.baseURL = $1.text },
    EngineFlag("--attach-as", "form") { $0.engine.filter.attachAs = try $1.choice() },
    EngineFlag("--max-payload", "size") { $0.engine.filter.maximumPayload = try $1.read(PayloadMaximum.init(written:)) },
    EngineFlag("--fit-payload") { settings, _ in settings.engine.filter.fitsPayload = true },
  ]

  private static let fetching = [
    EngineFlag("--allow-http", nil, [.unrecorded, .opens]) { settings, _ in settings.engine.fetching.policy.allowHTTP = true },
    EngineFlag("--allow-net", "cidr", [.unrecorded, .opens]) { $0.engine.fetching.policy.allowedNets.append(try $1.parse(CIDR.init)) },
    EngineFlag("--allow-port", "ports", [.unrecorded, .opens]) {
      $0.engine.fetching.policy.allowedPorts.append(try $1.read(URLPolicy.ports))
    },
    EngineFlag("--allow-host", "pattern", .opens) { $0.engine.fetching.policy.allowedHosts.append(try $1.parse(HostPattern.init)) },
    EngineFlag("--deny-host", "pattern") { $0.engine.fetching.policy.deniedHosts.append(try $1.parse(HostPattern.init)) },
    EngineFlag("--cacert", "file", [.own, .unrecorded]) { settings, file in
      _ = try file.parse { try RootCertificates.check($0) }
      settings.engine.fetching.rootCertificates = file.text
    },
    EngineFlag("--user-agent", "text") { $0.engine.fetching.userAgent = try $1.parse(RequestField.userAgent) },
    EngineFlag("--header-file", "file", [.refused, .unrecorded]),
    EngineFlag("--dns-server", "address:port", [.own, .unrecorded]) {
      $0.engine.fetching.nameServers.append(try $1.read { WrittenNameServer.isValid($0) ? $0 : nil })
    },
    EngineFlag("--proxy", "url", .unrecorded) { $0.engine.fetching.policy.proxy = try $1.parse(Proxy.init) },
    EngineFlag("--limits", "list") { settings, list in
      let pixels = settings.engine.fetching.limits.pixels
      settings.engine.fetching.limits = try list.read(MediaLimits.init(written:))
      settings.engine.fetching.limits.pixels = pixels
    },
    EngineFlag("--max-pixels", "n") { $0.engine.fetching.limits.pixels = try $1.count(in: 1...Int.max) },
    EngineFlag("--convert") { settings, _ in settings.converts = true },
    EngineFlag("--max-side", "n", needs: "--convert") { $0.conversion.maximumSide = try $1.count(in: 1...Conversion.largestSide) },
    EngineFlag("--source-limits", "size", needs: "--convert") {
      $0.conversion.sourceBytes = Int(clamping: try $1.read(WrittenByteCount.bytes))
    },
    EngineFlag("--max-source-pixels", "n", needs: "--convert") { $0.conversion.sourcePixels = try $1.count(in: 1...Int.max) },
    EngineFlag("--retries", "n", .opens) { $0.engine.fetching.retries = Int(try $1.read { UInt8($0) }) },
    EngineFlag("--per-host", "n", .opens) { $0.engine.fetching.transfersPerOrigin = try $1.count() },
    EngineFlag("--fetchers", "n") { $0.engine.fetching.fetchers = try $1.count(in: 1...FetchConfiguration.maximumFetchers) },
    EngineFlag("--cache", "mode", [.unrecorded, .opens]) { $0.engine.fetching.cache = try $1.choice() },
  ]

  private static let store = [
    EngineFlag("--store", "dir", [.own, .unrecorded]) { $0.engine.store.directory = $1.text },
    EngineFlag("--store-max", "size", .unrecorded) { $0.engine.store.maximumBytes = try $1.read(WrittenByteCount.bytes) },
    EngineFlag("--store-age", "time", .unrecorded) { $0.engine.store.maximumAge = try $1.duration() },
  ]

  private static let upload = [
    EngineFlag("--upload", "s3://bucket/prefix", in: [.filter, .worker]) { $0.upload.location = $1.text },
    EngineFlag("--upload-endpoint", "url", in: [.filter, .worker], needs: "--upload") { $0.upload.endpoint = $1.text },
    EngineFlag("--upload-region", "name", in: [.filter, .worker], needs: "--upload") { $0.upload.region = $1.text },
    EngineFlag("--upload-credentials", "file", in: [.filter, .worker], [.own, .unrecorded], needs: "--upload") {
      $0.upload.credentials = $1.text
    },
    EngineFlag("--upload-keep", "time", in: [.filter, .worker], needs: "--upload") { $0.upload.keep = try $1.duration() },
    EngineFlag("--upload-private", in: [.filter, .worker], needs: "--upload") { settings, _ in settings.upload.includesPrivate = true },
  ]

  /// A scenario is a stranger's, so it cannot name a program.
  private static let serviceExtension = [
    EngineFlag("--extension", "folder", in: [.filter, .worker], .refused),
    EngineFlag("--extension-concurrency", "n", in: [.filter, .worker], .refused, needs: "--extension"),
    EngineFlag("--extension-processes", "n", in: [.filter, .worker], .refused, needs: "--extension"),
    EngineFlag("--extension-memory", "bytes", in: [.filter, .worker], .refused, needs: "--extension"),
    EngineFlag("--extension-groups", "folder", in: [.filter, .worker], .refused, needs: "--extension"),
    EngineFlag("--extension-loopback", in: [.filter, .worker], .refused),
  ]

  private static let reporting = [
    EngineFlag("--log-urls", "detail") { $0.engine.filter.urlDetail = try $1.choice() },
    EngineFlag("--report", "file", in: [.filter, .record], [.own, .unrecorded]) { $0.engine.filter.report = $1.text },
    EngineFlag("--report-key", "pointer", .unrecorded) { $0.engine.filter.reportKey = try $1.parse(JSONPointer.init(path:)) },
    EngineFlag("--strict", in: [.filter, .record], .unrecorded) { settings, _ in settings.engine.isStrict = true },
    EngineFlag("--metrics", "[address:]port", in: [.filter, .worker], .refused),
    EngineFlag("--metrics-bearer-file", "file", in: [.filter, .worker], .refused, needs: "--metrics"),
    EngineFlag("--progress", "progress", in: .filter, .refused),
    EngineFlag("--log-format", "log-format", in: [.filter, .worker], .refused),
    EngineFlag("--keep-media", in: .record, [.refused, .unrecorded]),
  ]
}

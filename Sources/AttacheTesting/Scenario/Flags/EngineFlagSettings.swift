internal import Attache

/// The settings that flags make. It reads flags as the command line does.
struct EngineFlagSettings {
  var engine: EngineConfiguration
  var dialects: [String] = []
  var mediaKeys: [JSONPointer] = []
  var dialectFiles: [DialectFile] = []
  var isStrictAboutDialects = false
  var converts = false
  var conversion = Conversion()
  var upload = Upload()

  /// The values of the flags of uploads.
  struct Upload {
    var location: String?
    var endpoint: String?
    var region: String?
    var credentials: String?
    var keep: Duration?
    var includesPrivate = false
  }

  /// Returns a configuration that flags change. Of flags that exclude each other, the last counts.
  ///
  /// - Parameter credentials: the file of `--upload-credentials`, if the flags have `--upload`.
  static func apply(
    _ flags: [String], to configuration: EngineConfiguration, credentials: String? = nil
  ) throws(EngineFlagMistake) -> EngineConfiguration {
    var settings = EngineFlagSettings(engine: configuration)
    try settings.read(flags)
    if settings.upload.location != nil, settings.upload.credentials == nil { settings.upload.credentials = credentials }
    try settings.finish()
    return settings.engine
  }

  private mutating func read(_ words: [String]) throws(EngineFlagMistake) {
    var (rest, strays, given) = (words[...], [String](), [EngineFlag]())
    while let word = rest.popFirst() {
      guard word.isFlag else {
        strays.append(word)
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      guard let flag = EngineFlag.named(parts[0]), let set = flag.set else { throw EngineFlagMistake("Unknown option '\(parts[0])'") }
      given.append(flag)
      var text = parts.dropFirst().first
      if let valueName = flag.valueName {
        if text == nil, rest.first?.isFlag == false { text = rest.popFirst() }
        if text == nil { throw EngineFlagMistake("Missing value for '\(flag.name) <\(valueName)>'") }
      } else if let text {
        throw EngineFlagMistake("The option '\(flag.name)' does not take any value, but '\(text)' was specified.")
      }
      do { try set(&self, EngineFlagValue(flag: flag, text: text ?? "")) } catch { throw EngineFlagMistake("\(error)") }
    }
    if let stray = strays.first {
      throw EngineFlagMistake(
        strays.count == 1 ? "Unexpected argument '\(stray)'" : "\(strays.count) unexpected arguments: '\(strays.joined(separator: "', '"))'"
      )
    }
    for flag in given {
      guard let companion = flag.companion, !given.contains(where: { $0.name == companion }) else { continue }
      throw EngineFlagMistake("\(flag.name) needs \(companion).")
    }
  }

  /// Checks the values together.
  private mutating func finish() throws(EngineFlagMistake) {
    do {
      engine.filter.dialects = try DialectTable(
        names: dialects.isEmpty ? nil : dialects, mediaKeys: mediaKeys, files: dialectFiles, isStrict: isStrictAboutDialects)
    } catch {
      throw EngineFlagMistake("--dialect: \(error)")
    }
    engine.fetching.steps = converts ? [.convert(conversion)] : []
    do throws(BucketMistake) { engine.publish(in: try bucket, includesPrivate: upload.includesPrivate) } catch {
      throw EngineFlagMistake("\(error)")
    }
    if let mistake = engine.filter.mistake { throw EngineFlagMistake(mistake) }
    if let grace = engine.grace, grace >= engine.filter.deadline {
      throw EngineFlagMistake("--grace must be shorter than --deadline: nothing would be fetched.")
    }
  }

  private var bucket: Bucket? {
    get throws(BucketMistake) {
      guard let location = upload.location else { return nil }
      return try Bucket(
        location, endpoint: upload.endpoint, region: upload.region, credentials: upload.credentials, keep: upload.keep,
        allowsHTTP: engine.fetching.policy.allowHTTP, rootCertificates: engine.fetching.rootCertificates)
    }
  }
}

extension String {
  /// Whether a word of a command line is a flag, not a value.
  var isFlag: Bool { utf8.first == UInt8(ascii: "-") }
}
